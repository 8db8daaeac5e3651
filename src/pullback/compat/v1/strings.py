"""TensorFlow 1 parameters for `pullback.strings`."""

from typing import Any

from ... import strings as today
from .arguments import older

PARAMETERS = {"length": "input, name, unit", "to_number": "string_tensor:input, out_type, name, input"}


def __getattr__(name: str) -> Any:
    return older(getattr(today, name), PARAMETERS.get(name))


def __dir__() -> list[str]:
    return dir(today)
