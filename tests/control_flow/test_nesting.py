"""Branches that lie deep in each other: as deep as Python's limit on nested calls goes, and no bare error beyond."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

import pullback as pb


def nested(x: Any, depth: int) -> Any:
    """`x`, that many branches deep."""
    if depth == 0:
        return x
    return pb.cond(x > 0, lambda: nested(x, depth - 1) * 1.0, lambda: x)


@contextmanager
def limit(calls: int) -> Iterator[None]:
    """A block with another limit on nested calls."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(calls)
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


def test_branches_too_deep_to_build_are_refused_in_words() -> None:
    x = pb.placeholder(pb.float32, [])
    with limit(900), pytest.raises(pb.errors.NestingError) as error:
        nested(x, 150)
    assert str(error.value) == (
        "Python's limit of 900 nested calls was reached in the body 'true_fn'. Use a loop where branches or calls lie "
        "deep in each other, or allow more: sys.setrecursionlimit(9000)."
    )
    assert isinstance(error.value, RecursionError)


def test_branches_too_deep_to_differentiate_leave_the_graph_as_it_was() -> None:
    x = pb.placeholder(pb.float32, [])
    with limit(9000):
        y = nested(x, 150)
    before = len(x.graph.operations)
    with limit(900), pytest.raises(pb.errors.NestingError, match="in the body 'true_fn_grad'"):
        pb.gradients(y, x)
    assert len(x.graph.operations) == before


@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_branches_too_deep_to_run_are_refused_in_words(engine: str) -> None:
    x = pb.placeholder(pb.float32, [])
    with limit(9000):
        y = nested(x, 150)
    with limit(400), pytest.raises(pb.errors.NestingError):
        pb.Session(engine=engine).run(y, {x: 1.0})


def test_with_a_higher_limit_deep_branches_run_and_have_derivatives() -> None:
    x = pb.placeholder(pb.float32, [])
    with limit(9000):
        y = nested(x * x, 150)
        assert pb.Session(engine="numpy").run([y, *pb.gradients(y, x)], {x: 3.0}) == [9.0, 6.0]


def test_an_error_of_the_user_is_not_taken_for_nesting() -> None:
    def branch() -> Any:
        raise RecursionError("a cycle in my tree")

    with pytest.raises(RecursionError, match=r"^a cycle in my tree$") as error:
        pb.cond(pb.placeholder(pb.bool, []), branch, branch)
    assert type(error.value) is RecursionError


@pytest.mark.parametrize("name", ["_0", "-x", ">y", "_"])
def test_a_name_that_only_a_scope_allows_stands_in_bodies_too(name: str) -> None:
    with pb.name_scope("scope"):
        x = pb.constant([1.0, 2.0], name=name)
    y = pb.cond(x[0] > 0.0, lambda: x * x, lambda: x)
    z = pb.while_loop(lambda i, _: i < 2, lambda i, a: (i + 1, a * x), [0, x])[1]
    rows = pb.map_fn(lambda row: row * x, x)
    with pb.Session(engine="numpy") as session:
        found = session.run([y, z, rows, pb.gradients(z, x)[0]])
    assert [a.tolist() for a in found] == [[1.0, 4.0], [1.0, 8.0], [[1.0, 2.0], [2.0, 4.0]], [3.0, 12.0]]
