"""Rows: conversions between dtypes."""

from __future__ import annotations

import numpy as np

import pullback as pb
from pullback.primitives.casting.bitcast import bitcast

from .case import Case, cubed, normal

HALF = "differences of 16-bit numbers say little"
WIDE = "the numbers are float64"
INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
HARD = np.array(
    [
        -np.inf, -1e30, -(2.0**63), -(2.0**31) - 1, -129.0, -1.5, -0.5, 0.0, 0.5, 1.5, 127.0, 255.5, 65535.0,
        2.0**31 - 1, 2.0**31, 2.0**32, 2.0**53 + 2, 2.0**63, 2.0**63 - 1024, 2.0**64, 2.0**64 - 2048, 1e30, np.inf,
        np.nan,
    ]
)  # fmt: skip
SHORT = np.array([-np.inf, -200, -1.5, 1.5, 300, 65504, np.nan], np.float16)


def saturated(dtype):
    """What `cast` makes of HARD, in Python's exact numbers."""
    limits = np.iinfo(dtype)
    inside = [0 if np.isnan(x) else limits.max if x == np.inf else limits.min if x == -np.inf else int(x) for x in HARD]
    return np.array([min(max(x, limits.min), limits.max) for x in inside], dtype)


LONG = np.array([-(2**63), -1, 0, 300, 2**40, 2**63 - 1])


def clipped(dtype):
    """What `saturate_cast` makes of LONG."""
    limits = np.iinfo(dtype)
    return np.array([min(max(int(x), limits.min), limits.max) for x in LONG], dtype)


CASES = [
    *[Case(f"float64_to_{d}", lambda x, d=d: pb.cast(x, d), [HARD], saturated(d), not_float32=WIDE) for d in INTEGERS],
    *[Case(f"float32_to_{d}", lambda x, d=d: pb.cast(x, d), [HARD.astype(np.float32)]) for d in INTEGERS],
    *[
        Case(
            f"float16_to_{d}",
            lambda x, d=d: pb.cast(x, d),
            [SHORT],
        )
        for d in INTEGERS
    ],
    *[Case(f"int64_to_{d}", lambda x, d=d: pb.cast(x, d), [LONG]) for d in INTEGERS],
    *[Case(f"saturate_int64_to_{d}", lambda x, d=d: pb.saturate_cast(x, d), [LONG], clipped(d)) for d in INTEGERS],
    *[
        Case(f"saturate_float64_to_{d}", lambda x, d=d: pb.saturate_cast(x, d), [HARD], saturated(d), not_float32=WIDE)
        for d in INTEGERS
    ],
    Case(
        "saturate_float16",
        lambda x: pb.saturate_cast(x, pb.float16),
        [np.array([-1e6, 1.5, 1e6])],
        np.array([-65504, 1.5, 65504]),
        not_differentiable=HALF,
        float32_tolerance=2e-3,
    ),
    Case(
        "saturate_int_to_float16",
        lambda x: pb.saturate_cast(x, pb.float16),
        [np.array([-100000, 7])],
        np.array([-65504, 7]),
    ),
    Case("saturate_nothing", lambda x: pb.saturate_cast(x, pb.float64), [normal(3)], lambda x: x),
    Case(
        "to_bfloat16",
        lambda x: pb.cast(x, pb.bfloat16),
        [np.array([1.5, -2.25, np.nan])],
        not_differentiable=HALF,
        float32_tolerance=2e-3,
    ),
    Case("bool_to_float", lambda x: pb.cast(x, pb.float32), [np.array([True, False])], np.array([1.0, 0.0])),
    Case(
        "float_to_bool",
        lambda x: pb.cast(x, pb.bool),
        [np.array([0.0, -0.0, 0.1, np.nan])],
        np.array([False, False, True, True]),
    ),
    Case(
        "complex_to_float", lambda x: pb.cast(x, pb.float64), [normal(3) + 1j], np.real, not_float32="it says float64"
    ),
    Case("complex_to_int", lambda x: pb.cast(x, pb.int32), [np.array([2.5 + 1j, -3j])], np.array([2, 0])),
    Case("float_to_complex", lambda x: pb.cast(x, pb.complex128), [normal(3)], lambda x: x + 0j),
    Case("wider_and_back", lambda x: pb.cast(pb.cast(x, pb.complex128) * 2, x.dtype), [normal(2, 3)], lambda x: 2 * x),
    Case("same", lambda x: pb.cast(x, x.dtype), [normal(3)], lambda x: x),
    Case(
        "cube_of_a_cast",
        cubed(lambda x: pb.cast(pb.cast(x, pb.complex128), x.dtype)),
        [normal(3)],
        third_order=True,
    ),
    Case(
        "bitcast", lambda x: bitcast(x, pb.int32), [np.array([1, 2**31], np.uint32)], np.array([1, -(2**31)], np.int32)
    ),
    Case("bitcast_bool", lambda x: bitcast(x, pb.uint8), [np.array([True, False])], np.array([1, 0], np.uint8)),
]
