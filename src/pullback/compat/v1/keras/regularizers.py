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


def l1(l: float = 0.01, l1: float | None = None) -> Any:  # noqa: E741 (the name that it had)
    """A penalty of `l` times the sum of magnitudes; `l1` is the later name."""
    return today.l1(l if l1 is None else l1)


def l2(l: float = 0.01, l2: float | None = None) -> Any:  # noqa: E741 (the name that it had)
    """A penalty of `l` times the sum of squares; `l2` is the later name."""
    return today.l2(l if l2 is None else l2)


get: Any = getter(today, "regularizer", made=True)


def __getattr__(name: str) -> Any:
    return getattr(today, name)
