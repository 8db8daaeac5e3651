"""Blocked execution of XLA loops: they read rows that were recorded, or record some, a block at a time."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ....core.memory import Memory
from ...loop_memory import Sizes, sizes
from ..movement import with_row
from .replay import Recording, Replayer, blocks, quotient
from .step import Final, Part, Steps, Values, zeros

_INT = np.int32


class Blocks:
    """One loop: the outputs of the numbers `stacked` are arrays of `capacity` rows, those of `recorded` a recording."""

    def __init__(
        self, steps: Steps, replayer: Replayer, types: dict[int, Any], stacked: list[int], capacity: int,
        recorded: list[int], memory: Memory,
    ) -> None:  # fmt: skip
        self.steps, self.replayer, self.types = steps, replayer, types
        self.whole = steps.whole()
        self.stacked, self.capacity = stacked, capacity
        self.reverse = steps.loop.reverse
        self.limit = steps.limit
        self.part: Part | None = steps.closed_part(recorded) if recorded else None
        self.sizes = self._sizes(memory)
        self.room = _Room(self.part, self.sizes, self.types, steps, self.reverse, self.limit)

    def _sizes(self, memory: Memory) -> Sizes:
        block = self.replayer.block
        if self.part is None:
            assert block is not None
            return Sizes(block, block, 1)
        rows = [self.types[n] for n in self.part.outputs if n in self.steps.rows]
        total = sum([nbytes(x) for x in [*self.part.start(), *rows]])
        largest = {} if block is None else {"largest_block": block}
        is_lazy = self.steps.trace.level.is_lazy
        return sizes(total, memory, most_steps=self.capacity or None, is_lazy=is_lazy, **largest)

    def run(self) -> Final:
        """All blocks."""
        steps, limit, size = self.steps, self.limit, _INT(self.sizes.block)
        arrays = [zeros(self.types[n], self.capacity) for n in self.stacked]
        going, variables, code = steps.holds(_INT(0), self.whole.start(), steps.no_code())
        first = (blocks(limit, self.sizes.block) - _INT(1), limit - _INT(1)) if self.reverse else (_INT(0), _INT(0))

        def block(state: Any) -> Any:
            b, rest, stride, views = state
            t, going, variables, arrays, room, code = rest
            views = self.replayer.at(views, b * size)
            room, stride = self.room.with_entry(b, self._recorded_variables(variables), room, stride)
            rest = self._block(b, (t, going, variables, arrays, room, code), stride, views)
            return b + _INT(-1 if self.reverse else 1), rest, stride, views

        rest = (first[1], going, variables, arrays, self.room.empty(), code)
        state = jax.tree.map(jnp.asarray, (first[0], rest, self.room.stride(), self.replayer.start()))
        _, rest, stride, views = jax.lax.while_loop(lambda state: state[1][1], block, state)
        t, _, variables, arrays, room, code = rest
        self.replayer.hand_back(views, steps.trace)
        done = limit if self.reverse else t
        recording = None
        if self.part is not None:
            columns, rows = room
            recording = Recording(self.part, self.sizes, self.replayer.direct, columns, rows, done, stride)
            steps.trace.level.users.append(recording)
        return Final(done, variables, arrays, code, recording)

    def _block(self, b: Any, rest: Any, stride: Any, views: Any) -> Any:
        """The steps of block `b`."""
        size = _INT(self.sizes.block)
        read = self.replayer.reader(self.whole, views)

        def inside(rest: Any) -> Any:
            t, going = rest[:2]
            return jnp.logical_and(going, t >= b * size if self.reverse else t < (b + _INT(1)) * size)

        def step(rest: Any) -> Any:
            t, _, variables, arrays, room, code = rest
            before = self._recorded_variables(variables)
            variables, made, code = self.whole.step(t, variables, read, code)
            rows = dict(zip(self.whole.outputs, made, strict=True))
            arrays = [with_row(array, rows[n], t) for n, array in zip(self.stacked, arrays, strict=True)]
            room = self.room.with_step(t, before, rows, room, stride)
            if self.reverse:
                return t - _INT(1), t > 0, variables, arrays, room, code
            going, variables, code = self.steps.holds(t + _INT(1), variables, code)
            return t + _INT(1), going, variables, arrays, room, code

        return jax.lax.while_loop(inside, step, rest)

    def _recorded_variables(self, variables: Values) -> Values:
        """Those of the whole's variables that are recorded."""
        if self.part is None:
            return []
        members, states = self.whole.split(variables)
        return [*[members[1 + i] for i in self.part.members], *[states[n] for n in self.part.states]]


