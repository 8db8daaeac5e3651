"""Rows: rows dealt out to parts and put together again."""

from __future__ import annotations

import numpy as np

import pullback as pb

from ..case import Case, normal

CASES: list[Case] = [
    Case(
        "dynamic_partition",
        lambda a: pb.dynamic_partition(a, [1, 0, 1, 1], 2),
        [normal(4, 2)],
        expected=lambda a: [a[[1]], a[[0, 2, 3]]],
    ),
    Case(
        "dynamic_partition_fed",
        lambda a, i: pb.dynamic_partition(a, i, 2),
        [normal(2, 2, 2), np.array([[1, 0], [1, 1]])],
        expected=lambda a, i: [a[i == 0], a[i == 1]],
        not_compiled="how many rows there are depends on values",
    ),
    Case(
        "dynamic_stitch",
        lambda a, b, c: pb.dynamic_stitch([[3, 0], [[1]], 2], [a, b, c]),
        [normal(2, 2), normal(1, 1, 2), normal(2)],
        expected=lambda a, b, c: np.stack([a[1], b[0, 0], c, a[0]]),
        not_erased_rank="the rank of the data must be known",
    ),
    Case(
        "dynamic_stitch_fed",
        lambda a, b, i: pb.dynamic_stitch([i, [1]], [a, b]),
        [normal(2, 2), normal(1, 2), np.array([2, 0])],
        wrt=[0, 1],
        not_erased_rank="the rank of the data must be known",
    ),
    Case(
        "dynamic_stitch_overwritten",
        lambda a, b, i: pb.dynamic_stitch([i, [1, 3]], [a, b]),
        [normal(3, 2), normal(2, 2), np.array([3, 0, 0])],
        expected=lambda a, b, i: np.stack([a[2], b[0], 0 * a[0], b[1]]),
        wrt=[0, 1],
        not_erased_rank="the rank of the data must be known",
    ),
]
