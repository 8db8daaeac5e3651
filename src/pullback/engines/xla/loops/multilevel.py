"""Multilevel checkpointing: the states between two checkpoints that are kept while the rows of a loop are recomputed.

Blocks of a *group* lie between one checkpoint and the next; `entry` is the first of them that is run. A `Cursor` keeps
the state that the loop has come to. A `Shelf` keeps some on the way there as well: the state before block j, counted
from the entry, goes to the place whose number is how often two divides j, so that the states kept are close together
where the loop has come to, and twice as far apart at each place before. Going back through m blocks of a group takes m
log2(m) / 2 runs of a block with a shelf, and m * m / 2 without.

After Griewank and Walther, Evaluating Derivatives, 2nd ed., chapter 12; not optimal as their binomial schedules are,
but without a number of steps that must be known.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ..movement import row_at, with_row
from .step import Values, zeros

NONE = np.int32(-1)
_INT = np.int32


class Cursor(NamedTuple):
    """The state where the loop has come to."""

    place: Any
    """The block before which that is, or NONE."""
    state: Values

    def nearest(self, low: Any, high: Any, entry: Any, reverse: bool) -> Any:
        """The block among `low` to `high` to begin with: one whose state is kept, else `entry`."""
        del reverse
        return jnp.where(jnp.logical_and(self.place >= low, self.place <= high), self.place, entry)

    def state_before(self, block: Any, entry: Any, checkpoint: Values, ready: Any) -> Values:
        """The state before `block`, what `nearest` gave; where it is not `ready`, any."""
        del entry
        load = jnp.logical_and(ready, self.place != block)
        return [jnp.where(load, new, old) for new, old in zip(checkpoint, self.state, strict=True)]

    def moved(self, after: Any, entry: Any, state: Values, ready: Any, in_group: Any) -> Cursor:
        """What is kept when the loop has come to `state` before the block `after`, if it was `ready`."""
        del entry, in_group
        return Cursor(jnp.where(ready, after, self.place), state)


class Shelf(NamedTuple):
    """States on the way to where the loop has come to."""

    places: Any
    """The blocks before which they are, or NONE; the last one is never kept."""
    states: Values

    def nearest(self, low: Any, high: Any, entry: Any, reverse: bool) -> Any:
        """As that of a cursor: the one that is closest to the goal."""
        there = jnp.logical_and(self.places >= low, self.places <= high)
        on_the_way = jnp.where(there, self.places, entry)
        return jnp.min(on_the_way) if reverse else jnp.max(on_the_way)

    def state_before(self, block: Any, entry: Any, checkpoint: Values, ready: Any) -> Values:
        """As that of a cursor."""
        del ready
        number = jnp.argmax(self.places == block)
        kept = [row_at(x, number) for x in self.states]
        return [jnp.where(block == entry, new, old) for new, old in zip(checkpoint, kept, strict=True)]

    def moved(self, after: Any, entry: Any, state: Values, ready: Any, in_group: Any) -> Shelf:
        """As that of a cursor."""
        last = _INT(self.places.shape[0] - 1)
        passed = jnp.abs(after - entry)
        twos = jax.lax.population_count((passed & -passed) - _INT(1))
        keeps = jnp.logical_and(ready, in_group)
        number = jnp.where(keeps, jnp.minimum(twos, last - _INT(1)), last)
        places = with_row(self.places, jnp.where(keeps, after, NONE), number)
        return Shelf(places, [with_row(x, y, number) for x, y in zip(self.states, state, strict=True)])


def nothing_kept(start: Values, levels: int) -> Cursor | Shelf:
    """A cursor, or a shelf with `levels` places where that is not 0, for states like `start`."""
    if not levels:
        return Cursor(NONE, start)
    return Shelf(jnp.full(levels + 1, NONE), [zeros(x, levels + 1) for x in start])
