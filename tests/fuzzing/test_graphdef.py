"""Damaged graphs of TensorFlow: what comes of one is a derivative, written again, or a documented error."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from random import Random
from typing import Any

import pytest

import pullback as pb

pytest.importorskip("tensorboard")

from tensorboard.compat.proto.graph_pb2 import GraphDef

from tests.graphdef.test_fixtures import FIXTURES

from .protobuf import mutated
from .wiring import rewired

QUICK, LONG = 150, 10_000


@cache
def frozen() -> Sequence[Any]:
    """The graphs that TensorFlow wrote, and parts of the one that has all operations."""
    graphs = [GraphDef.FromString(path.read_bytes()) for path in sorted(FIXTURES.glob("*.pb"))]
    small = [graph for graph in graphs if len(graph.node) < 300]
    return [*small, *[part for graph in graphs if len(graph.node) >= 300 for part in parts(graph)]]


def parts(graph: Any, size: int = 40) -> Sequence[Any]:
    """Of a large graph, so many nodes each, with all that they are computed from."""
    nodes = {node.name: node for node in graph.node}
    found = []
    for start in range(0, len(graph.node), size):
        part = GraphDef(library=graph.library, versions=graph.versions)
        pending = [node.name for node in graph.node[start : start + size]]
        needed: set[str] = set()
        while pending:
            name = pending.pop().removeprefix("^").partition(":")[0]
            if name not in needed:
                needed.add(name)
                pending.extend(nodes[name].input)
        part.node.extend([node for node in graph.node if node.name in needed])
        found.append(part)
    return found


def lists(graph: Any) -> list[Any]:
    """The lists of nodes of a graph: its own, and those of its functions."""
    return [graph.node, *[function.node_def for function in graph.library.function]]


def mutant(number: int, seeds: Sequence[Any]) -> Any:
    """The damaged graph of that number: always the same."""
    random = Random(number)
    seed = random.choice(seeds)
    return mutated(seed, random) if random.random() < 0.4 else rewired(seed, lists, seeds, random)


def _is_float(x: pb.Tensor) -> bool:
    return x.dtype in (pb.float16, pb.bfloat16, pb.float32, pb.float64)


def differentiated(graph: pb.Graph) -> None:
    """The derivatives of what nothing reads by what is fed or never computed."""
    read = {x for op in graph.operations for x in op.inputs}
    tensors = [y for op in graph.operations for y in op.outputs if isinstance(y.type, pb.TensorType)]
    ys = [y for y in tensors if y not in read and _is_float(y)]
    xs = [x for x in tensors if not x.op.inputs and _is_float(x)]
    with graph.as_default():
        pb.gradients(ys, xs)


def outcome(graph_def: Any) -> str:
    """What becomes of a graph: the name of the documented error, or that there is none."""
    try:
        with pb.Graph().as_default() as graph:
            pb.import_graph_def(graph_def, name="")
        str(graph)
        differentiated(graph)
        pb.graphdef.export(graph)
    except pb.errors.PullbackError as error:
        str(error).encode()
        return type(error).__name__
    except LookupError as error:
        if type(error) is not LookupError:
            raise
        return "no gradient"
    return "written"


@pytest.mark.parametrize("count", [QUICK, pytest.param(LONG, marks=pytest.mark.slow)])
def test_damaged_graphs_are_refused_or_written(count: int) -> None:
    with pb.config.Limits(seconds=60.0, bytes=2**26):
        outcomes = {outcome(mutant(number, frozen())) for number in range(count)}
    assert outcomes >= {"written", "InvalidArgumentError"}
