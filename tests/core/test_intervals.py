"""Interval analysis holds on the operations of the case table, and where functions have poles."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from pullback.core import intervals
from pullback.core.intervals import ANY, FINITE, MOST, ORIGIN, Interval
from pullback.core.primitive import Primitive
from pullback.core.traits import SINGULAR
from tests.traits_probe import Sample, samples

NOT_SINGULAR = {
    "StandardizeGrad": "its variance is not below 0",
    "TieShares": "its second input is an extremum of the first",
    "TieSharesLike": "its second input is an extremum of the first",
    "QuantizeAndDequantize": "its bounds are in order",
    "StatelessRandomGammaV3": "its parameters are above 0",
}
NOT_BOUNDED = {
    "CtcAlignments": "-inf stands for what cannot be reached, and its derivative is made for that",
    "SparseSoftmaxCrossEntropyWithLogits": "a label that is no class gives NaN",
    "UnsortedSegmentMax": "the largest of no elements is -inf",
    "UnsortedSegmentMin": "the smallest of no elements is inf",
}
ENDS = [-math.inf, -3.0, -1.0, 0.0, 0.5, 2.0, math.inf]
FUNCTIONS: dict[str, tuple[Callable[..., Interval], Callable[..., Any]]] = {
    "add": (intervals.add, np.add),
    "multiply": (intervals.multiply, np.multiply),
    "maximum": (intervals.maximum, np.maximum),
    "minimum": (intervals.minimum, np.minimum),
    "negative": (intervals.negative, np.negative),
    "reciprocal": (intervals.reciprocal, np.reciprocal),
    "square": (intervals.square, np.square),
    "absolute": (intervals.absolute, np.abs),
    "log": (intervals.log, np.log),
    "exp": (intervals.exp, np.exp),
}


def inside(x: Interval) -> np.ndarray[Any, Any]:
    """Some numbers of an interval, its ends among them."""
    points = [-7.0, -2.5, -1.0, -0.25, 0.0, 0.25, 1.0, 1.5, 7.0]
    return np.array([x.low, *[p for p in points if x.low < p < x.high], x.high])


def holds(bounds: Interval, values: Any) -> bool:
    """Whether all `values` are in `bounds`, which stand for any finite number where they are the largest ones."""
    nan = np.isnan(values)
    rest = values[~nan].astype(np.float64)
    slack = 99 * np.finfo(values.dtype).eps * np.abs(rest[np.isfinite(rest)]).max(initial=1.0)
    return bool((bounds.nan or not nan.any()) and np.all((rest >= bounds.low - slack) & (rest <= bounds.high + slack)))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_what_a_function_gives_is_in_its_interval(name: str) -> None:
    bounds, function = FUNCTIONS[name]
    some = [Interval(a, b) for a in ENDS for b in ENDS if a <= b]
    with np.errstate(all="ignore"):
        for x in some:
            if function.nin == 1:  # type: ignore[attr-defined]
                assert holds(bounds(x), function(inside(x))), x
            for y in some if function.nin == 2 else []:  # type: ignore[attr-defined]
                assert holds(bounds(x, y), function(inside(x)[:, None], inside(y)).ravel()), (x, y)


def test_finite_numbers_make_finite_numbers_of_any_size() -> None:
    assert intervals.add(FINITE, FINITE) == FINITE
    assert intervals.multiply(FINITE, FINITE) == FINITE
    assert intervals.total(Interval(0.0, 1.0)) == Interval(0.0, MOST)


def test_a_number_that_is_added_keeps_a_root_from_zero() -> None:
    variance = intervals.add(intervals.square(FINITE), Interval(1e-5, 1e-5))
    assert intervals.reciprocal(intervals.rising(math.sqrt, variance, 0.0)).finite
    assert not intervals.reciprocal(intervals.square(FINITE)).finite


def test_zero_times_what_may_be_infinite_may_be_nan() -> None:
    assert intervals.multiply(ORIGIN, ANY).nan
    assert intervals.multiply(ORIGIN, FINITE) == ORIGIN


@pytest.fixture(scope="module")
def operations() -> dict[type[Primitive], list[Sample]]:
    return samples()


def test_results_are_in_the_intervals_that_operations_give(operations: Any) -> None:
    bounded = [some for cls, some in operations.items() if cls.__name__ not in NOT_BOUNDED]
    for some in bounded:
        for sample in some:
            if all(x.dtype.kind in "biuf" and x.size for x in sample.arrays):
                bounds = sample.primitive.bounds(*[intervals.of_array(x) for x in sample.arrays])
                for i, y in enumerate(sample.run()):
                    own = bounds if isinstance(bounds, Interval) else bounds[i]
                    assert y.dtype.kind != "f" or holds(own, y), f"{sample.primitive} of {sample.row}: {own}"


def test_what_gives_infinity_or_nan_for_finite_numbers_says_so(operations: Any) -> None:
    for cls, some in operations.items():
        if SINGULAR not in cls.traits and cls.__name__ not in NOT_SINGULAR:
            for sample in some[:6]:
                assert not _singular(sample), f"{cls.__name__} of {sample.row} is singular"


def _singular(sample: Sample) -> bool:
    if not _finite(sample.run()):
        return False
    for i in sample.floats():
        for number in (0.0, 1.0, -1.0, 2.0, -2.5, 50.0):
            try:
                values = sample.run(sample.with_inputs({i: np.full_like(sample.arrays[i], number)}))
            except (ValueError, RuntimeError, IndexError):
                continue
            if not _finite(values):
                return True
    return False


def _finite(values: Any) -> bool:
    return all(y.dtype.kind not in "fc" or bool(np.isfinite(y).all()) for y in values)
