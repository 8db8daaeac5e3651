"""Every row of the case table where its inputs are not of the default graph: all its operations are in theirs."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any

import pytest

import pullback as pb
from pullback.core.contexts import graph_among
from pullback.core.graph import get_default_graph

from .cases.case import Case
from .cases.table import families

NAMESPACES = (pb, pb.image, pb.linalg, pb.math, pb.nn, pb.ragged, pb.random, pb.signal, pb.sparse, pb.strings)
CLASSES = "SparseTensor TensorArray Variable"
MADE_OF_ARRAYS = "global_norm recompute-grad"
"""Rows that make slices or bodies of arrays alone, which belong to the default graph."""
ROWS = [pytest.param(cases, id=name) for name, cases in families().items()]


@pytest.fixture
def graph(monkeypatch: pytest.MonkeyPatch) -> pb.Graph:
    """The graph of the inputs, and of all that a row makes by functions to which it gives no tensor."""
    graph = pb.Graph()
    for module in NAMESPACES:
        for name in dir(module):
            value = getattr(module, name)
            if (isinstance(value, FunctionType) or name in CLASSES.split()) and not name.startswith("_"):
                monkeypatch.setattr(module, name, made_there(value, graph))
    rows = staticmethod(made_there(pb.RaggedTensor.from_row_lengths, graph))
    monkeypatch.setattr(pb.RaggedTensor, "from_row_lengths", rows)
    return graph


def made_there(function: Callable[..., Any], graph: pb.Graph) -> Callable[..., Any]:
    @functools.wraps(function, updated=())
    def call(*args: Any, **options: Any) -> Any:
        if graph_among((args, options)) is not None or get_default_graph().lies_in(graph):
            return function(*args, **options)
        with graph.as_default():
            return function(*args, **options)

    return call


@pytest.mark.parametrize("cases", ROWS)
def test_operations_are_in_the_graph_of_the_inputs(cases: list[Case], graph: pb.Graph) -> None:
    for case in cases:
        if case.inputs:
            build_elsewhere(case, graph, range(len(case.inputs)))


@pytest.mark.parametrize("cases", ROWS)
def test_operations_are_in_the_graph_of_the_only_input_that_is_a_tensor(cases: list[Case], graph: pb.Graph) -> None:
    for case in cases:
        for i in range(len(case.inputs)) if len(case.inputs) > 1 else ():
            if case.name not in MADE_OF_ARRAYS.split() and takes_arrays(case, i, graph):
                build_elsewhere(case, graph, [i])


def takes_arrays(case: Case, tensor: int, graph: pb.Graph) -> bool:
    """Whether the row can be built where all but that input are arrays."""
    with graph.as_default():
        try:
            case.build(*inputs(case, [tensor]))
        except Exception:
            return False
    return True


def inputs(case: Case, tensors: Sequence[int]) -> list[Any]:
    """Placeholders for those of the numbers `tensors`, the arrays of the others."""
    return [pb.placeholder(a.dtype, a.shape) if i in tensors else a for i, a in enumerate(case.arrays())]


def build_elsewhere(case: Case, graph: pb.Graph, tensors: Sequence[int]) -> None:
    """The row, built where `graph` is not the default graph, and nothing is made in that one."""
    with graph.as_default():
        xs = inputs(case, tensors)
    with pb.Graph().as_default() as other:
        try:
            case.build(*xs)
        except Exception as error:
            error.add_note(f"in the row {case}, of whose inputs those are tensors: {list(tensors)}")
            raise
        made = [f"{op.type} at {op.site}" for op in other.operations]
    assert not made, f"in the row {case}, of whose inputs those are tensors: {list(tensors)}"