Kept = tuple[Values, Values]
"""The columns and the rows of a recording."""


class _Room:
    """The checkpoints and rows of a recording while its loop runs."""

    def __init__(
        self, part: Part | None, size: Sizes, types: dict[int, Any], steps: Steps, reverse: bool, limit: Any
    ) -> None:
        self.part, self.size, self.types, self.steps = part, size, types, steps
        self.reverse, self.limit = reverse, limit

    def empty(self) -> Kept:
        """Room for checkpoints, one more for what is not kept; and for rows, and the rows of a block."""
        part, size, room = self.part, self.size, self.steps.trace.level.room
        if part is None:
            return [], []
        variables = part.start()
        columns = [room(variables[i], size.checkpoints + 1) for i in part.apart()]
        return columns, [room(self.types[n], size.checkpoints + size.block) for n in part.outputs]

    def stride(self) -> Any:
        """The steps between checkpoints to begin with; those that it will be, where the number of steps is known."""
        size = self.size
        if self.part is None:
            return None
        if self.steps.condition is not None:
            return _INT(size.stride)
        count = blocks(self.limit, size.block)
        least = jnp.maximum(blocks(count, size.checkpoints), _INT(max(size.stride // size.block, 1))) * _INT(size.block)
        return jnp.where(self.limit <= size.checkpoints, _INT(size.stride), least) if size.stride == 1 else least

    def with_entry(self, b: Any, variables: Values, kept: Kept, stride: Any) -> tuple[Kept, Any]:
        """What is kept, and the stride, before block `b`, at whose entry there is a checkpoint if every few blocks."""
        part, size = self.part, self.size
        if part is None:
            return kept, stride
        if self.steps.condition is not None:
            kept, stride = self._thinned(b * _INT(size.block), kept, stride)
        per = jnp.maximum(quotient(stride, _INT(size.block)), _INT(1))
        group = quotient(b, per)
        entry = group * per
        if self.reverse:
            entry = jnp.minimum(entry + per, blocks(self.limit, size.block)) - _INT(1)
        here = jnp.logical_and(stride > 1, b == entry)
        return self._with_checkpoint(jnp.where(here, group, _INT(size.checkpoints)), variables, kept), stride

    def with_step(self, t: Any, before: Values, rows: dict[int, Any], kept: Kept, stride: Any) -> Kept:
        """What is kept after the step on row `t`, from the variables before it and the rows that it made."""
        part = self.part
        if part is None:
            return kept
        place = jnp.where(stride == 1, t, _INT(self.size.checkpoints))
        columns = [with_row(column, before[i], place) for i, column in zip(part.apart(), kept[0], strict=True)]
        return columns, [with_row(array, rows[n], place) for n, array in zip(part.outputs, kept[1], strict=True)]

    def _with_checkpoint(self, place: Any, variables: Values, kept: Kept) -> Kept:
        part = self.part
        assert part is not None
        columns = [with_row(column, variables[i], place) for i, column in zip(part.apart(), kept[0], strict=True)]
        rows = list(kept[1])
        for i, k in part.together().items():
            rows[k] = with_row(rows[k], variables[i], place)
        return columns, rows

    def _thinned(self, t: Any, kept: Kept, stride: Any) -> tuple[Kept, Any]:
        """If there is no place for a checkpoint at step `t`: every other one, and twice the stride.

        From one at every step to one at every block the first time.
        """
        size = self.size
        full = quotient(t, stride) >= _INT(size.checkpoints)
        factor = jnp.where(stride == 1, _INT(size.block), _INT(2))
        end = jnp.where(full, quotient(_INT(size.checkpoints), factor), _INT(0))

        def move(i: Any, kept: Kept) -> Kept:
            return self._with_checkpoint(i, self._checkpoint(i * factor, kept), kept)

        kept = jax.lax.fori_loop(_INT(1), end, move, kept)
        return kept, jnp.where(full, factor * stride, stride)

    def _checkpoint(self, i: Any, kept: Kept) -> Values:
        part = self.part
        assert part is not None
        return part.checkpoint(i, *kept)


def nbytes(x: Any) -> int:
    """The bytes of an array or of what describes one."""
    return int(x.size) * int(np.dtype(x.dtype).itemsize)
