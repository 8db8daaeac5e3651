"""Rows: comparisons, truth values, bits."""

from __future__ import annotations

import numpy as np

import pullback as pb

from .case import Case, cubed, normal

X = np.array([-2.5, 0.0, 1.0, np.nan, np.inf])
Y = np.array([0.0, 0.0, 2.0, np.nan, np.inf])
A = np.array([True, True, False, False])
B = np.array([True, False, True, False])

COMPARISONS = [
    (pb.equal, np.equal),
    (pb.not_equal, np.not_equal),
    (pb.less, np.less),
    (pb.less_equal, np.less_equal),
    (pb.greater, np.greater),
    (pb.greater_equal, np.greater_equal),
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
    Case("bit_operators", lambda a, b: [a & b, a | b, a ^ b, ~a, 6 & a], [np.array([12, 10]), np.array([6, 3])]),
    Case("cube_of_what_is_greater", cubed(lambda x: x * pb.cast(x > 0.0, x.dtype)), [normal(4)], third_order=True),
]
