"""TensorFlow 1 parameters for `pullback.initializers`, and the class of initializers that programs derive."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np

import pullback as pb

from ... import initializers as today
from ...core.dtypes import dtype_name
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

    def get_config(self) -> dict[str, Any]:
        """The arguments that make such an initializer."""
        return {}

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Any:
        """The initializer of those arguments."""
        return cls(**config)


class Constant(Initializer):
    """The number `value` everywhere, or the values of a list or array, of which the last stands in all further places.

    Raises:
        ValueError: there are more values than places. TypeError: they are of another shape, with `verify_shape`.

    >>> import pullback.compat.v1 as tf
    >>> tf.Session().run(tf.constant_initializer([1, 2])([3]))
    array([1., 2., 2.], dtype=float32)
    """

    def __init__(self, value: Any = 0, dtype: Any = pb.float32, verify_shape: bool = False) -> None:
        self.value, self.dtype, self._verify_shape = value, dtype, verify_shape

    def __call__(
        self, shape: Any, dtype: Any = None, partition_info: Any = None, verify_shape: bool | None = None
    ) -> Any:
        """The value of a variable of `shape`."""
        del partition_info
        wanted = self.dtype if dtype is None else dtype
        if np.ndim(self.value) == 0:
            return pb.fill(shape, pb.constant(np.asarray(self.value).item(), wanted))
        verified = self._verify_shape if verify_shape is None else verify_shape
        return functions.constant(np.asarray(self.value).tolist(), wanted, shape, verify_shape=verified)

    def get_config(self) -> dict[str, Any]:
        """The arguments that make such an initializer."""
        return {"value": self.value, "dtype": dtype_name(pb.as_dtype(self.dtype))}


constant = Constant
for _kind in (
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
