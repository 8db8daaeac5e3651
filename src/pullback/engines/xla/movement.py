"""Movement by bits: rows of bfloat16 are read and written as whole numbers of 16 bits.

XLA on a processor moves no bfloat16: it makes float32 of the whole array, and bfloat16 of the result. A loop that wrote
one row a step did so with all rows, at each step: a scan of 800 steps on [64, 32] and its derivative took 1,540 ms, and
13 since; float16 takes 13.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from ...core.dtypes import bfloat16
from .materialised import materialised
from .platform import on_processor


def by_bits(move: Callable[..., Any], *arrays: Any) -> Any:
    """What `move` makes of `arrays`, of one dtype, by putting their elements elsewhere."""
    if arrays[0].dtype != bfloat16 or not on_processor():
        return move(*arrays)
    words = [lax.bitcast_convert_type(jnp.asarray(x), jnp.uint16) for x in arrays]
    return lax.bitcast_convert_type(move(*words), jnp.bfloat16)


def row_at(rows: Any, at: Any) -> Any:
    """Row `at`, which is not negative, of an array; a loop would make the bits of all rows before its first step."""
    rows = jnp.asarray(rows)
    if rows.dtype == bfloat16 and isinstance(at, jax.Array) and on_processor():
        rows = materialised(rows, at)
    return by_bits(lambda x: lax.dynamic_index_in_dim(x, at, 0, keepdims=False, allow_negative_indices=False), rows)


def with_row(rows: Any, y: Any, at: Any) -> Any:
    """`rows` with `y` at one place, which is not negative."""
    if rows.shape[0] == 0:
        return rows
    return by_bits(lambda x, row: lax.dynamic_update_index_in_dim(x, row, at, 0, allow_negative_indices=False), rows, y)
