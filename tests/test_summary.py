"""Graphs as TensorBoard reads them."""

from __future__ import annotations

from pathlib import Path

from tensorboard.backend.event_processing.event_file_loader import EventFileLoader
from tensorboard.compat.proto.graph_pb2 import GraphDef

import pullback as pb
from pullback.summary import FileWriter, graph_def


def read_back(folder: Path) -> GraphDef:
    """The graph in the one event file of a folder."""
    (path,) = folder.iterdir()
    graphs = [event.graph_def for event in EventFileLoader(str(path)).Load() if event.HasField("graph_def")]
    return GraphDef.FromString(graphs[0])


def test_forward_and_backward_operations_are_written_with_names_types_and_shapes(tmp_path: Path) -> None:
    x = pb.placeholder(pb.float32, [None, 3], name="x")
    pb.gradients(pb.tanh(x, name="y"), x)
    FileWriter(tmp_path, x.graph).close()
    nodes = {node.name: node for node in read_back(tmp_path).node}
    assert list(nodes) == [op.name for op in x.graph.operations]
    back = nodes["gradients/y_grad/TanhGrad"]
    assert list(back.input) == ["y", "gradients/grad_ys_0"]
    assert [d.size for d in back.attr["_output_shapes"].list.shape[0].dim] == [-1, 3]


def test_outputs_after_the_first_and_control_inputs_are_named() -> None:
    first, second = pb.split(pb.ones([2], name="x"), 2, name="halves")
    before = pb.no_op(name="before")
    with pb.control_dependencies([before]):
        pb.identity(second, name="later")
    node = graph_def(first.graph).node[-1]
    assert list(node.input) == ["halves:1", "^before"]


def test_bodies_of_loops_are_functions() -> None:
    x = pb.constant(2.0)
    pb.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * y), (0, x))
    names = [function.signature.name for function in graph_def(x.graph).library.function]
    assert len(names) == 2
    body = graph_def(x.graph).library.function[0]
    assert {node.op for node in body.node_def} >= {"Mul"}


def test_unknown_ranks_and_every_dtype_are_written() -> None:
    for dtype in (pb.bfloat16, pb.complex64, pb.uint8, pb.bool):
        pb.placeholder(dtype, None)
    assert all(
        node.attr["_output_shapes"].list.shape[0].unknown_rank for node in graph_def(pb.get_default_graph()).node
    )
