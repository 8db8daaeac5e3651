"""Derivatives of extrema on XLA: what is computed twice, and rounded differently, is the largest all the same."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest

import pullback as pb
from pullback.primitives.reduction.reduce_like import MaxLike, MinLike

EXTREMA: dict[str, Callable[[pb.Tensor], pb.Tensor]] = {
    "reduce_max": lambda h: pb.reduce_max(h, [1, 2]),
    "reduce_min of all": pb.reduce_min,
    "unsorted_segment_max": lambda h: pb.math.unsorted_segment_max(rows(h), np.arange(900) % 5, 5),
    "segment_min": lambda h: pb.math.segment_min(rows(h), np.arange(900) // 300),
    "nth_element": lambda h: pb.math.nth_element(pb.transpose(rows(h)), 3),
    "max_pool": lambda h: pb.nn.max_pool(h, 3, 2, "SAME"),
}


def rows(h: pb.Tensor) -> pb.Tensor:
    """The pixels of all images."""
    return pb.reshape(h, [900, 3])


@pytest.mark.parametrize("name", EXTREMA)
@pytest.mark.parametrize("seed", [0, *[pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2)]])
def test_the_largest_of_sums_of_products_gets_the_derivative(name: str, seed: int) -> None:
    random = np.random.default_rng(seed)
    x = pb.placeholder(pb.float32, [1, 30, 30, 3])
    filters = pb.constant(random.normal(size=[3, 3, 3, 1]), pb.float32)
    h = pb.nn.depthwise_conv2d(x, filters, [1, 1, 1, 1], "SAME") * random.normal(size=3).astype(np.float32) + 0.3
    dx = pb.gradients(EXTREMA[name](h), x)[0]
    feeds = {x: random.normal(size=[1, 30, 30, 3]).astype(np.float32)}
    found, wanted = (pb.Session(engine=engine).run(dx, feeds) for engine in ("xla", "numpy"))
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_equal_extrema_share_and_nan_has_none(engine: str) -> None:
    x = pb.placeholder(pb.float32, [2, 4])
    dx = pb.gradients(pb.reduce_max(x, 1), x)[0]
    ds = pb.gradients(pb.math.segment_max(x, [0, 0]), x)[0]
    at = np.float32([[1, np.inf, np.inf, 0], [np.nan, -np.inf, 2, 0]])
    by_row, by_column = pb.Session(engine=engine).run([dx, ds], {x: at})
    assert by_row[0].tolist() == [0.0, 0.5, 0.5, 0.0]
    assert np.isnan(by_row[1]).all()
    assert by_column.tolist() == [[0.0, 1.0, 1.0, 0.5], [0.0, 0.0, 0.0, 0.5]]


@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_beside_nan_an_element_that_is_chosen_has_its_derivative(engine: str) -> None:
    x = pb.placeholder(pb.float32, [2, 3])
    dx = pb.gradients(pb.math.nth_element(x, 0), x)[0]
    at = np.float32([[np.nan, 1.0, np.inf], [-np.inf, 1.0, np.nan]])
    assert pb.Session(engine=engine).run(dx, {x: at}).tolist() == [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]


@pytest.mark.parametrize("dtype", [pb.float32, pb.bfloat16, pb.float64])
def test_equal_extrema_beside_those_of_nan_share(dtype: pb.DType) -> None:
    x = pb.placeholder(dtype, [3, 4])
    dx = pb.gradients(pb.reduce_max(x, 1), x)[0]
    session = pb.Session(engine="xla")
    shares = [[0.0, 0.5, 0.5, 0.0], [0.25] * 4, [0.0, 0.0, 0.0, 1.0]]
    at = np.array([[1, 3, 3, 0], [2, 2, 2, 2], [-np.inf, 0, 1, np.inf]], dtype)
    assert session.run(dx, {x: at}).astype(float).tolist() == shares
    found = session.run(dx, {x: np.where([[True], [False], [True]], at, np.asarray(np.nan, dtype))}).astype(float)
    assert found[0].tolist() == shares[0]
    assert np.isnan(found[1]).all()
    assert found[2].tolist() == shares[2]


AXES = [((5000,), None), ((300, 50), 0), ((300, 50), 1), ((64, 129), 1), ((20, 50, 7), 1), ((16, 20, 31), [0, 2])]
AXES += [((16, 20, 3, 5), [1, 2, 3]), ((4, 20, 3, 30), None), ((12, 3), -1), ((7, 16), 1), ((0, 5000), 1)]


@pytest.mark.usefixtures("optimized_programs")
@pytest.mark.parametrize(
    ("dtype", "numbers"),
    [
        pytest.param(*both, marks=() if both in [(pb.float32, "nan"), (pb.float64, "equal")] else pytest.mark.slow)
        for both in product([pb.float32, pb.float64, pb.float16, pb.bfloat16], ["nan", "infinite", "equal"])
    ],
)
def test_extrema_are_those_of_numpy_however_many_elements_there_are(dtype: pb.DType, numbers: str) -> None:
    """XLA's library for reductions of many elements loses NaN."""
    random = np.random.default_rng(0)
    fed, fetches = {}, []
    for shape, axis in AXES:
        x = pb.placeholder(dtype, shape)
        given = random.normal(size=shape).round(1 if numbers == "equal" else 9)
        some = random.integers(0, max(given.size, 1), min(given.size, 4))
        given.flat[some] = {"nan": np.nan, "infinite": [np.inf, -np.inf] * 2}.get(numbers, -0.0) if given.size else 0
        fed[x] = given.astype(dtype)
        for reduce, like in ((pb.reduce_max, MaxLike), (pb.reduce_min, MinLike)):
            y = reduce(x, axis, keepdims=True)
            fetches += [y, reduce(x, axis), like()(x, y), *pb.gradients(pb.reduce_sum(y), x)]
    with np.errstate(invalid="ignore"):
        found, wanted = (pb.Session(engine=engine).run(fetches, fed) for engine in ("xla", "numpy"))
    for one, other in zip(found, wanted, strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(np.asarray(one, np.float64), np.asarray(other, np.float64))


@pytest.mark.usefixtures("optimized_programs")
def test_extrema_of_many_small_arrays_are_nan_where_an_element_is() -> None:
    x = pb.placeholder(pb.float32, [600, 10])
    given = np.random.default_rng(0).normal(size=(600, 10)).astype(np.float32)
    given[5, 3] = np.nan
    y = pb.vectorized_map(lambda row: pb.reduce_max(pb.tanh(row)) - pb.reduce_min(row), x)
    found = pb.Session(engine="xla").run(y, {x: given})
    assert np.flatnonzero(np.isnan(found)).tolist() == [5]


@pytest.mark.parametrize("dtype", [pb.int8, pb.uint8])
@pytest.mark.parametrize("function", [pb.reduce_min, pb.reduce_max])
def test_extrema_of_small_integers_that_xla_knows_while_it_compiles(function: Any, dtype: Any) -> None:
    with pb.Graph().as_default():
        x = pb.placeholder(dtype, [4, 8, 5, 130])
        y = function(pb.clip_by_value(x, 3, 3), [1, 2, 3])
        found = pb.Session(engine="xla").run(y, {x: np.ones(x.shape.known, dtype)})
        assert np.array_equal(found, [3, 3, 3, 3])
        nothing = pb.placeholder(dtype, [2, 0])
        feeds = {nothing: np.ones((2, 0), dtype)}
        assert np.array_equal(*[pb.Session(engine=e).run(function(nothing, 1), feeds) for e in ("numpy", "xla")])


ROWS = np.float32([0.0, 1, 2, 3, -0.0, 3, -1, np.inf, 2, -np.inf, np.nan, 5, np.nan, 0, -0.0, 1])


@pytest.mark.parametrize(
    "dtype", [pb.float32, pb.float16, pb.bfloat16, pb.float64, pb.int8, pb.uint8, pb.int32], ids=str
)
@pytest.mark.parametrize("place", [pb.argmax, pb.argmin])
def test_places_of_extrema_are_those_of_the_first_or_of_nan(
    place: Callable[..., pb.Tensor], dtype: np.dtype[Any]
) -> None:
    random = np.random.default_rng(0)
    is_float = dtype not in (pb.int8, pb.uint8, pb.int32)
    x = (random.choice(ROWS, [70, 40, 20]) if is_float else random.integers(0, 100, [70, 40, 20])).astype(dtype)
    x[:, 0] = 0
    x[:, 1, ::2] = np.where(random.random([70, 10]) < 0.5, -0.0, 0.0) if is_float else 1
    xs = pb.placeholder(dtype, x.shape)
    places = [place(xs, axis) for axis in (0, 1, 2)]
    found, wanted = (pb.Session(engine=engine).run(places, {xs: x}) for engine in ("xla", "numpy"))
    for a, b in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(a, b)


def test_places_of_extremes_of_integers() -> None:
    least, most = np.iinfo(np.int32).min, np.iinfo(np.int32).max
    x = np.zeros([3, 5000], np.int32)
    x[0, [7, 9]], x[1, [4, 3]], x[2] = most, least, least
    xs = pb.placeholder(pb.int32, x.shape)
    found = pb.Session(engine="xla").run([pb.argmax(xs, 1), pb.argmin(xs, 1)], {xs: x})
    assert [row.tolist() for row in found] == [[7, 0, 0], [0, 3, 0]]
