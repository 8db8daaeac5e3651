"""Buffer reuse for loop checkpoints: kept from run to run, because XLA would allocate and clear them at each.

A program is traced once to see what it asks for. It is then given that as further arguments, which it changes in place
and hands back. What is in them is of no interest to it: loops read only what they wrote. The programs of a session run
one at a time, and share what they keep.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import jax
import jax.numpy as jnp
import numpy as np

_LEAST = 1 << 16
"""Less than so many bytes are made and cleared more cheaply than handed over."""
_MOST = 1 << 27
"""What is kept of a session, in bytes."""


class User(Protocol):
    """What asked for rooms, and has had them since, in whatever state they are by now."""

    @property
    def columns(self) -> list[Any]: ...
    @property
    def rows(self) -> list[Any]: ...


class Rooms:
    """What one pass over a program asks for. `given` are the arguments, None where they are not known yet."""

    def __init__(self, given: Sequence[Any] | None = None) -> None:
        self.given = given
        self.types: list[Any] = []
        self.users: list[User] = []

    def room(self, like: Any, count: int) -> Any:
        """An array of so many rows of the shape and dtype of `like`, of any values."""
        shape, dtype = (count, *like.shape), np.dtype(like.dtype)
        if math.prod(shape) * dtype.itemsize < _LEAST:
            return jnp.zeros(shape, dtype)
        number = len(self.types)
        self.types.append(jax.ShapeDtypeStruct(shape, dtype))  # type: ignore[no-untyped-call]
        return jnp.zeros(shape, dtype) if self.given is None else self.given[number]

    def final(self) -> list[Any]:
        """The arrays that have taken the place of those that were given."""
        arrays = [x for user in self.users for x in (*user.columns, *user.rows)]
        return [x for x in arrays if math.prod(x.shape) * np.dtype(x.dtype).itemsize >= _LEAST]


class RoomKeeper:
    """The rooms that the programs of a session keep, by what they are."""

    def __init__(self) -> None:
        self.free: dict[Any, list[Any]] = {}
        self.size = 0

    def take(self, key: Any) -> Any:
        """An array of the shape and dtype and on the device of `key`, which is not kept any more."""
        shape, dtype, device, nbytes = key
        try:
            room = self.free[key].pop()
        except LookupError:
            return jnp.zeros(shape, dtype, device=device)
        self.size -= nbytes
        return room

    def give_back(self, key: Any, room: Any) -> None:
        """Keep `room`, if that is not too much."""
        nbytes = key[-1]
        if self.size + nbytes <= _MOST:
            self.size += nbytes
            self.free.setdefault(key, []).append(room)

    def clear(self) -> None:
        """Keep nothing."""
        self.free.clear()
        self.size = 0


class WithRooms:
    """A function under `jax.jit` whose last argument and last result are rooms, as one of the other arguments."""

    def __init__(self, jitted: Any, traced: Callable[..., Rooms], keeper: RoomKeeper, device: Any) -> None:
        self.jitted, self.traced, self.keeper, self.device = jitted, traced, keeper, device
        self.types: list[Any] | None = None
        self.keys: list[Any] = []

    def __call__(self, *args: Any) -> Any:
        if self.types is None:
            self._find_types(args)
        keeper = self.keeper
        *results, rooms = self.jitted(*args, [keeper.take(key) for key in self.keys])
        for key, room in zip(self.keys, rooms, strict=True):
            keeper.give_back(key, room)
        return results

    @property
    def nbytes(self) -> int:
        """The size of its rooms."""
        return sum(key[-1] for key in self.keys)

    def lower(self, *args: Any) -> Any:
        """What `jax.jit` makes of the function for `args`."""
        if self.types is None:
            self._find_types(args)
        return self.jitted.lower(*args, self.types)

    def _find_types(self, args: Sequence[Any]) -> None:
        types = self.types = self.traced(*args).types
        self.keys = [(x.shape, x.dtype, self.device, math.prod(x.shape) * x.dtype.itemsize) for x in types]
