"""Target platform: what the program that is being traced is compiled for, with which effort; formulas are chosen by it.

The platform is that of the program's own devices, which need not be the default ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import jax

from ...core.matmul_precision import HIGHEST

PROCESSOR = "cpu"
_target: ContextVar[str | None] = ContextVar("target", default=None)
"""None where no program of a session is traced; jax's default counts then."""
_is_quick: ContextVar[bool] = ContextVar("is_quick", default=False)
_is_ours: ContextVar[bool] = ContextVar("is_ours", default=False)
_may_expand: ContextVar[bool] = ContextVar("may_expand", default=False)
_repeats: ContextVar[int] = ContextVar("repeats", default=1)


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
def repeated(count: int | None) -> Iterator[None]:
    """A block in which steps of a loop are traced, of which there are so many, or None knows how many."""
    token = _repeats.set(repeats() * max(count or 1, 1))
    try:
        yield
    finally:
        _repeats.reset(token)


def repeats() -> int:
    """How often a run does what is being traced, or 1 where only the run knows."""
    return _repeats.get()


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
