"""Counts of integers (bincount) as TensorFlow 1 has them: of sparse and ragged tensors, and sparse ones."""

from __future__ import annotations

from typing import Any

import pullback as pb

from ...core.contexts import in_graph_of_inputs
from ...core.typing import DTypeLike, TensorLike

Parts = tuple[pb.Tensor, pb.Tensor | None, Any]
"""Integers, the row of each, and how many rows there are; no rows where all count together."""


@in_graph_of_inputs
def bincount(
    arr: Any,
    weights: Any = None,
    minlength: TensorLike | None = None,
    maxlength: TensorLike | None = None,
    dtype: DTypeLike = pb.int32,
    name: str | None = None,
    axis: int | None = None,
    binary_output: bool = False,
) -> pb.Tensor:
    """How often each integer from 0 on comes in a tensor, dense, sparse or ragged, or the sums of its weights.

    With `axis=-1` in each row.

    >>> import pullback.compat.v1 as tf
    >>> tf.Session().run(tf.math.bincount(tf.SparseTensor([[0, 0], [1, 2]], tf.constant([1, 3]), [2, 3])))
    array([0, 1, 0, 1], dtype=int32)
    """
    if axis == -1 and isinstance(arr, pb.SparseTensor | pb.RaggedTensor):
        rows = sparse_bincount(arr, weights, axis, minlength, maxlength, binary_output, name)
        return pb.cast(pb.sparse.to_dense(rows), dtype if weights is None else rows.dtype)
    given = None if weights is None else _values(weights)
    return pb.math.bincount(_values(arr), given, minlength, maxlength, dtype, name, axis, binary_output)


def sparse_bincount(
    values: Any,
    weights: Any = None,
    axis: int | None = 0,
    minlength: Any = None,
    maxlength: Any = None,
    binary_output: bool = False,
    name: str | None = None,
) -> pb.SparseTensor:
    """How often each integer comes, of all for `axis=0`, of each row for -1, without those that do not come.

    With `weights` their sums, with `binary_output` 1. The last length is `maxlength`, or the largest integer plus one
    and at least `minlength`; what is beyond `maxlength` is left out.

    Raises:
        ValueError: another axis, or weights and `binary_output`. InvalidArgumentError: in a run, one is negative.

    >>> import pullback.compat.v1 as tf
    >>> counts = tf.sparse.bincount(tf.constant([[1, 1, 0], [2, 0, 0]]), axis=-1)
    >>> tf.Session(engine="numpy").run(tf.sparse.to_dense(counts))
    array([[1, 2, 0],
           [2, 0, 1]], dtype=int32)
    """
    if axis not in (None, 0, -1):
        raise ValueError(f"sparse.bincount: axis must be 0 or -1, not {axis}")
    if weights is not None and binary_output:
        raise ValueError("sparse.bincount: binary_output takes no weights")
    with pb.name_scope(name or "bincount"):
        numbers, rows, count = _by_rows(values) if axis == -1 else (pb.reshape(_values(values), [-1]), None, None)
        with pb.control_dependencies([pb.debugging.assert_non_negative(numbers)]):
            found = pb.cast(numbers, pb.int64)
        given = pb.ones_like(numbers) if weights is None else pb.reshape(_values(weights), [-1])
        length = pb.maximum(pb.reduce_max(pb.concat([found, [-1]], 0)) + 1, minlength or 0)
        if maxlength is not None:
            length = pb.cast(maxlength, pb.int64)
            kept = found < length
            found, given = pb.boolean_mask(found, kept), pb.boolean_mask(given, kept)
            rows = None if rows is None else pb.boolean_mask(rows, kept)
        places = found if rows is None else rows * length + found
        order = pb.argsort(places)
        keys, numbers_of_keys = pb.unique(pb.gather(places, order))
        sums = pb.math.unsorted_segment_sum(pb.gather(given, order), numbers_of_keys, pb.size(keys))
        sums = pb.ones_like(sums) if binary_output else sums
        if rows is None or count is None:
            return pb.SparseTensor(keys[:, None], sums, length[None])
        indices = pb.stack([keys // length, keys % length], 1)
        return pb.SparseTensor(indices, sums, pb.stack([pb.cast(count, pb.int64), length]))


def _values(x: Any) -> pb.Tensor:
    """All elements that a tensor has."""
    if isinstance(x, pb.SparseTensor):
        values: pb.Tensor = x.values
        return values
    found: pb.Tensor = x.flat_values if isinstance(x, pb.RaggedTensor) else pb.convert_to_tensor(x)
    return found


def _by_rows(x: Any) -> Parts:
    if isinstance(x, pb.SparseTensor):
        return x.values, x.indices[:, 0], x.dense_shape[0]
    if isinstance(x, pb.RaggedTensor):
        return x.flat_values, x.value_rowids(), x.nrows()
    dense = pb.convert_to_tensor(x)
    if dense.shape.rank == 1:
        return dense, None, None
    if dense.shape.rank != 2:
        raise ValueError(f"sparse.bincount: rows are counted of a vector or a matrix, not of {dense}")
    count, length = pb.unstack(pb.shape(dense, out_type=pb.int64))
    return pb.reshape(dense, [-1]), pb.repeat(pb.range(count), length), count
