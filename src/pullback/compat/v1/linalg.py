"""TensorFlow 1 parameters for `pullback.linalg`."""

from typing import Any

from ... import linalg as today
from . import nn
from .arguments import older
from .functions import NORM


def __getattr__(name: str) -> Any:
    if name == "l2_normalize":
        return getattr(nn, name)
    return older(getattr(today, name), NORM if name == "norm" else None)


def __dir__() -> list[str]:
    return dir(today)
