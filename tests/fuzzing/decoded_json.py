"""Mutations of decoded JSON: a valid document with a few things in it that are not what they were."""

from __future__ import annotations

import json
from random import Random
from typing import Any

SCALARS = (None, True, False, 0, 1, -1, 7, 2**31, 2**63, -(2**64), 0.5, float("nan"), 10**4000)
TEXTS = ("", "x", "nowhere", "\x1b[2J", "\x00", "\ud800", ":0", "a:-1", "a" * 5000, "0x1p99999", "//", "float32")
KEPT = ("format", "version", "type", "name")
"""What is not exchanged: without it nothing of a document is looked at."""
Place = tuple[Any, Any]
"""A dict or list, and a key or number of it."""


def mutated(document: Any, random: Random) -> Any:
    """A copy of `document` with one to three things changed; in every second copy into others of the same type."""
    copy = json.loads(json.dumps(document))
    change = random.choice([_change, _exchange])
    for _ in range(random.randint(1, 3)):
        places = [(holder, key) for holder, key in _places(copy) if change is _change or key not in KEPT]
        if places:
            change(*random.choice(places), places, random)
    return copy


def _places(document: Any) -> list[Place]:
    found: list[Place] = []
    pending = [document]
    while pending:
        one = pending.pop()
        items = one.items() if isinstance(one, dict) else enumerate(one)
        for key, value in items:
            found.append((one, key))
            if isinstance(value, dict | list):
                pending.append(value)
    return found


def _change(holder: Any, key: Any, places: list[Place], random: Random) -> None:
    value, kind = holder[key], random.randrange(8)
    other_holder, other_key = random.choice(places)
    if kind == 0:
        del holder[key]
    elif kind == 1:
        holder[key] = random.choice(SCALARS)
    elif kind == 2:
        holder[key] = random.choice(TEXTS)
    elif kind == 3:
        holder[key] = json.loads(json.dumps(other_holder[other_key]))
    elif kind == 4 and isinstance(holder, list):
        holder.insert(random.randrange(len(holder) + 1), json.loads(json.dumps(value)))
    elif kind == 5 and isinstance(holder, dict):
        holder[random.choice([*TEXTS, str(other_key)])] = holder.pop(key)
    elif kind == 6 and isinstance(value, str) and value:
        at = random.randrange(len(value))
        holder[key] = value[:at] + random.choice(["", "\x1b", "=", value[at] * 2]) + value[at + 1 :]
    elif kind == 7 and isinstance(value, int):
        holder[key] = value + random.choice([-1, 1, 1000])
    else:
        holder[key] = _nested(random.choice([3, 40, 100]), value)


def _exchange(holder: Any, key: Any, places: list[Place], random: Random) -> None:
    value = holder[key]
    same = [other[k] for other, k in places if type(other[k]) is type(value) and other[k] != value]
    if type(value) is int:
        holder[key] = random.choice([0, value + 1, value - 1, -value, 2 * value, 2**31, 2**62, *same])
    elif same:
        holder[key] = json.loads(json.dumps(random.choice(same)))


def _nested(depth: int, value: Any) -> Any:
    for _ in range(depth):
        value = {"tuple": [value]}
    return value
