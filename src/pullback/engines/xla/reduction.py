"""XLA lowering of reductions: sums of a few elements are additions, which fuse with what is around them; extrema.

XLA takes reductions out of the loops that it makes of elementwise operations on a processor: the Jacobian of a
bundle adjustment, which sums over axes of two and three, took 17.2 ms a step and takes 12.4; 100,000 sums of five or of
eight elements take 0.1 ms, and 0.3 to 7 by XLA's.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
from jax import lax

from ...core.shape import broadcast_axes
from ...primitives.reduction.reduce import Mean, TieShares, kept_dims
from ...primitives.reduction.reduce_like import TieSharesLike
from ...primitives.reduction.sum import Sum
from .extrema import distance_to, of_given
from .fusion import far_rows
from .platform import on_processor
from .registry import xla_kernel

_SHORT = 8
_LARGE = 4096
"""The elements of a result from which on it is worth it: small ones are slower."""


@xla_kernel(Sum)
def _sum(p: Sum, x: Any) -> Any:
    if p.axis is not None and len(p.axis) == 1 and _is_worth_it(x, *p.axis):
        return added_up(x, *p.axis, keepdims=p.keepdims)
    rows = _far_rows(x, p.axis)
    return p.kernel(jnp, x) if rows is None else _sum_of_rows(x, rows, p.axis, p.keepdims)


def added_up(x: Any, axis: int, keepdims: bool = False) -> Any:
    """The sum along an axis of a few elements, as additions."""
    total = lax.index_in_dim(x, 0, axis, keepdims=keepdims)
    for i in range(1, x.shape[axis]):
        total = total + lax.index_in_dim(x, i, axis, keepdims=keepdims)
    return total


def _is_worth_it(x: Any, axis: int) -> bool:
    known = all(isinstance(n, int) for n in x.shape) and x.dtype.itemsize >= 4
    return known and 0 < x.shape[axis] <= _SHORT and x.size >= _LARGE * x.shape[axis] and on_processor()


@xla_kernel(Mean)
def _mean(p: Mean, x: Any) -> Any:
    rows = _far_rows(x, p.axis)
    return p.kernel(jnp, x) if rows is None else _sum_of_rows(x, rows, p.axis, p.keepdims) / x.dtype.type(rows[1])


def _far_rows(x: Any, axis: tuple[int, ...] | None) -> tuple[int, int, int] | None:
    """The shape of `x` as three, the second for `axis`, where these are few, far elements of floats."""
    known = all(isinstance(n, int) for n in x.shape) and x.dtype.itemsize >= 4 and x.dtype.kind == "f"
    if axis is None or not known or not on_processor():
        return None
    return far_rows(x.shape, sorted(n % x.ndim for n in axis))


def _sum_of_rows(x: Any, dims: tuple[int, int, int], axis: tuple[int, ...] | None, keepdims: bool) -> Any:
    """The sum as a product with ones, which XLA does not work into what `x` is computed of.

    It would go through each column by itself: 16 rows of 32,768 elements take 2.5 ms, and 0.12 so.
    """
    total = jnp.matmul(jnp.ones((1, dims[1]), x.dtype), x.reshape(dims), precision=lax.Precision.HIGHEST)
    shape = kept_dims(x.shape, axis)
    return total.reshape(shape) if keepdims else jnp.squeeze(total.reshape(shape), axis)


@xla_kernel(TieShares)
def tie_shares(p: TieShares, x: Any, y: Any) -> Any:
    def shares(x: Any, y: Any) -> Any:
        return _shares(x, y.reshape(kept_dims(x.shape, p.axis)), p.axis)

    return of_given(p, shares, math.nan, x, y)


@xla_kernel(TieSharesLike)
def tie_shares_like(p: TieSharesLike, x: Any, y: Any) -> Any:
    return of_given(p, lambda x, y: _shares(x, y, broadcast_axes(y.shape, x.shape)), math.nan, x, y)


def _shares(x: Any, y: Any, axis: Sequence[int] | None) -> Any:
    """One over the number of the elements nearest to `y`; NaN where that is NaN."""
    distance = distance_to(x, y)
    hits = distance == jnp.min(distance, axis=axis, keepdims=True)
    count = jnp.sum(hits, axis=axis, keepdims=True, dtype=jnp.int32).astype(x.dtype)
    return jnp.where(hits, jnp.ones((), x.dtype), 0) / count
