"""Regularizers of Keras: `tf.keras.regularizers`, those of pullback, also by name."""

from __future__ import annotations

from typing import Any

from .... import regularizers as today
from .named import getter

get: Any = getter(today, "regularizer", made=True)


def __getattr__(name: str) -> Any:
    return getattr(today, name)
