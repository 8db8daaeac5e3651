"""Sorting on processors: as of integers, of which XLA sorts one array without calling a function to compare."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from ...core.dtypes import FLOATING
from ...primitives.base.integer_keys import floats_of, has_order_of_keys, keys_of, order_of_keys
from .platform import on_processor


def has_keys(x: Any) -> bool:
    """Whether the elements of an array on a processor are floats or signed integers of up to 32 bits."""
    is_number = x.dtype in FLOATING or x.dtype.kind == "i"
    return isinstance(x, jax.Array) and on_processor() and is_number and x.dtype.itemsize <= 4


def argsort(x: Any, axis: int = -1, *, stable: bool = True) -> Any:
    """The places of the elements along an axis in ascending order, NaN last; equals in their order."""
    if isinstance(x, jax.Array) and on_processor() and has_order_of_keys(x, axis):
        return order_of_keys(jnp, x, axis)
    return jnp.argsort(x, axis, stable=stable)


def sort(x: Any, axis: int = -1) -> Any:
    """The elements along an axis in ascending order, NaN last."""
    if isinstance(x, jax.Array) and on_processor() and x.dtype in FLOATING:
        return floats_of(jnp, jnp.sort(keys_of(jnp, x, has_one_zero=False), axis)).astype(x.dtype)
    return jnp.sort(x, axis)
