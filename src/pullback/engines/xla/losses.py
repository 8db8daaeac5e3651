"""XLA lowering of connectionist temporal classification: the recurrences of `ctc_loss` as loops over the steps."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from jax import lax

from ...primitives.losses.ctc_alignments import Alignments, CtcAlignments, go_back, go_on, no_way, one_step
from .registry import xla_kernel


@xla_kernel(CtcAlignments)
def _ctc_alignments(primitive: CtcAlignments, emissions: Any, skips: Any) -> Any:
    del primitive
    _, batch, states = emissions.shape
    walls = no_way(jnp, skips, emissions.dtype)
    unreachable = jnp.full((batch, 2), -jnp.inf, emissions.dtype)
    start = jnp.full((batch, states + 2), -jnp.inf, emissions.dtype).at[:, 2].set(0.0)

    def step(sums: Any, emission: Any) -> Any:
        into, parts = one_step(jnp, sums, walls)
        after = jnp.concatenate([unreachable, into + emission], axis=1)
        return after, (after, parts)

    _, (sums, parts) = lax.scan(step, start, emissions)
    return jnp.concatenate([start[None], sums]), parts


@xla_kernel(Alignments)
def _alignments(primitive: Alignments, parts: Any, x: Any) -> Any:
    if len(x) < 2:
        return x
    first, rest = (x[-1], x[:-1]) if primitive.reverse else (x[0], x[1:])
    one = go_back if primitive.reverse else go_on

    def step(y: Any, row: Any) -> Any:
        after = row[1] + one(jnp, row[0], y)
        return after, after

    _, ys = lax.scan(step, first, (parts[1:], rest), reverse=primitive.reverse)
    return jnp.concatenate([ys, first[None]] if primitive.reverse else [first[None], ys])
