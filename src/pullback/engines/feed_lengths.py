"""Symbolic dimensions of feeds: what has one symbol must have one length in a run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..core.graph import Tensor
from ..core.lengths import Length
from . import messages

Run = Callable[[Sequence[Any]], list[Any]]
_Place = tuple[int, int]
"""The number of a feed, and an axis of it."""


def with_lengths_checked(run: Run, feeds: Sequence[Tensor]) -> Run:
    """`run`, which first compares those lengths of `feeds` that are one symbol, or made of some.

    Raises:
        InvalidArgumentError: when it is called with arrays of which two lengths differ that must be equal.
    """
    first: dict[Length, _Place] = {}
    again: list[tuple[Length, _Place, _Place]] = []
    for number, x in enumerate(feeds):
        for axis, length in enumerate(x.shape.lengths or ()):
            if isinstance(length, Length):
                place = first.setdefault(length, (number, axis))
                if place != (number, axis):
                    again.append((length, place, (number, axis)))
    composed = [(n, place) for n, place in first.items() if not n.is_symbol and n.symbols <= first.keys()]
    if not again and not composed:
        return run

    def checked(values: Sequence[Any]) -> list[Any]:
        for length, a, b in again:
            if values[a[0]].shape[a[1]] != values[b[0]].shape[b[1]]:
                raise messages.unequal_lengths(length, [(feeds[i], values[i], axis) for i, axis in (a, b)])
        known = {n: values[i].shape[axis] for n, (i, axis) in first.items() if n.is_symbol}
        for length, (i, axis) in composed:
            if length.substitute(known) != values[i].shape[axis]:
                parts = [(feeds[k], values[k], at) for k, at in (first[s] for s in length.symbols)]
                raise messages.unequal_lengths(length, [(feeds[i], values[i], axis), *parts])
        return run(values)

    return checked
