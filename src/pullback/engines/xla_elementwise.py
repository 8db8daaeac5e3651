"""XLA lowering of elementwise functions that XLA has of its own."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from ..core.dtypes import INEXACT
from ..core.dtypes import bool as bool_
from ..primitives.activations.gelu import Gelu, GeluGrad, gelu_of, gelu_slope
from ..primitives.casting.cast import Cast
from ..primitives.complex.complex import Complex
from ..primitives.elementwise.powers import Rsqrt
from ..primitives.special.error_function import Erf, Erfc, Erfinv
from .xla_registry import xla_kernel


@xla_kernel(Cast)
def cast(primitive: Cast, x: Any) -> Any:
    """A converted bool is a choice of numbers: XLA takes a product with one for a choice, and then 0 * NaN for 0."""
    if x.dtype != bool_ or primitive.dtype not in INEXACT:
        return primitive.kernel(jnp, x)
    return jnp.where(x, jnp.ones((), primitive.dtype), jnp.zeros((), primitive.dtype))


@xla_kernel(Complex)
def complex_(primitive: Complex, re: jax.Array, im: jax.Array) -> jax.Array:
    del primitive
    return lax.complex(*jnp.broadcast_arrays(re, im))


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


@xla_kernel(Rsqrt)
def rsqrt(primitive: Rsqrt, x: jax.Array) -> jax.Array:
    del primitive
    return lax.rsqrt(jnp.asarray(x))


@xla_kernel(Gelu)
def gelu(primitive: Gelu, x: jax.Array) -> jax.Array:
    y: jax.Array = gelu_of(jnp, _wide(x), primitive.approximate, _erf).astype(x.dtype)
    return y


@xla_kernel(GeluGrad)
def gelu_grad(primitive: GeluGrad, x: jax.Array, dy: jax.Array) -> jax.Array:
    dx: jax.Array = (gelu_slope(jnp, _wide(x), primitive.approximate, _erf) * _wide(dy)).astype(x.dtype)
    return dx


def _wide(x: jax.Array) -> jax.Array:
    return jnp.asarray(x, jnp.float32) if x.dtype.itemsize == 2 else jnp.asarray(x)


def _erf(xp: Any, x: jax.Array) -> jax.Array:
    del xp
    return lax.erf(x)
