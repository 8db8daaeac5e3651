"""Buffer reuse for loop checkpoints: kept from run to run, because XLA would allocate and clear them at each.

A program is traced once to see which buffers its loops need. From then on these are further arguments, donated, which
it overwrites and returns. What they hold does not matter: a loop reads only what it wrote. The programs of a session
run one at a time, and share one pool of buffers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import jax
import jax.numpy as jnp
import numpy as np

_LEAST = 1 << 16
"""Smaller buffers, in bytes, are cheaper to allocate and clear than to pass."""
_MOST = 1 << 27
"""The most that the pool of a session holds, in bytes."""


class User(Protocol):
    """What asked for buffers: a loop's storage, with its arrays as the trace has changed them so far."""

    @property
    def columns(self) -> list[Any]: ...
    @property
    def rows(self) -> list[Any]: ...


class Rooms:
    """The buffers that one trace of a program asks for; `given` are the arguments, None in the first trace."""

    def __init__(self, given: Sequence[Any] | None = None) -> None:
        self.given = given
        self.types: list[Any] = []
        self.users: list[User] = []

    def room(self, like: Any, count: int) -> Any:
        """A buffer of `count` rows of the shape and dtype of `like`, of any values."""
        shape, dtype = (count, *like.shape), np.dtype(like.dtype)
        if math.prod(shape) * dtype.itemsize < _LEAST:
            return jnp.zeros(shape, dtype)
        number = len(self.types)
        self.types.append(jax.ShapeDtypeStruct(shape, dtype))  # type: ignore[no-untyped-call]
        return jnp.zeros(shape, dtype) if self.given is None else self.given[number]

    def final(self) -> list[Any]:
        """The buffers as the program leaves them, which it returns."""
        arrays = [x for user in self.users for x in (*user.columns, *user.rows)]
        return [x for x in arrays if math.prod(x.shape) * np.dtype(x.dtype).itemsize >= _LEAST]


class RoomKeeper:
    """A pool of buffers that the programs of a session reuse, by shape, dtype and device."""

    def __init__(self) -> None:
        self.free: dict[Any, list[Any]] = {}
        self.size = 0

    def take(self, key: Any) -> Any:
        """A buffer out of the pool, or a new one: of the shape, the dtype and on the device of `key`."""
        shape, dtype, device, nbytes = key
        try:
            room = self.free[key].pop()
        except LookupError:
            return jax.device_put(np.zeros(shape, dtype), device)  # `jnp.zeros` would compile a program for each shape.
        self.size -= nbytes
        return room

    def give_back(self, key: Any, room: Any) -> None:
        """Put a buffer into the pool, unless that is full."""
        nbytes = key[-1]
        if self.size + nbytes <= _MOST:
            self.size += nbytes
            self.free.setdefault(key, []).append(room)

    def clear(self) -> None:
        """Empty the pool."""
        self.free.clear()
        self.size = 0


class WithRooms:
    """A jitted function whose last argument and result are its buffers, which it takes from a keeper and gives back.

    `plain` is the function without them, which is run where it asks for none: so it is not traced again.
    """

    def __init__(self, plain: Any, jitted: Any, asked: Callable[..., Rooms], keeper: RoomKeeper, device: Any) -> None:
        self.plain, self.jitted, self.asked, self.keeper, self.device = plain, jitted, asked, keeper, device
        self.types: list[Any] | None = None
        self.keys: list[Any] = []

    def launch(self, launched: list[Any], *args: Any) -> None:
        """Call it, and put what it gives into `launched` by one call that no signal can cut in two."""
        if self.types is None:
            self._find_types(args)
        if not self.keys:
            launched.extend(map(self.plain, *[(x,) for x in args]))
            return
        given = (*args, self.take())
        launched.extend(map(self.jitted, *[(x,) for x in given]))
        self.give_back(launched[-1][-1])

    def take(self) -> list[Any]:
        """Its buffers, out of the pool: the last argument of what `lower` gives."""
        return [*map(self.keeper.take, self.keys)]

    def give_back(self, rooms: Sequence[Any]) -> None:
        """Put the last result of what `lower` gives into the pool."""
        for key, room in zip(self.keys, rooms, strict=True):
            self.keeper.give_back(key, room)

    @property
    def nbytes(self) -> int:
        """The size of its buffers."""
        return sum(key[-1] for key in self.keys)

    def lower(self, *args: Any) -> Any:
        """What `jax.jit` makes of the function for `args`."""
        if self.types is None:
            self._find_types(args)
        return self.jitted.lower(*args, self.types) if self.types else self.plain.lower(*args)

    def _find_types(self, args: Sequence[Any]) -> None:
        types = self.types = self.asked(*args).types
        self.keys = [(x.shape, x.dtype, self.device, math.prod(x.shape) * x.dtype.itemsize) for x in types]
