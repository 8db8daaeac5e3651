"""XLA lowering of reductions: extrema, and their shares."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from ...core.dtypes import FLOATING, INTEGER
from ...core.shape import broadcast_axes
from ...primitives.reduction.reduce import Max, Min, TieShares, kept_dims
from ...primitives.reduction.reduce_like import MaxLike, MinLike, TieSharesLike
from .extrema import distance_to, largest, of_given
from .platform import on_processor
from .registry import xla_kernel


@xla_kernel(Max, Min)
def _extremum(p: Max | Min, x: Any) -> Any:
    if not _are_floats(x):
        return p.kernel(jnp, _in_more_bits(x)).astype(x.dtype)
    axes = range(x.ndim) if p.axis is None else sorted([a % x.ndim for a in p.axis])
    y = largest(x, axes) if isinstance(p, Max) else -largest(-x, axes)
    return y.reshape(kept_dims(x.shape, p.axis)) if p.keepdims else y


@xla_kernel(MaxLike, MinLike)
def _extremum_like(p: MaxLike | MinLike, x: Any, like: Any) -> Any:
    axes = broadcast_axes(like.shape, x.shape)
    if not _are_floats(x) or not axes:
        return p.kernel(jnp, _in_more_bits(x), like).astype(x.dtype)
    y = largest(x, axes) if isinstance(p, MaxLike) else -largest(-x, axes)
    return y.reshape(like.shape)


def _in_more_bits(x: Any) -> Any:
    """`x`, 8-bit integers as 32-bit ones: XLA takes the least of zeros that it knows while it compiles for -128."""
    is_small = x.dtype in INTEGER and x.dtype.itemsize == 1 and 0 not in x.shape
    return x.astype(np.int32) if is_small else x


def _are_floats(x: Any) -> bool:
    return on_processor() and x.dtype in FLOATING and 0 not in x.shape


@xla_kernel(TieShares)
def tie_shares(p: TieShares, x: Any, y: Any) -> Any:
    def shares(x: Any, y: Any) -> Any:
        return _shares(x, y.reshape(kept_dims(x.shape, p.axis)), p.axis)

    return of_given(p, shares, math.nan, x, y)


@xla_kernel(TieSharesLike)
def tie_shares_like(p: TieSharesLike, x: Any, y: Any) -> Any:
    return of_given(p, lambda x, y: _shares(x, y, broadcast_axes(y.shape, x.shape)), math.nan, x, y)


def _shares(x: Any, y: Any, axis: Sequence[int] | None) -> Any:
    """One over the number of the elements nearest to `y`; NaN where that is NaN.

    Those are the equal ones if there are such for each of `y`, which a branch counts in two fifths of the time.
    """
    count = jnp.sum(x == y, axis=axis, keepdims=True, dtype=jnp.int32)
    return lax.cond(jnp.all(count > 0), _shares_of_equal, partial(_shares_of_nearest, axis), x, y, count)


def _shares_of_equal(x: Any, y: Any, count: Any) -> Any:
    return jnp.where(x == y, jnp.ones((), x.dtype) / count.astype(x.dtype), 0)


def _shares_of_nearest(axis: Sequence[int] | None, x: Any, y: Any, count: Any) -> Any:
    del count
    distance = distance_to(x, y)
    hits = distance == jnp.min(distance, axis=axis, keepdims=True)
    count = jnp.sum(hits, axis=axis, keepdims=True, dtype=jnp.int32).astype(x.dtype)
    return jnp.where(hits, jnp.ones((), x.dtype), 0) / count
