"""TensorFlow 1 parameters for `pullback.linalg`."""

from typing import Any

from ... import linalg as today
from . import functions, nn
from .arguments import older


def __getattr__(name: str) -> Any:
    if name == "l2_normalize":
        return getattr(nn, name)
    return older(getattr(today, name), functions.PARAMETERS.get(name))


def __dir__() -> list[str]:
    return dir(today)
