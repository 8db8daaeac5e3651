"""Branches that read variables without a value: an error of the branch that is taken alone, where that can be told."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import pullback as pb

Make = Callable[[pb.Tensor, pb.Variable], pb.Tensor]


def default() -> pb.Tensor:
    return pb.constant([2.0])


def nested(p: pb.Tensor, v: pb.Variable) -> pb.Tensor:
    return pb.cond(pb.constant(True), lambda: pb.cond(p, lambda: v * 3.0, default), default)


def picked(p: pb.Tensor, v: pb.Variable) -> pb.Tensor:
    return pb.switch_case(pb.where(p, 1, 0), [default, lambda: v * 3.0, lambda: v * 4.0])


ENGINES = pytest.mark.parametrize("engine", ["numpy", "xla"])
MAKERS: list[Make] = [
    lambda p, v: pb.cond(p, lambda: v * 3.0, default),
    lambda p, v: pb.cond(p, lambda: v * 3.0, default) + pb.cond(p, lambda: v * 0.0, lambda: pb.constant([0.0])),
    nested,
    picked,
]


@pytest.mark.parametrize("make", MAKERS, ids=["alone", "twice", "nested", "switch_case"])
def test_only_the_branch_that_is_taken_reads(make: Make) -> None:
    p, v = pb.placeholder(pb.bool, []), pb.Variable([5.0], name="v")
    y = make(p, v)
    session = pb.Session(engine="numpy")
    assert session.run(y, {p: False}) == [2.0]
    with pytest.raises(pb.errors.FailedPreconditionError, match="Attempting to use uninitialized value 'v'"):
        session.run(y, {p: True})
    session.run(v.initializer)
    assert session.run(y, {p: True}) == [15.0]


@ENGINES
def test_a_default_for_a_variable_without_a_value(engine: str) -> None:
    v = pb.Variable([5.0])
    y = pb.cond(pb.is_variable_initialized(v), lambda: pb.identity(v), default)
    session = pb.Session(engine=engine)
    assert session.run(y) == [2.0]
    session.run(v.initializer)
    assert session.run(y) == [5.0]


def test_a_branch_returns_the_variable_itself() -> None:
    p, v = pb.placeholder(pb.bool, []), pb.Variable([5.0], name="v")
    y = pb.cond(p, v.read_value, default)
    session = pb.Session(engine="numpy")
    assert session.run(y, {p: False}) == [2.0]
    with pytest.raises(pb.errors.FailedPreconditionError, match="uninitialized value 'v'"):
        session.run(y, {p: True})


@ENGINES
def test_a_run_that_looks_for_what_is_not_finite_passes_it_by(engine: str) -> None:
    v = pb.Variable([5.0])
    y = pb.cond(pb.is_variable_initialized(v), lambda: v * 3.0, default)
    assert pb.Session(engine=engine, check_numerics=True).run(y) == [2.0]


@ENGINES
def test_a_branch_that_is_known_to_be_taken_needs_its_values(engine: str) -> None:
    v = pb.Variable([5.0], name="v")
    with pytest.raises(pb.errors.FailedPreconditionError, match="uninitialized value 'v'"):
        pb.Session(engine=engine).run(pb.cond(pb.constant(True), lambda: v * 3.0, default))


def test_xla_needs_the_values_of_all_branches_that_a_run_may_take() -> None:
    p, v = pb.placeholder(pb.bool, []), pb.Variable([5.0], name="v")
    y = pb.cond(p, lambda: v * 3.0, default)
    session = pb.Session(engine="xla")
    with pytest.raises(pb.errors.FailedPreconditionError, match="uninitialized value 'v'"):
        session.run(y, {p: False})
    session.run(v.initializer)
    assert session.run(y, {p: True}) == [15.0]


def test_what_is_read_elsewhere_too_needs_a_value() -> None:
    p, v = pb.placeholder(pb.bool, []), pb.Variable([5.0], name="v")
    read = v.read_value()
    y = pb.cond(p, lambda: read * 3.0, default)
    session = pb.Session(engine="numpy")
    for fetches in ([y, read], [y, read + 1.0], pb.cond(v[0] > 0.0, default, default)):
        with pytest.raises(pb.errors.FailedPreconditionError, match="uninitialized value 'v'"):
            session.run(fetches, {p: False})


def test_derivatives_through_the_branch_that_is_taken() -> None:
    p, v = pb.placeholder(pb.bool, []), pb.Variable([5.0])
    y = pb.cond(p, lambda: v * v, default)
    (dv,) = pb.gradients(y, [v])
    session = pb.Session(engine="numpy")
    session.run(v.initializer)
    np.testing.assert_array_equal([session.run(dv, {p: q}) for q in (True, False)], [[10.0], [0.0]])
