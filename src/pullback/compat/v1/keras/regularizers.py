"""Regularizers of Keras: `tf.keras.regularizers`, penalties as objects, also by name."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

import numpy as np

from .... import regularizers as today
from .named import found, getter, serialize_keras_object

serialize = serialize_keras_object


class Regularizer:
    """What a program may derive a penalty of its own from; it defines `__call__(x)`, and `get_config()`."""

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Any:
        """The penalty of those arguments."""
        return cls(**config)


class L1L2(Regularizer):
    """`l1` times the sum of magnitudes, plus `l2` times the sum of squares."""

    def __init__(self, l1: float = 0.0, l2: float = 0.0) -> None:
        self.l1, self.l2 = _single(l1), _single(l2)

    def __call__(self, x: Any) -> Any:
        """The penalty on `x`."""
        return today.l1_l2(self.l1, self.l2)(x)

    def get_config(self) -> dict[str, float]:
        """The arguments that make such a penalty."""
        return {"l1": self.l1, "l2": self.l2}


class L1(Regularizer):
    """`l1` times the sum of magnitudes; `l` is the older name."""

    def __init__(self, l1: float = 0.01, l: float | None = None) -> None:  # noqa: E741 (the name that it had)
        self.l1 = _single(l1 if l is None else l)

    def __call__(self, x: Any) -> Any:
        """The penalty on `x`."""
        return today.l1(self.l1)(x)

    def get_config(self) -> dict[str, float]:
        """The arguments that make such a penalty."""
        return {"l1": self.l1}


class L2(Regularizer):
    """`l2` times the sum of squares; `l` is the older name."""

    def __init__(self, l2: float = 0.01, l: float | None = None) -> None:  # noqa: E741 (the name that it had)
        self.l2 = _single(l2 if l is None else l)

    def __call__(self, x: Any) -> Any:
        """The penalty on `x`."""
        return today.l2(self.l2)(x)

    def get_config(self) -> dict[str, float]:
        """The arguments that make such a penalty."""
        return {"l2": self.l2}


l1, l2 = L1, L2


def l1_l2(l1: float = 0.01, l2: float = 0.01) -> L1L2:
    """A penalty of `l1` times the sum of magnitudes, plus `l2` times the sum of squares."""
    return L1L2(l1, l2)


def deserialize(config: Any, custom_objects: Mapping[str, Any] | None = None) -> Any:
    """The penalty that `serialize` told of.

    Raises:
        ValueError: there is none of the name.
    """
    return found(config, _find, custom_objects, "regularizer", made=True)


def _single(x: float) -> float:
    """A number as TensorFlow keeps it, of single precision."""
    return float(np.float32(x))


def _find(name: str) -> Any:
    return getattr(sys.modules[__name__], name, None)


get: Any = getter(_find, "regularizer")
