"""Rows: ragged tensors, by their values."""

from __future__ import annotations

from typing import Any

import numpy as np

import pullback as pb
from pullback.primitives.ragged import padded, partitions, parts

from .case import Case, normal, positive

LENGTHS = [2, 0, 3, 1]
MASK = np.array([True, False, True, True, False, True])
ROWS = [[0, 1], [], [2, 3, 4], [5]]


def _rows(values: Any) -> Any:
    return pb.RaggedTensor.from_row_lengths(values, np.array(LENGTHS))


def _by_rows(what: Any, values: Any) -> Any:
    return np.array([what(values[row]) for row in ROWS], np.asarray(values).dtype)


def _by_columns(what: Any, values: Any) -> Any:
    columns = [[0, 2, 5], [1, 3], [4]]
    return np.array([what(values[column]) for column in columns], np.asarray(values).dtype)


def _nested(values: Any) -> Any:
    return pb.RaggedTensor.from_row_lengths(_rows(values), np.array([1, 3]))


CASES = [
    Case(
        "reduce_sum",
        lambda v: [pb.ragged.reduce_sum(_rows(v), axis) for axis in (0, 1, None)],
        [normal(6)],
        lambda v: [_by_columns(np.sum, v), _by_rows(np.sum, v), np.sum(v)],
    ),
    Case(
        "reduce_sum_nested",
        lambda v: [pb.ragged.reduce_sum(_nested(v), axis).flat_values for axis in (0, 1, 2)],
        [normal(6)],
        lambda v: [
            np.array([v[0], v[1], v[2], v[3], v[4], v[5]]),
            np.array([v[0], v[1], v[2] + v[5], v[3], v[4]]),
            _by_rows(np.sum, v),
        ],
    ),
    Case(
        "reduce_sum_of_vectors",
        lambda v: pb.ragged.reduce_sum(_rows(v), 1, keepdims=True),
        [normal(6, 2)],
        lambda v: np.stack([v[row].sum(0) for row in ROWS])[:, None],
    ),
    Case(
        "reduce_mean",
        lambda v: pb.ragged.reduce_mean(_rows(v), 0),
        [normal(6)],
        lambda v: _by_columns(np.mean, v),
    ),
    Case(
        "reduce_prod",
        lambda v: pb.ragged.reduce_prod(_rows(v), 1),
        [positive(6)],
        lambda v: _by_rows(np.prod, v),
        third_order=True,
    ),
    Case(
        "reduce_max",
        lambda v: [pb.ragged.reduce_max(_rows(v), 0), pb.ragged.reduce_min(_rows(v), 0)],
        [normal(6)],
        lambda v: [_by_columns(np.max, v), _by_columns(np.min, v)],
    ),
    Case(
        "reduce_all",
        lambda v: [pb.ragged.reduce_all(_rows(v), 1), pb.ragged.reduce_any(_rows(v), 1)],
        [MASK],
        lambda v: [np.array([all(v[r]) for r in ROWS]), np.array([any(v[r]) for r in ROWS])],
        not_differentiable=True,
    ),
    Case(
        "map_flat_values",
        lambda v: pb.ragged.map_flat_values(pb.tanh, _rows(v)).values,
        [normal(6)],
        np.tanh,
    ),
    Case(
        "operators",
        lambda v, w: (2.0 * _rows(v) * _rows(w) - w[:4, None]).values,
        [normal(6), normal(6, seed=1)],
        lambda v, w: 2 * v * w - np.repeat(w[:4], LENGTHS),
        not_erased="a dense operand must have a known rank",
    ),
    Case(
        "gather",
        lambda v: pb.ragged.gather(_rows(v), np.array([2, 1, 0, 2])).values,
        [normal(6)],
        lambda v: v[[2, 3, 4, 0, 1, 2, 3, 4]],
    ),
    Case(
        "concat",
        lambda v, w: [pb.ragged.concat([_rows(v), _rows(w)], axis).values for axis in (0, 1)],
        [normal(6), normal(6, seed=1)],
        lambda v, w: [np.concatenate([v, w]), np.concatenate([p[r] for r in ROWS for p in (v, w)])],
    ),
    Case(
        "stack",
        lambda v, w: [pb.ragged.stack([_rows(v), _rows(w)], axis).flat_values for axis in (0, 1)],
        [normal(6), normal(6, seed=1)],
        lambda v, w: [np.concatenate([v, w]), np.concatenate([p[r] for r in ROWS for p in (v, w)])],
    ),
    Case(
        "stack_dynamic_partitions",
        lambda v: pb.ragged.stack_dynamic_partitions(v, [2, 0, 1, 0, 2, 2], 4).values,
        [normal(6)],
        lambda v: v[[1, 3, 2, 0, 4, 5]],
    ),
    Case(
        "boolean_mask",
        lambda v: pb.ragged.boolean_mask(_rows(v), pb.RaggedTensor.from_row_lengths(MASK, np.array(LENGTHS))).values,
        [normal(6)],
        lambda v: v[MASK],
    ),
    Case("slices", lambda v: [_rows(v)[1:, :2].values, _rows(v)[2]], [normal(6)], lambda v: [v[[2, 3, 5]], v[2:5]]),
    Case(
        "range",
        lambda a: (pb.ragged.range([0.0, 2.0], [1.5, 3.0], 0.5, a.dtype) * a).values,
        [normal()],
        lambda a: np.array([0.0, 0.5, 1.0, 2.0, 2.5]) * a,
        not_erased="a dense operand must have a known rank",
    ),
    Case(
        "to_tensor",
        lambda v: _rows(v).to_tensor(7.0),
        [normal(6)],
        lambda v: np.array([[v[0], v[1], 7], [7, 7, 7], v[2:5], [v[5], 7, 7]], v.dtype),
    ),
    Case(
        "constant",
        lambda v: (pb.ragged.constant([[1.0, 2.0], [], [3.0, 4.0, 5.0], [6.0]], v.dtype) * _rows(v)).values,
        [normal(6)],
        lambda v: np.arange(1.0, 7.0) * v,
    ),
    Case(
        "lookup",
        lambda t: pb.nn.embedding_lookup_sparse(t, pb.ragged.constant([[0, 1], [], [2, 2]]), None, "sum"),
        [normal(3, 2)],
        lambda t: np.stack([t[0] + t[1], 0 * t[0], 2 * t[2]]),
    ),
    Case(
        "squeeze",
        lambda v: parts.squeeze(pb.RaggedTensor.from_uniform_row_length(v, 1), 1),
        [normal(3, 2)],
        lambda v: v,
    ),
    Case(
        "split",
        lambda v: [part.flat_values for part in parts.split(_rows(v), [1, 3])],
        [normal(6)],
        lambda v: [v[:2], v[2:]],
    ),
    Case(
        "dynamic_partition",
        lambda v: parts.dynamic_partition(_rows(v), _rows(np.array([1, 0, 1, 1, 0, 2])), 3),
        [normal(6)],
        lambda v: [v[[1, 4]], v[[0, 2, 3]], v[5:]],
    ),
    Case(
        "batch_gather",
        lambda v: parts.batch_gather(_rows(v), pb.ragged.constant([[1, 1, 0], [], [2], [0]], pb.int64)).values,
        [normal(6)],
        lambda v: v[[1, 1, 0, 4, 5]],
    ),
    Case(
        "gather_in_rows",
        lambda v: pb.ragged.gather(pb.RaggedTensor.from_row_lengths(v, np.array([2, 3, 1])), [0, 0], axis=1),
        [normal(6)],
        lambda v: v[[[0, 0], [2, 2], [5, 5]]],
    ),
    Case(
        "stack_inside",
        lambda v, w: pb.ragged.stack([_rows(v), _rows(w)], 2).values,
        [normal(6), normal(6, seed=1)],
        lambda v, w: np.stack([v, w], 1),
    ),
    Case(
        "broadcast_rows",
        lambda v, w: (_rows(v) * pb.RaggedTensor.from_row_lengths(w, np.ones(4, int))).values,
        [normal(6), normal(4)],
        lambda v, w: v * np.repeat(w, LENGTHS),
    ),
    Case(
        "turned_rows",
        lambda v: [_rows(v)[:, ::-1].values, _rows(v)[:, -1:0:-1].values],
        [normal(6)],
        lambda v: [v[[1, 0, 4, 3, 2, 5]], v[[1, 4, 3]]],
    ),
    Case(
        "cumsum",
        lambda v: [padded.cumsum(_rows(v), axis).values for axis in (0, 1)],
        [normal(6)],
        lambda v: [
            np.array([v[0], v[1], v[0] + v[2], v[1] + v[3], v[4], v[0] + v[2] + v[5]]),
            np.concatenate([np.cumsum(v[row]) for row in ROWS]),
        ],
    ),
    Case(
        "matmul",
        lambda v, w: padded.matmul(_rows(v), _rows(w), transpose_b=True).flat_values,
        [normal(6, 2), normal(6, 2, seed=1)],
        lambda v, w: np.concatenate([(v[row] @ w[row].T).ravel() for row in ROWS]),
        not_erased_rank="factors must have a known rank",
    ),
    Case(
        "unsorted_segment_sum",
        lambda v: partitions.segmented(pb.math.unsorted_segment_sum)(_rows(v), _rows(np.array([1, 0, 1, 1, 0, 2])), 3),
        [normal(6)],
        lambda v: np.array([v[1] + v[4], v[0] + v[2] + v[3], v[5]]),
    ),
]
