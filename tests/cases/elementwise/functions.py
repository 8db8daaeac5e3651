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


def _unary(
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


def _inside(*shape: int, seed: int = 0) -> np.ndarray:
    """Numbers between -0.9 and 0.9."""
    return np.random.default_rng([seed, *shape]).uniform(-0.9, 0.9, size=shape)


def _unit(*shape: int) -> np.ndarray:
    return (_inside(*shape) + 1) / 2


def _above_one(*shape: int) -> np.ndarray:
    return positive(*shape) + 1


def _real(name: str, build: Callable[..., Any], expected: Any, x: Any = normal, **known: Any) -> list[Case]:
    return _unary(name, build, expected, x, complex_too=False, **known)


WIDE = np.array([-30.0, -6.5, -3.9, -2.0, -0.47, -0.46, -1e-8, 0.0, 1e-8, 0.3, 0.5, 1.1, 3.99, 4.01, 5.5, 27.0])

CASES = [
    *_unary("square", pb.square, np.square),
    *_unary("sqrt", pb.sqrt, np.sqrt, positive),
    *_unary("rsqrt", pb.math.rsqrt, lambda x: 1 / np.sqrt(x), positive),
    *_unary("reciprocal", pb.math.reciprocal, np.reciprocal, positive),
    *_unary("exp", pb.exp, np.exp),
    *_unary("expm1", pb.math.expm1, np.expm1),
    *_unary("log", pb.math.log, np.log, positive),
    *_unary("log1p", pb.math.log1p, np.log1p, positive),
    *_unary("sigmoid", pb.sigmoid, lambda x: 1 / (1 + np.exp(-x))),
    *_real("softplus", pb.math.softplus, lambda x: np.logaddexp(x, 0)),
    *_real("log_sigmoid", pb.math.log_sigmoid, lambda x: -np.logaddexp(-x, 0)),
    *_unary("sin", pb.sin, np.sin),
    *_unary("cos", pb.cos, np.cos),
    *_unary("tan", pb.tan, np.tan, _inside),
    *_unary("asin", pb.asin, np.arcsin, _inside),
    *_unary("acos", pb.acos, np.arccos, _inside),
    *_unary("atan", pb.atan, np.arctan),
    *_unary("sinh", pb.sinh, np.sinh),
    *_unary("cosh", pb.cosh, np.cosh),
    *_unary("tanh", pb.tanh, np.tanh),
    *_unary("asinh", pb.asinh, np.arcsinh),
    *_unary("acosh", pb.acosh, np.arccosh, _above_one),
    *_unary("atanh", pb.atanh, np.arctanh, _inside),
    *_real("erf", pb.math.erf, special.erf),
    *_real("erfc", pb.math.erfc, special.erfc),
    *_real("erfinv", pb.math.erfinv, special.erfinv, _inside),
    *_real("erfcinv", pb.math.erfcinv, special.erfcinv, _unit),
    *_real("ndtri", pb.math.ndtri, special.ndtri, _unit),
    Case("erf_wide", pb.math.erf, [WIDE], special.erf),
    Case("erfc_wide", pb.math.erfc, [WIDE], special.erfc),
    Case(
        "erfinv_wide",
        pb.math.erfinv,
        [np.array([-1.0, -0.999999, -0.86, -0.84, 0.0, 1e-9, 0.5, 0.99, 1.0])],
        special.erfinv,
        not_differentiable="infinite at the ends",
    ),
    Case("sigmoid_wide", pb.sigmoid, [np.array([-800.0, -40.0, 0.0, 40.0, 800.0])], lambda x: special.expit(x)),
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
    *_real("abs", pb.abs, np.abs, distinct),
    *_real("sign", pb.sign, np.sign, distinct),
    *_real("floor", pb.floor, np.floor, distinct),
    *_real("ceil", pb.math.ceil, np.ceil, distinct),
    *_real("round", pb.round, np.round, distinct),
    *_real("rint", pb.math.rint, np.rint, distinct),
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
    Case("tan_third_order", pb.tan, [_inside(3)], third_order=True),
    Case("log_sigmoid_third_order", pb.math.log_sigmoid, [normal(3)], third_order=True),
    Case("xlogy_third_order", pb.math.xlogy, [normal(3), positive(3)], third_order=True),
]
