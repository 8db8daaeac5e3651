"""Rows: sparse tensors, by their values."""

from __future__ import annotations

from typing import Any

import numpy as np

import pullback as pb

from .case import Case, normal

AT = np.array([[0, 1], [1, 0], [1, 2], [3, 1]])
TURNED = AT[[2, 0, 3, 1]]
SHAPE = [4, 3]
RUN_TIME = "how many values there are is decided by a run"


def _matrix(values: Any, at: Any = AT) -> Any:
    return pb.sparse.SparseTensor(at, values, SHAPE)


def _dense(values: Any, at: Any = AT) -> Any:
    result = np.zeros(SHAPE, np.asarray(values).dtype)
    result[at[:, 0], at[:, 1]] = values
    return result


def _row_sums(values: Any) -> Any:
    return [
        pb.sparse.reduce_sum(_matrix(values), 1),
        pb.sparse.reduce_sum(_matrix(values), 0, keepdims=True),
        pb.sparse.reduce_sum(_matrix(values)),
    ]


def _looked_up(table: Any, weights: Any) -> Any:
    ids = _matrix(np.array([1, 4, 0, 4]))
    return [
        *[pb.nn.embedding_lookup_sparse(table, ids, _matrix(weights), how) for how in ("sum", "mean", "sqrtn")],
        pb.nn.safe_embedding_lookup_sparse(table, _matrix(np.array([1, -1, 0, 4])), None, default_id=2),
    ]


def _products(values: Any, b: Any, c: Any) -> Any:
    return [
        pb.sparse.sparse_dense_matmul(_matrix(values), b),
        pb.sparse.sparse_dense_matmul(_matrix(values), c, adjoint_a=True),
        pb.sparse.sparse_dense_matmul(_matrix(values), c, adjoint_a=True, adjoint_b=False),
        pb.sparse.sparse_dense_matmul(b, _matrix(values), adjoint_a=True, adjoint_b=True),
    ]


def _numpy_products(values: Any, b: Any, c: Any) -> Any:
    m = _dense(values)
    return [m @ b, m.conj().T @ c, m.conj().T @ c, b.conj().T @ m.conj().T]


def _filled(values: Any, default: Any) -> Any:
    full, _ = pb.sparse.fill_empty_rows(_matrix(values), default)
    return pb.sparse.to_dense(full)


def _filled_in_numpy(values: Any, default: Any) -> Any:
    result = _dense(values)
    result[2, 0] = default
    return result


def _wide(values: Any) -> Any:
    result = np.zeros([4, 5])
    result[[1, 3], [4, 0]] = values
    return result


def _joined(values: Any, others: Any, axis: int) -> Any:
    lengths = [4, 3 if axis == 0 else 5]
    other = pb.sparse.SparseTensor(np.array([[1, lengths[1] - 1], [3, 0]]), others, lengths)
    return pb.sparse.to_dense(pb.sparse.concat(axis, [_matrix(values), other]))


def _paired(which: Any, values: Any, others: Any) -> Any:
    return pb.sparse.to_dense(which(_matrix(values), _matrix(others, _OTHERS)))


def _paired_in_numpy(which: Any, values: Any, others: Any) -> Any:
    return which(_dense(values), _dense(others, _OTHERS))


_OTHERS = np.array([[0, 0], [1, 0], [3, 1], [3, 2]])
_FAR = np.array([[0, 0], [5, 1], [2**32, 0], [2**32, 2]])


def _masked(values: Any) -> Any:
    return pb.sparse.mask(pb.IndexedSlices(values, pb.constant([4, 1, 3])), [1, 7]).values


_SCATTERED = {"onnx": "its sums of rows are read as additions to zeros"}

