"""XLA lowering of isotonic regression: its formula of least and largest means."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from jax import lax

from ..primitives.sorting.order_statistics import IsotonicRegression, averaged
from .xla_registry import xla_kernel


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
