"""Rows: sums, differences, products, quotients, remainders, powers; extremes and clipping."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import pullback as pb

from ..case import Case, cubed, distinct, normal, positive
from ..identity.identity import X

NO_BITS = "operators of opset 18 cannot look at the bits of a float"
HALF = "differences of 16-bit numbers say little"
INTS = np.array([7, -7, 7, -7, 5, 0, -5, 1], np.int32)
DIVISORS = np.array([2, 2, -2, -2, 0, 3, 0, -1], np.int32)


def _complex(*shape: int, seed: int = 0) -> np.ndarray:
    return normal(*shape, seed=seed) + 1j * (normal(*shape, seed=seed + 1) + 3)


def _binary(
    name: str, build: Callable[..., Any], expected: Any, a: Any, b: Any, complex_too: bool = True
) -> list[Case]:
    """`build` of equal shapes, of shapes that broadcast either way, of a tensor and itself, of length zero."""
    cases = [
        Case(name, build, [a(2, 3), b(2, 3, seed=1)], expected),
        Case(f"{name}_row", build, [a(2, 3), b(3, seed=1)], expected),
        Case(f"{name}_ones", build, [a(2, 1, 3), b(4, 1, seed=1)], expected),
        Case(f"{name}_scalar", build, [a(), b(2, 3, seed=1)], expected),
        Case(f"{name}_one_by_one", build, [a(1, 3), b(1, 1, seed=1)], expected),
        Case(f"{name}_empty", build, [a(0, 3), b(1, seed=1)], expected),
        Case(f"{name}_with_itself", lambda x: build(x, x), [b(3)], lambda x: expected(x, x)),
    ]
    if complex_too:
        cases.append(Case(f"{name}_complex", build, [_complex(2, 3), _complex(3, seed=2)], expected))
    return cases


def _apart(*shape: int, seed: int = 0) -> np.ndarray:
    """Numbers that are far from their multiples' edges when divided by those of `positive`."""
    return distinct(*shape, seed=seed) + 0.013


def _large_powers(dtype: Any) -> Case:
    """Exponents of more bits than a product of small numbers can have."""
    bits = np.iinfo(dtype).bits
    exponents = [min(n, np.iinfo(dtype).max) for n in (7, 62, 63, 64, 65, 100, 127, 128, 1000, 2**31 - 1, 2**62 + 1)]
    bases = [2, 3, 2, 2, 7, 5, 3, 11, 0, 3, 251]
    expected = [pow(a, n, 2**bits) for a, n in zip(bases, exponents, strict=True)]
    arrays = [np.array(x, np.uint64).astype(dtype) for x in (bases, exponents, expected)]
    return Case(f"pow_of_large_exponents_{np.dtype(dtype)}", pb.pow, arrays[:2], arrays[2])


