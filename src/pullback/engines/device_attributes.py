"""Devices of a session: what `list_devices` says of each."""

from __future__ import annotations

from typing import NamedTuple


class DeviceAttributes(NamedTuple):
    """A device: its name, as device strings have it, its type, and the bytes of its memory, 0 where nobody says."""

    name: str
    device_type: str
    memory_limit_bytes: int = 0
    incarnation: int = 0


def device_attributes(engine: str) -> list[DeviceAttributes]:
    """The devices that the engine of that name computes on.

    >>> [device.name for device in device_attributes("numpy")]
    ['/job:localhost/replica:0/task:0/device:CPU:0']
    """
    names = ["/device:CPU:0"]
    if engine == "xla":
        from .xla.survey import devices

        names = [name for name, _, _ in devices()]
    return [DeviceAttributes(f"/job:localhost/replica:0/task:0{name}", name.split(":")[1]) for name in names]
