"""TensorFlow 1 parameters for `pullback.linalg`."""

from typing import Any

from ... import linalg as today
from . import linear_operators, nn
from .arguments import older
from .functions import NORM


def __getattr__(name: str) -> Any:
    if name == "l2_normalize":
        return getattr(nn, name)
    if name.startswith("LinearOperator"):
        return getattr(linear_operators, name)
    return older(getattr(today, name), NORM if name == "norm" else None)


def __dir__() -> list[str]:
    return dir(today)
