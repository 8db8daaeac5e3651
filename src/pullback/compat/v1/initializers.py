"""TensorFlow 1 parameters for `pullback.initializers`, and the class of initializers that programs derive."""

from abc import ABC, abstractmethod
from typing import Any

from ... import initializers as today
from ...layers.variables.initializers import UniformUnitScaling
from . import functions
from .arguments import older


class Initializer(ABC):
    """What makes the first value of a variable: an object to call with its shape.

    >>> import pullback.compat.v1 as tf
    >>> class Halves(tf.initializers.Initializer):
    ...     def __call__(self, shape, dtype=None, partition_info=None):
    ...         return tf.fill(shape, tf.cast(0.5, dtype))
    >>> v = tf.get_variable("v", [2], initializer=Halves())
    >>> isinstance(tf.zeros_initializer(), tf.initializers.Initializer)
    True
    """

    @abstractmethod
    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Any:
        """The value of a variable of `shape`."""


for _kind in (
    today.Constant,
    today.Identity,
    today.Ones,
    today.Orthogonal,
    today.RandomNormal,
    today.RandomUniform,
    today.TruncatedNormal,
    today.VarianceScaling,
    today.Zeros,
    UniformUnitScaling,
):
    Initializer.register(_kind)


def __getattr__(name: str) -> Any:
    return older(getattr(today, name), functions.PARAMETERS.get(f"{name}_initializer"))


def __dir__() -> list[str]:
    return ["Initializer", *dir(today)]
