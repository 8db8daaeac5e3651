"""Cross entropy of sequences, weighted and averaged (`sequence_loss`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .....core.graph import Tensor
from .....core.typing import TensorLike
from .....primitives.casting.cast import cast
from .....primitives.creation.constant import convert_to_tensor
from .....primitives.elementwise.division import divide_no_nan
from .....primitives.losses.cross_entropy import sparse_softmax_cross_entropy_with_logits
from .....primitives.reduction.reduce import count_nonzero, reduce_sum
from .....primitives.shape.reshape import reshape
from .....primitives.shape.size import shape


def sequence_loss(
    logits: TensorLike,
    targets: TensorLike,
    weights: TensorLike,
    average_across_timesteps: bool = True,
    average_across_batch: bool = True,
    sum_over_timesteps: bool = False,
    sum_over_batch: bool = False,
    softmax_loss_function: Callable[..., Any] | None = None,
    name: str | None = None,
) -> Tensor:
    """The cross entropy of `logits` [batch, time, classes] and `targets` [batch, time], times `weights` [batch, time].

    It is added up along the axes that an average or a sum is asked for, and divided by the sum of the weights there, or
    by how many of them are not 0. Along both it is one number, along one of them a vector, along none a matrix.
    `softmax_loss_function(labels=, logits=)` of targets [n] and logits [n, classes] takes the place of the softmax.

    Raises:
        ValueError: ranks are others; an average and a sum are asked for, along one axis or two.

    >>> import pullback.compat.v1 as tf
    >>> loss = tf.contrib.seq2seq.sequence_loss(tf.zeros([1, 2, 4]), [[3, 1]], [[1.0, 0.0]])
    >>> print(round(float(tf.Session().run(loss)), 4))
    1.3863
    """
    x, y, w = convert_to_tensor(logits), convert_to_tensor(targets), convert_to_tensor(weights)
    for value, rank, what in ((x, 3, "logits"), (y, 2, "targets"), (w, 2, "weights")):
        if value.shape.rank not in (rank, None):
            raise ValueError(f"sequence_loss: {what} must be of rank {rank}, not {value.type}")
    averaged = [axis for axis, wanted in enumerate((average_across_batch, average_across_timesteps)) if wanted]
    summed = [axis for axis, wanted in enumerate((sum_over_batch, sum_over_timesteps)) if wanted]
    if averaged and summed:
        raise ValueError("sequence_loss: an average and a sum are asked for; set those that are not wanted to False")
    with x.graph.acting.name_scope(name or "sequence_loss"):
        losses: Tensor = _losses(x, y, softmax_loss_function) * w
        if not averaged and not summed:
            return losses
        axes = averaged or summed
        whole = reduce_sum(w, axes) if averaged else cast(count_nonzero(w, axes), losses.dtype)
        return divide_no_nan(reduce_sum(losses, axes), whole)


def _losses(logits: Tensor, targets: Tensor, function: Callable[..., Any] | None) -> Any:
    if function is None:
        return sparse_softmax_cross_entropy_with_logits(targets, logits)
    flat = function(labels=reshape(targets, [-1]), logits=reshape(logits, [-1, shape(logits)[2]]))
    return reshape(flat, shape(targets))
