"""Cross entropy of sequences, weighted and averaged (`sequence_loss`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pullback as pb

from .....core.contexts import in_graph_of_inputs
from .....core.typing import TensorLike


@in_graph_of_inputs
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
) -> pb.Tensor:
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
    x, y, w = pb.convert_to_tensor(logits), pb.convert_to_tensor(targets), pb.convert_to_tensor(weights)
    for value, rank, what in ((x, 3, "logits"), (y, 2, "targets"), (w, 2, "weights")):
        if value.shape.rank not in (rank, None):
            raise ValueError(f"sequence_loss: {what} must be of rank {rank}, not {value.type}")
    averaged = [axis for axis, wanted in enumerate((average_across_batch, average_across_timesteps)) if wanted]
    summed = [axis for axis, wanted in enumerate((sum_over_batch, sum_over_timesteps)) if wanted]
    if averaged and summed:
        raise ValueError("sequence_loss: an average and a sum are asked for; set those that are not wanted to False")
    with x.graph.acting.within(name or "sequence_loss"):
        losses: pb.Tensor = _losses(x, y, softmax_loss_function) * w
        if not averaged and not summed:
            return losses
        axes = averaged or summed
        whole = pb.reduce_sum(w, axes) if averaged else pb.cast(pb.count_nonzero(w, axes), losses.dtype)
        return pb.div_no_nan(pb.reduce_sum(losses, axes), whole)


def _losses(logits: pb.Tensor, targets: pb.Tensor, function: Callable[..., Any] | None) -> Any:
    if function is None:
        return pb.nn.sparse_softmax_cross_entropy_with_logits(targets, logits)
    flat = function(labels=pb.reshape(targets, [-1]), logits=pb.reshape(logits, [-1, pb.shape(logits)[2]]))
    return pb.reshape(flat, pb.shape(targets))
