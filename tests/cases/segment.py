"""Rows: reductions over segments."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import pullback as pb

from .case import Case, cubed, distinct, normal, positive

IDS = np.array([0, 2, 0, -1, 2])
SORTED = np.array([0, 0, 1, 3, 3])


def _by_segment(fn: object, empty: float, n: int) -> object:
    def reduce(x: np.ndarray, ids: np.ndarray) -> np.ndarray:
        return np.stack(
            [fn(x[ids == i], axis=0) if (ids == i).any() else np.full(x.shape[1:], empty) for i in range(n)]
        )

    return reduce


def _rows(name: str, fn: object, empty: float, x: np.ndarray, sorted_empty: float | None = None) -> list[Case]:
    unsorted = getattr(pb.math, f"unsorted_segment_{name}")
    wrt = None if abs(empty) <= 1 else []
    cases = [
        Case(f"unsorted_{name}", lambda x, i: unsorted(x, i, 4), [x, IDS], expected=_by_segment(fn, empty, 4), wrt=wrt),
        Case(f"unsorted_{name}_without_empty", lambda x, i: pb.gather(unsorted(x, i, 4), [0, 2]), [x, IDS]),
    ]
    if name != "sqrt_n":
        ascending = getattr(pb.math, f"segment_{name}")
        last = empty if sorted_empty is None else sorted_empty
        expected = _by_segment(fn, last, 4)
        cases += [
            Case(name, lambda x: ascending(x, SORTED), [x], expected=lambda x: expected(x, SORTED)),
            Case(f"{name}_fed", lambda x, i: ascending(x, i), [x, SORTED], expected=expected),
        ]
    return cases


def _sqrt_n(x: np.ndarray, axis: int) -> np.ndarray:
    return x.sum(axis) / np.sqrt(len(x))


X, D = normal(5, 2), distinct(5, 2)
ZEROS = positive(5, 1)
ZEROS[0] = ZEROS[1] = ZEROS[4] = 0

ROWS = np.array([3, 0, 3, 1])

SEGMENTS = np.array([0, 0, 1, 3])

CASES = [
    *_rows("sum", np.sum, 0, X),
    *_rows("mean", np.mean, 0, X),
    *_rows("max", np.max, np.finfo(np.float64).min, D, 0),
    *_rows("min", np.min, np.finfo(np.float64).max, D, 0),
    *_rows("prod", np.prod, 1, positive(5, 2)),
    *_rows("sqrt_n", _sqrt_n, 0, X),
    Case(
        "sum_matrix_of_ids",
        lambda x, i: pb.math.unsorted_segment_sum(x, i, 3),
        [normal(2, 2, 3), np.array([[0, 1], [1, 5]])],
    ),
    Case(
        "prod_complex",
        lambda x, i: pb.math.unsorted_segment_prod(x, i, 2),
        [normal(3, 2) + 1j * normal(3, 2, seed=1), np.array([0, 0, 1])],
        expected=lambda x, i: np.stack([x[0] * x[1], x[2]]),
    ),
    Case(
        "mean_int",
        lambda x, i: pb.math.unsorted_segment_mean(x, i, 2),
        [np.array([5, 1, 2]), np.array([0, 1, 0])],
        expected=np.array([3.5, 1.0]),
    ),
    Case(
        "mean_int_sorted",
        lambda x: pb.math.segment_mean(x, [0, 0, 2]),
        [np.array([-5, 2, 7])],
        expected=np.array([-1, 0, 7]),
    ),
    Case("sum_fed_number", pb.math.unsorted_segment_sum, [X, IDS, np.array(3)], wrt=[0]),
    Case(
        "sum_int", lambda x, i: pb.math.unsorted_segment_sum(x, i, 3), [np.arange(5), IDS], expected=np.array([2, 0, 5])
    ),
    Case(
        "sum_empty",
        lambda x, i: pb.math.unsorted_segment_sum(x, i, 2),
        [normal(0, 3), np.zeros(0, np.int32)],
        expected=np.zeros((2, 3)),
    ),
    Case(
        "sum_to_nothing",
        lambda x, i: pb.math.unsorted_segment_sum(x, i, 0),
        [X, IDS],
        expected=np.zeros((0, 2)),
    ),
    Case(
        "prod_with_zeros",
        lambda x, i: pb.math.unsorted_segment_prod(x, i, 3),
        [ZEROS, IDS],
    ),
    Case(
        "prod_with_zeros_third_order",
        lambda x, i: pb.math.unsorted_segment_prod(x, i, 2),
        [np.array([[0.0, 2.0], [3.0, 0.0], [0.5, 0.0], [0.0, 4.0], [1.5, 0.7]]), np.array([1, 0, 1, 1, 0])],
        third_order=True,
    ),
    Case(
        "prod_of_a_matrix_of_numbers",
        lambda x, i: pb.math.unsorted_segment_prod(x, i, 2),
        [np.array([[0.0, 2.0], [3.0, 0.0]]), np.array([[1, 0], [-1, 0]])],
    ),
    Case("cube_of_mean", cubed(lambda x: pb.math.segment_mean(x, SORTED)), [X], third_order=True),
    Case("segment_sum", lambda x: pb.sparse.segment_sum(x, ROWS, SEGMENTS), [normal(4, 2)]),
    Case("segment_sum_of_five", lambda x: pb.sparse.segment_sum(x, ROWS, SEGMENTS, 5), [normal(4, 2)]),
    Case("segment_mean", lambda x: pb.sparse.segment_mean(x, ROWS, SEGMENTS, 5), [normal(4, 2)]),
    Case("segment_sqrt_n", lambda x: pb.sparse.segment_sqrt_n(x, ROWS, SEGMENTS), [normal(4, 2)]),
]

_REAL_PRODUCTS = "ONNX multiplies real numbers only where they come together"
_NAMES_REAL_PRODUCTS = {
    "prod_complex",
}
CASES = [replace(case, not_onnx=_REAL_PRODUCTS) if case.name in _NAMES_REAL_PRODUCTS else case for case in CASES]
