"""Rows: operations on the bits of integers."""

from __future__ import annotations

import numpy as np

import pullback as pb

from .case import Case

BITS = {
    "int8": [-128, -1, 0, 100],
    "uint8": [255, 0, 3, 128],
    "int32": [-(2**31), -1, 7, 2**31 - 1],
    "uint64": [2**64 - 1, 0, 1, 2**63],
}

BITWISE = [
    (pb.bitwise.bitwise_and, np.bitwise_and),
    (pb.bitwise.bitwise_or, np.bitwise_or),
    (pb.bitwise.bitwise_xor, np.bitwise_xor),
]

CASES: list[Case] = [
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
]
