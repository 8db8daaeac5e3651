"""Collective operations of a compiled program, read from its HLO text: what devices send each other."""

from __future__ import annotations

import re
from math import prod

_KINDS = "all-gather|all-reduce|all-to-all|collective-permute|reduce-scatter"
_COLLECTIVE = re.compile(rf" = (.+?) ({_KINDS})(?:-done)?\(")
_ARRAY = re.compile(r"\b(pred|[a-z]+(\d+)\w*)\[([\d,]*)\]")


def bytes_by_kind(text: str) -> dict[str, int]:
    """The bytes that the collectives of each kind give one device; those inside a loop count once."""
    found: dict[str, int] = {}
    for types, kind in _COLLECTIVE.findall(text):
        found[kind] = found.get(kind, 0) + sum(map(_bytes, _ARRAY.findall(types)))
    return found


def _bytes(array: tuple[str, str, str]) -> int:
    _, bits, lengths = array
    return prod([int(n) for n in lengths.split(",") if n]) * int(bits or 8) // 8
