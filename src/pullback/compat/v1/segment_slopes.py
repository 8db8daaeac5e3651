"""Derivatives of sparse segment reductions, by the names that TensorFlow has for them inside."""

from __future__ import annotations

from typing import Any

import pullback as pb

from ...core.contexts import in_graph_of_inputs
from ...core.typing import TensorLike


@in_graph_of_inputs
def sparse_segment_sum_grad(
    grad: TensorLike, indices: TensorLike, segment_ids: TensorLike, output_dim0: TensorLike, name: str | None = None
) -> pb.Tensor:
    """The derivative of `sparse.segment_sum` by its data of `output_dim0` rows, of the cotangent `grad`.

    In a run InvalidArgumentError where an index or a segment is out of range.

    >>> import pullback.compat.v1 as tf
    >>> from pullback.compat.v1.segment_slopes import sparse_segment_sum_grad
    >>> tf.Session().run(sparse_segment_sum_grad([[5.0]], [2, 0], [0, 0], 3)).tolist()
    [[5.0], [0.0], [5.0]]
    """
    dy, places, ids = _checked(grad, indices, segment_ids, output_dim0)
    return pb.math.unsorted_segment_sum(pb.gather(dy, ids), places, output_dim0, name=name)


@in_graph_of_inputs
def sparse_segment_mean_grad(
    grad: TensorLike, indices: TensorLike, segment_ids: TensorLike, output_dim0: TensorLike, name: str | None = None
) -> pb.Tensor:
    """The same of `sparse.segment_mean`.

    >>> import pullback.compat.v1 as tf
    >>> from pullback.compat.v1.segment_slopes import sparse_segment_mean_grad
    >>> tf.Session().run(sparse_segment_mean_grad([[5.0]], [2, 0], [0, 0], 3)).tolist()
    [[2.5], [0.0], [2.5]]
    """
    dy, places, ids = _checked(grad, indices, segment_ids, output_dim0)
    shares = pb.gather(_column(dy, 1 / _counts(dy, ids)) * dy, ids)
    return pb.math.unsorted_segment_sum(shares, places, output_dim0, name=name)


@in_graph_of_inputs
def sparse_segment_sqrt_n_grad(
    grad: TensorLike, indices: TensorLike, segment_ids: TensorLike, output_dim0: TensorLike, name: str | None = None
) -> pb.Tensor:
    """The same of `sparse.segment_sqrt_n`.

    >>> import pullback.compat.v1 as tf
    >>> from pullback.compat.v1.segment_slopes import sparse_segment_sqrt_n_grad
    >>> tf.Session().run(sparse_segment_sqrt_n_grad([[6.0]], [3, 0, 0, 0], [0, 0, 0, 0], 4)).tolist()
    [[9.0], [0.0], [0.0], [3.0]]
    """
    dy, places, ids = _checked(grad, indices, segment_ids, output_dim0)
    shares = pb.gather(_column(dy, pb.rsqrt(_counts(dy, ids))) * dy, ids)
    return pb.math.unsorted_segment_sum(shares, places, output_dim0, name=name)


def _checked(grad: Any, indices: Any, segment_ids: Any, count: Any) -> tuple[pb.Tensor, pb.Tensor, pb.Tensor]:
    """Tensors of the three, which hold in a run no number that is out of range."""
    dy, places, ids = (pb.convert_to_tensor(x) for x in (grad, indices, segment_ids))
    rows, last = pb.shape(dy, out_type=ids.dtype)[0], pb.reduce_sum(ids[-1:])
    said = ["Invalid number of segments:", rows, "for the last segment id", last]
    checks = [
        pb.debugging.Assert(last < pb.maximum(rows, 1), said),
        _within("Index", places, pb.cast(count, places.dtype)),
        _within("Segment id", ids, rows),
    ]
    with pb.control_dependencies(checks):
        return dy, pb.identity(places), pb.identity(ids)


def _within(what: str, numbers: pb.Tensor, count: pb.Tensor) -> pb.Operation:
    outside = pb.logical_or(numbers < 0, numbers >= count)
    first = pb.boolean_mask(numbers, outside)[:1]
    text = pb.strings.format("[0, {})", count)
    return pb.debugging.Assert(
        pb.logical_not(pb.reduce_any(outside)), [what, pb.reduce_sum(first), "out of range", text]
    )


def _counts(dy: pb.Tensor, ids: pb.Tensor) -> pb.Tensor:
    """How many entries each segment has, as `dy` has a row for each; 1 where there is none."""
    ones = pb.ones_like(ids, dtype=dy.dtype)
    return pb.maximum(pb.math.unsorted_segment_sum(ones, ids, pb.shape(dy)[0]), 1)


def _column(dy: pb.Tensor, weights: pb.Tensor) -> pb.Tensor:
    return pb.reshape(weights, pb.concat([[-1], pb.ones([pb.rank(dy) - 1], pb.int32)], 0))
