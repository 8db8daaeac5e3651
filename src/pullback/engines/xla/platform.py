"""Target platform: what the program that is being traced is compiled for; formulas are chosen by it.

It is that of the program's own devices, which need not be the default ones.
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


@contextmanager
def compiling_for(platform: str) -> Iterator[None]:
    """A block in which programs are traced for a platform of jax: "cpu", "gpu" or "tpu".

    What asks for no precision of products is computed in full.
    """
    token = _target.set(platform)
    try:
        with jax.default_matmul_precision(HIGHEST):
            yield
    finally:
        _target.reset(token)


def on_processor() -> bool:
    """Whether the program that is being traced is compiled for a processor, and not for an accelerator."""
    return (_target.get() or jax.default_backend()) == PROCESSOR
