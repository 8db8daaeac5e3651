"""Regularizers and sums of them: `tf.contrib.layers`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pullback as pb

from ....core.typing import TensorLike
from .initializers import l1_regularizer, l2_regularizer

Regularizer = Callable[[Any], Any]


def l1_l2_regularizer(scale_l1: float = 1.0, scale_l2: float = 1.0, scope: str | None = None) -> Regularizer | None:
    """A function that returns `scale_l1 * sum(|w|) + scale_l2 * sum(w**2) / 2`."""
    scope = scope or "l1_l2_regularizer"
    if 0.0 in (scale_l1, scale_l2):
        return l1_regularizer(scale_l1, scope) if scale_l2 == 0.0 else l2_regularizer(scale_l2, scope)
    return sum_regularizer([l1_regularizer(scale_l1), l2_regularizer(scale_l2)], scope)


def sum_regularizer(regularizer_list: Sequence[Regularizer | None], scope: str | None = None) -> Regularizer | None:
    """A function that returns the sum of what the others return; those that are None are left out. None without any."""
    kept = [r for r in regularizer_list if r is not None]

    def total(weights: TensorLike) -> pb.Tensor | None:
        w = pb.convert_to_tensor(weights)
        with w.graph.acting.within(scope or "sum_regularizer") as around:
            terms = [y for y in (r(w) for r in kept) if y is not None]
            return pb.add_n(terms, name=around) if terms else None

    return total if kept else None


def apply_regularization(regularizer: Regularizer, weights_list: Sequence[Any] | None = None) -> pb.Tensor:
    """The sum of `regularizer` of the weights, those of the collection `WEIGHTS` unless given; it is noted as a loss.

    >>> import pullback.compat.v1 as tf
    >>> loss = tf.contrib.layers.apply_regularization(tf.contrib.layers.l2_regularizer(0.5), [tf.constant([2.0])])
    >>> tf.Session().run(loss), tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES) == [loss]
    (np.float32(1.0), True)
    """
    weights = pb.get_collection(pb.GraphKeys.WEIGHTS) if weights_list is None else weights_list
    found = [y for y in (regularizer(w) for w in weights) if y is not None]
    total = pb.add_n(found) if found else pb.constant(0.0)
    pb.add_to_collection(pb.GraphKeys.REGULARIZATION_LOSSES, total)
    return total
