"""Masked arrays: what a mask keeps, each row in its own place, and others between them that do not count.

How many rows `boolean_mask` or `sparse.retain` leave only a run knows. Gathers, elementwise operations and sums over
rows need no number: they are compiled for all. What asks for it, or would multiply matrices for rows that are not
there, is refused, and the rows are the host's (`segments.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ...core.graph import Operation
from ...core.traits import ELEMENTWISE, IGNORES_ZEROS, multiplies
from ...primitives.indexing.gather import TrueIndices
from ...primitives.indexing.slicing import FULL, StridedSlice, Take
from ...primitives.shape.broadcast import BroadcastLike
from .. import messages
from ..plan import Step
from .array_namespace import kernel_of
from .loops.padded_rules import goes_row_by_row, is_neutral
from .registry import xla_functional
from .trace import AbstractRows, Trace


class MaskedRows(AbstractRows):
    """The rows of `rows` where `kept` is true; the others may hold anything."""

    def __init__(self, rows: Any, kept: Any, source: Operation, are_places: bool = False) -> None:
        self.rows, self.kept, self.source = rows, kept, source
        self.are_places = are_places
        """Whether each row is its own number."""

    @property
    def capacity(self) -> int:
        """Raises DataDependentShapeError: no loop scans rows that are not next to each other."""
        raise self.refused()

    def array(self) -> Any:
        """Raises DataDependentShapeError: others lie between the rows."""
        raise self.refused()

    def mapped(self, op: Operation, arrays: Sequence[Any]) -> Any:
        """What `op` makes of the rows.

        Raises:
            DataDependentShapeError: it may depend on how many there are, or costs too much for those that are not.
        """
        primitive = op.primitive
        if multiplies(primitive.traits) or not self._fits(op, arrays):
            raise self.refused()
        if isinstance(primitive, Take) and self._picks_all_of(primitive, *arrays):
            return self._of(arrays[0])
        sums = IGNORES_ZEROS in primitive.traits
        given = [x._array(zeros=sums) if isinstance(x, MaskedRows) else x for x in arrays]
        ranks = [x.rows.ndim if isinstance(x, MaskedRows) else None for x in arrays]
        if _takes_whole_rows(op) or goes_row_by_row(op, ranks):
            made = kernel_of(primitive)(*given)
            return tuple([self._of(y) for y in made]) if isinstance(made, tuple) else self._of(made)
        if is_neutral(op, ranks):
            return kernel_of(primitive)(*given)
        raise self.refused()

    def refused(self) -> Exception:
        """The error that gives the mask to the host, and all that is made of its rows."""
        return messages.needs_value(self.source, [self.kept])

    def _of(self, rows: Any) -> MaskedRows:
        return MaskedRows(rows, self.kept, self.source)

    def _picks_all_of(self, take: Take, x: Any, positions: Any) -> bool:
        """Whether the rows are taken to which the mask belongs."""
        return positions is self and self.are_places and not take.axis and len(x) == len(self.kept)

    def _array(self, zeros: bool) -> Any:
        """All rows, with zeros for those that are not kept if `zeros`."""
        if not zeros:
            return self.rows
        mask = self.kept.reshape(len(self.kept), *[1] * (self.rows.ndim - 1))
        return jnp.where(mask, self.rows, jnp.zeros((), self.rows.dtype))

    def _fits(self, op: Operation, arrays: Sequence[Any]) -> bool:
        """Whether other operands of `op` have rows of the same mask, or, where it goes element by element, no rows."""
        elementwise = ELEMENTWISE in op.primitive.traits or isinstance(op.primitive, BroadcastLike)
        rank = self.rows.ndim
        for x in arrays:
            if isinstance(x, MaskedRows):
                if x.kept is not self.kept:
                    return False
            elif isinstance(x, AbstractRows) or (elementwise and np.ndim(x) >= rank and x.shape[-rank] != 1):
                return False
        return True


def _takes_whole_rows(op: Operation) -> bool:
    """Whether it is a slice of each row."""
    return isinstance(op.primitive, StridedSlice) and op.primitive.spec[:1] == (FULL,)


@xla_functional(TrueIndices)
def _true_indices(trace: Trace, step: Step, arrays: Sequence[Any]) -> tuple[Any]:
    (mask,) = arrays
    if not isinstance(mask, jax.core.Tracer):
        return (step.op.primitive.kernel(np, mask),)
    return (MaskedRows(jnp.arange(len(mask), dtype=np.int64), mask, step.op, are_places=True),)
