"""File formats of models that are written, by suffix: ONNX, TensorFlow's GraphDef, StableHLO."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pullback as pb
from pullback.core.files import replace_file

from .failure import USAGE, CommandError
from .tensorflow_model import is_graph_def, write_graph_def


def written(
    command: str,
    args: argparse.Namespace,
    out: Path,
    outputs: Mapping[str, Any],
    inputs: Mapping[str, Any],
    accept: Callable[[Path], None] | None = None,
) -> int:
    """Writes a graph in the format that the suffix of `out` says, else as ONNX; how many operations it has there.

    Raises:
        CommandError: `--check` or `--opset` is given for another format than ONNX.
    """
    foreign = is_graph_def(out) or out.suffix in (".mlir", ".stablehlo")
    if not foreign:
        return len(pb.onnx.export(outputs, inputs, out, opset=args.opset, accept=accept).graph.node)
    if args.check or args.opset:
        raise CommandError(f"pullback {command}: --check and --opset are for ONNX models, not for {out}", USAGE)
    return write_graph_def(out, outputs) if is_graph_def(out) else _write_stablehlo(out, outputs, inputs)


def _write_stablehlo(out: Path, outputs: Mapping[str, Any], inputs: Mapping[str, Any]) -> int:
    """Arguments are the inputs and results the outputs, in their order."""
    made = pb.xla.to_stablehlo(list(outputs.values()), list(inputs.values()))
    text = made.mlir_module()
    data = text.encode() if out.suffix == ".mlir" else bytes(made.serialize())
    replace_file(out, lambda file: file.write(data))
    return sum(line.lstrip().startswith("%") for line in text.splitlines())
