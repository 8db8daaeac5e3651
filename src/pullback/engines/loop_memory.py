"""Checkpoint schedules of loops: arrays of how many rows are kept, or how many checkpoints, for rows wanted again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..control_flow.loop import Loop
from ..core.memory import Memory
from .plan import NOWHERE, Plan, Step

BUDGET = 1 << 24
"""The bytes kept of a loop whose number of steps is not known, where no policy says otherwise."""
PLACE = 1 << 29
"""The same where room takes memory as it is written to; the most of rows that are all kept if their number is known."""
_MOST_CHECKPOINTS, _FEWEST_CHECKPOINTS = 1024, 32
_MOST_ROWS = 1 << 13
"""The most checkpoints where room takes memory as it is written to."""
_LARGEST_BLOCK, _SMALLEST_BLOCK = 64, 4
_LEVELS = 12
"""Enough for 4,096 blocks from one checkpoint to the next."""
_NEAR = 4
"""So many blocks between two checkpoints are computed again from the first of these, the last ones several times."""
_MANY_STEPS = 1 << 11
"""Where checkpoints and blocks have room for so many, loops of more are rare, and XLA need not compile more levels."""


class Sizes(NamedTuple):
    """How much memory a loop has: for so many checkpoints of what is carried, and for a block of recomputed rows."""

    checkpoints: int
    block: int
    stride: int
    """The steps from one checkpoint to the next, to begin with: 1, or a multiple of `block`."""
    levels: int = 0
    """The states between two checkpoints that are kept while rows are computed again; 0: the latest one only."""


def sizes(
    row_bytes: int,
    memory: Memory,
    largest_block: int = _LARGEST_BLOCK,
    most_steps: int | None = None,
    is_lazy: bool = False,
) -> Sizes:
    """What fits, where one step keeps so many bytes; powers of two, and whole blocks.

    No more checkpoints than `most_steps` need, where that bound is known. `is_lazy`: whether room takes memory as it is
    written to, so that there is more of it where no policy says otherwise, and less of that for rows computed again.
    """
    is_open = is_lazy and memory.bytes is None
    budget = (PLACE if is_open else BUDGET) if memory.bytes is None else memory.bytes
    slots = max(budget // max(row_bytes, 1), 1)
    block = min(max(_power(slots // (4 if is_open else 2)), _SMALLEST_BLOCK), largest_block)
    fewest = _FEWEST_CHECKPOINTS if memory.bytes is None else 2 * block
    checkpoints = min(max(slots - block, fewest), _MOST_ROWS if is_open else _MOST_CHECKPOINTS)
    checkpoints = max(checkpoints // block, 1) * block
    every = memory.every or 1
    stride = 1 if every == 1 else -(-every // block) * block
    if most_steps is not None:
        checkpoints = min(checkpoints, -(-most_steps // (stride * block)) * block)
    return Sizes(checkpoints, block, stride, _levels(memory, checkpoints * block, stride > _NEAR * block, most_steps))


def _levels(memory: Memory, room: int, is_far: bool, most_steps: int | None) -> int:
    """Those of a loop with room for so many steps, each made once more; whether it is far between checkpoints."""
    if most_steps is not None and most_steps <= room and memory.every is None:
        return 0
    return 0 if memory.bytes is None and room > _MANY_STEPS and not is_far else _LEVELS


def _power(n: int) -> int:
    """The largest power of two that is at most `n`; 1 for less than 1."""
    return 1 << max(n.bit_length() - 1, 0)


class Reading(NamedTuple):
    """The readers of the rows that a loop writes."""

    scanned_only: bool
    """Whether all of them are loops that scan the rows."""
    memory: Memory
    """The policy of the first of those."""


def reading_of(plan: Plan, step: Step, outputs: Sequence[int]) -> dict[int, Reading]:
    """For each of the outputs of `step`, who reads it in `plan`."""
    found = {}
    for n in outputs:
        slot = step.outputs[n]
        readers = [other for other in plan.steps if slot != NOWHERE and slot in other.inputs]
        policies = [other.op.primitive.memory for other in readers if isinstance(other.op.primitive, Loop)]
        only = slot not in plan.fetch_slots and all(_only_scans(other, slot) for other in readers)
        found[n] = Reading(only, (policies or [None])[0] or Memory())
    return found


def _only_scans(step: Step, slot: int) -> bool:
    loop = step.op.primitive
    if not isinstance(loop, Loop):
        return False
    scanned = range(1 + loop.carried, 1 + loop.carried + loop.scanned)
    return all(n in scanned for n, x in enumerate(step.inputs) if x == slot)
