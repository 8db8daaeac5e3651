"""Integers in the order of numbers: what is sorted by them is what NumPy sorts, many or few, equals as they come."""

from __future__ import annotations

import numpy as np
import pytest

import pullback as pb
from pullback.core.dtypes import FLOATING
from pullback.primitives.base.integer_keys import floats_of, keys_of, order_of_keys, stable_order
from pullback.primitives.base.precision import widened

DTYPES = [
    *("float16", "bfloat16", "float32", "float64"),
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
]


def numbers(dtype: str, shape: tuple[int, ...]) -> np.ndarray:
    """Many of them equal, the ends of the dtype, infinities, zeros of either sign and NaN among them."""
    random = np.random.default_rng(0)
    if pb.as_dtype(dtype) in FLOATING:
        least = float(np.finfo(np.float32).smallest_subnormal)
        edges = [np.nan, np.inf, -np.inf, 0.0, -0.0, least, -least, 1.5, -1.5]
        some = random.normal(size=shape).round(1)
        return np.where(random.random(shape) < 0.3, random.choice(edges, shape), some).astype(pb.as_dtype(dtype))
    if dtype == "bool":
        return random.random(shape) < 0.5
    ends = np.iinfo(dtype)
    return random.choice(np.array([ends.min, ends.max, ends.max // 2 + 1, 5, 6], dtype), shape)


@pytest.mark.parametrize("axis", [0, -1])
@pytest.mark.parametrize("dtype", DTYPES)
def test_the_order_of_keys_is_that_of_the_numbers(dtype: str, axis: int) -> None:
    x = numbers(dtype, (60, 70))
    wanted = np.argsort(widened(x), axis=axis, stable=True)
    np.testing.assert_array_equal(order_of_keys(np, x, axis), wanted)
    np.testing.assert_array_equal(stable_order(np, x, axis), wanted)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_floats_come_back_from_their_keys(dtype: str) -> None:
    x = numbers(dtype, (200,))
    assert floats_of(np, keys_of(np, x, has_one_zero=False)).tobytes() == x.tobytes()


@pytest.mark.parametrize("dtype", ["float32", "int64", "string"])
@pytest.mark.parametrize("count", [0, 9, 5000])
def test_many_and_few_equal_elements_are_found_as_they_come(dtype: str, count: int) -> None:
    words = np.array([b"b", b"a", b"", b"c"], object)
    values = words[np.arange(count) % 4] if dtype == "string" else numbers(dtype, (count,))
    x = pb.placeholder(dtype, [None])
    y, places, counts = pb.Session(engine="numpy").run(pb.unique_with_counts(x), {x: values})
    seen: list[object] = []
    for value in values:
        if value not in seen or value != value:
            seen.append(value)
    np.testing.assert_array_equal(y, np.array(seen, y.dtype))
    np.testing.assert_array_equal(y[places], values)
    assert counts.tolist() == np.bincount(places, minlength=len(seen)).tolist()
