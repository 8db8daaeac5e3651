"""Rows: powers and roots, exponentials, trigonometric and hyperbolic functions, error functions, rounding, signs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.special as special

import pullback as pb

from ..case import Case, distinct, normal, positive


def _complex(*shape: int, seed: int = 0) -> np.ndarray:
    return normal(*shape, seed=seed) + 1j * (normal(*shape, seed=seed + 1) + 2)


def unary(
    name: str, build: Callable[..., Any], expected: Any, x: Any = normal, complex_too: bool = True, **known: Any
) -> list[Case]:
    cases = [
        Case(name, build, [x(2, 3)], expected, **known),
        Case(f"{name}_scalar", build, [x()], expected, **known),
        Case(f"{name}_empty", build, [x(0, 3)], expected, **known),
    ]
    if complex_too:
        cases.append(Case(f"{name}_complex", build, [_complex(2, 3)], expected, **known))
    return cases


def inside(*shape: int, seed: int = 0) -> np.ndarray:
    """Numbers between -0.9 and 0.9."""
    return np.random.default_rng([seed, *shape]).uniform(-0.9, 0.9, size=shape)


def _above_one(*shape: int) -> np.ndarray:
    return positive(*shape) + 1


def real(name: str, build: Callable[..., Any], expected: Any, x: Any = normal, **known: Any) -> list[Case]:
    return unary(name, build, expected, x, complex_too=False, **known)


CASES = [
    *unary("square", pb.square, np.square),
    *unary("sqrt", pb.sqrt, np.sqrt, positive),
    *unary("rsqrt", pb.math.rsqrt, lambda x: 1 / np.sqrt(x), positive),
    *unary("reciprocal", pb.math.reciprocal, np.reciprocal, positive),
    *unary("exp", pb.exp, np.exp),
    *unary("expm1", pb.math.expm1, np.expm1),
    *unary("log", pb.math.log, np.log, positive),
    *unary("log1p", pb.math.log1p, np.log1p, positive),
    *real("softplus", pb.math.softplus, lambda x: np.logaddexp(x, 0)),
    *unary("sin", pb.sin, np.sin),
    *unary("cos", pb.cos, np.cos),
    *unary("tan", pb.tan, np.tan, inside),
    *unary("asin", pb.asin, np.arcsin, inside),
    *unary("acos", pb.acos, np.arccos, inside),
    *unary("atan", pb.atan, np.arctan),
    *unary("sinh", pb.sinh, np.sinh),
    *unary("cosh", pb.cosh, np.cosh),
    *unary("tanh", pb.tanh, np.tanh),
    *unary("asinh", pb.asinh, np.arcsinh),
    *unary("acosh", pb.acosh, np.arccosh, _above_one),
    *unary("atanh", pb.atanh, np.arctanh, inside),
    Case(
        "softplus_wide", pb.math.softplus, [np.array([-800.0, -40.0, 0.1, 40.0, 800.0])], lambda x: np.logaddexp(x, 0)
    ),
    *[
        Case(f"atan2_{i}", pb.atan2, [y, x], np.arctan2)
        for i, (y, x) in enumerate(
            [(normal(2, 3), normal(3, seed=1)), (normal(), positive(2)), (normal(0, 1), normal(3))]
        )
    ],
    *[
        case
        for name, build, expected in [
            ("xlogy", pb.math.xlogy, special.xlogy),
            ("xlog1py", pb.math.xlog1py, special.xlog1py),
            ("xdivy", pb.math.xdivy, np.divide),
        ]
        for case in [
            Case(name, build, [normal(2, 3), positive(3)], expected),
            Case(f"{name}_scalar", build, [normal(), positive(2, 1)], expected),
            Case(f"{name}_complex", build, [_complex(3), _complex(3, seed=4)], None),
            Case(
                f"{name}_zero",
                build,
                [np.zeros(2), np.array([0.0, 2.0])],
                np.zeros(2),
                wrt=[0],
                not_differentiable="by convention 0 at 0",
            ),
        ]
    ],
    *real("abs", pb.abs, np.abs, distinct),
    *real("sign", pb.sign, np.sign, distinct),
    *real("floor", pb.floor, np.floor, distinct),
    *real("ceil", pb.math.ceil, np.ceil, distinct),
    *real("round", pb.round, np.round, distinct),
    *real("rint", pb.math.rint, np.rint, distinct),
    Case(
        "round_halves",
        pb.round,
        [np.array([-1.5, -0.5, 0.5, 1.5, 2.5])],
        np.array([-2.0, 0.0, 0.0, 2.0, 2.0]),
        not_differentiable="the halves are its edges",
    ),
    Case("round_int", pb.round, [np.array([1, -2])], np.array([1, -2])),
    Case("abs_int", pb.abs, [np.array([-3, 0, 4], np.int8)], np.array([3, 0, 4])),
    Case("square_int", pb.square, [np.array([-3, 200], np.int16)], np.array([9, 40000]).astype(np.int16)),
    Case("sign_int", pb.sign, [np.array([-3, 0, 4])], np.array([-1, 0, 1])),
    Case("sign_uint8", pb.sign, [np.array([0, 4], np.uint8)], np.array([0, 1])),
    Case("sqrt_same_twice", lambda x: pb.sqrt(x) * pb.sqrt(x), [positive(3)], lambda x: x),
    Case("tan_third_order", pb.tan, [inside(3)], third_order=True),
    Case("xlogy_third_order", pb.math.xlogy, [normal(3), positive(3)], third_order=True),
]
