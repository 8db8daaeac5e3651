"""Activation functions on XLA."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from ...core.dtypes import COMPLEX
from ...primitives.activations.gelu import Gelu, GeluGrad, gelu_of, gelu_slope
from ...primitives.activations.rectifiers import Relu, Relu6, SiluGrad
from ...primitives.activations.sigmoid import Sigmoid
from ...primitives.activations.softmax import LogSoftmax, exponentials
from .array_namespace import NAMESPACE
from .fences import is_there
from .platform import on_processor
from .registry import xla_kernel


@xla_kernel(Relu)
def relu(primitive: Relu, x: jax.Array) -> jax.Array:
    """A choice: a maximum with 0 XLA computes anew for each reader but products, and keeps `x` beside it for that."""
    del primitive
    x = jnp.asarray(x)
    return jnp.where(x <= 0, jnp.zeros((), x.dtype), x)


@xla_kernel(Relu6)
def relu6(primitive: Relu6, x: jax.Array) -> jax.Array:
    """Choices, for the same reason."""
    del primitive
    x = jnp.asarray(x)
    return jnp.where(x <= 0, jnp.zeros((), x.dtype), jnp.where(x >= 6, jnp.asarray(6, x.dtype), x))


@xla_kernel(LogSoftmax)
def log_softmax(primitive: LogSoftmax, x: jax.Array) -> jax.Array:
    """A choice as well: else XLA keeps what the logarithm is subtracted from beside the difference."""
    shifted, _, total = exponentials(NAMESPACE, _wide(x), primitive.axis)
    return jnp.where(jnp.isneginf(shifted), shifted, shifted - jnp.log(total)).astype(x.dtype)


@xla_kernel(Sigmoid)
def sigmoid(primitive: Sigmoid, x: jax.Array) -> jax.Array:
    """By a quotient, its value or what it lacks of 1, negative, of which XLA makes an array for those that read it.

    An array is what is expensive and comes last: else XLA gave the argument to all of them, to choose by. Choices,
    because of an absolute value jax's own derivative at 0 is 0.
    """
    if x.dtype in COMPLEX:
        return primitive.kernel(jnp, x)  # type: ignore[no-any-return]
    wide = _wide(x)
    y = jnp.exp(jnp.where(wide >= 0, -wide, wide))
    rest = jnp.where(wide >= 0, -y, y) / (y + 1)
    return jnp.where(jnp.signbit(rest), 1 + rest, rest).astype(x.dtype)


@xla_kernel(Gelu)
def gelu(primitive: Gelu, x: jax.Array) -> jax.Array:
    return _once(gelu_of(jnp, _wide(x), primitive.approximate, _erfc).astype(x.dtype))


@xla_kernel(GeluGrad)
def gelu_grad(primitive: GeluGrad, x: jax.Array, dy: jax.Array) -> jax.Array:
    slope = gelu_slope(jnp, _wide(_late(x, dy)), primitive.approximate, _erfc)
    return _once((slope * _wide(dy)).astype(x.dtype))


@xla_kernel(SiluGrad)
def silu_grad(primitive: SiluGrad, x: jax.Array, dy: jax.Array) -> jax.Array:
    dx: jax.Array = primitive.kernel(jnp, _wide(_late(x, dy)), _wide(dy)).astype(x.dtype)
    return dx


def _late(x: jax.Array, dy: jax.Array) -> jax.Array:
    """`x`, once `dy` is there: XLA computes of it anew what the function has computed.

    It would keep that from the forward part on, three arrays beside `x` for `gelu`.
    """
    if not on_processor() or 0 in dy.shape:
        return x
    return jnp.where(is_there(dy), x, jnp.zeros((), x.dtype))


def _once(y: jax.Array) -> jax.Array:
    """`y`, which XLA makes an array of where it is of float16."""
    return jnp.where(y == y, y, jnp.asarray(jnp.nan, y.dtype)) if y.dtype == jnp.float16 else y


def _wide(x: jax.Array) -> jax.Array:
    return jnp.asarray(x, jnp.float32) if x.dtype.itemsize == 2 else jnp.asarray(x)


def _erfc(xp: Any, x: jax.Array) -> jax.Array:
    del xp
    return lax.erfc(x)
