"""Rows: quantisation with derivatives that look through the rounding. Expected values follow the cited formulas."""

from __future__ import annotations

from typing import Any

import numpy as np

import pullback as pb
from pullback.primitives.quantization.straight_through import straight_through

from .case import Case, normal

Q = pb.quantization
THROUGH = "the derivative looks through the rounding, differences do not"
X = np.array([[-3.0, -0.3, 0.2], [0.7, 1.4, 9.0]])
LOW, HIGH = np.array(-1.0), np.array(2.0)
LOWS, HIGHS = np.array([-1.0, -0.5, 0.0]), np.array([1.0, 1.0, 4.0])
WEIGHTS = normal(2, 3)


def _fake(x: np.ndarray, low: Any, high: Any, bits: int, narrow: bool = False) -> np.ndarray:
    first, last = int(narrow), 2**bits - 1
    step = (high - low) / (last - first)
    zero = np.clip(np.floor(first - low / step + 0.5), first, last)
    start, end = (first - zero) * step, (last - zero) * step
    return np.floor((np.clip(x, start, end) - start) / step + 0.5) * step + start


def _signed(x: np.ndarray, low: float, high: float, bits: int) -> np.ndarray:
    scale = min(2 ** (bits - 1) / -low, (2 ** (bits - 1) - 1) / high)
    return np.round(np.clip(x, -(2 ** (bits - 1)) / scale, (2 ** (bits - 1) - 1) / scale) * scale) / scale


def _slopes(f: Any, *xs: Any) -> list[Any]:
    """The gradients of a weighted sum, and of their sum by the weights: these are the masks once more."""
    weights = pb.cast(pb.constant(WEIGHTS), xs[0].dtype)
    first = pb.gradients(f(*xs) * weights, list(xs))
    return [*first, *pb.gradients(first, weights)]


def _masks(x: np.ndarray, low: Any, high: Any, axis: Any = None) -> list[np.ndarray]:
    inside = (x >= low) & (x <= high)
    below, above = np.where(x < low, WEIGHTS, 0).sum(axis), np.where(x > high, WEIGHTS, 0).sum(axis)
    return [WEIGHTS * inside, below, above, np.ones_like(x)]


CASES = [
    Case(
        "fake_quant_args",
        lambda x: Q.fake_quant_with_min_max_args(x, -1.0, 2.0, 3),
        [X],
        lambda x: _fake(x, -1.0, 2.0, 3),
        not_differentiable=THROUGH,
    ),
    Case(
        "fake_quant_narrow",
        lambda x, a, b: Q.fake_quant_with_min_max_vars(x, a, b, 3, True),
        [X, LOW, HIGH],
        lambda x, a, b: _fake(x, a, b, 3, True),
        not_differentiable=THROUGH,
    ),
    Case(
        "fake_quant_channels",
        lambda x, a, b: Q.fake_quant_with_min_max_vars_per_channel(x, a, b, 4),
        [X, LOWS, HIGHS],
        lambda x, a, b: _fake(x, a, b, 4),
        not_differentiable=THROUGH,
    ),
    Case(
        "fake_quant_of_nothing",
        lambda x, a: list(pb.gradients(Q.fake_quant_with_min_max_vars(x, a, a), [x, a])),
        [X, np.array(0.0)],
        [np.ones((2, 3)), np.array(0.0)],
        wrt=[],
    ),
    Case(
        "fake_quant_gradient",
        lambda x, a, b: _slopes(lambda *z: Q.fake_quant_with_min_max_vars(*z, 3), x, a, b),
        [X, LOW, HIGH],
        lambda x, a, b: _masks(x, -3 / 7 * 2, 3 / 7 * 5),
        wrt=[],
    ),
    Case(
        "fake_quant_gradient_channels",
        lambda x, a, b: _slopes(lambda *z: Q.fake_quant_with_min_max_vars_per_channel(*z, 8), x, a, b),
        [X, LOWS, HIGHS],
        lambda x, a, b: _masks(x, a, b, 0),
        wrt=[],
    ),
    Case(
        "quantize",
        lambda x, a, b: Q.quantize_and_dequantize_v2(x, a, b, num_bits=3, range_given=True),
        [X, LOW, HIGH],
        lambda x, a, b: _signed(x, a, b, 3),
        not_differentiable=THROUGH,
    ),
    Case(
        "quantize_own_range",
        lambda x: Q.quantize_and_dequantize_v2(x, 0.0, 0.0, num_bits=4),
        [X],
        lambda x: _signed(x, x.min(), x.max(), 4),
        not_differentiable=THROUGH,
    ),
    Case(
        "quantize_unsigned_channels",
        lambda x: Q.quantize_and_dequantize_v2(x, 0.0, 0.0, False, 3, round_mode="HALF_UP", axis=1),
        [np.abs(X)],
        lambda x: np.floor(x * 7 / x.max(0) + 0.5) * x.max(0) / 7,
        not_differentiable=THROUGH,
        not_erased_rank="with axis= the rank must be known",
    ),
    Case(
        "quantize_gradient",
        lambda x, a, b: _slopes(lambda *z: Q.quantize_and_dequantize_v2(*z, range_given=True), x, a, b),
        [X, LOW, HIGH],
        _masks,
        wrt=[],
    ),
    Case(
        "quantize_gradient_channels",
        lambda x, a, b: _slopes(lambda *z: Q.quantize_and_dequantize_v2(*z, range_given=True, axis=1), x, a, b),
        [X, LOWS, HIGHS],
        lambda x, a, b: _masks(x, a, b, 0),
        wrt=[],
        not_erased_rank="with axis= the rank must be known",
    ),
    Case("straight_through", lambda x, y: straight_through(x, y), [X, normal(2, 3)]),
    Case(
        "quantize_first_form_gradient",
        lambda x: pb.gradients(Q.quantize_and_dequantize(x, -1.0, 2.0, range_given=True), x),
        [X],
        np.ones((2, 3)),
        wrt=[],
    ),
]
