"""Exception safety: a run that fails leaves jax's precision and mesh as they were, and its error says what to do."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import update_wrapper
from typing import Any, NoReturn

import jax

from ...core.errors import PullbackError
from .. import messages
from ..engine import Run
from .lost_processes import is_told

_INTERRUPT = re.compile(r"^KeyboardInterrupt\b", re.MULTILINE)


def leaving_jax_alone(run: Run, mesh: Any) -> Run:
    """`run`, after which jax has the precision and mesh it had, though an interrupt kept a block from being left."""

    def left(feeds: Sequence[Any]) -> list[Any]:
        precision, around = has_64_bits(), None if mesh is None else jax.sharding.get_mesh()
        try:
            return run(feeds)
        except BaseException as error:
            if has_64_bits() != precision:
                jax.enable_x64(precision).__enter__()
            if around is not None and jax.sharding.get_mesh() != around:
                jax.set_mesh(None if around.empty else around)
            raise_explained(error)

    return update_wrapper(left, run, updated=())


def raise_explained(error: BaseException) -> NoReturn:
    """Raise `error`, or what says more."""
    told = explained(error)
    if told is error:
        raise error
    raise told from error


def explained(error: BaseException) -> BaseException:
    """The exception to raise in place of `error`, where that is one of XLA's runtime or says that memory is short."""
    if isinstance(error, PullbackError):
        return error
    if isinstance(error, MemoryError):
        return messages.no_room_for_results(error)
    return _of_runtime(error) if isinstance(error, jax.errors.JaxRuntimeError | ValueError) else error


def _of_runtime(error: Exception) -> BaseException:
    """The same of an error of XLA's runtime: a ValueError from what runs where it is called."""
    text = str(error)
    if "error calling callback" in text and _INTERRUPT.search(text):
        return KeyboardInterrupt()  # A signal came while jax's own Python code was on its way to, or from, a function.
    if text.startswith("RESOURCE_EXHAUSTED"):
        return messages.no_room_for_program(text.partition(": ")[2].splitlines()[0])
    if text.startswith("UNAVAILABLE") or "Gloo" in text or "NCCL" in text:
        is_told()
        return messages.lost_process(error)
    if "is incompatible with mesh_shape" in text:
        return messages.undivided(text)
    return error


def has_64_bits() -> bool:
    """Whether jax, in this thread, computes with 64-bit types."""
    return bool(jax.config.jax_enable_x64)  # type: ignore[attr-defined]
