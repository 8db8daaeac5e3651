"""Rows: distinct elements, and differences of sets."""

from __future__ import annotations

import numpy as np

import pullback as pb
from pullback.primitives.sets.unique_along import UniqueAlong

from .case import Case, normal
from .counting import N

NANS = np.array([3.0, np.nan, -1.0, np.inf, 2.0, np.nan, -np.inf, 0.5, 3.0, 7.0, np.inf])

CASES: list[Case] = [
    Case(
        "unique_along",
        lambda: list(UniqueAlong(0)(pb.constant([[2, 1], [0, 5], [2, 1]]))),
        expected=[np.array([1, 0]), np.array([1, 0, 1]), np.array([1, 2])],
    ),
    Case(
        "unique_in_order",
        lambda: list(UniqueAlong(None, False)(pb.constant([[2, 1], [0, 2]]))),
        expected=[np.array([0, 1, 2]), np.array([0, 1, 2, 0]), np.array([2, 1, 1])],
    ),
    Case(
        "unique",
        lambda x: list(pb.unique(x)),
        [np.array([4.0, 2.0, 4.0, 7.0])],
        [np.array([4.0, 2.0, 7.0]), np.array([0, 1, 0, 2], np.int32)],
        not_differentiable="equal elements move apart",
    ),
    Case(
        "unique_of_nans",
        lambda: list(pb.unique_with_counts(pb.constant(NANS, pb.bfloat16))[1:]),
        expected=[
            np.array([0, 1, 2, 3, 4, 5, 6, 7, 0, 8, 3], np.int32),
            np.array([2, 1, 1, 2, 1, 1, 1, 1, 1], np.int32),
        ],
    ),
    Case(
        "setdiff1d_of_nans",
        lambda: pb.setdiff1d(pb.constant(NANS, pb.bfloat16), pb.constant(NANS[2:5], pb.bfloat16)).idx,
        expected=np.array([0, 1, 5, 6, 7, 8, 9], np.int32),
    ),
    Case(
        "unique_apart",
        lambda x: pb.unique(x).y,
        [normal(4)],
        lambda x: x,
        other_at_hard_points={"onnxruntime": "one NaN is another than the next"},
    ),
    Case("unique_counts", lambda x: pb.unique_with_counts(x, pb.int64).count, [N], np.array([2, 1, 1, 1])),
    Case(
        "setdiff1d",
        lambda x, y: list(pb.setdiff1d(x, y)),
        [N, np.array([3, 0], np.int32)],
        [np.array([1, 1, 7], np.int32), np.array([0, 1, 4], np.int32)],
    ),
    Case("setdiff1d_floats", lambda x, y: pb.setdiff1d(x, y).out, [normal(4), normal(2, seed=1)], lambda x, y: x),
]
