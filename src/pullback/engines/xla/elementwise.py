"""XLA lowering of elementwise functions that XLA has of its own."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from ...core.dtypes import INTEGER
from ...primitives.elementwise.division import FloorDiv, TruncateDiv
from ...primitives.elementwise.powers import Rsqrt
from .linalg.products import made
from .registry import xla_kernel


@xla_kernel(Rsqrt)
def rsqrt(primitive: Rsqrt, x: jax.Array) -> jax.Array:
    del primitive
    return lax.rsqrt(jnp.asarray(x))


@xla_kernel(FloorDiv, TruncateDiv)
def whole_quotient(primitive: FloorDiv | TruncateDiv, a: Any, b: Any) -> Any:
    """XLA multiplies by the reciprocal of what is repeated: a multiple of it could be a rounding below what it is."""
    if b.dtype not in INTEGER:
        b = made(jnp.broadcast_to(b, jnp.broadcast_shapes(a.shape, b.shape)))
    return primitive.kernel(jnp, a, b)
