"""TensorFlow 1 views of dtypes, lengths, attributes and variables: as they are, or the objects that it has for them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


def itself(x: Any) -> Any:
    """`x`."""
    return x


def nothing(op: Any, name: str) -> Any:
    """KeyError: operations have no attributes but their own."""
    raise KeyError(name)


@dataclass
class Seen:
    """What `dtype`, `shape[i]`, `get_attr` and `get_tensor_by_name` give, and what kind of variables new ones are.

    `package` is what programs call the package: messages that name its functions begin so. With `on_demand` the
    effects in branches and loops of a graph happen where what is fetched waits for them, as those around them do; with
    `single_assignment` elements of TensorArrays are written once, and read once.
    """

    dtype: Callable[[Any], Any] = itself
    size: Callable[[int | None], Any] = itself
    attribute: Callable[[Any, str], Any] = nothing
    named: Callable[[Any], Any] = itself
    references: bool = False
    package: str = "pb"
    on_demand: bool = False
    single_assignment: bool = False


seen = Seen()
