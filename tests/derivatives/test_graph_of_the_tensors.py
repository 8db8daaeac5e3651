"""Derivatives are made in the graph of the tensors, whatever graph is the default one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import pullback as pb

DERIVATIVES: dict[str, Callable[[Any, Any], Any]] = {
    "batch_jacobian": lambda y, x: pb.batch_jacobian(y, x),
    "explain_gradient": lambda y, x: pb.explain_gradient(y, x),
    "gradients": lambda y, x: pb.gradients(y, x),
    "hessians": lambda y, x: pb.hessians(y[0, 0], x),
    "jacobian forward": lambda y, x: pb.jacobian(y, x, mode="forward"),
    "jacobian reverse": lambda y, x: pb.jacobian(y, x, mode="reverse"),
    "jet": lambda y, x: pb.jet(y, x, 2),
    "jvp": lambda y, x: pb.jvp([y], [x], [y]),
    "sparse_jacobian": lambda y, x: pb.sparse_jacobian(y, x),
}


@pb.custom_gradient
def cube(x: Any) -> Any:
    return x**3.0, lambda dy: dy * 3.0 * x * x


@pytest.mark.parametrize("kind", DERIVATIVES)
def test_derivatives_grow_in_the_graph_of_the_tensors(kind: str) -> None:
    graph = pb.Graph()
    with graph.as_default():
        x = pb.placeholder(pb.float64, [2, 1])
        y = cube(pb.cumsum(x))
    size = len(graph.operations)
    with pb.Graph().as_default() as other:
        DERIVATIVES[kind](y, x)
    assert not other.operations
    assert len(graph.operations) > size or kind == "explain_gradient"
