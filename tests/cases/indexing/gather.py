"""Rows: gather and its kin, scatter, masks, embedding lookup."""

from __future__ import annotations

from typing import Any

import numpy as np

import pullback as pb
from pullback.primitives.indexing.index_arithmetic import FlatPositions, FromFront, VectorsFromFront
from pullback.primitives.indexing.scatter_product import tensor_scatter_nd_mul

from ..case import Case, cubed, distinct, normal

X = normal(4, 3)
Y = normal(2, 3, 4)
IDS = np.array([2, 0, 2, 3])
PAIRS = np.array([[0, 1], [3, 2], [0, 1]])
BATCH = np.array([[0, 2], [1, 1]])


def _by_pairs(x: np.ndarray, i: np.ndarray) -> np.ndarray:
    return x[tuple(np.moveaxis(i, -1, 0))]


def _changed(fn: object) -> object:
    def change(x: np.ndarray, i: np.ndarray, u: np.ndarray) -> np.ndarray:
        x = x.copy()
        fn(x, tuple(np.moveaxis(i, -1, 0)), u)
        return x

    return change


def _set(x: np.ndarray, i: object, u: np.ndarray) -> None:
    x[i] = u


AGAIN = np.array([[2], [0], [2]])
TWO = np.array([[0], [2]])

PLACES = np.array([[0], [2], [0], [2]])


def _elements_added(x: Any, indices: Any, updates: Any) -> Any:
    flat = pb.tensor_scatter_nd_add(pb.reshape(x, [-1]), FlatPositions(1)(indices, x), pb.reshape(updates, [-1]))
    return pb.reshape(flat, pb.shape(x))


_NANS = {"onnxruntime": "where a number meets NaN one of them wins"}

