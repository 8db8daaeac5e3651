"""TensorFlow 1 views of dtypes, lengths and variables: as they are, or the objects that it has for them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


def itself(x: Any) -> Any:
    """`x`."""
    return x


@dataclass
class Seen:
    """What `dtype` of a tensor, and `shape[i]` give, and what kind of variables new ones are."""

    dtype: Callable[[Any], Any] = itself
    size: Callable[[int | None], Any] = itself
    references: bool = False


seen = Seen()
