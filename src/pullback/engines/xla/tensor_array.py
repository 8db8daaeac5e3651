"""XLA lowering of TensorArrays: their rows are read, written and added up in an array with room for them.

An array is made longer where the positions are known when the program is compiled; one that grows in a loop has, from
the beginning, as many rows as it may get, the last ones zeros. A position that is out of range cannot raise in a
compiled program: what is read there is NaN, what is written is left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from ...primitives.base.scattering import bounded
from ...primitives.tensor_array import ArrayAdd, ArrayHead, ArrayRead, ArrayTail, ArrayWrite
from .. import messages
from ..plan import Step
from .control_flow.branches import is_known
from .indexing import out_of_range
from .loops.padded import Padded
from .registry import xla_functional, xla_kernel
from .trace import Trace


@xla_kernel(ArrayRead)
def read(primitive: ArrayRead, array: Any, indices: Any, size: Any) -> Any:
    """Rows of an array."""
    del primitive, size
    if not array.shape[0]:
        return out_of_range((*jnp.shape(indices), *array.shape[1:]), array.dtype)
    return jnp.asarray(array).at[bounded(jnp, indices, array.shape[0])].get(mode="fill", wrap_negative_indices=False)


@xla_kernel(ArrayWrite)
def write(primitive: ArrayWrite, array: Any, indices: Any, rows: Any, size: Any) -> Any:
    """An array with other rows."""
    del size
    row, count = rows.shape[jnp.ndim(indices) :], array.shape[0]
    if primitive.room is not None:
        count = max(count, primitive.room)
    elif primitive.grows:
        count = max(count, int(np.max(indices, initial=-1)) + 1)
    if array.shape[1:] != row and array.size == 0:
        array = jnp.zeros((array.shape[0], *row), array.dtype)
    if count > array.shape[0]:
        array = jnp.concatenate([array, jnp.zeros((count - array.shape[0], *row), array.dtype)])
    if not count:
        return array
    places = bounded(jnp, indices, array.shape[0])
    return jnp.asarray(array).at[places].set(rows, mode="drop", wrap_negative_indices=False)


@xla_kernel(ArrayAdd)
def add(primitive: ArrayAdd, rows: Any, indices: Any, size: Any) -> Any:
    """Zeros to which rows are added."""
    count = int(size) if primitive.room is None else primitive.room
    total = jnp.zeros((count, *rows.shape[jnp.ndim(indices) :]), rows.dtype)
    if not count:
        return total
    return total.at[bounded(jnp, indices, count)].add(rows, mode="drop", wrap_negative_indices=False)


@xla_functional(ArrayHead)
def head(trace: Trace, step: Step, arrays: Sequence[Any]) -> tuple[Any, ...]:
    """The first rows of an array, with zeros behind them where there is room."""
    del trace
    primitive, (array, size) = step.op.primitive, arrays
    assert isinstance(primitive, ArrayHead)
    if primitive.room is None:
        if not is_known(size):
            raise messages.needs_value(step.op, list(arrays))
        return (array[: int(size)],)
    rows = _of_length(array, primitive.room)
    return (Padded.first(rows, size, step.op.inputs[0].op) if primitive.ended else rows,)


@xla_kernel(ArrayTail)
def tail(primitive: ArrayTail, array: Any, like: Any, *size: Any) -> Any:
    """An array with as many rows as another: more, of zeros, or fewer where there was room for more."""
    del primitive, size
    return _of_length(array, like.shape[0])


def _of_length(array: Any, count: int) -> Any:
    """The array with `count` rows: the first ones, or zeros behind them."""
    more = jnp.zeros((max(count - array.shape[0], 0), *array.shape[1:]), array.dtype)
    return jnp.concatenate([array[:count], more])
