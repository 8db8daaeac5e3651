"""Losses of batches that replicas share, for the one replica that there is."""

from __future__ import annotations

import pullback as pb

from ...core.contexts import in_graph_of_inputs
from ...core.typing import TensorLike


@in_graph_of_inputs
def compute_average_loss(
    per_example_loss: TensorLike, sample_weight: TensorLike | None = None, global_batch_size: TensorLike | None = None
) -> pb.Tensor:
    """The sum of the losses of examples, times their weights, over the size of the batch.

    Raises:
        ValueError: the losses are one number, without a batch.

    >>> import pullback.compat.v1 as tf
    >>> tf.Session().run(tf.nn.compute_average_loss([1.0, 2.0, 3.0], [1.0, 1.0, 0.0], global_batch_size=6))
    np.float32(0.5)
    """
    losses = pb.convert_to_tensor(per_example_loss)
    if losses.shape.rank == 0:
        raise ValueError(f"compute_average_loss: per_example_loss must have one number for each example, not {losses}")
    size = pb.shape(losses)[0] if global_batch_size is None else global_batch_size
    weighted = losses if sample_weight is None else losses * pb.cast(sample_weight, losses.dtype)
    return pb.reduce_sum(weighted) / pb.cast(size, losses.dtype)


@in_graph_of_inputs
def scale_regularization_loss(regularization_loss: TensorLike) -> pb.Tensor:
    """The sum of the losses, over the number of replicas, which is one.

    >>> import pullback.compat.v1 as tf
    >>> tf.Session().run(tf.nn.scale_regularization_loss([1.0, 2.0]))
    np.float32(3.0)
    """
    return pb.reduce_sum(regularization_loss)
