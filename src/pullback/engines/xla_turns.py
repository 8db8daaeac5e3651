"""Serialised library calls on CPU: calls of LAPACK and of Fourier transforms take turns, or they would deadlock.

They wait for tasks that they give to the threads of XLA, while they hold one of these threads themselves. As many of
them at the same time as there are threads wait for ever (jaxlib 0.10: `jit(lambda a, b: (solve(a, a), solve(b, b)))` on
stacks of matrices, with two threads). So each is made to depend on the one before. Between a loop and what stands
beside it there is no such order.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from threading import local
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from .xla_linalg import on_processor


class _Turns(local):
    """What was called last while a program is being traced, and in which trace."""

    trace: Any = None
    last: Any = None
    taken: int = 0
    """How many there were."""


_turns = _Turns()


def in_turn(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """A decorator for XLA kernels `fn(primitive, *arrays)` whose calls are to come one after the other."""

    @wraps(kernel)
    def run(p: Any, *arrays: Any) -> Any:
        if not on_processor():
            return kernel(p, *arrays)
        return after(kernel(p, *waiting(*arrays)))

    return run


def waiting(*arrays: Any) -> tuple[Any, ...]:
    """`arrays`, the first of which is there when the last call is done.

    A sum says so that is none, which XLA cannot know; its optimization barriers are gone when it runs.
    """
    if not on_processor() or _turns.last is None or _trace() is not _turns.trace or not arrays[0].size:
        return arrays
    nothing = (jnp.real(_turns.last.reshape(-1)[0]) > jnp.inf).astype(arrays[0].dtype)
    return arrays[0] + nothing, *arrays[1:]


def after(results: Any) -> Any:
    """`results`, of what is now the last call."""
    _turns.taken += 1
    first = results[0] if isinstance(results, tuple) else results
    here = _trace()
    while isinstance(first, jax.core.Tracer) and first._trace is not here:
        # Within jax.vmap it stands for one of many, and for nothing after that: take the many.
        first = getattr(first, "val", None)
    traced = isinstance(first, jax.core.Tracer) and first.size
    _turns.trace, _turns.last = (here, first) if traced else (None, None)
    return results


def takes_turns(fn: Callable[..., Any], *args: Any) -> bool:
    """Whether `fn`, traced for `args`, makes such calls."""
    before = _turns.taken
    jax.eval_shape(fn, *args)
    return _turns.taken > before


def _trace() -> Any:
    """What is being traced now."""
    probe = lax.full((), 0)
    return probe._trace if isinstance(probe, jax.core.Tracer) else None
