"""Target platform: what the program that is being traced is compiled for, with which effort; formulas are chosen by it.

The platform is that of the program's own devices, which need not be the default ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import jax

from ...core.matmul_precision import HIGHEST
from .jax_internals import is_one_of_many

PROCESSOR = "cpu"
_target: ContextVar[str | None] = ContextVar("target", default=None)
"""None where no program of a session is traced; jax's default counts then."""
_is_quick: ContextVar[bool] = ContextVar("is_quick", default=False)
_is_ours: ContextVar[bool] = ContextVar("is_ours", default=False)
_may_expand: ContextVar[bool] = ContextVar("may_expand", default=False)
_repeats: ContextVar[int] = ContextVar("repeats", default=1)
_at_once: ContextVar[bool] = ContextVar("at_once", default=False)


@contextmanager
def compiling_for(
    platform: str, effort: str = "full", *, is_ours: bool = True, may_expand: bool = False
) -> Iterator[None]:
    """A block in which programs are traced for a platform of jax: "cpu", "gpu" or "tpu"; `effort` as in `Session`.

    What asks for no precision of products is computed in full. Programs that others compile, or write to files, are not
    ours: they have portable operations only. With `may_expand` functions of large arrays may be a hundred operations.
    """
    token, quick, ours = _target.set(platform), _is_quick.set(effort == "fast"), _is_ours.set(is_ours)
    expand = _may_expand.set(may_expand and effort != "fast")
    try:
        with jax.default_matmul_precision(HIGHEST):
            yield
    finally:
        _target.reset(token)
        _is_quick.reset(quick)
        _is_ours.reset(ours)
        _may_expand.reset(expand)


@contextmanager
def repeated(count: int | None, at_once: bool = False) -> Iterator[None]:
    """A block in which steps of a loop are traced, of which there are so many, or None knows how many.

    Steps that `jax.vmap` computes `at_once` repeat only what differs between them.
    """
    token, together = _repeats.set(_repeats.get() * max(count or 1, 1)), _at_once.set(at_once)
    try:
        yield
    finally:
        _repeats.reset(token)
        _at_once.reset(together)


def repeats(*arrays: Any) -> int:
    """How often a run computes a function of `arrays` that is being traced, or 1 where only the run knows."""
    return 1 if _at_once.get() and not any(map(is_one_of_many, arrays)) else _repeats.get()


def on_processor() -> bool:
    """Whether the program that is being traced is compiled for a processor, and not for an accelerator."""
    return (_target.get() or jax.default_backend()) == PROCESSOR


def compiles_quickly() -> bool:
    """Whether the program is to be compiled soon rather than to run fast: fewer operations are better then."""
    return _is_quick.get()


def is_ours() -> bool:
    """Whether the program that is being traced is compiled here and now, and by us."""
    return _is_ours.get()


def may_expand() -> bool:
    """Whether a function of a large array may be a hundred operations, where these are faster than XLA's."""
    return _may_expand.get()
