"""XLA lowering of cumulative log-sum-exp."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from jax import lax

from ...primitives.cumulative.cumsum import Recurrence
from ...primitives.cumulative.logsumexp import CumulativeLogsumexp
from .registry import xla_kernel


@xla_kernel(CumulativeLogsumexp)
def cumulative_logsumexp(primitive: CumulativeLogsumexp, x: Any) -> Any:
    """jax's, which is right at infinities too."""
    return primitive.computed(jnp, jnp.asarray(x), lambda z: lax.cumlogsumexp(z, axis=primitive.axis % z.ndim))


@xla_kernel(Recurrence)
def _recurrence(primitive: Recurrence, a: Any, b: Any) -> Any:
    if 0 in a.shape:
        return b

    def joined(first: Any, second: Any) -> Any:
        return first[0] * second[0], first[1] * second[0] + second[1]

    _, states = lax.associative_scan(joined, (a, b), reverse=primitive.reverse, axis=primitive.axis % a.ndim)
    return states
