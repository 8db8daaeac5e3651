"""Serialised library calls on CPU: calls of LAPACK and of Fourier transforms take turns, or they would deadlock.

Such a call holds a thread of XLA's pool while it waits for tasks that it has put into the same pool. As many of them at
once as there are threads wait for ever (jaxlib 0.10: `jit(lambda a, b: (solve(a, a), solve(b, b)))` on batches of
matrices, with two threads). So each is given a data dependency on the one before. Between a loop and what stands beside
it there is no such order.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from threading import local
from typing import Any

import jax
import jax.numpy as jnp

from .jax_internals import current_trace, in_trace
from .platform import on_processor


class _Turns(local):
    """The last such call of the program that is being traced, and in which trace it was."""

    trace: Any = None
    last: Any = None
    taken: int = 0
    """How many such calls there were."""


_turns = _Turns()


def in_turn(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """A decorator for XLA kernels `fn(primitive, *arrays)` of which no two may run at the same time."""

    @wraps(kernel)
    def run(p: Any, *arrays: Any) -> Any:
        if not on_processor():
            return kernel(p, *arrays)
        return after(kernel(p, *waiting(*arrays)))

    return run


def waiting(*arrays: Any) -> tuple[Any, ...]:
    """`arrays`, of which the first depends on the result of the last call.

    It is added a 0 that is computed from that result, which XLA cannot know to be 0; an optimization barrier would not
    do, because XLA drops them before it schedules.
    """
    if not on_processor() or _turns.last is None or current_trace() is not _turns.trace or not arrays[0].size:
        return arrays
    nothing = (jnp.real(_turns.last.reshape(-1)[0]) > jnp.inf).astype(arrays[0].dtype)
    return arrays[0] + nothing, *arrays[1:]


def after(results: Any) -> Any:
    """`results`, noted as those of the last call."""
    _turns.taken += 1
    first = results[0] if isinstance(results, tuple) else results
    here = current_trace()
    first = in_trace(first, here)
    _turns.trace, _turns.last = (None, None) if first is None or not first.size else (here, first)
    return results


def takes_turns(fn: Callable[..., Any], *args: Any) -> bool:
    """Whether `fn`, traced for `args`, makes calls that must not run at the same time."""
    before = _turns.taken
    jax.eval_shape(fn, *args)
    return _turns.taken > before