CASES = [
    Case("to_dense", lambda v: pb.sparse.to_dense(_matrix(v)), [normal(4)], _dense),
    Case("to_dense_default", lambda v: pb.sparse.to_dense(_matrix(v), 2.0), [normal(4)], lambda v: _dense(v - 2) + 2),
    Case(
        "retain",
        lambda v: pb.sparse.retain(_matrix(v), [True, False, True, False]).values,
        [normal(4)],
        lambda v: v[::2],
    ),
    Case("reorder", lambda v: pb.sparse.reorder(_matrix(v, TURNED)).values, [normal(4)], lambda v: v[[1, 3, 0, 2]]),
    Case(
        "transpose", lambda v: pb.sparse.to_dense(pb.sparse.transpose(_matrix(v))), [normal(4)], lambda v: _dense(v).T
    ),
    Case(
        "add_dense",
        lambda v, d: pb.sparse.add(_matrix(v), d),
        [normal(4), normal(4, 3)],
        lambda v, d: _dense(v) + d,
    ),
    Case(
        "add_sparse",
        lambda v, w: pb.sparse.to_dense(pb.sparse.add(_matrix(v), _matrix(w[::-1], AT[::-1]))),
        [normal(4), normal(4, seed=1)],
        lambda v, w: _dense(v + w),
    ),
    Case("reduce_sum", _row_sums, [normal(4)], lambda v: [_dense(v).sum(1), _dense(v).sum(0, keepdims=True), v.sum()]),
    Case(
        "reduce_max",
        lambda v: pb.sparse.reduce_max(_matrix(v), 1)[:2],
        [normal(4)],
        lambda v: np.array([v[0], max(v[1:3])]),
    ),
    Case(
        "slice",
        lambda v: pb.sparse.to_dense(pb.sparse.slice(_matrix(v), [1, 0], [3, 2])),
        [normal(4)],
        lambda v: _dense(v)[1:, :2],
    ),
    Case(
        "sparse_dense_matmul",
        _products,
        [normal(4), normal(3, 2), normal(4, 2)],
        _numpy_products,
        other_at_hard_points=_SCATTERED,
    ),
    Case(
        "sparse_dense_matmul_complex",
        _products,
        [normal(4) + 1j * normal(4, seed=1), normal(3, 2) + 1j, normal(4, 2) - 2j],
        _numpy_products,
    ),
    Case(
        "multiply",
        lambda v, d: (_matrix(v) * d).values,
        [normal(4), normal(4, 3)],
        lambda v, d: v * d[tuple(AT.T)],
    ),
    Case(
        "divide_row",
        lambda v, d: (_matrix(v) / d).values,
        [normal(4), normal(3) + 3],
        lambda v, d: v / d[AT[:, 1]],
    ),
    Case("softmax", lambda v: pb.sparse.softmax(_matrix(v)).values, [normal(4)], third_order=True),
    Case("fill_empty_rows", _filled, [normal(4), normal()], _filled_in_numpy, not_compiled=RUN_TIME),
    Case(
        "from_dense",
        lambda x: pb.sparse.from_dense(x).values,
        [normal(2, 3)],
        lambda x: x.ravel(),
        not_compiled=RUN_TIME,
    ),
    Case("reshape", lambda v: pb.sparse.to_dense(pb.sparse.reshape(_matrix(v), [2, 6])), [normal(4)], third_order=True),
    Case(
        "concat_rows",
        lambda v, w: _joined(v, w, 0),
        [normal(4), normal(2)],
        lambda v, w: np.concatenate([_dense(v), _dense(w, np.array([[1, 2], [3, 0]]))]),
    ),
    Case(
        "concat_columns",
        lambda v, w: _joined(v, w, -1),
        [normal(4), normal(2)],
        lambda v, w: np.concatenate([_dense(v), _wide(w)], 1),
    ),
    Case(
        "split",
        lambda v: [pb.sparse.to_dense(part) for part in pb.sparse.split(_matrix(v), 2, 1)],
        [normal(4)],
        lambda v: [_dense(v)[:, :2], _dense(v)[:, 2:]],
    ),
    Case(
        "slice_past_the_end",
        lambda v: pb.sparse.to_dense(pb.sparse.slice(_matrix(v), [1, 1], [9, 9])),
        [normal(4)],
        lambda v: _dense(v)[1:, 1:],
    ),
    Case(
        "expand_dims",
        lambda v: [pb.sparse.to_dense(pb.sparse.expand_dims(_matrix(v), axis)) for axis in (0, 1, None)],
        [normal(4)],
        lambda v: [_dense(v)[None], _dense(v)[:, None], _dense(v)[..., None]],
    ),
    Case("eye", lambda: pb.sparse.to_dense(pb.sparse.eye(3, 2, pb.float64)), expected=np.eye(3, 2)),
    Case(
        "reset_shape",
        lambda v: [pb.sparse.to_dense(pb.sparse.reset_shape(_matrix(v, AT[:3]), new)) for new in ([5, 4], None)],
        [normal(3)],
        lambda v: [np.pad(_dense(v, AT[:3]), [(0, 1), (0, 1)]), _dense(v, AT[:3])[:2]],
    ),
    Case(
        "maximum",
        lambda v, w: _paired(pb.sparse.maximum, v, w),
        [normal(4), normal(4, seed=1)],
        lambda v, w: _paired_in_numpy(np.maximum, v, w),
    ),
    Case(
        "minimum",
        lambda v, w: _paired(pb.sparse.minimum, v, w),
        [normal(4), normal(4, seed=1)],
        lambda v, w: _paired_in_numpy(np.minimum, v, w),
    ),
    Case(
        "reduce_sum_sparse",
        lambda v: pb.sparse.to_dense(pb.sparse.reduce_sum_sparse(_matrix(v), 1)),
        [normal(4)],
        lambda v: _dense(v).sum(1),
    ),
    Case(
        "reduce_max_sparse",
        lambda v: pb.sparse.to_dense(pb.sparse.reduce_max_sparse(_matrix(v), 0, keepdims=True)),
        [normal(4)],
        lambda v: np.array([[v[1], max(v[0], v[3]), v[2]]]),
    ),
    Case(
        "map_values",
        lambda v, w: pb.sparse.to_dense(pb.sparse.map_values(pb.multiply, _matrix(v), _matrix(w))),
        [normal(4), normal(4, seed=1)],
        lambda v, w: _dense(v) * _dense(w),
    ),
    Case(
        "softmax_of_many_rows",
        lambda v: pb.sparse.softmax(pb.sparse.SparseTensor(_FAR, v, [2**33, 3])).values,
        [normal(4)],
        lambda v: np.exp(v) / (np.exp(v) @ (_FAR[:, :1] == _FAR[:, 0])),
    ),
    Case("mask", _masked, [normal(3, 2)], lambda x: x[[0, 2]]),
    Case("lookup", _looked_up, [normal(5, 2), normal(4) + 3], other_at_hard_points=_SCATTERED),
]
