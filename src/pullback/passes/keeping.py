"""Local search on rematerialisation schedules: what need not be computed again, for there is room to keep it."""

from __future__ import annotations

from collections.abc import Sequence

from .eviction import Node
from .pieces import peak_of

_TRIALS = 60_000
"""Steps gone through at most, in all that is tried."""


def keeping_more(nodes: Sequence[Node], steps: Sequence[int], budget: int) -> list[int]:
    """`steps` without those that come again though what they made before could have stayed, within `budget` bytes.

    Each in turn is left out, the most work first, with all that was computed again for it alone.
    """
    found, refused = list(steps), set[tuple[int, int]]()
    useful = _without(nodes, steps)
    if peak_of(nodes, useful).bytes <= budget:
        found = useful
    for _ in range(_TRIALS // len(found)):
        untried = [made for made in _again(nodes, found) if made[1:] not in refused]
        if not untried:
            break
        _, i, time = max(untried)
        fewer = _without(nodes, found, (i, time))
        if peak_of(nodes, fewer).bytes <= budget:
            found = fewer
        else:
            refused.add((i, time))
    return found


def _again(nodes: Sequence[Node], steps: Sequence[int]) -> list[tuple[int, int, int]]:
    """What is computed again: its work, its number, and how many times it comes later."""
    counts = [0] * len(nodes)
    found = []
    for i in reversed(steps):
        found.append((nodes[i].work, i, counts[i]))
        counts[i] += 1
    return [made for made in found if made[2] + 1 < counts[made[1]]]


def _without(nodes: Sequence[Node], steps: Sequence[int], left_out: tuple[int, int] | None = None) -> list[int]:
    """The steps that are of use, but for the one that computes node `left_out[0]` and comes `left_out[1]` times more.

    Of no use is what nothing reads before it comes again, or that only such steps read, unless it comes but once.
    """
    counts = [0] * len(nodes)
    first = {i: n for n, i in reversed(list(enumerate(steps)))}
    is_made = [False] * len(nodes)
    is_read = [False] * len(nodes)
    found = []
    for n, i in reversed(list(enumerate(steps))):
        is_left_out = (i, counts[i]) == left_out
        counts[i] += 1
        if is_left_out or not (is_read[i] or nodes[i].kept or (n == first[i] and not is_made[i])):
            continue
        found.append(i)
        is_made[i], is_read[i] = True, False
        for j in nodes[i].operands:
            is_read[j] = True
    return found[::-1]
