"""Dense storage of a dynamic-length stack: rows of an XLA loop in an array with room for more, zeros behind them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from ....core.graph import Operation
from ....primitives.identity.identity import EnsureShapeLike
from ....primitives.indexing.slicing import StridedSlice
from ....primitives.shape.reshape import ReshapeLike
from ....primitives.shape.stacking import ConcatV2
from ... import messages
from ..registry import xla_kernel_of
from ..trace import AbstractRows, dense
from .padded_rules import goes_row_by_row, is_neutral, rows_of_one


class Padded(AbstractRows):
    """The first `count` rows of `rows`, whose others are zeros."""

    def __init__(self, rows: Any, count: Any, loop: Operation) -> None:
        self.rows, self.count, self.loop = rows, count, loop

    @property
    def capacity(self) -> int:
        """How many rows the array has memory for."""
        return len(self.rows)

    def array(self) -> Any:
        """All of `rows`."""
        return self.rows

    def mapped(self, op: Operation, arrays: Sequence[Any]) -> Any:
        """What `op` makes of the rows; None for what is the same with zeros behind, as sums are.

        Raises:
            InvalidArgumentError: it may depend on how many rows there are.
        """
        primitive = op.primitive
        ranks = [x.rows.ndim if isinstance(x, Padded) else None for x in arrays]
        if isinstance(primitive, StridedSlice):
            return self._sliced(op, primitive, arrays)
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
        fn = xla_kernel_of(type(primitive))
        given = [dense(x) for x in arrays]
        made = primitive.kernel(jnp, *given) if fn is None else fn(primitive, *given)
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
            rows = lax.dynamic_update_slice_in_dim(rows, jnp.asarray(part), end, 0)
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
