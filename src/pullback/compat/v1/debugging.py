"""TensorFlow 1 parameters for `pullback.debugging`."""

from typing import Any

from ... import debugging as today
from .. import assertions as assertions_v1
from . import functions
from .arguments import older
from .composites import CHECKS, on_composites_too


def __getattr__(name: str) -> Any:
    if name == "assert_all_finite":
        return older(today.assert_all_finite, "t:x, msg:message, name, x, message")
    found = functions.OTHER.get(name) or getattr(assertions_v1, name, None) or getattr(today, name)
    return on_composites_too(name, found, None) if name in CHECKS else found


def __dir__() -> list[str]:
    return dir(today)
