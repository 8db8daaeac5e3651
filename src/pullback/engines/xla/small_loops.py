"""Loops of small steps, each compiled as one function: an option of XLA that only the environment of a process sets.

XLA on a processor makes a kernel of each fusion in a loop, and calls them in every step, which takes as long as what a
recurrent cell of 64 numbers computes. A loop that touches no more than a kilobyte it compiles as one function, with the
loops and branches in it; with 32 of them 1,000 such steps and their derivatives take 0.5 ms in place of 1, and two
thirds of the time to compile. From 64 on there are loops that threads and libraries would compute sooner.
"""

from __future__ import annotations

import os
from functools import cache
from threading import Lock

import jax

_FLAGS = "XLA_FLAGS"
_EXTRA = "xla_backend_extra_options"
_BYTES = 32 << 10
_lock = Lock()


@cache
def start_devices() -> None:
    """Start jax's devices with that option; where they are started, or such options are given, all stays as it is.

    XLA reads the environment once, when the first of them starts, up to a word that is no flag; the variable is what it
    was before.
    """
    with _lock:
        given = os.environ.get(_FLAGS)
        if _EXTRA in (given or ""):
            return
        os.environ[_FLAGS] = f"--{_EXTRA}=xla_cpu_small_while_loop_byte_threshold={_BYTES} {given or ''}".strip()
        try:
            jax.local_devices()
        finally:
            if given is None:
                del os.environ[_FLAGS]
            else:
                os.environ[_FLAGS] = given
