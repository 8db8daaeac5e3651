"""Assignments of TensorFlow 1 beside those of today: counting up to a limit, scatters of batches of rows."""

from __future__ import annotations

import threading
from typing import Any

import pullback as pb

from ...control_flow.host_call import host_call
from ...core.contexts import in_graph_of_inputs
from ...core.operation import define_methods
from ...core.typing import TensorLike

_COUNTING = threading.Lock()
"""Held from when a counter is read until it is set: threads that count together find each number once."""


def count_up_to(ref: pb.Variable, limit: int, name: str | None = None) -> pb.Tensor:
    """The value of `ref` before 1 is added to it; a run that finds it at `limit` raises OutOfRangeError.

    >>> import pullback.compat.v1 as tf
    >>> counter = tf.Variable(0)
    >>> step = tf.count_up_to(counter, 2)
    >>> with tf.Session() as session:
    ...     session.run(counter.initializer)
    ...     [session.run(step) for _ in range(2)]
    [np.int32(0), np.int32(1)]

    It is a method of variables too: `counter.count_up_to(2)`.
    """
    type_ = pb.TensorType(ref.as_tensor().dtype, ref.shape)
    before, step = ref.read_value(), ref.assign_add(pb.ones([], type_.dtype), read_value=False)

    def counted(session: Any) -> list[Any]:
        with _COUNTING:
            value = session.run(before)
            if value >= limit:
                raise pb.errors.OutOfRangeError(f"count_up_to: '{ref.op.name}': Reached limit of {limit}")
            session.run(step)
        return [value]

    return host_call(counted, [], [type_], name or "CountUpTo").outputs[0]


define_methods(pb.Variable, {"count_up_to": count_up_to, "_ref": pb.Variable.value})


@in_graph_of_inputs
def batch_scatter_update(
    ref: pb.Variable, indices: TensorLike, updates: TensorLike, use_locking: bool = True, name: str | None = None
) -> pb.Tensor:
    """Replaces the rows `indices` [b..., n] of each of the batch of `ref` [b..., rows, ...]; the new value.

    >>> import pullback.compat.v1 as tf
    >>> v = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    >>> with tf.Session() as session:
    ...     session.run(v.initializer)
    ...     session.run(tf.batch_scatter_update(v, [[0], [1]], [[9.0], [8.0]]))
    array([[9., 2.],
           [3., 8.]], dtype=float32)
    """
    rows = pb.convert_to_tensor(indices)
    rank = rows.shape.rank
    if not rank:
        raise ValueError(f"batch_scatter_update: indices must have a known rank of at least 1, but they are {rows}")
    lengths = pb.shape(rows)
    places = [_numbers(axis, rows, lengths) for axis in range(rank - 1)]
    return pb.scatter_nd_update(ref, pb.stack([*places, rows], -1), updates, use_locking, name)


def _numbers(axis: int, like: pb.Tensor, lengths: pb.Tensor) -> pb.Tensor:
    """For each element of `like` its number along an axis."""
    numbers = pb.cast(pb.range(lengths[axis]), like.dtype)
    return pb.broadcast_to(pb.reshape(numbers, [-1 if i == axis else 1 for i in range(like.shape.rank or 0)]), lengths)
