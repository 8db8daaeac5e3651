"""Weighted losses of version 1: those of errors are float32, whatever numbers the predictions are.

>>> import pullback.compat.v1 as tf
>>> loss, labels, half = tf.losses, [1, 0], tf.constant([0.5, 0.25], tf.float16)
>>> singles = [f(labels, half) for f in (loss.absolute_difference, loss.mean_squared_error, loss.huber_loss)]
>>> singles += [loss.hinge_loss(labels, half), loss.log_loss(labels, half), loss.cosine_distance(labels, half, axis=0)]
>>> [x.dtype.name for x in [*singles, loss.mean_pairwise_squared_error([labels], [half])]]
['float32', 'float32', 'float32', 'float32', 'float32', 'float32', 'float32']
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any

from ... import losses as today
from ...core.contexts import in_graph_of_inputs
from ...core.dtypes import float32
from ...core.graph import Tensor
from ...primitives.casting.cast import cast
from ...primitives.creation.constant import convert_to_tensor


def _in_float32(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """`function`, whose first two parameters, labels and predictions, are made float32."""
    signature = inspect.signature(function)
    pair = list(signature.parameters)[:2]

    @wraps(function)
    @in_graph_of_inputs
    def call(*args: Any, **kwargs: Any) -> Tensor:
        given = signature.bind(*args, **kwargs).arguments
        for name in pair:
            if given[name] is not None:
                given[name] = cast(convert_to_tensor(given[name]), float32)
        return function(**given)

    return call


absolute_difference = _in_float32(today.absolute_difference)
cosine_distance = _in_float32(today.cosine_distance)
hinge_loss = _in_float32(today.hinge_loss)
huber_loss = _in_float32(today.huber_loss)
log_loss = _in_float32(today.log_loss)
mean_pairwise_squared_error = _in_float32(today.mean_pairwise_squared_error)
mean_squared_error = _in_float32(today.mean_squared_error)


def __getattr__(name: str) -> Any:
    return getattr(today, name)


def __dir__() -> list[str]:
    return dir(today)
