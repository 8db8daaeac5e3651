"""XLA lowering of elementwise functions that XLA has of its own."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import lax

from ...primitives.elementwise.powers import Rsqrt
from .registry import xla_kernel


@xla_kernel(Rsqrt)
def rsqrt(primitive: Rsqrt, x: jax.Array) -> jax.Array:
    del primitive
    return lax.rsqrt(jnp.asarray(x))
