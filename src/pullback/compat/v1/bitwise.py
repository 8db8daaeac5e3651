"""`pullback.bitwise`, of ragged tensors too."""

from typing import Any

from ... import bitwise as today
from .composites import on_composites_too


def __getattr__(name: str) -> Any:
    return on_composites_too(name, getattr(today, name), None)


def __dir__() -> list[str]:
    return dir(today)
