"""Complex numbers on XLA."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import lax

from ...primitives.complex.complex import Complex
from .registry import xla_kernel


@xla_kernel(Complex)
def complex_(primitive: Complex, re: jax.Array, im: jax.Array) -> jax.Array:
    del primitive
    return lax.complex(*jnp.broadcast_arrays(re, im))
