"""Constraints of Keras: `tf.keras.constraints`, what variables are held to behind each step, also by name.

>>> import pullback.compat.v1 as tf
>>> largest = tf.keras.constraints.MaxNorm(1.0)
>>> tf.Session().run(largest(tf.constant([[3.0, 0.1], [4.0, 0.2]]))).round(3)
array([[0.6, 0.1],
       [0.8, 0.2]], dtype=float32)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pullback as pb

from . import backend
from .named import found, getter, serialize_keras_object

serialize = serialize_keras_object


class Constraint:
    """What a program may derive a constraint of its own from; it defines `__call__(w)`."""

    def __call__(self, w: Any) -> Any:
        """What a variable of the value `w` becomes."""
        raise NotImplementedError(f"{type(self).__name__} does not define __call__(w)")

    def get_config(self) -> dict[str, Any]:
        """The arguments that make such a constraint."""
        return {}


class NonNeg(Constraint):
    """No number is below 0."""

    def __call__(self, w: Any) -> Any:
        """What a variable of the value `w` becomes."""
        return w * pb.cast(pb.convert_to_tensor(w) >= 0.0, w.dtype)


class MaxNorm(Constraint):
    """No norm along `axis` is above `max_value`."""

    def __init__(self, max_value: float = 2, axis: Any = 0) -> None:
        self.max_value, self.axis = max_value, axis

    def __call__(self, w: Any) -> Any:
        """What a variable of the value `w` becomes."""
        norms = _norms(w, self.axis)
        return w * (pb.clip_by_value(norms, 0.0, self.max_value) / (backend.epsilon() + norms))

    def get_config(self) -> dict[str, Any]:
        """The arguments that make such a constraint."""
        return {"max_value": self.max_value, "axis": self.axis}


class UnitNorm(Constraint):
    """All norms along `axis` are 1."""

    def __init__(self, axis: Any = 0) -> None:
        self.axis = axis

    def __call__(self, w: Any) -> Any:
        """What a variable of the value `w` becomes."""
        return w / (backend.epsilon() + _norms(w, self.axis))

    def get_config(self) -> dict[str, Any]:
        """The arguments that make such a constraint."""
        return {"axis": self.axis}


class MinMaxNorm(Constraint):
    """Norms along `axis` go toward what lies between `min_value` and `max_value`, by the share `rate` of the way."""

    def __init__(self, min_value: float = 0.0, max_value: float = 1.0, rate: float = 1.0, axis: Any = 0) -> None:
        self.min_value, self.max_value, self.rate, self.axis = min_value, max_value, rate, axis

    def __call__(self, w: Any) -> Any:
        """What a variable of the value `w` becomes."""
        norms = _norms(w, self.axis)
        wanted = self.rate * pb.clip_by_value(norms, self.min_value, self.max_value) + (1.0 - self.rate) * norms
        return w * (wanted / (backend.epsilon() + norms))

    def get_config(self) -> dict[str, Any]:
        """The arguments that make such a constraint."""
        return {"min_value": self.min_value, "max_value": self.max_value, "rate": self.rate, "axis": self.axis}


max_norm = maxnorm = MaxNorm
non_neg = nonneg = NonNeg
unit_norm = unitnorm = UnitNorm
min_max_norm = MinMaxNorm
_KINDS = {"MaxNorm": MaxNorm, "NonNeg": NonNeg, "UnitNorm": UnitNorm, "MinMaxNorm": MinMaxNorm}
_BY_NAME = _KINDS | {
    "max_norm": MaxNorm,
    "non_neg": NonNeg,
    "nonneg": NonNeg,
    "unit_norm": UnitNorm,
    "min_max_norm": MinMaxNorm,
}


def deserialize(config: Any, custom_objects: Mapping[str, Any] | None = None) -> Any:
    """The constraint that `serialize` told of.

    Raises:
        ValueError: its class is unknown.
    """
    return found(config, _BY_NAME.get, custom_objects, "constraint")


get: Any = getter(_BY_NAME.get, "constraint")


def _norms(w: Any, axis: Any) -> Any:
    return pb.sqrt(pb.reduce_sum(pb.square(w), axis, keepdims=True))
