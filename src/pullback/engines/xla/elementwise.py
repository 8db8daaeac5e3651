"""XLA lowering of elementwise functions that XLA has of its own."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from ...core.dtypes import COMPLEX, INTEGER
from ...primitives.elementwise.division import FloorDiv, TruncateDiv
from ...primitives.elementwise.hyperbolic import Atanh, Cosh, Sinh
from ...primitives.elementwise.powers import Pow, Rsqrt, inverse_power
from .linalg.products import made
from .registry import xla_kernel

_SIX_BITS = 64
_FAR = 22.0
"""From here on the hyperbolic sine and cosine are half an exponential, to the last bit of float64."""


@xla_kernel(Rsqrt)
def rsqrt(primitive: Rsqrt, x: jax.Array) -> jax.Array:
    del primitive
    return lax.rsqrt(jnp.asarray(x))


@xla_kernel(Pow)
def power(primitive: Pow, a: Any, b: Any) -> Any:
    """Of integers by all bits of the exponents: jax reads six, with which 2^64 is 1."""
    if a.dtype not in INTEGER or (isinstance(b, np.ndarray | np.generic) and int(np.max(b, initial=0)) < _SIX_BITS):
        return primitive.kernel(jnp, a, b)
    a, b = jnp.broadcast_arrays(a, b)
    state = jnp.ones_like(a), a, jnp.maximum(b, 0)
    whole, _, _ = lax.while_loop(lambda state: jnp.any(state[2] != 0), _next_bit, state)
    return jnp.where(b >= 0, whole, inverse_power(jnp, a, b))


def _next_bit(state: tuple[Any, Any, Any]) -> tuple[Any, Any, Any]:
    """The power by one more bit of the exponents, the next square, and the bits that are left."""
    whole, square, bits = state
    return jnp.where(bits & 1 != 0, whole * square, whole), square * square, bits >> 1


@xla_kernel(Sinh, Cosh)
def half_exponential(primitive: Sinh | Cosh, x: Any) -> Any:
    """XLA adds log(1/2) to the exponent, whose rounding the exponential magnifies; far out it is two factors."""
    if x.dtype in COMPLEX:
        # By exponentials, as XLA has it, small numbers lose all digits.
        s, c = [half_exponential(part, x.real) for part in (Sinh(), Cosh())]
        odd, even = (s, c) if isinstance(primitive, Sinh) else (c, s)
        return lax.complex(odd * jnp.cos(x.imag), even * jnp.sin(x.imag))
    value = primitive.kernel(jnp, x)
    root = jnp.exp(jnp.abs(x) / 2)
    far = root / 2 * root
    return jnp.where(jnp.abs(x) > _FAR, jnp.copysign(far, x) if isinstance(primitive, Sinh) else far, value)


@xla_kernel(Atanh)
def atanh(primitive: Atanh, x: Any) -> Any:
    """By one logarithm: XLA subtracts two, which are nearly equal for small numbers."""
    if x.dtype in COMPLEX:
        return primitive.kernel(jnp, x)
    size = jnp.abs(x)
    return jnp.copysign(jnp.log1p(2 * size / (1 - size)) / 2, x)


@xla_kernel(FloorDiv, TruncateDiv)
def whole_quotient(primitive: FloorDiv | TruncateDiv, a: Any, b: Any) -> Any:
    """XLA multiplies by the reciprocal of what is repeated: a multiple of it could be a rounding below what it is."""
    if b.dtype not in INTEGER:
        b = made(jnp.broadcast_to(b, jnp.broadcast_shapes(a.shape, b.shape)))
    return primitive.kernel(jnp, a, b)
