"""Loop vectorization on XLA: loops that carry nothing run many steps at once, a chunk after the other."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..control_flow.branches import is_known
from ..trace import AbstractRows
from .step import Steps

Rows = list[Any]
_PLACE = 16 * 2**20
"""The bytes that the steps of a chunk may take together, where nothing says how many they are."""
_FEWEST = 16


def can_run_at_once(steps: Steps) -> bool:
    """Whether the steps do not depend on each other, and their number and rows are there."""
    there = is_known(steps.arrays[0]) and not any(isinstance(steps.arrays[n], AbstractRows) for n in steps.scanned)
    return steps.loop.has_steps_apart and not steps.written and there


def run_at_once(steps: Steps) -> tuple[Any, ...]:
    """The outputs of the loop: `jax.vmap` of a step over chunks of as many rows as it allows, all of one length."""
    whole, count = steps.whole(), max(int(steps.arrays[0]), 0)
    whole.at_once = True
    scanned = [jnp.asarray(steps.arrays[n])[:count] for n in steps.scanned]

    def one(rows: Rows) -> tuple[Rows, Any]:
        given = dict(zip(steps.scanned, rows, strict=True))
        _, made, code = whole.step(np.int32(0), [], lambda n, t: given[n], np.int32(0))
        return made, code

    chunks = -(-count // (steps.loop.at_once or _fitting(steps))) or 1
    length = -(-count // chunks)
    made, codes = _in_chunks(one, scanned, count, chunks, length)
    if steps.trace.reports:
        flat = jnp.concatenate([jnp.zeros(1, np.int32), jnp.asarray(codes, np.int32)])
        steps.trace.codes.append(flat[jnp.argmax(flat != 0)])
    outputs: list[Any] = [None] * len(steps.step.outputs)
    outputs[0] = np.int32(count)
    for n, rows in zip(whole.outputs, made, strict=True):
        outputs[n] = rows
    return tuple(outputs)


def _fitting(steps: Steps) -> int:
    """As many steps as can keep all that they compute in the caches, as far as that can be told."""
    made = [y.type for step in steps.body.plan.steps for y in step.op.outputs]
    size = sum(t.dtype.itemsize * math.prod(n or 1 for n in t.shape.sizes or ()) for t in made if t.dtype.kind != "-")
    return max(_FEWEST, _PLACE // max(size, 1))


def _in_chunks(one: Any, scanned: Sequence[Any], count: int, chunks: int, length: int) -> tuple[Rows, Any]:
    if count == 0:
        row = [jax.ShapeDtypeStruct(x.shape[1:], x.dtype) for x in scanned]  # type: ignore[no-untyped-call]
        made, code = jax.eval_shape(one, row)
        return [jnp.zeros((0, *y.shape), y.dtype) for y in made], jnp.zeros(0, code.dtype)
    if chunks == 1:
        at_once: tuple[Rows, Any] = jax.vmap(one)(list(scanned))
        return at_once
    missing = chunks * length - count
    padded = [jnp.concatenate([x, jnp.broadcast_to(x[-1:], (missing, *x.shape[1:]))]) for x in scanned]
    made, codes = jax.lax.map(jax.vmap(one), [x.reshape(chunks, length, *x.shape[1:]) for x in padded])
    return [y.reshape(chunks * length, *y.shape[2:])[:count] for y in made], codes.reshape(-1)[:count]
