"""TensorFlow 1 parameters for `pullback.initializers`."""

from typing import Any

from ... import initializers as today
from . import functions
from .arguments import older


def __getattr__(name: str) -> Any:
    return older(getattr(today, name), functions.PARAMETERS.get(f"{name}_initializer"))


def __dir__() -> list[str]:
    return dir(today)
