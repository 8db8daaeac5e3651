"""XLA lowering of conversions between dtypes."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from ...core.dtypes import INEXACT
from ...core.dtypes import bool as bool_
from ...primitives.casting.cast import Cast
from .registry import xla_kernel


@xla_kernel(Cast)
def cast(primitive: Cast, x: Any) -> Any:
    """A converted bool is a choice of numbers: XLA takes a product with one for a choice, and then 0 * NaN for 0."""
    if x.dtype != bool_ or primitive.dtype not in INEXACT:
        return primitive.kernel(jnp, x)
    return jnp.where(x, jnp.ones((), primitive.dtype), jnp.zeros((), primitive.dtype))
