"""Initializers of Keras: `tf.keras.initializers`, those of pullback, also by name."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from .... import initializers as today
from ..initializers import Constant as Constant
from ..initializers import Initializer as Initializer
from ..initializers import constant as constant
from .named import found, getter, serialize_keras_object

serialize = serialize_keras_object


def uniform() -> Any:
    """Numbers between -0.05 and 0.05."""
    return today.RandomUniform(-0.05, 0.05)


def normal() -> Any:
    """Numbers of standard deviation 0.05."""
    return today.RandomNormal(stddev=0.05)


random_uniform, random_normal = uniform, normal


def __getattr__(name: str) -> Any:
    return getattr(today, name)


_LATER = {
    "GlorotNormal": "glorot_normal",
    "GlorotUniform": "glorot_uniform",
    "HeNormal": "he_normal",
    "HeUniform": "he_uniform",
    "LecunNormal": "lecun_normal",
    "LecunUniform": "lecun_uniform",
}
"""Names of classes, of what functions make here."""


def deserialize(config: Any, custom_objects: Mapping[str, Any] | None = None) -> Any:
    """The initializer that `serialize` told of.

    Raises:
        ValueError: there is none of the name.
    """
    return found(config, _find, custom_objects, "initializer", made=True)


def _find(name: str) -> Any:
    return getattr(sys.modules[__name__], _LATER.get(name, name), None)


get: Any = getter(_find, "initializer")
