"""Functions of networks that were only in `tf.contrib.nn`.

>>> import pullback.compat.v1 as tf
>>> x = tf.constant([[4.0, 1.0, 3.0]])
>>> tf.Session().run([tf.contrib.nn.nth_element(x, 1), tf.contrib.nn.scaled_softplus(x, 2.0, clip=3.0)[0, 0]])
[array([3.], dtype=float32), np.float32(3.0)]
"""

from __future__ import annotations

from typing import Any

import pullback as pb

from ....core.contexts import in_graph_of_inputs
from ....core.typing import ShapeLike, TensorLike
from ....math import nth_element as nth_element
from ..nn import sampled_softmax_loss

_LOWEST = -1.7580993408473766
"""What a scaled exponential linear unit goes to for small numbers: minus its scale times its alpha."""


def alpha_dropout(
    x: TensorLike,
    keep_prob: float,
    noise_shape: ShapeLike | None = None,
    seed: int | None = None,
    name: str | None = None,
) -> pb.Tensor:
    """Dropout that keeps the mean and the variance: what is dropped becomes the lowest value of `selu`, all is scaled.

    Source: G. Klambauer et al., "Self-normalizing neural networks", NIPS 2017.

    Raises:
        ValueError: `keep_prob` is not in (0, 1].
    """
    if isinstance(keep_prob, int | float) and not 0 < keep_prob <= 1:
        raise ValueError(f"keep_prob must be a scalar tensor or a float in the range (0, 1], got {keep_prob}")
    with pb.name_scope(name or "alpha_dropout"):
        given = pb.convert_to_tensor(x)
        if keep_prob == 1:
            return given
        shape: Any = pb.shape(given) if noise_shape is None else noise_shape
        kept = pb.cast(pb.random_uniform(shape, seed=seed, dtype=given.dtype) >= 1.0 - keep_prob, given.dtype)
        scale = (keep_prob + keep_prob * (1.0 - keep_prob) * _LOWEST**2) ** -0.5
        dropped = given * kept + _LOWEST * (1.0 - kept)
        y: pb.Tensor = scale * dropped - scale * _LOWEST * (1.0 - keep_prob)
        return y


@in_graph_of_inputs
def scaled_softplus(x: TensorLike, alpha: TensorLike, clip: float | None = None, name: str | None = None) -> pb.Tensor:
    """`alpha * softplus(x / alpha)`, `clip` at most."""
    with pb.name_scope(name or "scaled_softplus"):
        given = pb.convert_to_tensor(x)
        y: pb.Tensor = alpha * pb.nn.softplus(given / alpha)
        return y if clip is None else pb.minimum(y, pb.constant(clip, given.dtype))


@in_graph_of_inputs
def sampled_sparse_softmax_loss(
    weights: Any,
    biases: Any,
    labels: TensorLike,
    inputs: TensorLike,
    num_sampled: int,
    num_classes: int,
    sampled_values: Any = None,
    remove_accidental_hits: bool = True,
    partition_strategy: str = "mod",
    name: str = "sampled_sparse_softmax_loss",
) -> Any:
    """`nn.sampled_softmax_loss` with one true class for each example, [batch, 1]."""
    return sampled_softmax_loss(
        weights,
        biases,
        labels,
        inputs,
        num_sampled,
        num_classes,
        1,
        sampled_values,
        remove_accidental_hits,
        partition_strategy,
        name,
    )
