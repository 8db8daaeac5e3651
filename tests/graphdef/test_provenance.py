"""What a GraphDef says of its nodes is taken where they are what it says, and only there."""

from __future__ import annotations

from typing import Any

import pytest

import pullback as pb
from pullback.graphdef.provenance import HINT

FUNCTIONS = {
    "Gelu": pb.nn.gelu,
    "LogSumExp": lambda x: pb.reduce_logsumexp(x, 1),
    "LeakyRelu": lambda x: pb.nn.leaky_relu(x, 0.3),
    "Dct": pb.signal.dct,
}


def graph_def(f: Any) -> Any:
    with pb.Graph().as_default() as graph:
        pb.identity(f(pb.placeholder(pb.float64, [2, 3], name="x")), name="y")
        return pb.graphdef.export(graph)


def kind(data: Any) -> str:
    """The type of the operation before the last."""
    with pb.Graph().as_default() as graph:
        pb.import_graph_def(data, name="")
    return graph.get_operation_by_name("y").inputs[0].op.type


@pytest.mark.parametrize("name", FUNCTIONS)
def test_what_is_written_as_several_nodes_is_read_as_it_was(name: str) -> None:
    data = graph_def(FUNCTIONS[name])
    assert kind(data) == name
    for node in data.node:
        node.attr.pop(HINT, None)
    assert kind(data) != name


def test_it_is_read_so_inside_a_function() -> None:
    with pb.Graph().as_default() as graph:
        x = pb.placeholder(pb.float64, [3], name="x")
        pb.while_loop(lambda s: pb.reduce_sum(s) < 3, lambda s: [pb.nn.gelu(s) + 1.0], [x], name="loop")
        data = pb.graphdef.export(graph)
    with pb.Graph().as_default() as graph:
        pb.import_graph_def(data, name="")
    inner = {op.type for outer in graph.operations for f in outer.primitive.functions for op in f.operations}
    assert "Gelu" in inner


def test_nodes_that_were_changed_mean_what_they_say() -> None:
    data = graph_def(pb.nn.gelu)
    next(node for node in data.node if node.op == "AddV2").op = "Sub"
    assert kind(data) != "Gelu"


@pytest.mark.parametrize(
    "said", ["", "{", "7", "{}", '{"type": "Gelu", "inputs": [[9]]}', '{"type": "PyFunc"}', "[" * 3000]
)
def test_what_makes_no_sense_is_not_taken(said: str) -> None:
    data = graph_def(pb.nn.gelu)
    for node in data.node:
        if HINT in node.attr:
            node.attr[HINT].s = said.encode()
    assert kind(data) != "Gelu"
