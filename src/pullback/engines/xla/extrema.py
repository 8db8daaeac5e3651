"""XLA lowering of the places of extrema: the elements nearest to them.

A compiler may compute an element twice, for the extremum and where that is compared with it, and round the two
differently, as processors do with sums of products: then none is equal. What a branch is given it does not compute
again; in there the nearest elements are looked for, which are the equal ones wherever there are such.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
from jax import lax

from ...core.dtypes import FLOATING
from ...core.primitive import Primitive


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
