"""Buffer reuse for loop checkpoints: kept from run to run, because XLA would allocate and clear them at each.

A program is traced once to see which buffers its loops need. From then on these are further arguments, donated, which
it overwrites and returns. What they hold does not matter: a loop reads only what it wrote. The programs of a session
run one at a time, and share one pool of buffers. Large ones on a processor take memory as they are written to, so that
there can be room for far more steps than most runs make.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import jax
import jax.numpy as jnp
import numpy as np

from ..devices import default_device
from ..platform import PROCESSOR
from .untouched import can_be_had, untouched

_LEAST = 1 << 16
"""Smaller buffers, in bytes, are cheaper to allocate and clear than to pass."""
_LARGE = 1 << 24
"""Those as large, on a processor, take longer to clear, and more memory, than a program that gives them as they are."""
_MOST = 1 << 29
"""The most that the pool of a session holds, in bytes, but for what the program needs that ran last."""


class User(Protocol):
    """What asked for buffers: a loop's storage, with its arrays as the trace has changed them so far."""

    @property
    def columns(self) -> list[Any]: ...
    @property
    def rows(self) -> list[Any]: ...


class Rooms:
    """The buffers that one trace of a program asks for; `given` are the arguments, None in the first trace.

    `is_lazy`: whether large ones take memory as they are written to.
    """

    def __init__(self, given: Sequence[Any] | None = None, is_lazy: bool = False) -> None:
        self.given, self.is_lazy = given, is_lazy
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


def are_lazy(platform: str) -> bool:
    """Whether large buffers that are kept from run to run take memory as they are written to."""
    return platform == PROCESSOR and can_be_had()


class RoomKeeper:
    """A pool of buffers that the programs of a session reuse, by shape, dtype and device."""

    def __init__(self) -> None:
        self.free: dict[Any, list[Any]] = {}
        self.size = 0

    def take(self, keys: Sequence[Any]) -> list[Any]:
        """Buffers out of the pool, or new ones: of the shapes, the dtypes and on the devices of `keys`."""
        rooms = [self._free(key) for key in keys]
        missing = [i for i, room in enumerate(rooms) if room is None]
        if missing:
            for i, room in zip(missing, _new([keys[i] for i in missing]), strict=True):
                rooms[i] = room
        return rooms

    def _free(self, key: Any) -> Any:
        try:
            room = self.free[key].pop()
        except LookupError:
            return None
        self.size -= key[-1]
        return room

    def give_back(self, keys: Sequence[Any], rooms: Sequence[Any]) -> None:
        """Put buffers into the pool, and others out of it if it is full."""
        for key, room in zip(keys, rooms, strict=True):
            self.free.setdefault(key, []).append(room)
            self.size += key[-1]
        if self.size > _MOST:
            self._drop_all_but(keys)

    def _drop_all_but(self, keys: Sequence[Any]) -> None:
        """Let go of buffers that are not among `keys`, until the others are few enough."""
        for key, rooms in self.free.items():
            while len(rooms) > keys.count(key) and self.size > _MOST:
                rooms.pop()
                self.size -= key[-1]

    def clear(self) -> None:
        """Empty the pool."""
        self.free.clear()
        self.size = 0


def _new(keys: Sequence[Any]) -> list[Any]:
    """Buffers of any values, on one device; what is large on a processor takes no memory before it is written to."""
    device = keys[0][2]
    is_lazy = are_lazy((device or default_device()).platform)
    large = [i for i, key in enumerate(keys) if is_lazy and key[-1] >= _LARGE]
    types = [jax.ShapeDtypeStruct(*keys[i][:2]) for i in large]  # type: ignore[no-untyped-call]
    made = dict(zip(large, untouched(types, device) if large else [], strict=True))
    with jax.enable_x64(True):
        for i, (shape, dtype, *_) in enumerate(keys):
            if i not in made:  # `jnp.zeros` would compile a program for each shape.
                made[i] = jax.device_put(np.zeros(shape, dtype), device)
    return [made[i] for i in range(len(keys))]


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
        return self.keeper.take(self.keys)

    def give_back(self, rooms: Sequence[Any]) -> None:
        """Put the last result of what `lower` gives into the pool."""
        self.keeper.give_back(self.keys, rooms)

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
