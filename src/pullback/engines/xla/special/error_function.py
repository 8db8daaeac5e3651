"""The error function and its kin on XLA, which has them."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import lax

from ....primitives.special.error_function import Erf, Erfc, Erfinv
from ..registry import xla_kernel


@xla_kernel(Erf)
def erf(primitive: Erf, x: jax.Array) -> jax.Array:
    del primitive
    return lax.erf(jnp.asarray(x))


@xla_kernel(Erfc)
def erfc(primitive: Erfc, x: jax.Array) -> jax.Array:
    del primitive
    return lax.erfc(jnp.asarray(x))


@xla_kernel(Erfinv)
def erfinv(primitive: Erfinv, x: jax.Array) -> jax.Array:
    del primitive
    return lax.erf_inv(jnp.asarray(x))
