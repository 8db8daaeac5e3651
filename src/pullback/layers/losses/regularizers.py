"""Regularizers: penalties on weights, under the names of `tf.keras.regularizers`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...core.operation import Tensor
from ...primitives.creation.constant import convert_to_tensor
from ...primitives.elementwise.sign import absolute
from ...primitives.losses.l2 import l2_loss
from ...primitives.reduction.reduce import reduce_sum

Regularizer = Callable[[Any], Tensor]


def l1(l1: float = 0.01) -> Regularizer:
    """A function that returns `l1 * sum(|w|)`.

    >>> import pullback as pb
    >>> pb.Session().run(pb.regularizers.l1(0.5)([1.0, -3.0]))
    np.float32(2.0)
    """
    return lambda weights: reduce_sum(absolute(convert_to_tensor(weights))) * l1


def l2(l2: float = 0.01) -> Regularizer:
    """A function that returns `l2 * sum(w**2)`.

    >>> import pullback as pb
    >>> pb.Session().run(pb.regularizers.l2(0.5)([1.0, -3.0]))
    np.float32(5.0)
    """
    return lambda weights: l2_loss(weights) * (2 * l2)


def l1_l2(l1: float = 0.01, l2: float = 0.01) -> Regularizer:
    """A function that returns `l1 * sum(|w|) + l2 * sum(w**2)`.

    >>> import pullback as pb
    >>> pb.Session().run(pb.regularizers.l1_l2(0.5, 0.5)([1.0, -3.0]))
    np.float32(7.0)
    """

    def penalty(weights: Any) -> Tensor:
        w = convert_to_tensor(weights)
        return reduce_sum(absolute(w)) * l1 + l2_loss(w) * (2 * l2)

    return penalty


__all__ = [
    "l1",
    "l1_l2",
    "l2",
]
