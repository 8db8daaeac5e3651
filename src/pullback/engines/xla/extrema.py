"""XLA lowering of extrema, as of integers, and of their places: the elements nearest to them.

XLA 0.10 leaves extrema of 4096 floats or more to YNNPACK on processors, which loses NaN, wherever it stands. Its own
loops go from element to element, because of NaN, and take ten times as long. So floats become integers in the same
order, NaN above all, eight of which are compared at once: 1024 rows of 1000 take 150 us, by YNNPACK 65, by loops over
floats 820.

A compiler may compute an element twice, for the extremum and where that is compared with it, and round the two
differently, as processors do with sums of products: then none is equal. What a branch is given it does not compute
again; in there the nearest elements are looked for, which are the equal ones wherever there are such.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from ...core.dtypes import FLOATING
from ...core.primitive import Primitive
from ...primitives.base.integer_keys import floats_of, keys_of
from .linalg.products import made
from .ordering import has_keys

_AT_ONCE = 8
_MANY = 4096
"""The elements from which on the place of the largest is worth more operations."""
_MOST = (1 << 32) - 1
"""The largest number that an element may have."""


def largest(x: Any, axes: Sequence[int]) -> Any:
    """The largest floats along some axes, none of length 0; NaN where one is NaN."""
    return floats_of(jnp, _largest_integers(keys_of(jnp, x, has_one_zero=False), axes)).astype(x.dtype)


def _largest_integers(x: Any, axes: Sequence[int]) -> Any:
    """The largest integers; along the last axes those of eight columns, then the largest of these."""
    inner = next((i for i in range(x.ndim) if {*range(i, x.ndim)} <= {*axes}), x.ndim)
    count = prod(x.shape[inner:])
    if not isinstance(count, int) or count < 2 * _AT_ONCE:
        return x.max(tuple(axes))
    rows, rest = x.reshape(*x.shape[:inner], count), count % _AT_ONCE
    over = (*[a for a in axes if a < inner], inner)
    y = made(rows[..., : count - rest].reshape(*x.shape[:inner], -1, _AT_ONCE).max(over)).max(-1)
    return jnp.maximum(y, rows[..., count - rest :].max(over)) if rest else y


def place_of_largest(x: Any, axis: int, of_least: bool = False) -> Any:
    """The place of the largest element along an axis, or of the least; the first of equals, or of NaN where one is NaN.

    XLA carries a pair from element to element, which takes ten times as long as the largest of integers.
    """
    if not (has_keys(x) and _is_long(x.shape, axis)):
        return jnp.argmin(x, axis) if of_least else jnp.argmax(x, axis)
    if of_least:
        x = -x if x.dtype in FLOATING else ~x
    return number_of_largest(x, lax.broadcasted_iota(np.int64, x.shape, axis % x.ndim), [axis % x.ndim])


def number_of_largest(x: Any, numbers: Any, axes: Sequence[int]) -> Any:
    """The least of the `numbers` of the largest elements along some axes, or of those that are NaN; for `has_keys`.

    An element and its number are one integer. Numbers have 32 bits; they broadcast to `x`.
    """
    keys = (keys_of(jnp, x).astype(np.int64) << 32) | (_MOST - jnp.asarray(numbers, np.int64))
    return _MOST - (_largest_integers(keys, axes) & _MOST)


def _is_long(dims: Sequence[Any], axis: int) -> bool:
    """Whether an array of lengths `dims` is large, and not short along an axis."""
    return all(isinstance(n, int) for n in dims) and prod(dims) >= _MANY and 2 * _AT_ONCE <= dims[axis] <= _MOST


def distance_to(x: Any, y: Any) -> Any:
    """How far elements are from others; 0 for equal infinities, and NaN is far from numbers."""
    distance = jnp.where(x == y, 0, jnp.abs(x - y))
    return jnp.where((x != x) & (y == y), jnp.inf, distance)


def of_given(p: Primitive, function: Callable[..., Any], nothing: float, x: Any, *others: Any) -> Any:
    """`function` of arrays that are computed before, `nothing` where `x` is NaN; integers are equal or not.

    The last array is the extrema. There are two branches, which differ where these have NaN, because XLA takes one, or
    two that do the same, for none.
    """
    if x.dtype not in FLOATING or not x.size:
        return p.kernel(jnp, x, *others)

    def with_nan(x: Any, *others: Any) -> Any:
        return jnp.where(x == x, function(x, *others), jnp.asarray(nothing, x.dtype))

    y = others[-1]
    return lax.cond(jnp.all(y == y), function, with_nan, x, *others)
