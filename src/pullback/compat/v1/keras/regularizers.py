"""Regularizers of Keras: `tf.keras.regularizers`, those of pullback, also by name."""

from __future__ import annotations

from typing import Any

from .... import regularizers as today
from .named import getter


class Regularizer:
    """What a program may derive a penalty of its own from; it defines `__call__(x)`."""


class L1L2(Regularizer):
    """`l1` times the sum of magnitudes, plus `l2` times the sum of squares."""

    def __init__(self, l1: float = 0.0, l2: float = 0.0) -> None:
        self.l1, self.l2 = l1, l2

    def __call__(self, x: Any) -> Any:
        """The penalty on `x`."""
        return today.l1_l2(self.l1, self.l2)(x)


get: Any = getter(today, "regularizer", made=True)


def __getattr__(name: str) -> Any:
    return getattr(today, name)
