"""Devices and layouts of XLA programs: what there is in this process, and where arguments and results are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec, SingleDeviceSharding

from ...core.devices import LocalDevice, device_of_process, local_device
from ...core.errors import InvalidArgumentError
from ...core.graph import Operation
from .. import messages
from .lost_processes import wait_until_ready

KINDS = ("CPU", "GPU", "TPU")
_SMALL = 1 << 20
"""The bytes up to which a second copy is sooner made than a program that copies is compiled."""


@cache
def devices_of(kind: str, process: int | None = None) -> list[jax.Device]:
    """The devices of one kind, of this process unless another is named; none where the kind is unknown."""
    try:
        return jax.local_devices(process, kind.lower()) if kind in KINDS else []
    except RuntimeError:
        return []


def default_device(process: int | None = None) -> jax.Device:
    """Where operations run that ask for no device, of this process unless another is named."""
    return jax.local_devices(process)[0]


def device_for(op: Operation, soft: bool) -> jax.Device | None:
    """The device of this process that an operation asks for; None where it asks for none. Else the default one.

    Raises:
        InvalidArgumentError: there is no such device, and `soft` is False.
    """
    if not op.device:
        return None
    asked = local_device(op.device)
    if asked is not None and not asked.kind:
        return None
    return _device(op, asked, None, soft)


def device_in_processes(op: Operation, soft: bool) -> jax.Device | None:
    """The same, of all processes; what names none asks for the first."""
    if not op.device:
        return None
    process, asked = device_of_process(op.device) or (0, None)
    if process >= jax.process_count():
        return _device(op, None, 0, soft)
    return default_device(process) if asked is not None and not asked.kind else _device(op, asked, process, soft)


def _device(op: Operation, asked: LocalDevice | None, process: int | None, soft: bool) -> jax.Device:
    default, known = default_device(process), [] if asked is None else devices_of(asked.kind, process)
    if asked is not None and known and asked.number is None:
        return default if default in known else known[0]
    if asked is not None and asked.number is not None and asked.number < len(known):
        return known[asked.number]
    if soft:
        return default
    there = [f"/device:{kind}:{i}" for kind in KINDS for i in range(len(devices_of(kind, process)))]
    raise messages.no_device(op, there if process is None else [f"/task:{process}{device}" for device in there])


def as_mesh(mesh: Any) -> Mesh | None:
    """A mesh from what a session was given: a mesh of jax, the length of each axis by name, or None.

    Raises:
        InvalidArgumentError: there are too few devices, or the axes are of another type than Auto.
    """
    if mesh is None:
        return None
    if isinstance(mesh, Mapping):
        count, size = jax.device_count(), 1
        for length in mesh.values():
            size *= length
        if size > count:
            raise InvalidArgumentError(f"Session: the mesh {dict(mesh)} needs {size} devices; there are {count}")
        axes = tuple(mesh)
        return jax.make_mesh(tuple(mesh.values()), axes, axis_types=(AxisType.Auto,) * len(axes))
    if not isinstance(mesh, Mesh):
        raise TypeError(f"Session: mesh must be a dictionary of lengths by name, or a jax.sharding.Mesh, not {mesh!r}")
    if set(mesh.axis_types) != {AxisType.Auto}:
        raise InvalidArgumentError(
            f"Session: the axes of the mesh are {mesh.axis_types}; make it with "
            f"jax.make_mesh(..., axis_types=(jax.sharding.AxisType.Auto,) * {len(mesh.axis_names)})"
        )
    return mesh


def spread(mesh: Mesh, spec: Sequence[Any], shape: tuple[int, ...]) -> NamedSharding:
    """An array of `shape` spread over the mesh as `spec` says; whole on each device where that cannot divide it."""
    asked = NamedSharding(mesh, PartitionSpec(*spec))  # type: ignore[no-untyped-call]
    try:
        asked.shard_shape(shape)
    except ValueError:
        return whole(mesh)
    return asked


def whole(mesh: Mesh) -> NamedSharding:
    """An array that each device of the mesh has all of."""
    return NamedSharding(mesh, PartitionSpec())  # type: ignore[no-untyped-call]


def of_all_processes(mesh: Mesh, spec: Sequence[Any], rows: np.ndarray[Any, Any]) -> jax.Array:
    """The array of which `rows` are the part of this process: what its devices have, by `spec`.

    Raises:
        ValueError: the part cannot be divided among the devices.
    """
    asked = NamedSharding(mesh, PartitionSpec(*spec))  # type: ignore[no-untyped-call]
    try:
        made: jax.Array = jax.make_array_from_process_local_data(asked, rows)  # type: ignore[no-untyped-call]
    except ValueError:
        raise ValueError(
            f"the part of this process, of shape {rows.shape}, cannot be divided among its devices as {list(spec)} "
            f"asks, over the mesh {dict(mesh.shape)}. Feed as many rows in each process, a multiple of its devices"
        ) from None
    return made


class Layout(NamedTuple):
    """Where a program runs: on one device, spread over a mesh, or (both None) where jax puts it."""

    device: jax.Device | None = None
    mesh: Mesh | None = None

    @property
    def platform(self) -> str:
        """What a program here is compiled for: "cpu", "gpu" or "tpu"."""
        device = self.device if self.mesh is None else self.mesh.devices.flat[0]
        return str((device or default_device()).platform)

    @property
    def spans_processes(self) -> bool:
        """Whether some of its devices are another process's, so that each process sees a part of an array only."""
        return self.mesh is not None and self.mesh.is_multi_process

    def readable(self, array: Any) -> Any:
        """`array` in a program, so that each process can read all of it."""
        if self.mesh is None or not self.spans_processes:
            return array
        return jax.lax.with_sharding_constraint(array, whole(self.mesh))  # type: ignore[no-untyped-call]

    def entered(self) -> AbstractContextManager[Any]:
        """The block in which a program is traced, compiled and called: with 64-bit types, and with the mesh."""
        return jax.enable_x64(True) if self.mesh is None else _within(self.mesh)

    def wait_for(self, arrays: Any) -> None:
        """Return when all in `arrays` is computed; UnavailableError where a process is lost that has a part in that."""
        if self.spans_processes:
            wait_until_ready(jax.tree.leaves(arrays))
        else:
            jax.block_until_ready(arrays)  # type: ignore[no-untyped-call]

    def jit_options(self) -> dict[str, Any]:
        """Arguments of `jax.jit` that put arguments in their place."""
        return {} if self.device is None else {"in_shardings": SingleDeviceSharding(self.device)}

    def copied(self, array: Any, like: Any = None, *, lasting: bool = False) -> Any:
        """A copy of `array` in its place: on the device, or spread as `like` is, else on every device of the mesh.

        It may still be under way where `array` is `lasting`: nobody ever writes to that.
        """
        if self.mesh is not None:
            return jax.device_put(np.array(array), whole(self.mesh) if like is None else like.sharding)
        given = np.asarray(array)
        if given.nbytes <= _SMALL:
            given = _apart(given)
        placed = jax.device_put(given, self.device)
        if placed.unsafe_buffer_pointer() == given.ctypes.data:
            return jnp.copy(placed)
        return placed if lasting else placed.block_until_ready()

    def moved(self, feed: Any) -> Any:
        """A feed, copied to its place if it is an array of jax that is bound to another one."""
        if not isinstance(feed, jax.Array) or not feed.committed:
            return feed
        if self.mesh is not None:
            bound = feed.sharding.device_set == set(self.mesh.devices.flat)
            return feed if bound else jax.device_put(feed, whole(self.mesh))
        device = self.device or default_device()
        return feed if feed.sharding.device_set == {device} else jax.device_put(feed, device)

    def kept(self, state: Any, old: Any) -> Any:
        """`state`, while a program is traced, spread as the value `old` that it replaces."""
        if self.mesh is None or old is None:
            return state
        return jax.lax.with_sharding_constraint(state, old.sharding)  # type: ignore[no-untyped-call]


@contextmanager
def _within(mesh: Mesh) -> Iterator[None]:
    with jax.enable_x64(True), jax.set_mesh(mesh):
        yield


def _apart(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """A copy of `array`, one element behind the beginning of its memory: jax takes only aligned memory for its own."""
    copy = np.empty(array.size + 1, array.dtype)[1:].reshape(array.shape)
    copy[...] = array
    return copy
