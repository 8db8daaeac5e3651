"""Graphs that are made to do harm, or were damaged: documented errors, within limits."""

from __future__ import annotations

import random
from contextlib import suppress
from typing import Any

import pytest

import pullback as pb

pytest.importorskip("tensorboard")

from tensorboard.compat.proto.graph_pb2 import GraphDef

from .test_fixtures import FIXTURES

DAMAGED = ["cond", "nested_while", "cond_in_while_v2", "embedding"]


def calling(name: str, *called: str) -> GraphDef:
    """A function of that name that calls others, and a node that calls it."""
    graph = GraphDef()
    function = graph.library.function.add()
    function.signature.name = name
    for i, other in enumerate(called):
        node = function.node_def.add(name=f"n{i}", op="PartitionedCall")
        node.attr["f"].func.name = other
        function.control_ret[f"n{i}"] = f"n{i}"
    node = graph.node.add(name="call", op="PartitionedCall")
    node.attr["f"].func.name = name
    return graph


def test_a_function_that_calls_itself_is_too_deep() -> None:
    with pytest.raises(pb.errors.ResourceExhaustedError, match="one inside the other"), pb.Graph().as_default():
        pb.import_graph_def(calling("f", "f"))


def test_functions_that_call_each_other_twice_are_too_many_nodes() -> None:
    graph = calling("f0", "f1", "f1")
    for i in range(1, 25):
        graph.library.function.append(calling(f"f{i}", f"f{i + 1}", f"f{i + 1}").library.function[0])
    graph.library.function.append(calling("f25").library.function[0])
    limits = pb.config.Limits(nodes=1000)
    with (
        limits,
        pytest.raises(pb.errors.ResourceExhaustedError, match="more than 1,000 nodes"),
        pb.Graph().as_default(),
    ):
        pb.import_graph_def(graph)


def test_a_function_that_is_not_there_is_said() -> None:
    graph = calling("f")
    graph.node[0].attr["f"].func.name = "g"
    with pytest.raises(pb.errors.InvalidArgumentError) as error, pb.Graph().as_default():
        pb.import_graph_def(graph)
    assert str(error.value) == "import_graph_def: there is no function 'g' in the library"


@pytest.mark.parametrize("seed", range(4))
def test_a_damaged_graph_is_an_error_of_ours(seed: int) -> None:
    """Inputs, attributes and op types are taken away or exchanged; nothing else than our errors comes of it."""
    chosen = random.Random(seed)
    for _ in range(20):
        graph = GraphDef.FromString((FIXTURES / f"{chosen.choice(DAMAGED)}.pb").read_bytes())
        nodes = [*graph.node, *[node for f in graph.library.function for node in f.node_def]]
        for _ in range(2):
            damage(chosen, chosen.choice(nodes), chosen.choice(nodes))
        with suppress(pb.errors.PullbackError), pb.config.Limits(nodes=10_000), pb.Graph().as_default():
            pb.import_graph_def(graph)


def damage(chosen: random.Random, node: Any, other: Any) -> None:
    """Change one thing about a node."""
    kind = chosen.randrange(5)
    if kind == 0 and node.input:
        del node.input[chosen.randrange(len(node.input))]
    elif kind == 1:
        node.input.append(other.name + chosen.choice(["", ":1", ":x:0"]))
    elif kind == 2 and node.attr:
        del node.attr[chosen.choice(sorted(node.attr))]
    elif kind == 3:
        node.op = other.op
    elif node.input:
        node.input[chosen.randrange(len(node.input))] = other.name


@pytest.mark.parametrize("size", [0, 1, 100, 1000])
def test_a_file_cut_short_is_an_error_of_ours(size: int, tmp_path: Any) -> None:
    path = tmp_path / "graph.pb"
    path.write_bytes((FIXTURES / "lenet.pb").read_bytes()[:size])
    with suppress(pb.errors.PullbackError):
        pb.graphdef.load(path)
