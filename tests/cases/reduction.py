"""Rows: sums, means, products, extrema and norms along axes; running sums and products."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import pullback as pb
from pullback.primitives.reduction.reduce_like import MaxLike, MinLike, ProdLike, ShapeOnly

from .case import Case, cubed, distinct, normal, positive
from .sorting import TIES, VALUES

X = normal(2, 3, 4)
AXES = [None, 0, -1, [0, 2], [1, 0], [], [0, 1, 2]]
_ALONG_AXES = {"onnx": "it is read as a product along axes"}
_FED = "transposing by an order that a run computes: the order of axes is an attribute"


def _complex(*shape: int) -> np.ndarray:
    return normal(*shape) + 1j * normal(*shape, seed=1)


def _name(axis: object) -> str:
    return str(axis).replace(" ", "")


def _axis_of(axis: object) -> object:
    return tuple(axis) if isinstance(axis, list) else axis


def _along(name: str, fn: object, reference: object, x: np.ndarray, **more: object) -> list[Case]:
    """One row for each axis, kept and not."""
    return [
        Case(
            f"{name}_{_name(axis)}_{'kept' if keep else 'gone'}",
            lambda x, axis=axis, keep=keep: fn(x, axis, keep),
            [x],
            expected=lambda x, axis=axis, keep=keep: reference(x, axis=_axis_of(axis), keepdims=keep),
            other_at_hard_points={"onnx": "it is written as what it is given"} if axis == [] else {},
            **more,
        )
        for axis in AXES
        for keep in (False, True)
    ]


def _zeros_in(x: np.ndarray, *places: tuple[int, ...]) -> np.ndarray:
    x = x.copy()
    for place in places:
        x[place] = 0
    return x


def _shares(x: np.ndarray) -> np.ndarray:
    return np.exp(x) / np.exp(x).sum()


def _logsumexp(x: np.ndarray, axis: object, keepdims: bool) -> np.ndarray:
    return np.log(np.sum(np.exp(x), axis=axis, keepdims=keepdims))


def _length(x: np.ndarray, axis: object, keepdims: bool) -> np.ndarray:
    return np.sqrt(np.sum(x * x, axis=axis, keepdims=keepdims))


def _slopes(f: Callable[[Any], Any], x: Any) -> list[Any]:
    """The first and the second derivative, the latter of the sum of the former."""
    (first,) = pb.gradients(f(x), x)
    return [first, *pb.gradients(first, x)]


ZEROS = _zeros_in(positive(3, 4), (0, 1), (1, 0), (1, 3))


def _reduced(primitive: Any, *lengths: int) -> Any:
    """A reduction to these lengths, given as a vector."""
    return lambda x: primitive(x, ShapeOnly((None,) * len(lengths))(pb.constant(np.array(lengths, np.int64))))


def _fed_axes() -> list[Case]:
    """Reductions along axes that a run is told."""
    sums, axes = [("sum", pb.reduce_sum, np.sum), ("max", pb.reduce_max, np.max)], np.array([2, -3])
    rows = [
        Case(
            f"{name}_fed_{'kept' if keep else 'gone'}",
            lambda x, axes, fn=fn, keep=keep: fn(x, axes, keep),
            [X, axes],
            expected=lambda x, axes, reference=reference, keep=keep: reference(x, axis=tuple(axes), keepdims=keep),
            not_onnx=_FED,
        )
        for name, fn, reference in sums
        for keep in (False, True)
    ]
    more = {"mean": pb.reduce_mean, "prod": pb.reduce_prod, "logsumexp": pb.reduce_logsumexp, "std": pb.math.reduce_std}
    rows += [Case(f"{name}_fed", fn, [X, np.array(1)], not_onnx=_FED) for name, fn in more.items()]
    norm, positions = pb.math.reduce_euclidean_norm, [np.array(-1)]
    return [
        *rows,
        Case(
            "euclidean_norm_fed",
            norm,
            [X, axes],
            expected=lambda x, axes: _length(x, tuple(axes), False),
            not_onnx=_FED,
        ),
        Case("any_fed", lambda x, a: pb.reduce_any(x > 1, a), [X, axes], wrt=[], not_onnx=_FED),
        Case("all_fed", lambda x, a: pb.reduce_all(x > -1, a), [X, axes], wrt=[], not_onnx=_FED),
        Case("min_fed", pb.reduce_min, [X, np.zeros(0, np.int32)], expected=lambda x, axes: x),
        Case("count_nonzero_fed", pb.math.count_nonzero, [X, axes], wrt=[], not_onnx=_FED),
        Case("argmax_fed", pb.argmax, [X, *positions], expected=lambda x, a: x.argmax(-1), wrt=[], not_onnx=_FED),
        Case("argmin_fed", pb.argmin, [X, *positions], expected=lambda x, a: x.argmin(-1), wrt=[], not_onnx=_FED),
    ]


CASES = [
    *_fed_axes(),
    *_along("sum", pb.reduce_sum, np.sum, X),
    *_along("mean", pb.reduce_mean, np.mean, X),
    *_along("max", pb.reduce_max, np.max, distinct(2, 3, 4)),
    *_along("min", pb.reduce_min, np.min, distinct(2, 3, 4)),
    *_along("prod", pb.reduce_prod, np.prod, positive(2, 3, 2)),
    *_along("logsumexp", pb.reduce_logsumexp, _logsumexp, X),
    *_along("euclidean_norm", pb.math.reduce_euclidean_norm, _length, X),
    *_along("variance", pb.math.reduce_variance, np.var, X),
    *_along("any", pb.reduce_any, np.any, X > 1),
    *_along("all", pb.reduce_all, np.all, X > -1),
    *_along("count_nonzero", pb.math.count_nonzero, lambda x, **k: np.count_nonzero(x, **k), np.array([[[0, 1, 2]]])),
    Case("zero_fraction", pb.nn.zero_fraction, [np.array([0.0, 1.0, 0.0])], wrt=[], expected=np.float32(2 / 3)),
    Case("std", lambda x: pb.math.reduce_std(x, 1), [X], expected=lambda x: np.std(x, 1)),
    Case("variance_complex", lambda x: pb.math.reduce_variance(x, 1), [_complex(2, 3)]),
    Case("sum_scalar", pb.reduce_sum, [np.float64(2.0)], expected=lambda x: x),
    Case("sum_empty", lambda x: pb.reduce_sum(x, 0), [normal(0, 3)], expected=np.zeros(3)),
    Case("sum_of_length_one", lambda x: pb.reduce_sum(x, 1), [normal(3, 1)], expected=lambda x: x[:, 0]),
    Case("sum_complex", lambda x: pb.reduce_sum(x, 0), [_complex(2, 3)], expected=lambda x: x.sum(0)),
    Case("sum_int8", lambda x: pb.reduce_sum(x), [np.array([100, 100], np.int8)], expected=np.int8(-56)),
    Case("sum_of_the_same_twice", lambda x: pb.reduce_sum(x, 0) * pb.reduce_sum(x, 0), [X]),
    Case(
        "sum_float16", lambda x: pb.reduce_sum(x), [np.full(3000, 1.0, np.float16)], wrt=[], expected=np.float16(3000)
    ),
    Case("mean_float16", lambda x: pb.reduce_mean(x), [np.full(3000, 60.0, np.float16)], wrt=[], expected=60.0),
    Case("mean_complex", lambda x: pb.reduce_mean(x, 0), [_complex(2, 3)], expected=lambda x: x.mean(0)),
    Case("mean_int", lambda x: pb.reduce_mean(x, 0), [np.array([[1, -1], [2, -2]])], expected=np.array([1, -1])),
    Case("mean_empty", lambda x: pb.reduce_mean(x, 1), [normal(0, 3)], expected=np.zeros(0)),
    Case("max_empty", lambda x: pb.reduce_max(x, 0), [normal(0, 2)], expected=np.full(2, -np.inf), wrt=[]),
    Case("min_empty_int", lambda x: pb.reduce_min(x), [np.zeros(0, np.int32)], expected=np.int32(2**31 - 1)),
    Case("max_int", lambda x: pb.reduce_max(x, 1), [np.array([[3, 5], [9, 1]])], expected=np.array([5, 9])),
    Case(
        "max_nan",
        lambda x: pb.reduce_max(x, 0),
        [np.array([1.0, np.nan])],
        expected=np.nan,
        wrt=[],
    ),
    Case("prod_with_zeros", lambda x: pb.reduce_prod(x, 1), [ZEROS]),
    Case("prod_with_zeros_all", lambda x: pb.reduce_prod(x), [_zeros_in(positive(2, 2), (0, 1))]),
    Case("prod_with_two_zeros_all", lambda x: pb.reduce_prod(x), [_zeros_in(positive(2, 2), (0, 1), (1, 1))]),
    Case("prod_with_zeros_two_axes", lambda x: pb.reduce_prod(x, [0, 1]), [_zeros_in(positive(2, 2, 2), (0, 1, 0))]),
    Case("prod_complex", lambda x: pb.reduce_prod(x, 0), [_complex(3, 2)], expected=lambda x: x.prod(0)),
    Case("prod_empty", lambda x: pb.reduce_prod(x, 0), [normal(0, 2)], expected=np.ones(2)),
    Case("prod_int", lambda x: pb.reduce_prod(x), [np.array([2, 3, 4])], expected=24),
    Case(
        "logsumexp_of_infinities",
        lambda x: pb.reduce_logsumexp(x, 1),
        [np.array([[-np.inf, -np.inf], [np.inf, 0]])],
        wrt=[],
        expected=np.array([-np.inf, np.inf]),
    ),
    Case(
        "logsumexp_of_large", lambda x: pb.reduce_logsumexp(x), [np.array([1000.0, 1000.0])], expected=1000 + np.log(2)
    ),
    Case(
        "logsumexp_gradient_of_large",
        lambda x: pb.gradients(pb.reduce_logsumexp(x, [0, 1]), x),
        [1e12 + np.array([[0.5, -0.25], [1.0, 2.0]])],
        wrt=[],
        expected=_shares(np.array([[0.5, -0.25], [1.0, 2.0]])),
    ),
    Case("logsumexp_empty", lambda x: pb.reduce_logsumexp(x, 0), [normal(0, 2)], wrt=[], expected=np.full(2, -np.inf)),
    Case("euclidean_norm_at_zero", lambda x: pb.gradients(pb.norm(x), x), [np.zeros(3)], wrt=[], expected=np.zeros(3)),
    Case("euclidean_norm_complex", lambda x: pb.math.reduce_euclidean_norm(x, 1), [_complex(2, 3)]),
    Case("norm_1", lambda x: pb.norm(x, 1, axis=0), [distinct(3, 2)], expected=lambda x: abs(x).sum(0)),
    Case("norm_2", lambda x: pb.norm(x, 2, axis=-1, keepdims=True), [X]),
    Case(
        "norm_3",
        lambda x: pb.norm(x, 3, axis=0),
        [distinct(3, 2)],
        expected=lambda x: (abs(x) ** 3).sum(0) ** (1 / 3),
        tolerance=1e-5,
    ),
    Case("norm_inf", lambda x: pb.norm(x, np.inf), [positive(3, 2)], expected=lambda x: abs(x).max()),
    Case("norm_frobenius", lambda x: pb.norm(x, "fro", axis=[0, 2]), [X]),
    Case(
        "norm_matrix_1", lambda x: pb.norm(x, 1, axis=[0, 1]), [positive(3, 2)], expected=lambda x: np.linalg.norm(x, 1)
    ),
    Case("norm_matrix_inf", lambda x: pb.norm(x, np.inf, axis=[0, 1], keepdims=True), [positive(3, 2)]),
    Case(
        "logsumexp_gradient_at_infinities",
        lambda x: pb.gradients(pb.reduce_logsumexp(x, 1), x),
        [np.array([[-np.inf, -np.inf], [np.inf, 0.0], [-np.inf, 0.0]])],
        wrt=[],
        expected=np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]),
    ),
    *[
        Case(f"{name}_at_zero", lambda x, f=f: _slopes(f, x), [np.full(3, 2.0)], wrt=[], expected=[np.zeros(3)] * 2)
        for name, f in {
            "norm_2": lambda x: pb.norm(x - 2.0),
            "norm_3": lambda x: pb.norm(x - 2.0, 3),
            "std": pb.math.reduce_std,
        }.items()
    ],
    Case(
        "variance_at_zero",
        lambda x: _slopes(pb.math.reduce_variance, x)[0],
        [np.full(3, 2.0)],
        wrt=[],
        expected=np.zeros(3),
    ),
    Case("prod_third_order", pb.reduce_prod, [_zeros_in(positive(4), (0,), (2,))], third_order=True),
    Case("logsumexp_third_order", pb.reduce_logsumexp, [normal(3)], third_order=True),
    Case("cube_of_max", cubed(lambda x: pb.reduce_max(x, 1)), [distinct(2, 3)], third_order=True),
    Case("max_like", _reduced(MaxLike(), 2, 1, 4), [distinct(2, 3, 4)]),
    Case("max_like_two_axes", _reduced(MaxLike(), 1, 3, 1), [distinct(2, 3, 4)]),
    Case("min_like", _reduced(MinLike(), 1, 3), [distinct(2, 3)]),
    Case("max_like_of_none", _reduced(MaxLike(), 2, 1), [np.zeros((2, 0))], not_differentiable="there is no element"),
    Case(
        "prod_like",
        _reduced(ProdLike(), 2, 1, 1),
        [normal(2, 3, 2)],
        lambda x: x.prod((1, 2), keepdims=True),
        other_at_hard_points=_ALONG_AXES,
    ),
    Case(
        "prod_like_third_order",
        _reduced(ProdLike(), 1, 3),
        [normal(3, 3)],
        third_order=True,
        other_at_hard_points=_ALONG_AXES,
    ),
    Case(
        "prod_like_with_zeros",
        _reduced(ProdLike(), 1, 3),
        [np.array([[0.0, 0.0, 2.0], [0.0, 3.0, 4.0]])],
        other_at_hard_points=_ALONG_AXES,
    ),
    Case("argmax", pb.argmax, [VALUES], expected=lambda x: x.argmax(0), wrt=[]),
    Case(
        "argmax_last",
        lambda x: pb.argmax(x, -1, pb.int32),
        [VALUES],
        expected=lambda x: x.argmax(-1).astype(np.int32),
        wrt=[],
    ),
    Case("argmax_ties", lambda x: pb.argmax(x, 1), [TIES], expected=np.array([1, 0]), wrt=[]),
    Case("argmax_nan", pb.argmax, [np.array([1.0, np.nan, 2.0])], expected=np.int64(1), wrt=[]),
    Case("argmin", lambda x: pb.argmin(x, 1), [VALUES], expected=lambda x: x.argmin(1), wrt=[]),
    Case("argmin_int", pb.argmin, [np.array([3, 1, 1])], expected=np.int64(1)),
    Case(
        "moments",
        lambda x: pb.nn.moments(x, [0, 1]),
        [normal(2, 3, 4)],
        expected=lambda x: [x.mean((0, 1)), x.var((0, 1))],
        third_order=True,
    ),
    Case("moments_keepdims", lambda x: pb.nn.moments(x, [-1], keepdims=True), [normal(2, 3)]),
    Case("moments_all", lambda x: pb.nn.moments(x, None), [normal(2, 3)], expected=lambda x: [x.mean(), x.var()]),
    Case("moments_mean_only", lambda x: pb.nn.moments(x, [0])[0], [normal(2, 3)]),
    Case("moments_variance_only", lambda x: pb.nn.moments(x, [1])[1], [normal(2, 3)]),
    Case("moments_scalar", lambda x: pb.nn.moments(x, []), [np.array(2.0)]),
    Case("moments_no_columns", lambda x: pb.nn.moments(x, [0]), [normal(2, 0)]),
    Case(
        "moments_float16",
        lambda x: pb.nn.moments(pb.cast(x, pb.float16), [0]),
        [np.full(3000, 1.0)],
        not_differentiable="differences are lost in float16",
    ),
    Case(
        "weighted_moments",
        lambda x, w: pb.nn.weighted_moments(x, [0], w),
        [normal(3, 2), positive(3, 1)],
        expected=lambda x, w: [
            (w * x).sum(0) / w.sum(),
            (w * (x - (w * x).sum(0) / w.sum()) ** 2).sum(0) / w.sum(),
        ],
        third_order=True,
    ),
    Case(
        "weighted_moments_keepdims",
        lambda x, w: pb.nn.weighted_moments(x, [0, 1], w, keepdims=True),
        [normal(3, 2), positive(2)],
    ),
    Case(
        "sufficient_statistics",
        lambda x: pb.nn.sufficient_statistics(x, [0, 2])[:3],
        [normal(2, 3, 2)],
        expected=lambda x: [np.array(4.0), x.sum((0, 2)), (x**2).sum((0, 2))],
    ),
    Case(
        "normalize_moments",
        lambda x, shift: pb.nn.normalize_moments(*pb.nn.sufficient_statistics(x, None, shift)),
        [normal(2, 3), normal(seed=1)],
        expected=lambda x, shift: [x.mean(), x.var()],
        wrt=[0],
        third_order=True,
    ),
    Case(
        "sufficient_statistics_of_any_rows",
        lambda x: pb.nn.sufficient_statistics(pb.placeholder_with_default(x, [None, 3]), [0])[:3],
        [normal(2, 3)],
        not_erased="the row erases a length itself",
    ),
]
