"""TensorFlow's files on the command line: frozen graphs and SavedModels that are read, GraphDefs that are written."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pullback as pb
from pullback.graphdef.messages import TEXT_SUFFIXES, read_file
from pullback.graphdef.saved_model import add_frozen, maybe_saved_model_directory
from pullback.onnx import OnnxGraph


def is_tensorflows(path: Path) -> bool:
    """Whether a path is that of a frozen graph or of a SavedModel."""
    return is_graph_def(path) or maybe_saved_model_directory(path)


def load_tensorflows(path: Path) -> OnnxGraph:
    """The graph of a file or folder of TensorFlow's; variables are constants of their names.

    Tensors are called as their nodes, `conv1/Relu`, and as in TensorFlow, `conv1/Relu:0`; what a SavedModel offers for
    serving also as there. Inputs are the placeholders, outputs what nothing else reads, or what is offered.
    """
    graph = OnnxGraph.without_model()
    if maybe_saved_model_directory(path):
        offered = add_frozen(graph, path, None, "serving_default")
        graph.name_values(offered.inputs, offered.outputs)
        return graph
    with graph.as_default():
        pb.import_graph_def(read_file(path, "GraphDef"), name="")
    read = {x for op in graph.operations for x in op.inputs}
    ends = [op for op in graph.operations if op.inputs and op.outputs and read.isdisjoint(op.outputs)]
    given = [op for op in graph.operations if op.type == "Placeholder"]
    inputs, outputs = [{op.name: op.outputs[0] for op in ops} for ops in (given, ends)]
    graph.name_values(inputs, outputs)
    return graph


def is_graph_def(path: Path) -> bool:
    """Whether a path is that of a GraphDef, in bytes or as text."""
    return path.suffix in (".pb", *TEXT_SUFFIXES)


def write_graph_def(out: Path, outputs: Mapping[str, Any]) -> int:
    """Writes what the outputs need as a GraphDef, in which they have their names; how many nodes it has."""
    tensors = {name: pb.convert_to_tensor(y) for name, y in outputs.items()}
    for name, y in tensors.items():
        if y.op.name != name:
            with y.graph.as_default():
                tensors[name] = pb.identity(y, name=f"{name}/")
    made = pb.graphdef.export(next(iter(tensors.values())).graph, tensors.values())
    pb.train.write_graph(made, out.parent, out.name, as_text=out.suffix in TEXT_SUFFIXES)
    return len(made.node)
