"""Elementary functions, with exact values and derivatives by mpmath."""

from __future__ import annotations

import mpmath as mp
import numpy as np

import pullback as pb

from .functions import BOTH, TINY, Array, Function, beside, between, sized


def around(size: float) -> dict[str, Array]:
    return {"ordinary": between(-size, size), "tiny": TINY}


def inverse_root(x: mp.mpf) -> mp.mpf:
    return 1 / mp.sqrt((1 - x) * (1 + x))


PI = float(np.pi)
NEAR_1 = beside(1.0, signs=(-1,))
NEAR_MINUS_1 = beside(-1.0, signs=(1,))
EXTREME = sized(1e-290, 1e300)
LARGE = sized(10.0, 1e15, BOTH)
BY_VALUE = (4.0, 8.0, float("inf"))
"""Second derivatives from the value of the function: `1 - y` has the last places of 1."""

ELEMENTARY = {
    "exp": Function(pb.exp, mp.exp, mp.exp, {**around(5), "large": between(-700, 700)}),
    "expm1": Function(pb.expm1, mp.expm1, mp.exp, {**around(5), "large": between(-700, 700)}),
    "log": Function(
        pb.log,
        mp.log,
        lambda x: 1 / x,
        {"ordinary": sized(1e-3, 1e3), "near 1": beside(1.0), "extreme": EXTREME},
    ),
    "log1p": Function(
        pb.log1p,
        mp.log1p,
        lambda x: 1 / (1 + x),
        {"ordinary": between(-0.9, 5), "tiny": TINY, "near -1": NEAR_MINUS_1, "large": sized(5, 1e300)},
    ),
    "sqrt": Function(pb.sqrt, mp.sqrt, lambda x: 1 / (2 * mp.sqrt(x)), {"ordinary": between(0, 5), "extreme": EXTREME}),
    "rsqrt": Function(
        pb.rsqrt,
        lambda x: 1 / mp.sqrt(x),
        lambda x: -1 / (2 * x * mp.sqrt(x)),
        {"ordinary": between(0, 5), "extreme": sized(1e-190, 1e190)},
    ),
    "sin": Function(pb.sin, mp.sin, mp.cos, {**around(6), "large": LARGE, "near zeros": beside(PI, 100 * PI)}),
    "cos": Function(
        pb.cos, mp.cos, lambda x: -mp.sin(x), {**around(6), "large": LARGE, "near zeros": beside(PI / 2, 99.5 * PI)}
    ),
    "tan": Function(
        pb.tan,
        mp.tan,
        lambda x: 1 / mp.cos(x) ** 2,
        {**around(6), "large": LARGE, "near zeros": beside(PI), "near poles": beside(PI / 2)},
    ),
    "asin": Function(pb.asin, mp.asin, inverse_root, {**around(0.9), "near 1": NEAR_1, "near -1": NEAR_MINUS_1}),
    "acos": Function(
        pb.acos, mp.acos, lambda x: -inverse_root(x), {**around(0.9), "near 1": NEAR_1, "near -1": NEAR_MINUS_1}
    ),
    "atan": Function(pb.atan, mp.atan, lambda x: 1 / (1 + x * x), {**around(3), "large": sized(10, 1e9, BOTH)}),
    "sinh": Function(pb.sinh, mp.sinh, mp.cosh, {**around(3), "large": between(-700, 700)}),
    "cosh": Function(pb.cosh, mp.cosh, mp.sinh, {**around(3), "large": between(-700, 700)}),
    "tanh": Function(
        pb.tanh, mp.tanh, lambda x: 1 / mp.cosh(x) ** 2, {**around(1), "large": between(-8, 8)}, (4.0, 3e5, 3e5)
    ),
    "asinh": Function(
        pb.asinh,
        mp.asinh,
        lambda x: 1 / mp.sqrt(1 + x * x),
        {**around(3), "large": sized(10, 1e150, BOTH)},
        (4.0, 130.0, 130.0),
    ),
    "acosh": Function(
        pb.acosh,
        mp.acosh,
        lambda x: 1 / mp.sqrt((x - 1) * (x + 1)),
        {"ordinary": between(1.1, 4), "large": sized(10, 1e300), "near 1": beside(1.0, signs=(1,))},
    ),
    "atanh": Function(
        pb.atanh,
        mp.atanh,
        lambda x: 1 / ((1 - x) * (1 + x)),
        {**around(0.9), "near 1": NEAR_1, "near -1": NEAR_MINUS_1},
    ),
    "sigmoid": Function(
        pb.sigmoid,
        lambda x: 1 / (1 + mp.exp(-x)),
        lambda x: 1 / (2 + 2 * mp.cosh(x)),
        {**around(2), "left": between(-700, -2)},
        BY_VALUE,
    ),
    "softplus": Function(
        pb.nn.softplus,
        lambda x: mp.log1p(mp.exp(x)),
        lambda x: 1 / (1 + mp.exp(-x)),
        {**around(5), "large": between(-700, 700)},
        BY_VALUE,
    ),
    "log_sigmoid": Function(
        pb.log_sigmoid,
        lambda x: -mp.log1p(mp.exp(-x)),
        lambda x: 1 / (1 + mp.exp(x)),
        {**around(5), "large": between(-700, 700)},
        BY_VALUE,
    ),
}
