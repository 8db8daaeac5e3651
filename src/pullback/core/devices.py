"""TensorFlow-style device strings, such as `/job:worker/task:1/device:GPU:0`: parsed, merged, never validated."""

from __future__ import annotations

import re
from functools import lru_cache

_PART = re.compile(r"/(?:(job|replica|task):([^/]+)|(?:device:)?([A-Za-z_]+)(?::(\d+|\*))?)(?=/|$)")
_ORDER = ("job", "replica", "task", "device")


def _parse(device: str) -> dict[str, str] | None:
    """The parts of a device string by name, or None where it is not of TensorFlow's form."""
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
    """`outer` with the parts that `inner` names replaced; a string of another form simply replaces.

    >>> merge_devices("/job:ps/cpu:0", "/gpu:1")
    '/job:ps/device:GPU:1'
    """
    a, b = _parse(outer), _parse(inner)
    if a is None or b is None:
        return inner
    merged = a | b
    return "".join(f"/{part}:{merged[part]}" for part in _ORDER if part in merged)
