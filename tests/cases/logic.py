"""Rows: comparisons, truth values, bits."""

from __future__ import annotations

import numpy as np

import pullback as pb

from .case import Case, cubed, normal

X = np.array([-2.5, 0.0, 1.0, np.nan, np.inf])
Y = np.array([0.0, 0.0, 2.0, np.nan, np.inf])
A = np.array([True, True, False, False])
B = np.array([True, False, True, False])
BITS = {
    "int8": [-128, -1, 0, 100],
    "uint8": [255, 0, 3, 128],
    "int32": [-(2**31), -1, 7, 2**31 - 1],
    "uint64": [2**64 - 1, 0, 1, 2**63],
}

COMPARISONS = [
    (pb.equal, np.equal),
    (pb.not_equal, np.not_equal),
    (pb.less, np.less),
    (pb.less_equal, np.less_equal),
    (pb.greater, np.greater),
    (pb.greater_equal, np.greater_equal),
]
BITWISE = [
    (pb.bitwise.bitwise_and, np.bitwise_and),
    (pb.bitwise.bitwise_or, np.bitwise_or),
    (pb.bitwise.bitwise_xor, np.bitwise_xor),
]

CASES = [
    *[Case(f.__name__, f, [X, Y], g) for f, g in COMPARISONS],
    *[Case(f"{f.__name__}_broadcast", f, [normal(2, 1), normal(3)], g) for f, g in COMPARISONS],
    *[Case(f"{f.__name__}_int", f, [np.array([1, 2, 3]), np.array([2, 2, 2])], g) for f, g in COMPARISONS],
    *[Case(f"{f.__name__}_empty", f, [np.zeros((0, 2)), np.zeros(2)], g) for f, g in COMPARISONS],
    Case("equal_bool", pb.equal, [A, B], np.equal),
    Case("equal_complex", pb.equal, [np.array([1j, 2.0]), np.array([1j, 2j])], np.array([True, False])),
    Case("is_nan", pb.math.is_nan, [X], np.isnan),
    Case("is_nan_complex", pb.math.is_nan, [np.array([1j, complex(0, np.nan)])], np.isnan),
    Case("is_inf", pb.math.is_inf, [X], np.isinf),
    Case("is_finite", pb.math.is_finite, [X], np.isfinite),
    Case("logical_and", pb.logical_and, [A, B], np.logical_and),
    Case("logical_or", pb.logical_or, [A, B], np.logical_or),
    Case("logical_xor", pb.math.logical_xor, [A, B], np.logical_xor),
    Case("logical_not", pb.logical_not, [A], np.logical_not),
    Case("logical_operators", lambda a, b: [a & b, a | b, a ^ b, ~a, True & a], [A, B]),
    *[
        Case(f"{f.__name__}_{dtype}", f, [np.array(v, dtype), np.array(v[::-1], dtype)], g)
        for f, g in BITWISE
        for dtype, v in BITS.items()
    ],
    *[Case(f"invert_{dtype}", pb.bitwise.invert, [np.array(v, dtype)], np.invert) for dtype, v in BITS.items()],
    *[
        Case(f"{f.__name__}_{dtype}", f, [np.array(v, dtype)[:, None], np.array([0, 1, 7, 8, 31, 33, 64, 100], dtype)])
        for f in (pb.bitwise.left_shift, pb.bitwise.right_shift)
        for dtype, v in BITS.items()
    ],
    Case("left_shift_negative", pb.bitwise.left_shift, [np.array([1, -1]), np.array([-1, -40])], np.array([0, 0])),
    Case("right_shift_negative", pb.bitwise.right_shift, [np.array([1, -1]), np.array([-1, -40])], np.array([0, -1])),
    Case("bit_operators", lambda a, b: [a & b, a | b, a ^ b, ~a, 6 & a], [np.array([12, 10]), np.array([6, 3])]),
    Case("cube_of_what_is_greater", cubed(lambda x: x * pb.cast(x > 0.0, x.dtype)), [normal(4)], third_order=True),
]
