"""Dense storage of a dynamic-length stack: rows of an XLA loop in an array with room for more, zeros behind them.

Where the axes are exchanged, the zeros lie between other elements. Such an array is `Turned`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from ....core.graph import Operation
from ....core.traits import ELEMENTWISE
from ....primitives.identity.identity import EnsureShapeLike
from ....primitives.indexing.slicing import StridedSlice
from ....primitives.shape.broadcast import BroadcastLike
from ....primitives.shape.reshape import ReshapeLike
from ....primitives.shape.stacking import ConcatV2
from ....primitives.shape.transpose import Transpose
from ... import messages
from ..array_namespace import kernel_of
from ..movement import by_bits
from ..trace import AbstractRows, dense
from .padded_rules import goes_row_by_row, is_neutral, rows_of_one


class Padded(AbstractRows):
    """The first `count` rows of `rows`, whose others are zeros."""

    axis = 0
    """The axis that the rows lie along."""

    def __init__(self, rows: Any, count: Any, loop: Operation) -> None:
        self.rows, self.count, self.loop = rows, count, loop

    @property
    def capacity(self) -> int:
        """How many rows the array has memory for."""
        return len(self.rows)

    def array(self) -> Any:
        """All of `rows`."""
        return self.rows

    whole = array

    def mapped(self, op: Operation, arrays: Sequence[Any]) -> Any:
        """What `op` makes of the rows; None for what is the same with zeros behind, as sums are.

        Raises:
            InvalidArgumentError: it may depend on how many rows there are.
        """
        primitive = op.primitive
        ranks = [x.rows.ndim if isinstance(x, Padded) else None for x in arrays]
        if isinstance(primitive, StridedSlice):
            return self._sliced(op, primitive, arrays)
        if isinstance(primitive, Transpose):
            return self._transposed(primitive.perm or range(self.rows.ndim)[::-1])
        if isinstance(primitive, ConcatV2) and primitive.axis % self.rows.ndim == 0:
            return self._joined(arrays)
        if isinstance(primitive, ReshapeLike) and isinstance(arrays[1], Padded):
            x, like = arrays
            return like._first(primitive.kernel(jnp, dense(x), like.rows), like.count)
        if isinstance(primitive, EnsureShapeLike):
            return arrays[0] if isinstance(arrays[0], Padded) else self._as_long(arrays[0])
        times = rows_of_one(op, self.rows.shape)
        if times is None and not goes_row_by_row(op, ranks):
            if is_neutral(op, ranks):
                return None
            raise self.refused(op)
        made = kernel_of(primitive)(*[dense(x) for x in arrays])
        count = self.count if times in (None, 1) else self.count * np.int32(times)
        return tuple([self._first(y, count) for y in made]) if isinstance(made, tuple) else self._first(made, count)

    def refused(self, op: Operation) -> Exception:
        """The error for an operation that may count rows."""
        return messages.needs_count(op, self.loop)

    @staticmethod
    def first(rows: Any, count: Any, loop: Operation) -> Padded:
        """The first `count` of `rows`, which a loop made, whatever is behind them."""
        made = (jnp.arange(len(rows)) < count).reshape(len(rows), *[1] * (rows.ndim - 1))
        return Padded(jnp.where(made, rows, jnp.zeros((), rows.dtype)), count, loop)

    def _transposed(self, perm: Sequence[int]) -> Padded | Turned:
        if perm[0] == 0:
            return Padded(jnp.transpose(self.rows, tuple(perm)), self.count, self.loop)
        return Turned(self, tuple(perm))

    def _first(self, rows: Any, count: Any) -> Padded:
        return Padded.first(rows, count, self.loop)

    def _as_long(self, x: Any) -> Padded:
        """`x`, which has as many rows as these in a run, with zeros behind them."""
        more = [(0, max(self.capacity - len(x), 0), 0), *[(0, 0, 0)] * (x.ndim - 1)]
        return self._first(lax.pad(jnp.asarray(x), jnp.zeros((), x.dtype), more), self.count)

    def _joined(self, arrays: Sequence[Any]) -> Padded:
        """The rows of one array after the other; each is written over the zeros behind the one before."""
        parts = [dense(x) for x in arrays]
        rows = jnp.zeros((sum(len(x) for x in parts), *self.rows.shape[1:]), self.rows.dtype)
        end = jnp.zeros((), np.int32)
        for x, part in zip(arrays, parts, strict=True):
            rows = by_bits(partial(lax.dynamic_update_slice_in_dim, start_index=end, axis=0), rows, jnp.asarray(part))
            end = end + (jnp.asarray(x.count, np.int32) if isinstance(x, Padded) else np.int32(len(part)))
        return Padded(rows, end, self.loop)

    def _sliced(self, op: Operation, primitive: StridedSlice, arrays: Sequence[Any]) -> Any:
        """Rows counted from the beginning or from the end, and what is read of each."""
        first, *others = primitive.spec or (None,)
        if arrays[0] is not self or len(arrays) > 1 or first is None or first == "..." or "..." in others:
            raise self.refused(op)
        count = jnp.asarray(self.count, np.int32)
        if not isinstance(first, tuple):
            rows = self.rows[jnp.maximum(count + first, 0)] if first < 0 else self.rows[first]
            return rows[tuple([slice(*e) if isinstance(e, tuple) else e for e in others])]
        begin, end, step = first
        begin = 0 if begin is None else begin
        if step not in (None, 1) or begin < 0:
            raise self.refused(op)
        if end is not None:
            count = jnp.minimum(count, end) if end >= 0 else jnp.maximum(count + np.int32(end), 0)
        rows = self.rows[(slice(begin, None), *[slice(*e) if isinstance(e, tuple) else e for e in others])]
        return self._first(rows, jnp.maximum(count - np.int32(begin), 0))


class Turned(AbstractRows):
    """`rows`, transposed by `perm`, so that they do not lie along the first axis.

    Transpositions, elementwise operations and sums go through to the rows; all else is refused.
    """

    def __init__(self, rows: Padded, perm: tuple[int, ...]) -> None:
        self.rows, self.perm = rows, perm
        self.count, self.axis, self.loop = rows.count, perm.index(0), rows.loop

    @property
    def capacity(self) -> int:
        """Raises InvalidArgumentError: what lies along the first axis are no rows."""
        raise self.rows.refused(self.rows.loop)

    def array(self) -> Any:
        """Raises InvalidArgumentError: zeros lie between the elements."""
        raise self.rows.refused(self.rows.loop)

    def whole(self) -> Any:
        """All elements, and the zeros."""
        return jnp.transpose(self.rows.rows, self.perm)

    def mapped(self, op: Operation, arrays: Sequence[Any]) -> Any:
        """What `op` makes of the rows.

        Raises:
            InvalidArgumentError: it may depend on how many rows there are.
        """
        primitive = op.primitive
        if isinstance(primitive, Transpose):
            order = primitive.perm or range(len(self.perm))[::-1]
            return self.rows._transposed([self.perm[p] for p in order])
        if ELEMENTWISE in primitive.traits or isinstance(primitive, BroadcastLike):
            made = self.rows.mapped(op, [self._as_rows(x) for x in arrays])
            return tuple([Turned(y, self.perm) for y in made]) if isinstance(made, tuple) else Turned(made, self.perm)
        ranks = [len(x.perm) if isinstance(x, Turned) else None for x in arrays]
        if not is_neutral(op, ranks, self.axis):
            raise self.rows.refused(op)
        given = [x.whole() if isinstance(x, Turned) and x.axis == self.axis else dense(x) for x in arrays]
        return kernel_of(primitive)(*given)

    def _as_rows(self, x: Any) -> Any:
        """Another operand with its axes in the order of the rows; it must be the same for each of them."""
        if isinstance(x, Turned) and x.perm == self.perm:
            return x.rows
        x, rank = dense(x), len(self.perm)
        shape = (1,) * (rank - np.ndim(x)) + np.shape(x)
        if len(shape) > rank or shape[self.axis] != 1:
            raise self.rows.refused(self.rows.loop)
        return x if np.ndim(x) == 0 else jnp.transpose(jnp.reshape(x, shape), np.argsort(self.perm).tolist())


def cut(array: Any, axis: int, count: Any) -> Any:
    """An array without the zeros behind its `count` rows along an axis."""
    return array[(slice(None),) * axis + (slice(int(count)),)]
