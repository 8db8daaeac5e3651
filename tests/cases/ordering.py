"""Rows: positions of extrema, the k largest, sorting."""

from __future__ import annotations

import numpy as np

import pullback as pb

from .case import Case, distinct

X = distinct(3, 5)
TIES = np.array([[1.0, 3.0, 3.0, 0.0], [2.0, 2.0, 2.0, 2.0]])

CASES = [
    Case("argmax", pb.argmax, [X], expected=lambda x: x.argmax(0), wrt=[]),
    Case(
        "argmax_last",
        lambda x: pb.argmax(x, -1, pb.int32),
        [X],
        expected=lambda x: x.argmax(-1).astype(np.int32),
        wrt=[],
    ),
    Case("argmax_ties", lambda x: pb.argmax(x, 1), [TIES], expected=np.array([1, 0]), wrt=[]),
    Case("argmax_nan", pb.argmax, [np.array([1.0, np.nan, 2.0])], expected=np.int64(1), wrt=[]),
    Case("argmin", lambda x: pb.argmin(x, 1), [X], expected=lambda x: x.argmin(1), wrt=[]),
    Case("argmin_int", pb.argmin, [np.array([3, 1, 1])], expected=np.int64(1)),
    Case("top_k", lambda x: list(pb.math.top_k(x, 3)), [X], not_erased_rank="the gradient needs a known rank"),
    Case(
        "top_k_ties",
        lambda x: list(pb.math.top_k(x, 2)),
        [TIES],
        wrt=[],
        expected=[np.array([[3.0, 3.0], [2.0, 2.0]]), np.array([[1, 2], [0, 1]], np.int32)],
    ),
    Case(
        "top_k_nan",
        lambda x: list(pb.math.top_k(x, 2)),
        [np.array([1.0, np.nan, 2.0])],
        wrt=[],
        expected=[np.array([np.nan, 2.0]), np.array([1, 2], np.int32)],
    ),
    Case(
        "top_k_int",
        lambda x: list(pb.math.top_k(x, 2, index_type=pb.int64)),
        [np.array([1, -(2**31), 7], np.int32)],
        expected=[np.array([7, 1], np.int32), np.array([2, 0])],
    ),
    Case("top_k_none", lambda x: pb.math.top_k(x, 0).values, [X], wrt=[], expected=np.zeros((3, 0))),
    Case(
        "in_top_k",
        lambda x: pb.math.in_top_k([0, 1, 2], x, 2),
        [X],
        wrt=[],
        expected=lambda x: (x > x[np.arange(3), np.arange(3)][:, None]).sum(1) < 2,
    ),
    Case("sort", pb.sort, [X], expected=lambda x: np.sort(x), not_erased_rank="sort needs a known rank"),
    Case(
        "sort_descending_axis_0",
        lambda x: pb.sort(x, 0, "DESCENDING"),
        [X],
        expected=lambda x: -np.sort(-x, 0),
        not_erased_rank="sort needs a known rank",
    ),
    Case("argsort", pb.argsort, [X], expected=lambda x: np.argsort(x).astype(np.int32), wrt=[]),
    Case(
        "argsort_ties",
        lambda x: pb.argsort(x, direction="DESCENDING"),
        [TIES],
        wrt=[],
        expected=np.array([[1, 2, 0, 3], [0, 1, 2, 3]], np.int32),
    ),
    Case(
        "argsort_axis_0",
        lambda x: pb.argsort(x, 0, "DESCENDING"),
        [X],
        wrt=[],
        expected=lambda x: np.argsort(-x, 0).astype(np.int32),
    ),
]
