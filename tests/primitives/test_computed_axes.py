"""Axes that a run computes: of running sums, of what is turned round or rolled, and of a new axis."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pullback as pb

VALUE = np.random.default_rng(0).uniform(0.5, 1.5, (2, 3, 4))
ONE = {
    "cumsum": lambda x, axis: pb.cumsum(x, axis, exclusive=True),
    "cumprod": lambda x, axis: pb.math.cumprod(x, axis, reverse=True),
    "cumulative_logsumexp": pb.math.cumulative_logsumexp,
    "expand_dims": pb.expand_dims,
    "reverse": lambda x, axis: pb.reverse(x, axis if isinstance(axis, pb.Tensor) else [axis]),
    "roll": lambda x, axis: pb.roll(x, 3, axis),
}
"""What works along one axis."""
SEVERAL = {
    "reverse": (lambda x, axes: pb.reverse(x, axes), [2, -3]),
    "roll": (lambda x, axes: pb.roll(x, [1, 2, 1], axes), [0, -1, 2]),
}
"""What works along several, and some."""


def as_when_known(f: Callable[[pb.Tensor, Any], pb.Tensor], axis: Any, engine: str) -> None:
    """Values and two derivatives along a computed axis are those along an axis that is known before."""
    x, place = pb.placeholder(pb.float64, [None, None, None]), pb.placeholder(pb.int64, np.shape(axis))
    fetches = []
    for along in (place, axis):
        y = f(x, along)
        dx = pb.gradients(y * y * y, x)[0]
        fetches.append([y, dx, pb.gradients(dx, x)[0]])
    found, wanted = pb.Session(engine=engine).run(fetches, {x: VALUE, place: axis})
    for a, b in zip(found, wanted, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)


@pytest.mark.parametrize("axis", [0, 2, -1])
@pytest.mark.parametrize("name", ONE)
def test_one_axis(name: str, axis: int) -> None:
    as_when_known(ONE[name], axis, "numpy")


@pytest.mark.parametrize("name", ONE)
def test_one_axis_on_xla(name: str) -> None:
    as_when_known(ONE[name], 1, "xla")


@pytest.mark.parametrize("engine", ["numpy", "xla"])
@pytest.mark.parametrize("name", SEVERAL)
def test_several_axes(name: str, engine: str) -> None:
    as_when_known(*SEVERAL[name], engine)


@pytest.mark.parametrize("engine", ["numpy", "xla"])
@pytest.mark.parametrize("name", ONE)
def test_an_axis_that_is_not_there_fails_in_the_run(name: str, engine: str) -> None:
    place = pb.placeholder(pb.int32, [])
    y = ONE[name](pb.zeros([2, 3]), place)
    for axis in (3, -4):
        with pytest.raises(pb.errors.InvalidArgumentError, match="(?i)" + name.replace("_", "_?")):
            pb.Session(engine=engine).run(y, {place: axis})


@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_an_axis_is_turned_round_once(engine: str) -> None:
    places = pb.placeholder(pb.int32, [None])
    y = pb.reverse(pb.zeros([2, 3]), places)
    with pytest.raises(pb.errors.InvalidArgumentError, match="reverse: an axis stands twice"):
        pb.Session(engine=engine).run(y, {places: [1, -1]})


def test_shifts_are_as_many_as_axes() -> None:
    places = pb.placeholder(pb.int32, [None])
    y = pb.roll(pb.zeros([2, 3]), [1, 2], places)
    with pytest.raises(pb.errors.InvalidArgumentError, match="roll: shift and axis must have the same size"):
        pb.Session(engine="numpy").run(y, {places: [1]})


@pytest.mark.parametrize("f", [pb.reverse, lambda x, axes: pb.roll(x, 1, axes)], ids=["reverse", "roll"])
def test_axes_of_what_has_no_known_rank_must_be_known(f: Callable[..., Any]) -> None:
    x, places = pb.placeholder(pb.float32), pb.placeholder(pb.int32, [None], name="places")
    text = r"a computed axis must be a scalar or a vector, of a tensor of known rank: int32\[\?\] 'places:0'"
    with pytest.raises(ValueError, match=text):
        f(x, places)
    with pytest.raises(TypeError, match="axis must be integers, not float32"):
        f(pb.zeros([2]), pb.placeholder(pb.float32, []))
