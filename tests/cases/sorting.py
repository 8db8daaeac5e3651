"""Rows: positions of extrema, the k largest, sorting."""

from __future__ import annotations

from typing import Any

import numpy as np

import pullback as pb

from .case import Case, cubed, distinct, normal

VALUES = distinct(3, 5)
TIES = np.array([[1.0, 3.0, 3.0, 0.0], [2.0, 2.0, 2.0, 2.0]])

PIECES = np.array([[0, 0, 0, 1], [0, 0, 0, 0]], np.int32)


def _two_largest(x: np.ndarray) -> list[np.ndarray]:
    order = np.argsort(-x)[:, :2]
    return [np.take_along_axis(x, order, 1), order.astype(np.int32)]


NANS = np.array([3.0, np.nan, -1.0, np.inf, 2.0, np.nan, -np.inf, 0.5, 7.0])
_ORDER = np.array([6, 2, 7, 4, 0, 8, 3, 1, 5], np.int32)
_BACK = np.array([1, 5, 3, 8, 0, 4, 7, 2, 6], np.int32)


def _of_nans() -> list[Case]:
    """NaN is the largest in all dtypes: NumPy's own order of bfloat16 has it anywhere."""
    cases = []
    for dtype in (pb.bfloat16, pb.float16, pb.float64):

        def case(name: str, f: Any, expected: Any, dtype: Any = dtype) -> None:
            def build(x: pb.Tensor) -> Any:
                y = f(pb.cast(x, dtype))
                return pb.cast(y, x.dtype) if y.dtype == dtype else y

            cases.append(Case(f"{name}_of_nans_{dtype.name}", build, [NANS], expected=expected, wrt=[]))

        case("sort", pb.sort, NANS[_ORDER])
        case("sort_descending", lambda x: pb.sort(x, direction="DESCENDING"), NANS[_BACK])
        case("argsort", pb.argsort, _ORDER)
        case("argsort_descending", lambda x: pb.argsort(x, direction="DESCENDING"), _BACK)
        case("top_k", lambda x: pb.math.top_k(x, 4).values, NANS[_BACK[:4]])
        case("top_k_places", lambda x: pb.math.top_k(x, 4).indices, _BACK[:4])
        case("nth_element", lambda x: pb.math.nth_element(x, 4), np.array(3.0))
        case("nth_largest", lambda x: pb.math.nth_element(x, 1, reverse=True), np.array(np.nan))
        case("searchsorted", lambda x: pb.searchsorted(pb.sort(x), x), np.array([4, 7, 1, 6, 3, 7, 0, 2, 5], np.int32))
        case("argmax", pb.argmax, np.array(1))
        case("argmin", pb.argmin, np.array(1))
    return cases


ROWS = np.array([[1.0, 2.0, 2.0], [0.0, 5.0, 9.0]])

CASES = [
    Case("top_k", lambda x: list(pb.math.top_k(x, 3)), [VALUES]),
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
    Case("top_k_fed", lambda x, k: list(pb.math.top_k(x, k)), [VALUES, np.array(2)]),
    Case("top_k_none", lambda x: pb.math.top_k(x, 0).values, [VALUES], wrt=[], expected=np.zeros((3, 0))),
    Case(
        "in_top_k",
        lambda x: pb.math.in_top_k([0, 1, 2], x, 2),
        [VALUES],
        wrt=[],
        expected=lambda x: (x > x[np.arange(3), np.arange(3)][:, None]).sum(1) < 2,
    ),
    Case("sort", pb.sort, [VALUES], expected=lambda x: np.sort(x)),
    Case(
        "sort_descending_axis_0",
        lambda x: pb.sort(x, 0, "DESCENDING"),
        [VALUES],
        expected=lambda x: -np.sort(-x, 0),
    ),
    Case("argsort", pb.argsort, [VALUES], expected=lambda x: np.argsort(x).astype(np.int32), wrt=[]),
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
        [VALUES],
        wrt=[],
        expected=lambda x: np.argsort(-x, 0).astype(np.int32),
    ),
    Case("sort_scalar_rows", lambda x: pb.sort(x, 1), [distinct(2, 1)], expected=lambda x: x),
    Case("sort_none", pb.sort, [distinct(2, 0)], expected=lambda x: x),
    Case("nth_element", lambda x: pb.math.nth_element(x, 1), [VALUES], expected=lambda x: np.sort(x)[:, 1]),
    Case("nth_element_reverse", lambda x: pb.math.nth_element(x, 0, True), [VALUES], expected=lambda x: x.max(1)),
    Case(
        "nth_element_ties",
        lambda x: pb.gradients(pb.math.nth_element(x, 1), x),
        [TIES],
        wrt=[],
        expected=np.array([[1.0, 0.0, 0.0, 0.0], [0.25] * 4]),
    ),
    Case("approx_max_k", lambda x: list(pb.nn.approx_max_k(x, 2)), [VALUES], expected=_two_largest),
    Case(
        "approx_min_k_axis_0",
        lambda x: list(pb.nn.approx_min_k(x, 2, 0)),
        [VALUES],
        expected=lambda x: [np.sort(x, 0)[:2], np.argsort(x, 0)[:2].astype(np.int32)],
        not_erased_rank="only the last axis needs no rank",
    ),
    Case(
        "isotonic",
        lambda x: list(pb.nn.isotonic_regression(x)),
        [np.array([[3.0, 1.0, 2.0, 0.0], [0.0, 1.0, 5.0, 2.5]])],
        expected=[
            np.array([[3.0, 1.5, 1.5, 0.0], [2.125] * 4]),
            np.array([[0, 1, 1, 2], [0, 0, 0, 0]], np.int32),
        ],
    ),
    Case("isotonic_increasing", lambda x: pb.nn.isotonic_regression(x, decreasing=False)[0], [normal(2, 9)]),
    Case(
        "isotonic_axis_0",
        lambda x: pb.nn.isotonic_regression(x, axis=0)[0],
        [normal(7, 2)],
        not_erased_rank="only the last axis needs no rank",
    ),
    Case("isotonic_ties", lambda x: pb.nn.isotonic_regression(x)[1], [TIES], wrt=[], expected=PIECES),
    Case("isotonic_none", lambda x: pb.nn.isotonic_regression(x)[0], [distinct(2, 0)], expected=lambda x: x),
    Case("cube_of_sort", cubed(pb.sort), [VALUES], third_order=True),
    Case("cube_of_top_k", cubed(lambda x: pb.math.top_k(x, 2)[0]), [VALUES], third_order=True),
    Case(
        "searchsorted",
        lambda s, v: pb.searchsorted(s, v),
        [ROWS, np.array([[2.0], [9.5]])],
        np.array([[1], [3]], np.int32),
        wrt=[],
    ),
    *[
        Case(
            f"searchsorted_{name}",
            pb.searchsorted,
            [np.ones(rows), np.ones(values)],
            np.zeros(values, np.int32),
            wrt=[],
        )
        for name, rows, values in (
            ("nothing", (2, 3), (2, 0)),
            ("in_nothing", (2, 0), (2, 3)),
            ("in_no_row", (0,), (3,)),
        )
    ],
    Case(
        "searchsorted_right",
        lambda s, v: pb.searchsorted(s, v, "right", pb.int64),
        [ROWS[0], np.array([2.0, 0.5])],
        np.array([3, 0]),
        wrt=[],
    ),
    *_of_nans(),
    Case("invert_permutation", pb.math.invert_permutation, [np.array([3, 0, 2, 1])], np.array([1, 3, 2, 0])),
]
