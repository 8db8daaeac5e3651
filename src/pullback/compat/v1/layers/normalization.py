"""Batch normalization as a layer: moving means for prediction are brought up to date by `UPDATE_OPS`.

S. Ioffe and C. Szegedy, "Batch Normalization: Accelerating Deep Network Training by Reducing Internal Covariate
Shift", 2015.
"""

from __future__ import annotations

from typing import Any

from ....core.dtypes import float32
from ....core.graph import Tensor
from ....core.typing import TensorLike
from ....layers.variables.scope import VariableScope
from ....primitives.casting.cast import cast
from ....primitives.creation.constant import convert_to_tensor
from ....primitives.creation.fill import zeros_like
from ....primitives.normalization.normalization import batch_normalization as normalized
from ....primitives.reduction.moments import moments
from ....primitives.shape.reshape import reshape
from ....primitives.shape.size import size
from ....primitives.variables.collections import GraphKeys, add_to_collection
from .core import is_training, while_training
from .variables import ONES, ZEROS, Maker, Wish, layer_scope, layer_variable


def batch_normalization(
    inputs: TensorLike,
    axis: int = -1,
    momentum: float = 0.99,
    epsilon: float = 1e-3,
    center: bool = True,
    scale: bool = True,
    beta_initializer: Maker = ZEROS,
    gamma_initializer: Maker = ONES,
    moving_mean_initializer: Maker = ZEROS,
    moving_variance_initializer: Maker = ONES,
    beta_regularizer: Maker = None,
    gamma_regularizer: Maker = None,
    beta_constraint: Maker = None,
    gamma_constraint: Maker = None,
    training: TensorLike | bool = False,
    trainable: bool = True,
    name: str | VariableScope | None = None,
    reuse: bool | str | None = None,
    renorm: bool = False,
    renorm_clipping: object = None,
    renorm_momentum: float = 0.99,
    fused: bool | None = None,
    virtual_batch_size: int | None = None,
    adjustment: object = None,
) -> Tensor:
    """`inputs` less their mean along all axes but `axis`, over their deviation, times gamma plus beta.

    Where `training`, be it known or computed in a run, mean and variance are those of the batch, else moving ones. What
    brings these up to date is in the collection `UPDATE_OPS`: let the training step depend on it.

    Raises:
        NotImplementedError: `renorm`, `virtual_batch_size` or `adjustment` is asked for.
    """
    del renorm_clipping, renorm_momentum
    if renorm or virtual_batch_size is not None or adjustment is not None:
        raise NotImplementedError("batch_normalization: there is no renorm, virtual_batch_size or adjustment")
    x = convert_to_tensor(inputs)
    rank = x.shape.rank
    if rank is None:
        raise ValueError(f"batch_normalization: the rank of {x} must be known; use pb.ensure_shape")
    place = (axis[0] if isinstance(axis, list | tuple) else axis) % rank
    others = [a for a in range(rank) if a != place]
    is_unbiased = fused is not False and rank == 4 and place in (1, 3)
    with layer_scope(name, "batch_normalization", x, reuse):
        shape = [x.shape.size(place)]
        gamma = beta = None
        if scale:
            wish = Wish(gamma_initializer, gamma_regularizer, gamma_constraint)
            gamma = layer_variable("gamma", shape, wish, trainable)
        if center:
            wish = Wish(beta_initializer, beta_regularizer, beta_constraint)
            beta = layer_variable("beta", shape, wish, trainable)
        mean = layer_variable("moving_mean", shape, Wish(moving_mean_initializer), False)
        variance = layer_variable("moving_variance", shape, Wish(moving_variance_initializer), False)
        batch = moments(x, others)
        used = while_training(training, lambda: batch, lambda: (mean.read_value(), variance.read_value()))
        seen = _unbiased(batch[1], x, shape[0]) if is_unbiased else batch[1]
        for moving, value in ((mean, batch[0]), (variance, seen)):
            _follow(moving, value, momentum, training)
        broad = [shape[0] if a == place else 1 for a in range(rank)]
        parts = [v if v is None or place == rank - 1 else reshape(v, broad) for v in (*used, beta, gamma)]
        return normalized(x, parts[0], parts[1], parts[2], parts[3], epsilon)


def _unbiased(variance: Tensor, x: Tensor, length: int) -> Tensor:
    """The variance of what the batch is a sample of, as TensorFlow's kernel for images keeps it."""
    count = x.shape.num_elements()
    if count is not None:
        number = count // length
        return variance * (number / max(number - 1, 1))
    several = cast(size(x), float32) / float(length)
    return variance * cast(several / (several - 1.0), variance.dtype)


def _follow(moving: Any, value: Tensor, momentum: float, training: TensorLike | bool) -> None:
    """Note what moves a variable towards `value` where `training`."""
    if is_training(training) is not False:
        change = (moving - value) * (1.0 - momentum)
        wanted = while_training(training, lambda: change, lambda: zeros_like(change))
        add_to_collection(GraphKeys.UPDATE_OPS, moving.assign_sub(wanted, name="AssignMovingAvg", read_value=False))