CASES = [
    Case("gather", pb.gather, [X, IDS], expected=lambda x, i: x[i]),
    Case("gather_matrix", pb.gather, [X, BATCH], expected=lambda x, i: x[i]),
    Case("gather_scalar", pb.gather, [X, np.array(1)], expected=lambda x, i: x[i]),
    Case(
        "gather_matrix_of_unknown",
        lambda x, i: pb.square(pb.gather(x, pb.placeholder_with_default(i, None))),
        [X, BATCH],
        expected=lambda x, i: x[i] ** 2,
    ),
    Case("gather_none", pb.gather, [X, np.zeros(0, np.int32)], expected=np.zeros((0, 3))),
    Case("gather_int8", pb.gather, [normal(200, 2), np.array([100, 3], np.int8)], expected=lambda x, i: x[i]),
    Case(
        "gather_axis_fed",
        lambda x, i, axis: pb.gather(x, i, axis=axis),
        [Y, BATCH, np.array(-2)],
        expected=lambda x, i, axis: np.take(x, i, axis),
    ),
    Case("gather_axis", lambda x, i: pb.gather(x, i, axis=1), [Y, BATCH], expected=lambda x, i: np.take(x, i, 1)),
    Case("gather_last", lambda x, i: pb.gather(x, i, axis=-1), [Y, IDS], expected=lambda x, i: x[..., i]),
    Case(
        "gather_batch",
        lambda x, i: pb.gather(x, i, batch_dims=1),
        [Y, BATCH],
        expected=lambda x, i: np.stack([x[0][i[0]], x[1][i[1]]]),
        not_erased_rank="batches need known ranks",
    ),
    Case(
        "gather_batch_axis",
        lambda x, i: pb.gather(x, i, axis=2, batch_dims=1),
        [Y, BATCH],
        expected=lambda x, i: np.stack([x[0][:, i[0]], x[1][:, i[1]]]),
        not_erased_rank="batches need known ranks",
    ),
    Case(
        "gather_of_gather",
        lambda x, i: pb.gather(pb.gather(x, i), [0, 2]),
        [X, IDS],
        expected=lambda x, i: x[i][[0, 2]],
    ),
    Case("gather_used_twice", lambda x, i: pb.gather(x, i) * pb.gather(x, [0]), [X, IDS]),
    Case("gather_and_dense", lambda x, i: pb.reduce_sum(pb.gather(x, i)) * x, [X, IDS]),
    Case("gather_tiled", lambda x, i: pb.gather(pb.tile(x, [2, 1]), i), [X, np.array([5, 1, 7])]),
    Case("gather_reshaped", lambda x, i: pb.gather(pb.reshape(x, [6, 2]), i), [X, np.array([5, 1, 5])]),
    Case("gather_bool", pb.gather, [np.array([True, False]), np.array([1, 0])], expected=np.array([False, True])),
    Case("gather_nd", pb.gather_nd, [X, PAIRS], expected=_by_pairs),
    Case("gather_nd_rows", pb.gather_nd, [X, np.array([[1], [3], [1]])], expected=lambda x, i: x[i[:, 0]]),
    Case("gather_nd_rows_deep", pb.gather_nd, [Y, np.array([[[1, 0]], [[0, 2]]])], expected=_by_pairs),
    Case("gather_nd_all", pb.gather_nd, [X, np.zeros((2, 0), np.int32)], expected=lambda x, i: np.stack([x, x])),
    Case(
        "gather_nd_batch",
        lambda x, i: pb.gather_nd(x, i, batch_dims=1),
        [Y, np.array([[[0, 1]], [[2, 3]]])],
        expected=lambda x, i: np.array([[x[0, 0, 1]], [x[1, 2, 3]]]),
    ),
    Case("scatter_nd", lambda i, u: pb.scatter_nd(i, u, [4, 3]), [PAIRS, normal(3)]),
    Case("scatter_nd_rows", lambda i, u: pb.scatter_nd(i, u, [4, 3]), [TWO, normal(2, 3)]),
    Case("scatter_nd_fed", pb.scatter_nd, [TWO, normal(2, 3), np.array([4, 3])], wrt=[1]),
    Case("scatter_add", pb.tensor_scatter_nd_add, [X, PAIRS, normal(3)], expected=_changed(np.add.at)),
    Case("scatter_sub", pb.tensor_scatter_nd_sub, [X, PAIRS, normal(3)], expected=_changed(np.subtract.at)),
    Case("scatter_update", pb.tensor_scatter_nd_update, [X, TWO, normal(2, 3)], expected=_changed(_set)),
    Case("scatter_update_overwritten", pb.tensor_scatter_nd_update, [X, AGAIN, normal(3, 3)], expected=_changed(_set)),
    Case(
        "scatter_update_of_all",
        lambda x, u: pb.tensor_scatter_nd_update(x, np.zeros((2, 0), np.int32), u),
        [X, normal(2, 4, 3)],
        expected=lambda x, u: u[1],
        not_onnx="onnxruntime has no index vectors of no elements",
    ),
    Case(
        "scatter_max",
        pb.tensor_scatter_nd_max,
        [X, PAIRS, distinct(3)],
        expected=_changed(np.maximum.at),
        other_at_hard_points=_NANS,
    ),
    Case(
        "scatter_min",
        pb.tensor_scatter_nd_min,
        [X, PAIRS, distinct(3)],
        expected=_changed(np.minimum.at),
        other_at_hard_points=_NANS,
    ),
    Case(
        "boolean_mask",
        lambda x: pb.boolean_mask(x, np.array([True, False, True, True])),
        [X],
        expected=lambda x: x[[0, 2, 3]],
    ),
    Case(
        "boolean_mask_2d",
        lambda x: pb.boolean_mask(x, np.eye(4, 3, dtype=bool)),
        [X],
        expected=lambda x: np.diag(x),
        not_erased_rank="the axes of the mask are merged, for which the rank must be known",
    ),
    Case(
        "boolean_mask_axis",
        lambda x: pb.boolean_mask(x, [True, False, True], axis=1),
        [X],
        expected=lambda x: x[:, [0, 2]],
    ),
    Case("embedding_lookup", pb.nn.embedding_lookup, [X, BATCH], expected=lambda x, i: x[i]),
    Case(
        "embedding_lookup_parts",
        lambda a, b, i: pb.nn.embedding_lookup([a, b], i),
        [X, normal(2, 3), np.array([5, 0])],
        expected=lambda a, b, i: np.concatenate([a, b])[i],
    ),
    Case(
        "embedding_lookup_max_norm",
        lambda x, i: pb.nn.embedding_lookup(x, i, max_norm=1.0),
        [X, IDS],
        not_erased_rank="the norms need known ranks",
    ),
    Case("cube_of_gather", cubed(pb.gather), [X, IDS], third_order=True),
    Case("cube_of_scatter_nd", cubed(lambda i, x: pb.scatter_nd(i, x, [4, 3])), [PAIRS, normal(3)], third_order=True),
    Case("gather_from_the_end", lambda x: pb.gather(x, FromFront(0)(pb.constant([-1, 0, -1]), x)), [normal(3, 2)]),
    Case(
        "gather_nd_from_the_end",
        lambda x: pb.gather_nd(x, VectorsFromFront()(pb.constant([[-1, 0], [1, -2]]), x)),
        [normal(2, 3)],
        lambda x: np.stack([x[1, 0], x[1, 1]]),
    ),
    Case(
        "scatter_elements",
        _elements_added,
        [normal(2, 3), np.array([[0, -1], [1, 1]]), normal(2, 2)],
        not_erased="the lengths of the updates say where they go",
    ),
    Case(
        "scatter_mul",
        lambda x, updates: tensor_scatter_nd_mul(x, pb.constant(PLACES), updates),
        [normal(3, 2), normal(4, 2)],
        lambda x, u: np.stack([x[0] * u[0] * u[2], x[1], x[2] * u[1] * u[3]]),
    ),
    Case(
        "scatter_mul_by_zero",
        lambda x, updates: tensor_scatter_nd_mul(x, pb.constant(PLACES), updates),
        [np.array([0.0, 2.0, 3.0]), np.array([0.0, 4.0, 5.0, 0.0])],
    ),
    Case(
        "scatter_mul_integers",
        lambda x: tensor_scatter_nd_mul(x, pb.constant([[1], [1]]), pb.constant([2, 5], x.dtype)),
        [np.array([1, 2, 3], np.int32)],
        np.array([1, 20, 3], np.int32),
    ),
]
