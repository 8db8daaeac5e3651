"""Shards: the value of a variable part by part, so that no process needs to hold all of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..core.types import TensorType, type_of_array

Index = tuple[slice, ...]
"""Where a part is in the whole."""


class Shards(NamedTuple):
    """A value, as the parts of it that this process saves: of what several processes have, one of them saves it."""

    type: TensorType
    block: tuple[int, ...]
    """The lengths of a shard: each part begins and ends at multiples of them, or where the whole ends."""
    parts: list[tuple[Index, Any]]


class Source(NamedTuple):
    """A saved value, read part by part."""

    type: TensorType
    read: Callable[[Index], np.ndarray[Any, Any]]

    def whole(self) -> np.ndarray[Any, Any]:
        """All of it."""
        return self.read(whole_of(self.type.shape.known))


def one_shard(value: np.ndarray[Any, Any]) -> Shards:
    """A value that is in one part."""
    return Shards(type_of_array(value), value.shape, [(whole_of(value.shape), value)])


def source_of(value: np.ndarray[Any, Any]) -> Source:
    """A value that is there, to be read part by part."""
    return Source(type_of_array(value), value.__getitem__)


def whole_of(shape: tuple[int, ...]) -> Index:
    """The index of all that an array of `shape` has."""
    return tuple([slice(0, length) for length in shape])
