"""What the derivative of a loop keeps of its steps, and what it computes again."""

from __future__ import annotations

from typing import NamedTuple


class Memory(NamedTuple):
    """A policy for the history of loops.

    `every` is the number of steps from one kept state to the next; the steps between are computed again, a stretch at
    a time. `budget` bounds the bytes of what is kept of one loop: when it is full, every other state is dropped. Both
    None: the state of every step is kept, as far as the engine has a place for it.
    """

    every: int | None = None
    budget: int | None = None
    intermediates: bool = False
    """Whether what a step computed on the way is kept too, so that nothing is computed again."""


KEEP_CARRIED = Memory()
