"""Error function on XLA, which has it; its inverse there is wrong in the eleventh digit near 1 in float64."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import lax

from ....primitives.special.error_function import Erf, Erfc
from ..registry import xla_kernel


@xla_kernel(Erf)
def erf(primitive: Erf, x: jax.Array) -> jax.Array:
    del primitive
    return lax.erf(jnp.asarray(x))


@xla_kernel(Erfc)
def erfc(primitive: Erfc, x: jax.Array) -> jax.Array:
    del primitive
    return lax.erfc(jnp.asarray(x))
