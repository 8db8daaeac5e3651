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
from ...primitives.elementwise.trigonometric import Cos, Sin
from .array_namespace import NAMESPACE
from .linalg.products import made
from .registry import xla_kernel

_SIX_BITS = 64
_FAR = 80.0
"""From here on exponentials may overflow where the hyperbolic sine and cosine, which are half of them, do not."""


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
    """By the exponential less 1: XLA adds log(1/2) to the exponent, whose rounding the exponential magnifies.

    Far out it is two factors, which do not overflow.
    """
    if x.dtype in COMPLEX:
        # By exponentials, as XLA has it, small numbers lose all digits.
        s, c = [half_exponential(part, x.real) for part in (Sinh(), Cosh())]
        odd, even = (s, c) if isinstance(primitive, Sinh) else (c, s)
        return lax.complex(odd * jnp.cos(x.imag), even * jnp.sin(x.imag))
    if x.dtype.itemsize < np.dtype(np.float32).itemsize:
        return half_exponential(primitive, x.astype(np.float32)).astype(x.dtype)
    size = jnp.abs(x)
    root = jnp.exp(size / 2)
    far = root / 2 * root
    excess = jnp.expm1(size)
    if isinstance(primitive, Cosh):
        return jnp.where(size > _FAR, far, 1 + excess / (excess + 1) * excess / 2)
    return jnp.copysign(jnp.where(size > _FAR, far, (excess + excess / (excess + 1)) / 2), x)


@xla_kernel(Sin, Cos)
def sine_or_cosine(primitive: Sin | Cos, x: Any) -> Any:
    """Of complex numbers by hyperbolic ones, for XLA's overflow before they do."""
    if x.dtype not in COMPLEX:
        return primitive.kernel(NAMESPACE, x)
    turned = lax.complex(-x.imag, x.real)
    if isinstance(primitive, Cos):
        return half_exponential(Cosh(), turned)
    y = half_exponential(Sinh(), turned)
    return lax.complex(y.imag, -y.real)


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
