"""`pullback optimize`: an ONNX model in, the model with fewer and more accurate operations out."""

from __future__ import annotations

import argparse
from pathlib import Path

import pullback as pb
from pullback.core.errors import PullbackError
from pullback.core.limits import Limits, limited
from pullback.onnx.optimizing import fewest_nodes, optimized_outputs

from .failure import CommandError
from .formats import written
from .tensorflow_model import is_tensorflows, load_tensorflows


def run(args: argparse.Namespace) -> int:
    """Writes the model and prints what was rewritten; 0, or 1 where `--check` finds a difference."""
    try:
        with Limits(**dict(args.limit or ())), limited("pullback optimize"):
            return _run(args)
    except (PullbackError, ImportError, LookupError, OSError) as error:
        raise CommandError(f"pullback optimize: {error}") from error


def _run(args: argparse.Namespace) -> int:
    model = Path(args.model)
    graph = load_tensorflows(model) if is_tensorflows(model) else pb.onnx.load(model)
    inputs = graph.input_tensors
    outputs = graph.output_tensors
    lean, report = optimized_outputs(outputs, inputs, args.level)
    if fewest_nodes([(outputs, inputs), (lean, inputs)], args.opset) == 0:
        lean, report = outputs, report.of_nothing
    out = Path(args.out) if args.out else model.with_name(f"{model.stem}_optimized.onnx")
    count = written("optimize", args, out, lean, inputs)
    if args.html:
        report.html.save(args.html)
    print(f"{count} nodes, were {graph.size}")
    print(report)
    for path in filter(None, (out, args.html)):
        print(f"written: {path}")
    if not args.check:
        return 0
    from .checking import check

    compared = check(out, graph, outputs, inputs)
    print(compared)
    return 0 if compared.passed else 1
