"""XLA lowering of conversions between dtypes."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import ml_dtypes
import numpy as np

from ...core.dtypes import FLOATING, INEXACT
from ...core.dtypes import bool as bool_
from ...primitives.casting.cast import Cast
from .registry import xla_kernel

_OF_ONE_ZERO = {np.dtype(ml_dtypes.float8_e4m3fnuz), np.dtype(ml_dtypes.float8_e5m2fnuz)}


@xla_kernel(Cast)
def cast(primitive: Cast, x: Any) -> Any:
    """A converted bool is a choice of numbers: XLA takes a product with one for a choice, and then 0 * NaN for 0."""
    if x.dtype in FLOATING and primitive.dtype in _OF_ONE_ZERO:
        return _with_one_zero(primitive, x)
    if x.dtype != bool_ or primitive.dtype not in INEXACT:
        return primitive.kernel(jnp, x)
    return jnp.where(x, jnp.ones((), primitive.dtype), jnp.zeros((), primitive.dtype))


def _with_one_zero(primitive: Cast, x: Any) -> Any:
    """What is too small is zero: XLA makes -0 of it on the processor, of which the bits are those of NaN here."""
    least = float(ml_dtypes.finfo(primitive.dtype).smallest_subnormal)  # type: ignore[no-untyped-call]
    return jnp.where(jnp.abs(x) <= least / 2, jnp.zeros((), primitive.dtype), primitive.kernel(jnp, x))
