"""Rows: counts, histograms, confusion matrices, distinct elements, places in sorted rows."""

from __future__ import annotations

import numpy as np

import pullback as pb

from .case import Case, cubed, normal

N = np.array([1, 1, 3, 0, 7], np.int32)
M = np.array([[0, 2, 2], [1, -1, 5]])

ROWS = np.array([[1.0, 2.0, 2.0], [0.0, 5.0, 9.0]])

CASES = [
    Case("bincount", pb.math.bincount, [N], np.bincount(N).astype(np.int32)),
    Case(
        "bincount_fixed", lambda n: pb.math.bincount(n, minlength=4, maxlength=4), [N], np.array([1, 2, 0, 1], np.int32)
    ),
    Case("bincount_at_least", lambda n: pb.math.bincount(n, minlength=9), [N], lambda n: np.bincount(n, minlength=9)),
    Case("bincount_at_most", lambda n: pb.math.bincount(n, maxlength=3), [N], np.array([1, 2, 0], np.int32)),
    Case("bincount_weights", lambda n, w: pb.math.bincount(n, w, 8, 8), [N, normal(5)], lambda n, w: np.bincount(n, w)),
    Case("bincount_none", pb.math.bincount, [N[:0]], np.zeros(0, np.int32)),
    Case(
        "bincount_rows",
        lambda n: pb.math.bincount(n, minlength=4, maxlength=4, axis=-1),
        [M],
        np.array([[1, 0, 2, 0], [0, 1, 0, 0]], np.int32),
    ),
    Case(
        "bincount_binary",
        lambda n: pb.math.bincount(n, axis=-1, binary_output=True),
        [M],
        np.array([[1, 0, 1, 0, 0, 0], [0, 1, 0, 0, 0, 1]], np.int32),
    ),
    Case("bincount_rows_weights", lambda n, w: pb.math.bincount(n, w, 4, 4, axis=-1), [M, normal(2, 3)]),
    Case(
        "histogram",
        lambda x: pb.histogram_fixed_width(x, [0.0, 5.0], nbins=5),
        [np.array([-1.0, 0.0, 1.5, 2.0, 5.0, 15.0])],
        np.array([2, 1, 1, 0, 2], np.int32),
        wrt=[],
    ),
    Case("confusion", lambda a, b: pb.math.confusion_matrix(a, b, 4), [M[0], M[0][::-1].copy()]),
    Case(
        "confusion_weights",
        lambda a, b, w: pb.math.confusion_matrix(a, b, 3, w, w.dtype),
        [M[0], M[0][::-1].copy(), normal(3)],
    ),
    Case(
        "confusion_open",
        pb.math.confusion_matrix,
        [np.array([0, 1]), np.array([1, 1])],
        np.array([[0, 1], [0, 1]], np.int32),
    ),
    Case(
        "unique",
        lambda x: list(pb.unique(x)),
        [np.array([4.0, 2.0, 4.0, 7.0])],
        [np.array([4.0, 2.0, 7.0]), np.array([0, 1, 0, 2], np.int32)],
        not_differentiable="equal elements move apart",
    ),
    Case("unique_apart", lambda x: pb.unique(x).y, [normal(4)], lambda x: x),
    Case("unique_counts", lambda x: pb.unique_with_counts(x, pb.int64).count, [N], np.array([2, 1, 1, 1])),
    Case(
        "setdiff1d",
        lambda x, y: list(pb.setdiff1d(x, y)),
        [N, np.array([3, 0], np.int32)],
        [np.array([1, 1, 7], np.int32), np.array([0, 1, 4], np.int32)],
    ),
    Case("setdiff1d_floats", lambda x, y: pb.setdiff1d(x, y).out, [normal(4), normal(2, seed=1)], lambda x, y: x),
    Case(
        "searchsorted",
        lambda s, v: pb.searchsorted(s, v),
        [ROWS, np.array([[2.0], [9.5]])],
        np.array([[1], [3]], np.int32),
        wrt=[],
    ),
    Case(
        "searchsorted_right",
        lambda s, v: pb.searchsorted(s, v, "right", pb.int64),
        [ROWS[0], np.array([2.0, 0.5])],
        np.array([3, 0]),
        wrt=[],
    ),
    Case("invert_permutation", pb.math.invert_permutation, [np.array([3, 0, 2, 1])], np.array([1, 3, 2, 0])),
    Case(
        "cube_of_bincount_weights", cubed(lambda n, w: pb.math.bincount(n, w, 8, 8)), [N, normal(5)], third_order=True
    ),
]
