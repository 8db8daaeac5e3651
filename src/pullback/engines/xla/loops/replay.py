"""Rematerialisation of loops: rows of a loop that has run, recomputed from checkpoints where a later loop reads them.

A `Recording` has the values of what is carried at some steps: at every one, where there was room for them, else at the
entry of every so many *blocks*, which are rows b*B to (b+1)*B-1. A loop that scans rows goes through them a block at a
time, and before each block the recordings that it reads compute theirs. One that itself scanned rows needs the blocks
of others for that, and those the blocks of yet others: `Replayer` finds what must be computed next until all is there.
Each recording has the rows of one block at a time, and states between two checkpoints (see `multilevel.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ....core.graph import Operation
from ....core.traits import ELEMENTWISE
from ... import messages
from ...loop_memory import Sizes
from ..array_namespace import kernel_of
from ..movement import row_at, with_row
from ..trace import AbstractRows, Trace, dense
from .multilevel import NONE, nothing_kept
from .step import Part

_INT = np.int32


@dataclass(eq=False)
class Recording:
    """The checkpoints of a loop that has run, and memory for the block of rows computed from them."""

    part: Part
    sizes: Sizes
    sources: list[Recording]
    """The recordings whose rows its steps read."""
    columns: list[Any]
    """For each variable of the part that is none of its outputs, the values at checkpoints."""
    rows: list[Any]
    """For each output of the part its rows, or its values at checkpoints; behind them memory for a block of rows."""
    steps: Any
    stride: Any

    @property
    def reverse(self) -> bool:
        """Whether the steps go from the last row to the first."""
        return self.part.steps.loop.reverse

    def blocks_per_checkpoint(self) -> Any:
        """The stride in blocks; 1 where every step is a checkpoint."""
        return jnp.maximum(quotient(self.stride, _INT(self.sizes.block)), _INT(1))

    def place(self, t: Any) -> Any:
        """The position of row `t` in the memory for a block of rows."""
        return (t & _INT(self.sizes.block - 1)) + _INT(self.sizes.checkpoints)

    def entry(self, group: Any, per: Any) -> Any:
        """The first block that is run of the `per` blocks of a group."""
        if not self.reverse:
            return group * per
        return jnp.minimum((group + _INT(1)) * per, blocks(self.steps, self.sizes.block)) - _INT(1)


def quotient(a: Any, b: Any) -> Any:
    """`a // b` for numbers that are not negative: for any, it takes XLA several steps."""
    return jax.lax.div(a, b)


def blocks(steps: Any, block: int) -> Any:
    """The number of blocks that hold so many rows."""
    return quotient(steps + _INT(block - 1), _INT(block))


class View(NamedTuple):
    """What a recording offers while a loop runs that reads it."""

    rows: list[Any]
    block: Any = None
    """The block whose rows are in memory, or NONE."""
    kept: Any = None
    """A `Cursor` or a `Shelf`."""


Views = list[View]


class Replayer:
    """The rows that a loop reads of recordings, block by block while it runs."""

    def __init__(self, scanned: Sequence[Replay | Mapped]) -> None:
        self.direct = list(dict.fromkeys(r for rows in scanned for r in rows.recordings()))
        self.all = _in_order(self.direct)
        self.numbers = {r: i for i, r in enumerate(self.all)}
        self.alone = len(self.all) == 1 and not self.all[0].reverse and not self.all[0].sizes.levels
        """Whether all rows come from one loop, read backward as loops are that go forward: no cursor is of use then."""

    @property
    def block(self) -> int | None:
        """The most rows that are there at once of all recordings."""
        return min((r.sizes.block for r in self.direct), default=None)

    def start(self) -> Views:
        """The views before the first block."""
        if self.alone:
            return [View(self.all[0].rows)]
        return [View(r.rows, NONE, nothing_kept(r.part.start(), r.sizes.levels)) for r in self.all]

    def at(self, views: Views, row: Any) -> Views:
        """The views when the block is there that `row` lies in."""
        if not self.all:
            return views
        if self.alone:
            return [self._again(self.all[0], views[0], row)]

        def missing(views: Views) -> Any:
            found = [jnp.logical_not(self._has(r, views, row)) for r in self.direct]
            return jnp.any(jnp.stack(found))

        return jax.lax.while_loop(missing, lambda views: self._advanced(views, row), views)

    def row_of(self, recording: Recording, output: int, t: Any, views: Views) -> Any:
        """Row `t` of an output of a recording, whose block is there."""
        rows = views[self.numbers[recording]].rows[recording.part.outputs.index(output)]
        place = jnp.where(recording.stride == 1, t, recording.place(t))
        return row_at(rows, place)

    def _again(self, r: Recording, view: View, row: Any) -> View:
        """The view when the recording has run from the last checkpoint before the block of `row` to its end."""
        block, per = quotient(row, _INT(r.sizes.block)), r.blocks_per_checkpoint()
        group = quotient(block, per)
        end = jnp.where(r.stride == 1, _INT(0), jnp.minimum((block + _INT(1)) * _INT(r.sizes.block), r.steps))

        def step(state: Any) -> Any:
            t, cursor, rows = state
            cursor, made, _ = r.part.step(t, cursor, r.part.steps.read_array)
            return t + _INT(1), cursor, [with_row(x, y, r.place(t)) for x, y in zip(rows, made, strict=True)]

        start = group * per * _INT(r.sizes.block)
        state = (start, r.part.checkpoint(group, r.columns, view.rows), view.rows)
        return View(jax.lax.while_loop(lambda state: state[0] < end, step, state)[2])

    def _has(self, r: Recording, views: Views, row: Any) -> Any:
        view = views[self.numbers[r]]
        return jnp.logical_or(r.stride == 1, view.block == quotient(row, _INT(r.sizes.block)))

    def _advanced(self, views: Views, row: Any) -> Views:
        """The views one block further on the way to that of `row`."""
        wanted: dict[Recording, Any] = dict.fromkeys(self.all, NONE)
        wanted.update(dict.fromkeys(self.direct, row))
        plans: dict[Recording, tuple[Any, Any, Any, Any]] = {}
        for r in reversed(self.all):
            view, per = views[self.numbers[r]], r.blocks_per_checkpoint()
            goal = quotient(wanted[r], _INT(r.sizes.block))
            active = jnp.logical_and(wanted[r] >= 0, jnp.logical_not(self._has(r, views, wanted[r])))
            group = quotient(goal, per)
            entry = r.entry(group, per)
            low, high = (goal, entry) if r.reverse else (entry, goal)
            plans[r] = active, group, entry, view.kept.nearest(low, high, entry, r.reverse)
            for source in r.sources:
                wanted[source] = jnp.where(active, plans[r][-1] * _INT(r.sizes.block), wanted[source])
        views = list(views)
        for r in self.all:
            active, group, entry, block = plans[r]
            first = block * _INT(r.sizes.block)
            there = [self._has(source, views, first) for source in r.sources]
            ready = jnp.all(jnp.stack([active, *there]))
            views[self.numbers[r]] = self._run(r, views, ready, group, entry, block)
        return views

    def _run(self, r: Recording, views: Views, ready: Any, group: Any, entry: Any, block: Any) -> View:
        """The view of `r` after it has run through `block` of a group, where it is `ready` for that."""
        view, size = views[self.numbers[r]], r.sizes
        cursor = view.kept.state_before(block, entry, r.part.checkpoint(group, r.columns, view.rows), ready)
        first = block * _INT(size.block)
        end = jnp.where(ready, jnp.minimum(first + _INT(size.block), r.steps), first)

        def going(state: Any) -> Any:
            return state[0] >= first if r.reverse else state[0] < end

        def step(state: Any) -> Any:
            t, cursor, rows = state
            cursor, made, _ = r.part.step(t, cursor, self.reader(r.part, views))
            rows = [with_row(column, y, r.place(t)) for column, y in zip(rows, made, strict=True)]
            return t + _INT(-1 if r.reverse else 1), cursor, rows

        start = end - _INT(1) if r.reverse else first
        _, cursor, rows = jax.lax.while_loop(going, step, (start, cursor, view.rows))
        after = block + _INT(-1 if r.reverse else 1)
        in_group = quotient(after, r.blocks_per_checkpoint()) == group
        kept = view.kept.moved(after, entry, cursor, ready, in_group)
        return View(rows, jnp.where(ready, block, view.block), kept)

    def hand_back(self, views: Views, trace: Trace) -> None:
        """Give the recordings their buffers back, so that other loops of the same program can read them."""
        for r, view in zip(self.all, views, strict=True):
            if r.part.steps.trace.level is trace.level:
                r.rows = view.rows

    def reader(self, part: Part, views: Views) -> Callable[[int, Any], Any]:
        """How a step of `part` reads the rows that it scans."""
        steps = part.steps

        def read(n: int, t: Any) -> Any:
            rows = steps.arrays[n]
            return rows.row(t, self, views) if isinstance(rows, Replay | Mapped) else steps.read_array(n, t)

        return read


def _in_order(direct: Sequence[Recording]) -> list[Recording]:
    """`direct` and all that they read, each behind what it reads."""
    found: dict[Recording, None] = {}
    pending = list(reversed(direct))
    while pending:
        r = pending[-1]
        missing = [s for s in r.sources if s not in found]
        if missing and r not in found:
            pending.extend(missing)
        else:
            found[r] = None
            pending.pop()
    return list(found)


class Replay(AbstractRows):
    """The rows of one output of a recording."""

    def __init__(self, recording: Recording, output: int) -> None:
        self.recording, self.output = recording, output

    @property
    def capacity(self) -> int | None:
        """What bounds the steps of the loop."""
        return self.recording.part.steps.capacity()

    def recordings(self) -> list[Recording]:
        """The recordings that a row is computed from."""
        return [self.recording]

    def row(self, t: Any, replayer: Replayer, views: Views) -> Any:
        """Row `t`, where its block is there."""
        return replayer.row_of(self.recording, self.output, t, views)

    def array(self) -> Any:
        """All rows as one array; behind those of the steps that were made there are zeros."""
        return _array(self, self.recording.part.steps.step.op)

    def mapped(self, op: Operation, arrays: Sequence[Any]) -> AbstractRows | None:
        """The rows of what an elementwise operation makes of these."""
        return _mapped(op, arrays)


class Mapped(AbstractRows):
    """The rows that an elementwise operation makes of others, computed where they are read."""

    def __init__(self, op: Operation, arrays: Sequence[Any]) -> None:
        self.op, self.arrays = op, list(arrays)
        self.rank = op.outputs[0].shape.rank

    @property
    def capacity(self) -> int | None:
        """The least of those of the arrays."""
        return min([n for n in map(self._length, self.arrays) if n is not None], default=None)

    def recordings(self) -> list[Recording]:
        """The recordings that a row is computed from."""
        return [r for x in self.arrays if isinstance(x, Replay | Mapped) for r in x.recordings()]

    def row(self, t: Any, replayer: Replayer, views: Views) -> Any:
        """Row `t`, where its block is there."""
        primitive = self.op.primitive
        rows = [self._row(x, t, replayer, views) for x in self.arrays]
        return kernel_of(primitive)(*rows)

    def array(self) -> Any:
        """All rows as one array."""
        return _array(self, self.op)

    def mapped(self, op: Operation, arrays: Sequence[Any]) -> AbstractRows | None:
        """The rows of what an elementwise operation makes of these."""
        return _mapped(op, arrays)

    def _length(self, x: Any) -> int | None:
        if isinstance(x, AbstractRows):
            return x.capacity
        return len(x) if np.ndim(x) == self.rank and len(x) > 1 else None

    def _row(self, x: Any, t: Any, replayer: Replayer, views: Views) -> Any:
        if isinstance(x, Replay | Mapped):
            return x.row(t, replayer, views)
        if np.ndim(x) < (self.rank or 0):
            return x
        t = t if len(x) > 1 else 0
        return row_at(x, t)


def _mapped(op: Operation, arrays: Sequence[Any]) -> AbstractRows | None:
    rank = op.outputs[0].shape.rank if len(op.outputs) == 1 else None
    whole = all(x.shape.rank == rank for x, a in zip(op.inputs, arrays, strict=True) if isinstance(a, AbstractRows))
    if rank is None or not whole or ELEMENTWISE not in op.primitive.traits:
        return None
    return Mapped(op, [x if isinstance(x, Replay | Mapped) else dense(x) for x in arrays])


def _array(rows: Replay | Mapped, op: Operation) -> Any:
    capacity = rows.capacity
    if capacity is None:
        raise messages.needs_bound(op)
    replayer = Replayer([rows])
    assert replayer.block is not None
    size, steps = _INT(replayer.block), replayer.direct[0].steps
    views = replayer.start()
    row = jax.eval_shape(lambda: rows.row(_INT(0), replayer, views))

    def copy_block(state: Any) -> Any:
        first, views, array = state
        views = replayer.at(views, first)

        def copy(t: Any, array: Any) -> Any:
            return with_row(array, rows.row(t, replayer, views), t)

        array = jax.lax.fori_loop(first, jnp.minimum(first + size, steps), copy, array)
        return first + size, views, array

    start = (_INT(0), views, jnp.zeros((capacity, *row.shape), row.dtype))
    return jax.lax.while_loop(lambda state: state[0] < steps, copy_block, start)[2]
