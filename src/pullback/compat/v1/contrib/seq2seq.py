"""Losses of sequences: `tf.contrib.seq2seq`."""

from __future__ import annotations

from ....core.graph import Tensor
from ....core.typing import TensorLike
from ....primitives.creation.constant import convert_to_tensor
from ....primitives.losses.cross_entropy import sparse_softmax_cross_entropy_with_logits
from ....primitives.reduction.reduce import reduce_sum


def sequence_loss(
    logits: TensorLike,
    targets: TensorLike,
    weights: TensorLike,
    average_across_timesteps: bool = True,
    average_across_batch: bool = True,
    name: str | None = None,
) -> Tensor:
    """The cross entropy of `logits` [batch, time, classes] and `targets` [batch, time], weighted by `weights`.

    Averaged over both axes it is one number, over one of them a vector, over none a matrix.
    """
    x, w = convert_to_tensor(logits), convert_to_tensor(weights)
    with x.graph.acting.name_scope(name or "sequence_loss"):
        losses = sparse_softmax_cross_entropy_with_logits(targets, x) * w
        axes = [axis for axis, wanted in enumerate((average_across_batch, average_across_timesteps)) if wanted]
        if not axes:
            return losses
        return reduce_sum(losses, axes) / (reduce_sum(w, axes) + 1e-12)
