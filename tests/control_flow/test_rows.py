"""Derivatives inside maps and folds by what stands around them: rows hand on what they receive."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pullback as pb

ENGINES = pytest.mark.parametrize("engine", ["numpy", "xla"])
DATA = np.array([[3.0, 4.0], [5.0, 6.0], [7.0, 8.0]], "f")
BY_V = 2.0 * DATA * np.array([1.0, 2.0], "f")
"""The derivatives of the rows of `losses` by its argument [1, 2]."""


def losses(v: pb.Tensor) -> pb.Tensor:
    return pb.reduce_sum(DATA * v * v, 1)


def by(y: pb.Tensor, x: pb.Tensor) -> pb.Tensor:
    return pb.convert_to_tensor(pb.gradients(y, x)[0])


MADE: dict[str, tuple[Callable[[pb.Tensor], Any], Any]] = {
    "vectorized_map": (lambda v: pb.vectorized_map(lambda y: by(y, v), losses(v)), BY_V),
    "map_fn": (lambda v: pb.map_fn(lambda y: by(y, v), losses(v)), BY_V),
    "rows of two": (
        lambda v: pb.map_fn(lambda ys: by(ys[0] * pb.reduce_sum(ys[1]), v), (losses(v), DATA * v), dtype=pb.float32),
        BY_V * (DATA @ [[1.0], [2.0]]) + DATA * (DATA @ [[1.0], [4.0]]),
    ),
    "scan": (lambda v: pb.scan(lambda a, y: a + by(y, v), losses(v), pb.zeros([2])), BY_V.cumsum(0)),
    "scan in reverse": (
        lambda v: pb.scan(lambda a, y: a + by(y, v), losses(v), pb.zeros([2]), reverse=True),
        BY_V[::-1].cumsum(0)[::-1],
    ),
    "foldl": (lambda v: pb.foldl(lambda a, y: a / 2.0 + by(y, v), losses(v), pb.zeros([2])), BY_V.T @ [0.25, 0.5, 1.0]),
    "foldr": (lambda v: pb.foldr(lambda a, y: a / 2.0 + by(y, v), losses(v), pb.zeros([2])), BY_V.T @ [1.0, 0.5, 0.25]),
    "a branch in a map": (
        lambda v: pb.map_fn(lambda y: pb.cond(y > 20.0, lambda: by(y, v), lambda: pb.zeros([2])), losses(v)),
        BY_V * [[0.0], [1.0], [1.0]],
    ),
    "a map in a map": (
        lambda v: pb.map_fn(lambda row: pb.map_fn(lambda y: by(y, v)[0], row), DATA * v),
        DATA * [[1.0, 0.0]],
    ),
    "a map of what a map is given": (
        lambda v: pb.map_fn(lambda row: by(pb.reduce_sum(pb.map_fn(lambda y: by(y * y, row), row)), v), DATA * v),
        2.0 * DATA,
    ),
}


@ENGINES
@pytest.mark.parametrize("name", MADE)
def test_a_derivative_in_a_body_goes_on_from_its_row_to_what_the_rows_were_made_of(name: str, engine: str) -> None:
    make, expected = MADE[name]
    v = pb.constant([1.0, 2.0])
    np.testing.assert_allclose(pb.Session(engine=engine).run(make(v)), expected, rtol=1e-5)


@ENGINES
def test_the_derivative_by_all_rows_is_zero_elsewhere(engine: str) -> None:
    ys = pb.constant([1.0, 2.0, 3.0])
    found = pb.vectorized_map(lambda y: by(y * y, ys), ys)
    assert pb.Session(engine=engine).run(found).tolist() == [[2.0, 0.0, 0.0], [0.0, 4.0, 0.0], [0.0, 0.0, 6.0]]


@ENGINES
def test_such_derivatives_are_differentiated(engine: str) -> None:
    v = pb.constant([1.0, 2.0])
    found = pb.gradients(pb.vectorized_map(lambda y: by(y, v), losses(v)), v)[0]
    assert pb.Session(engine=engine).run(found).tolist() == [30.0, 36.0]


def test_rows_of_a_number_that_only_a_run_knows() -> None:
    x, v = pb.placeholder(pb.float32, [None, 2]), pb.constant([1.0, 2.0])
    found = pb.vectorized_map(lambda y: by(y, v), pb.reduce_sum(x * v * v, 1))
    np.testing.assert_allclose(pb.Session().run(found, {x: DATA}), BY_V)


def test_rows_that_nothing_is_differentiated_by_cost_nothing() -> None:
    op = pb.map_fn(lambda y: by(y * y, y), pb.zeros([3])).op
    assert [x.op.type for x in op.inputs] == ["Const", "Const"]
    assert [x.name for x in op.primitive.functions[0].parameters] == ["row:0"]


def test_a_row_that_is_held_constant_hands_on_nothing() -> None:
    v = pb.constant([1.0, 2.0])
    found: list[Any] = []

    def row(y: pb.Tensor) -> pb.Tensor:
        found.extend(pb.gradients(pb.stop_gradient(y) * 2.0, v))
        found.extend(pb.gradients(y * 2.0, v, stop_gradients=[y]))
        return y

    pb.map_fn(row, losses(v))
    assert found == [None, None]
