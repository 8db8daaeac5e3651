"""XLA lowering of cumulative sums and products: those of exponentials, and linear recurrences, as associative scans.

What they read is made before: where it is constant, as the derivative of the last sum is, XLA would compute them while
it compiles, 13 s for a million elements.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import jax.numpy as jnp
from jax import lax

from ...primitives.cumulative.cumsum import Cumprod, Cumsum, Recurrence
from ...primitives.cumulative.logsumexp import CumulativeLogsumexp
from .array_namespace import NAMESPACE
from .linalg.products import made
from .registry import xla_kernel

_FEW = 64
"""The elements along an axis of which running sums are soon computed, while XLA compiles as well."""


@xla_kernel(Cumsum, Cumprod)
def _cumulative(p: Any, x: Any) -> Any:
    is_short = isinstance(x.shape[p.axis], int) and x.shape[p.axis] <= _FEW
    return p.kernel(NAMESPACE, x if is_short else made(jnp.asarray(x)))


@xla_kernel(CumulativeLogsumexp)
def _cumulative_logsumexp(p: CumulativeLogsumexp, x: Any) -> Any:
    """By pairs: the largest element so far, and the sum of exponentials relative to it.

    `lax.cumlogsumexp` takes 150 ms for half a million elements, this 2 to 12.
    """

    def running(z: Any) -> Any:
        largest, total = lax.associative_scan(_joined_exponentials, (z, jnp.ones_like(z)), axis=p.axis % z.ndim)
        return largest + jnp.log(total)

    return p.computed(jnp, made(jnp.asarray(x)), running)


def _joined_exponentials(first: Any, second: Any) -> Any:
    top = jnp.maximum(first[0], second[0])
    # Infinities would be subtracted from themselves.
    shares = [jnp.where(largest == top, 1, jnp.exp(largest - top)) * total for largest, total in (first, second)]
    return top, sum(shares)


@xla_kernel(Recurrence)
def _recurrence(primitive: Recurrence, a: Any, b: Any) -> Any:
    if 0 in a.shape:
        return b

    def joined(first: Any, second: Any) -> Any:
        product = partial(primitive.product, jnp)
        return product(first[0], second[0]), product(first[1], second[0]) + second[1]

    a, b = made((jnp.asarray(a), jnp.asarray(b)))
    _, states = lax.associative_scan(joined, (a, b), reverse=primitive.reverse, axis=primitive.axis % a.ndim)
    return states
