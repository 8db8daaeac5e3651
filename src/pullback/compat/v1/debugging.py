"""TensorFlow 1 parameters for `pullback.debugging`."""

from typing import Any

from ... import debugging as today
from .. import assertions as assertions_v1
from . import functions
from .arguments import older


def __getattr__(name: str) -> Any:
    if name == "assert_all_finite":
        return older(today.assert_all_finite, "t:x, msg:message, name, x, message")
    if name in functions.OTHER:
        return functions.OTHER[name]
    return getattr(assertions_v1, name, None) or getattr(today, name)


def __dir__() -> list[str]:
    return dir(today)
