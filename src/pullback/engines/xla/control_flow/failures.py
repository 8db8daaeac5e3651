"""Failures of Python functions that a compiled program calls: noted while it runs, raised when it has ended."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import jax

from ...plan import Plan

Failures = list[BaseException]
_failures: ContextVar[Failures | None] = ContextVar("failures", default=None)
"""Where errors are noted; None where no program is made, because all arrays are known."""


@contextmanager
def noting_in(failures: Failures) -> Iterator[None]:
    """A block in which programs are traced whose Python functions note their errors in `failures`."""
    token = _failures.set(failures)
    try:
        yield
    finally:
        _failures.reset(token)


def noted_failures() -> Failures | None:
    """Where what is traced notes errors."""
    return _failures.get()


def raise_first(failures: Failures, results: Any) -> None:
    """Wait for `results`, and raise the first error that was noted meanwhile."""
    jax.block_until_ready(results)  # type: ignore[no-untyped-call]
    jax.effects_barrier()  # type: ignore[no-untyped-call]
    if failures:
        first = failures[0]
        failures.clear()
        raise first


def calls_python(plan: Plan) -> bool:
    """Whether a step, or one of a function inside, calls a Python function."""
    plans = {id(plan): plan}
    pending = [plan]
    for part in pending:
        for step in part.steps:
            if step.op.primitive.calls_python:
                return True
            pending += [body.plan for body in step.bodies if id(body.plan) not in plans]
            plans.update([(id(body.plan), body.plan) for body in step.bodies])
    return False
