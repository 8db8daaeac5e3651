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


def test_axes_to_roll_along_of_what_has_no_known_rank_must_be_known() -> None:
    x, places = pb.placeholder(pb.float32), pb.placeholder(pb.int32, [None], name="places")
    with pytest.raises(ValueError, match=r"roll: a computed axis needs a tensor of known rank: int32\[\?\] 'places:0'"):
        pb.roll(x, 1, places)
    for f in (pb.reverse, lambda x, axes: pb.roll(x, 1, axes)):
        with pytest.raises(TypeError, match="axis must be integers, not float32"):
            f(pb.zeros([2]), pb.placeholder(pb.float32, []))
        with pytest.raises(ValueError, match=r"a computed axis must be a scalar or a vector, not int32\[\?,\?\]"):
            f(pb.zeros([2]), pb.placeholder(pb.int32, [None, None]))


def test_a_tensor_of_unknown_rank_is_reversed_along_computed_axes() -> None:
    x, axes = pb.placeholder(pb.float32), pb.placeholder(pb.int32, [None])
    y = pb.reverse(x, axes)
    (dx,) = pb.gradients(y, [x], [pb.square(y)])
    session, value = pb.Session(engine="numpy"), np.arange(6.0).reshape(1, 2, 3)
    for given in ([2], [-2, 2], []):
        found, slope = session.run([y, dx], {x: value, axes: given})
        np.testing.assert_array_equal(found, np.flip(value, given))
        np.testing.assert_array_equal(slope, value**2)
    with pytest.raises(pb.errors.InvalidArgumentError, match="reverse: axis is out of range"):
        session.run(y, {x: value, axes: [3]})


@pytest.mark.parametrize("shape", [(2, 3, 1), (2, 2, 3, 1)])
def test_images_are_turned_as_often_as_a_run_says(shape: tuple[int, ...]) -> None:
    k, session = pb.placeholder(pb.int32, []), pb.Session(engine="numpy")
    value = np.arange(np.prod(shape)).reshape(shape)
    y = pb.image.rot90(value, k)
    for turns in (-1, 0, 1, 2, 3, 5):
        np.testing.assert_array_equal(session.run(y, {k: turns}), np.rot90(value, turns, axes=(-3, -2)))
