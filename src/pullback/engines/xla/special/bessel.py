"""XLA lowering of Bessel functions, of which XLA has only I0 and I1.

All is computed in float64, by `primitives/special/bessel_series.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, wraps
from typing import Any

import jax.numpy as jnp
import jax.scipy.special as special

from ....primitives.special import bessel_series


def in_double(fn: Callable[..., Any]) -> Callable[..., Any]:
    """`fn` computed in float64, its result in the dtype of the last argument."""

    @wraps(fn)
    def wide(*arguments: Any) -> Any:
        x = arguments[-1]
        return fn(*arguments[:-1], x.astype(jnp.float64)).astype(x.dtype)

    return wide


def _of(fn: Callable[..., Any], *fixed: Any) -> Callable[..., Any]:
    """`fn` of jax's arrays, in float64."""
    return in_double(wraps(fn)(partial(fn, jnp, *fixed)))


j0, j1 = [_of(bessel_series.bessel_j, order) for order in (0, 1)]
y0, y1 = [_of(bessel_series.bessel_y, order) for order in (0, 1)]
k0, k1 = [_of(bessel_series.bessel_k, order, False) for order in (0, 1)]
k0e, k1e = [_of(bessel_series.bessel_k, order, True) for order in (0, 1)]
jv = _of(bessel_series.jv)
ive, iv = _of(bessel_series.ive, special), _of(bessel_series.iv, special)
