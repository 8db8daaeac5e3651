"""Device strings as TensorFlow's, `/job:worker/task:1/device:GPU:0`: parsed, merged, never validated.

Whether there is such a device is asked when a graph is run.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

_PART = re.compile(r"/(?:(job|replica|task):([^/]+)|(?:device:)?([A-Za-z_]+)(?::(\d+|\*))?)(?=/|$)")
_ORDER = ("job", "replica", "task", "device")
_THIS_PROCESS = {"job": "localhost", "replica": "0", "task": "0"}


def _parse(device: str) -> dict[str, str] | None:
    """The parts of a device string by name, or None where it is not of TensorFlow's form; a first slash may lack."""
    device = device if device[:1] in ("", "/") else f"/{device}"
    parts: dict[str, str] = {}
    position = 0
    while position < len(device):
        match = _PART.match(device, position)
        if match is None:
            return None
        if match[1]:
            parts[match[1]] = match[2]
        else:
            parts["device"] = f"{match[3].upper()}:{'*' if match[4] is None else match[4]}"
        position = match.end()
    return parts


@lru_cache(maxsize=1024)
def merge_devices(outer: str, inner: str) -> str:
    """`outer` with the parts that `inner` names replaced, in full; a string of another form simply replaces.

    >>> merge_devices("/job:ps/cpu:0", "/gpu:1"), merge_devices("", "cpu:0")
    ('/job:ps/device:GPU:1', '/device:CPU:0')
    """
    a, b = _parse(outer), _parse(inner)
    if a is None or b is None:
        return inner
    merged = a | b
    return "".join(f"/{part}:{merged[part]}" for part in _ORDER if part in merged)


class LocalDevice(NamedTuple):
    """What a device string asks of this process: a kind of device ("CPU", or "" for any) and a number (None: any)."""

    kind: str
    number: int | None


@lru_cache(maxsize=1024)
def local_device(device: str) -> LocalDevice | None:
    """What `device` asks of this process; None where it names another process, or is not of TensorFlow's form.

    >>> local_device("/job:localhost/replica:0/task:0/gpu:1"), local_device("CPU:0"), local_device("/task:0")
    (LocalDevice(kind='GPU', number=1), LocalDevice(kind='CPU', number=0), LocalDevice(kind='', number=None))
    >>> local_device("/job:worker/device:GPU:0") is None
    True
    """
    parts = _parse(device)
    if parts is None or any(parts.get(part, here) != here for part, here in _THIS_PROCESS.items()):
        return None
    return _asked(parts)


@lru_cache(maxsize=1024)
def device_of_process(device: str) -> tuple[int, LocalDevice] | None:
    """Which process `device` names by its task, 0 where it names none, and what it asks of that; None as above.

    >>> device_of_process("/job:worker/task:1/gpu:0")
    (1, LocalDevice(kind='GPU', number=0))
    """
    parts = _parse(device)
    task = "" if parts is None else parts.get("task", "0")
    return (int(task), _asked(parts)) if parts is not None and task.isdigit() else None


def _asked(parts: dict[str, str]) -> LocalDevice:
    kind, _, number = parts.get("device", "").partition(":")
    return LocalDevice(kind, int(number) if number.isdigit() else None)
