"""Rows of a loop of XLA in an array that has room for more steps than were made: zeros behind, cut off when fetched."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp

from ..core.graph import Operation
from ..primitives.addn import AddN
from ..primitives.casting import Cast
from ..primitives.creation import FillLike
from ..primitives.elementwise import AbstractElementwise, AbstractPredicate
from ..primitives.identity import Identity, StopGradient
from ..primitives.masking import Mask
from ..primitives.ordering import ArgMax, ArgMin
from ..primitives.reduction import All, Max, Mean, Min
from ..primitives.reshaping import BroadcastLike, Shape, Sum
from ..primitives.selection import Select
from ..primitives.shaping import Size
from . import messages
from .xla_registry import xla_kernel_of
from .xla_trace import AbstractRows, dense

_ROW_BY_ROW = (
    *(AbstractElementwise, AbstractPredicate, AddN, Select, Mask, Cast),
    *(Identity, StopGradient, FillLike, BroadcastLike),
)
_REDUCTIONS = (Sum, Mean, Max, Min, All)
_COUNTING = (Mean, Max, Min, All, ArgMax, ArgMin, Shape, Size)
"""What gives something else where there are rows of zeros behind the others."""


class Padded(AbstractRows):
    """The first `count` rows of `rows`, whose others are zeros."""

    def __init__(self, rows: Any, count: Any, loop: Operation) -> None:
        self.rows, self.count, self.loop = rows, count, loop

    @property
    def capacity(self) -> int:
        """The room."""
        return len(self.rows)

    def array(self) -> Any:
        """All of `rows`."""
        return self.rows

    def mapped(self, op: Operation, arrays: Sequence[Any]) -> AbstractRows | None:
        """What `op` makes of the rows; None for what is the same with zeros behind, as sums are.

        Raises:
            InvalidArgumentError: it depends on how many rows there are.
        """
        primitive = op.primitive
        if not _goes_row_by_row(op, arrays):
            if isinstance(primitive, _COUNTING):
                raise messages.needs_count(op, self.loop)
            return None
        fn = xla_kernel_of(type(primitive))
        given = [dense(x) for x in arrays]
        rows = primitive.kernel(jnp, *given) if fn is None else fn(primitive, *given)
        made = (jnp.arange(self.capacity) < self.count).reshape(self.capacity, *[1] * (rows.ndim - 1))
        return Padded(jnp.where(made, rows, jnp.zeros((), rows.dtype)), self.count, self.loop)


def _goes_row_by_row(op: Operation, arrays: Sequence[Any]) -> bool:
    """Whether each row of what `op` makes of `arrays` comes from the rows of that number."""
    primitive = op.primitive
    ranks = {x.rows.ndim for x in arrays if isinstance(x, Padded)}
    if isinstance(primitive, _REDUCTIONS):
        return primitive.axis is not None and {0, *[-n for n in ranks]}.isdisjoint(primitive.axis)
    return isinstance(primitive, _ROW_BY_ROW) and ranks == {op.outputs[0].shape.rank}
