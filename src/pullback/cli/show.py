"""`pullback show`: an ONNX model, a graph of TensorFlow's or of pullback's, as text, picture or page."""

from __future__ import annotations

import argparse
from pathlib import Path

import pullback as pb
from pullback.core.errors import PullbackError
from pullback.core.limits import Limits, limited
from pullback.core.schema import parsed
from pullback.drawing.page import page

from .failure import CommandError
from .tensorflow_model import is_tensorflows, load_tensorflows


def run(args: argparse.Namespace) -> int:
    """Prints the text, or writes the files asked for; 0."""
    path = Path(args.file)
    try:
        with Limits(**dict(args.limit or ())), limited("pullback show"):
            graph = _graph(path)
            if args.grad:
                _add_gradients(graph)
        if args.svg:
            pb.draw(graph, args.depth).save(args.svg)
        if args.html:
            page(graph, path.name, args.depth).save(args.html)
    except (PullbackError, ImportError, OSError, ValueError) as error:
        raise CommandError(f"pullback show: {error}") from error
    if not args.svg and not args.html:
        print(graph)
    for written in filter(None, (args.svg, args.html)):
        print(f"written: {written}")
    return 0


def _graph(path: Path) -> pb.Graph:
    """What the file holds: JSON of `Graph.to_dict`, TensorFlow's graph, else an ONNX model."""
    if path.suffix == ".json":
        return pb.Graph.from_dict(parsed(path.read_bytes(), str(path)))
    return load_tensorflows(path) if is_tensorflows(path) else pb.onnx.load(path)


def _add_gradients(graph: pb.Graph) -> None:
    if not isinstance(graph, pb.onnx.OnnxGraph):
        raise CommandError("pullback show: --grad is for models, whose inputs and outputs are known")
    pb.onnx.differentiate(graph)
