"""Initializers of Keras: `tf.keras.initializers`, those of pullback, also by name."""

from __future__ import annotations

import sys
from typing import Any

from .... import initializers as today
from ..initializers import Constant as Constant
from ..initializers import Initializer as Initializer
from ..initializers import constant as constant
from .named import getter


def uniform() -> Any:
    """Numbers between -0.05 and 0.05."""
    return today.RandomUniform(-0.05, 0.05)


def normal() -> Any:
    """Numbers of standard deviation 0.05."""
    return today.RandomNormal(stddev=0.05)


random_uniform, random_normal = uniform, normal


def __getattr__(name: str) -> Any:
    return getattr(today, name)


get: Any = getter(sys.modules[__name__], "initializer", made=True)