CASES = [
    *_binary("add", pb.add, np.add, normal, normal),
    *_binary("subtract", pb.subtract, np.subtract, normal, normal),
    *_binary("multiply", pb.multiply, np.multiply, normal, normal),
    *_binary("divide", pb.divide, np.divide, normal, positive),
    *_binary("divide_no_nan", pb.math.divide_no_nan, np.divide, normal, positive),
    *_binary("multiply_no_nan", pb.math.multiply_no_nan, np.multiply, normal, positive),
    *_binary(
        "squared_difference",
        pb.math.squared_difference,
        lambda a, b: np.conj(a - b) * (a - b),
        normal,
        normal,
    ),
    *_binary("pow", pb.pow, np.power, positive, positive),
    *_binary("floormod", pb.math.floormod, np.mod, _apart, positive, complex_too=False)[:-1],
    *_binary("truncatemod", pb.truncatemod, np.fmod, _apart, positive, complex_too=False)[:-1],
    *_binary("maximum", pb.maximum, np.maximum, _apart, distinct, complex_too=False)[:-1],
    *_binary("minimum", pb.minimum, np.minimum, _apart, distinct, complex_too=False)[:-1],
    Case("negative", pb.negative, [normal(2, 3)], np.negative),
    Case("negative_complex", pb.negative, [_complex(3)], np.negative),
    Case("scalar_mul", lambda x: pb.scalar_mul(2.0, x), [normal(3)], lambda x: 2 * x),
    Case(
        "scalar_mul_tensor",
        pb.scalar_mul,
        [normal(), normal(3)],
        np.multiply,
        not_erased_rank="the scalar must be known to be one",
    ),
    Case("reciprocal_no_nan", pb.math.reciprocal_no_nan, [positive(3)], np.reciprocal),
    Case("divide_no_nan_by_zero", pb.math.divide_no_nan, [normal(3), np.zeros(3)], np.zeros(3), wrt=[0]),
    Case(
        "multiply_no_nan_infinite",
        pb.math.multiply_no_nan,
        [np.array([np.inf, 1.0]), np.array([0.0, 2.0])],
        np.array([0.0, 2.0]),
        not_differentiable="infinite by the second",
    ),
    Case("divide_int8", pb.divide, [np.array([7, -7], np.int8), np.array([2, 2], np.int8)], np.array([3.5, -3.5])),
    Case("divide_int32", pb.divide, [INTS[:4], DIVISORS[:4]], INTS[:4] / DIVISORS[:4]),
    Case("floordiv_int", pb.math.floordiv, [INTS, DIVISORS], np.array([3, -4, -4, 3, 0, 0, 0, -1])),
    Case("floormod_int", pb.math.floormod, [INTS, DIVISORS], np.array([1, 1, -1, -1, 0, 0, 0, 0])),
    Case("truncatediv_int", pb.truncatediv, [INTS, DIVISORS], np.array([3, -3, -3, 3, 0, 0, 0, -1])),
    Case("truncatemod_int", pb.truncatemod, [INTS, DIVISORS], np.array([1, -1, 1, -1, 0, 0, 0, 0])),
    *[
        Case(f"{f.__name__}_{dtype}", f, [np.array([7, 250, 3], dtype), np.array([0, 7, 5], dtype)])
        for f in (pb.math.floordiv, pb.math.floormod, pb.truncatediv, pb.truncatemod)
        for dtype in ("uint8", "int64", "uint64")
    ],
    Case("floordiv", pb.math.floordiv, [_apart(2, 3), positive(3)], lambda a, b: np.floor(a / b)),
    Case("truncatediv", pb.truncatediv, [_apart(2, 3), positive(3)], lambda a, b: np.trunc(a / b)),
    Case("floormod_negative", pb.math.floormod, [_apart(2, 3), -positive(3)], np.mod),
    Case("pow_int", pb.pow, [np.array([2, -2, 0, 3, 1]), np.array([3, 3, 0, 0, 9])], np.array([8, -8, 1, 1, 1])),
    Case(
        "pow_int_negative",
        pb.pow,
        [np.array([2, 1, -1, -1, 0]), np.array([-1, -3, -3, -2, -1])],
        np.array([0, 1, -1, 1, 0]),
    ),
    *[_large_powers(dtype) for dtype in (np.int8, np.uint16, np.int32, np.uint32, np.int64, np.uint64)],
    Case("pow_uint8", pb.pow, [np.array([2, 3], np.uint8), np.array([3, 2], np.uint8)], np.array([8, 9])),
    Case("pow_square_of_negative", lambda x: x**2, [normal(4)], np.square),
    Case("pow_cube", lambda x: x**3, [normal(4)], lambda x: x**3),
    Case("pow_of_number", lambda x: 2.0**x, [normal(4)], np.exp2),
    Case("maximum_int", pb.maximum, [INTS, DIVISORS], np.maximum),
    Case("clip", pb.clip_by_value, [distinct(3, 4), np.full((), -0.21), np.full(4, 0.32)], np.clip),
    Case(
        "clip_by_numbers",
        lambda x: pb.clip_by_value(x, -0.21, 0.32),
        [distinct(3, 4)],
        lambda x: np.clip(x, -0.21, 0.32),
    ),
    Case(
        "clip_to_bounds_of_either_order",
        pb.clip_by_value,
        [distinct(6), distinct(6, seed=1) + 0.01, distinct(6, seed=2) + 0.02],
        lambda x, low, high: np.maximum(np.minimum(x, high), low),
    ),
    Case(
        "clip_to_itself_and_less",
        lambda x, high: pb.clip_by_value(x, x, high),
        [distinct(4), distinct(4, seed=1) + 0.01],
        lambda x, high: x,
    ),
    Case("clip_int", lambda x: pb.clip_by_value(x, -2, 3), [INTS], lambda x: np.clip(x, -2, 3)),
    Case(
        "half",
        lambda x: (x * 2.5 + 1) / 3 - x**2,
        [np.array([0.5, -1.25, 3.0], np.float16)],
        not_differentiable=HALF,
        float32_tolerance=2e-3,
    ),
    Case("nextafter", pb.math.nextafter, [normal(2, 3), normal(3, seed=1)], np.nextafter, not_onnx=NO_BITS),
    Case("nextafter_equal", pb.math.nextafter, [normal(2), normal(2)], lambda x, y: x, not_onnx=NO_BITS),
    Case("divide_third_order", pb.divide, [normal(2, 1), positive(3)], third_order=True),
    Case("pow_third_order", pb.pow, [positive(2, 1), normal(3)], third_order=True),
    Case("cube_of_maximum", cubed(pb.maximum), [distinct(4), distinct(4, seed=1)], third_order=True),
    Case("add_n", lambda x, y: pb.add_n([x, y, x]), [X, normal(2, 3, seed=1)], expected=lambda x, y: 2 * x + y),
    Case("add_n_int", lambda x: pb.add_n([x, x]), [np.array([1, 2])], expected=np.array([2, 4])),
    Case("cube_of_add_n", cubed(lambda x, y: pb.add_n([x, pb.identity(y), x])), [X, normal(2, 3)], third_order=True),
]
