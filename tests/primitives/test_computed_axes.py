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


IN_A_LIST: dict[str, Callable[[pb.Tensor, Any], Any]] = {
    "reduce_sum": pb.reduce_sum,
    "reduce_max": pb.reduce_max,
    "reduce_logsumexp": pb.reduce_logsumexp,
    "count_nonzero": pb.math.count_nonzero,
    "reverse": pb.reverse,
    "roll": lambda x, axes: pb.roll(x, [1] * len(axes), axes),
    "l2_normalize": pb.nn.l2_normalize,
    "moments": lambda x, axes: pb.stack(pb.nn.moments(x, axes)),
}
"""What takes a list of axes."""


@pytest.mark.parametrize("engine", ["numpy", "xla"])
@pytest.mark.parametrize("name", IN_A_LIST)
def test_axes_in_a_list_may_be_computed(name: str, engine: str) -> None:
    place, f = pb.placeholder(pb.int32, []), IN_A_LIST[name]
    for given, known in [([place], [1]), ([place, 0], [1, 0]), ((-1, place), (-1, 1))]:
        found, wanted = pb.Session(engine=engine).run(
            [f(pb.constant(VALUE), given), f(pb.constant(VALUE), known)], {place: 1}
        )
        np.testing.assert_allclose(found, wanted, rtol=1e-12)


@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_moments_along_computed_axes(engine: str) -> None:
    x, axes = pb.constant(VALUE), pb.placeholder(pb.int32, [None])
    found = pb.Session(engine=engine).run(pb.nn.moments(x, axes, keepdims=True), {axes: [0, 2]})
    for a, b in zip(found, (VALUE.mean((0, 2), keepdims=True), VALUE.var((0, 2), keepdims=True)), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)
    variances = [pb.nn.moments(x, along)[1] for along in (axes, [0, 2])]
    found, wanted = pb.Session(engine=engine).run([pb.gradients(y * y, x)[0] for y in variances], {axes: [0, 2]})
    np.testing.assert_allclose(found, wanted, rtol=1e-12)


@pytest.mark.parametrize(
    ("build", "said"),
    [
        (lambda x, n: pb.cumsum(x, [n]), "cumsum: axis must be one integer"),
        (lambda x, n: pb.gather(x, [0], axis=[n]), "gather: axis must be one integer"),
        (lambda x, n: pb.split(x, 1, axis=[n]), "split: axis must be one integer"),
        (lambda x, n: pb.math.unsorted_segment_sum(x, [0, 1], [n]), "num_segments must be one integer"),
    ],
)
def test_a_list_of_one_computed_number_is_no_number(build: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        build(pb.constant(VALUE), pb.placeholder(pb.int32, []))


@pytest.mark.parametrize("picked", [[], [2], [2, 2]])
def test_gathering_along_a_computed_axis_keeps_the_rank(picked: list[int]) -> None:
    axis, ids = pb.placeholder(pb.int32, []), pb.zeros(picked, pb.int32)
    y = pb.gather(pb.constant(VALUE), ids, axis=axis)
    assert y.shape.as_list() == [None] * (2 + len(picked))
    for n in (0, 1, 2, -1):
        expected = np.take(VALUE, np.zeros(picked, int), n)
        np.testing.assert_array_equal(pb.Session(engine="numpy").run(y, {axis: n}), expected)
    assert pb.gather(pb.placeholder(pb.float32), ids, axis=axis).shape.rank is None
