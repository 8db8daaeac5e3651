"""XLA lowering of isotonic regression, by its formula of least and largest means, of top-k and of binary search."""

from __future__ import annotations

import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from ...primitives.sorting.order_statistics import IsotonicRegression, averaged
from ...primitives.sorting.searchsorted import SearchSorted
from ...primitives.sorting.sort import TopKV2, check_number
from .array_namespace import NAMESPACE
from .indexing import in_order
from .platform import on_processor
from .registry import xla_kernel

_SHARE = 8
"""The elements that are selected without the order of all are at most one of so many."""


@xla_kernel(IsotonicRegression)
def isotonic_regression(primitive: IsotonicRegression, x: Any) -> tuple[Any, Any]:
    """The i-th value is the least over j <= i of the largest over k >= i of the mean from j to k."""
    del primitive
    x = jnp.asarray(x)
    n = x.shape[-1]
    if x.size == 0:
        return x, jnp.zeros(x.shape, jnp.int32)
    sums = jnp.cumsum(x, axis=-1, dtype=jnp.float64)
    before = jnp.concatenate([jnp.zeros_like(sums[..., :1]), sums[..., :-1]], axis=-1)
    j, k = jnp.arange(n)[:, None], jnp.arange(n)[None, :]
    means = (sums[..., None, :] - before[..., :, None]) / jnp.maximum(k - j + 1, 1)
    largest = lax.cummax(jnp.where(k >= j, means, -jnp.inf), axis=means.ndim - 1, reverse=True)
    least = jnp.min(jnp.where(k >= j, largest, jnp.inf), axis=-2)
    new = jnp.abs(least[..., 1:] - least[..., :-1]) > 1e-12 * jnp.abs(least[..., 1:])
    pieces = jnp.cumsum(jnp.pad(new, [(0, 0)] * (x.ndim - 1) + [(1, 0)]), axis=-1, dtype=jnp.int32)
    return averaged(jnp, x, pieces), pieces


@xla_kernel(TopKV2)
def _top_k(primitive: TopKV2, x: Any) -> Any:
    check_number(x, primitive.k)
    if on_processor() and not _is_worth_selecting(x, primitive.k):
        return primitive.kernel(NAMESPACE, x)
    is_narrow = x.dtype.itemsize <= 2 and on_processor()
    _, positions = lax.top_k(in_order(x.astype(np.float32) if is_narrow else x), primitive.k)
    values = jnp.take_along_axis(x, positions, axis=-1)
    return values, lax.convert_element_type(positions, np.dtype(primitive.index_type.name))


def _is_worth_selecting(x: Any, k: int) -> bool:
    """Whether the first are found sooner than the order of all: few of what float32 holds; XLA sorts pairs elsewhere.

    The first 1,000 of rows of 1,000 take 119 ms, in the order of all 21; 100 take 18.
    """
    n, fits = x.shape[-1], x.dtype.itemsize <= 2 or x.dtype == np.float32
    return not isinstance(n, int) or bool(fits and k <= n // _SHARE)


@xla_kernel(SearchSorted)
def searchsorted(primitive: SearchSorted, sequence: Any, values: Any) -> Any:
    """Rows as one more axis."""
    count = math.prod(values.shape[:-1])
    rows = jnp.asarray(sequence).reshape(count, sequence.shape[-1])
    wanted = jnp.asarray(values).reshape(count, values.shape[-1])
    found = jax.vmap(lambda row, some: jnp.searchsorted(row, some, primitive.side))(rows, wanted)
    return found.astype(np.dtype(primitive.out_type)).reshape(values.shape)
