"""Rows: counts, histograms, confusion matrices, distinct elements, places in sorted rows."""

from __future__ import annotations

import numpy as np

import pullback as pb

from .case import Case, cubed, normal

N = np.array([1, 1, 3, 0, 7], np.int32)
M = np.array([[0, 2, 2], [1, 6, 5]])


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
        np.array([[1, 0, 1, 0, 0, 0, 0], [0, 1, 0, 0, 0, 1, 1]], np.int32),
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
        "cube_of_bincount_weights", cubed(lambda n, w: pb.math.bincount(n, w, 8, 8)), [N, normal(5)], third_order=True
    ),
]
