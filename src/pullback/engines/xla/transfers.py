"""Point-to-point transfers between devices of different processes: one collective permutation of two devices each.

Only the two processes that have the devices call it, both in the same order as their other transfers. A process knows
of what lies in others the shape and dtype.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from .devices import default_device

_AXIS = "stage"


def is_here(device: jax.Device) -> bool:
    """Whether a device is one of this process."""
    return bool(device.process_index == jax.process_index())


def shape_of(value: Any) -> jax.ShapeDtypeStruct:
    """What another process knows of a value."""
    return jax.ShapeDtypeStruct(value.shape, value.dtype)  # type: ignore[no-untyped-call]


def nbytes_of(value: Any) -> int:
    """The bytes of a value, or of what another process knows of one."""
    return int(math.prod(value.shape) * np.dtype(value.dtype).itemsize)


def brought(values: Sequence[Any], home: jax.Device | None, place: jax.Device) -> list[Any]:
    """`values` of `home` at `place`: arrays where that is here, else shapes. Without a home they are everywhere."""
    if home is not None and home.process_index != place.process_index and (is_here(home) or is_here(place)):
        received = _sent(values, home, place)
        return received if is_here(place) else [shape_of(x) for x in values]
    if not is_here(place):
        return [shape_of(x) for x in values]
    moved: list[Any] = jax.device_put(list(values), place)
    return moved


def everywhere(values: Sequence[Any], home: jax.Device | None) -> list[Any]:
    """`values`, which are at `home`, on a device of this process; each process calls this."""
    if home is None or jax.process_count() == 1:
        return list(values)
    copies = {home.process_index: list(values)}
    for process in range(jax.process_count()):
        if process != home.process_index:
            copies[process] = brought(values, home, default_device(process))
    return copies[jax.process_index()]


def _sent(values: Sequence[Any], home: jax.Device, place: jax.Device) -> list[Any]:
    """The part of this process in sending `values`: what it receives."""
    permute, spread = _between(home, place)
    own = [x[None] if is_here(home) else jnp.empty((1, *x.shape), x.dtype, device=place) for x in values]
    pairs = [
        jax.make_array_from_single_device_arrays((2, *x.shape), spread, [part])
        for x, part in zip(values, own, strict=True)
    ]
    return [pair.addressable_data(0)[0] for pair in permute(pairs)]


@cache
def _between(home: jax.Device, place: jax.Device) -> tuple[Any, NamedSharding]:
    """What sends arrays from one device to the other, and how they are spread over both."""
    spec = PartitionSpec(_AXIS)  # type: ignore[no-untyped-call]
    mesh = Mesh(np.array([home, place]), (_AXIS,))

    def permute(pairs: list[Any]) -> list[Any]:
        permuted: Any = jax.lax.ppermute
        return [permuted(x, _AXIS, [(0, 1)]) for x in pairs]

    spread = NamedSharding(mesh, spec)
    return jax.jit(jax.shard_map(permute, mesh=mesh, in_specs=(spec,), out_specs=spec)), spread
