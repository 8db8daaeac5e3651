"""Lookup tables of `tf.contrib.lookup`: those of `tf.lookup`."""

from typing import Any

from .. import lookup as today
from ..arguments import older

PARAMETERS = {"HashTable": "initializer, default_value, shared_name:, name"}


def __getattr__(name: str) -> Any:
    return older(getattr(today, name), PARAMETERS.get(name))


def __dir__() -> list[str]:
    return dir(today)
