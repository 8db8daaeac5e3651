"""Loops of small steps, each compiled as one function: an option of XLA that only the environment of a process sets.

XLA on a processor makes a kernel of each fusion in a loop, and calls them in every step, which takes as long as what a
recurrent cell of 64 numbers computes. A loop that touches no more than a kilobyte it compiles as one function, with the
loops and branches in it; with 32 of them 1,000 such steps and their derivatives take 0.5 ms in place of 1, and two
thirds of the time to compile. From 64 on there are loops that threads and libraries would compute sooner.
"""

from __future__ import annotations

import os

_FLAGS = "XLA_FLAGS"
_EXTRA = "--xla_backend_extra_options="
_OPTION = f"{_EXTRA}xla_cpu_small_while_loop_byte_threshold={32 << 10}"


def join_small_loops() -> bool:
    """Whether loops whose steps touch up to 32 KB are each compiled as one function, on processors, from now on.

    False where `XLA_FLAGS` has other options of that kind, which stay. XLA has this option for whole processes only, so
    nothing sets it unless it is asked to: it is put into the environment variable `XLA_FLAGS`, holds for all of jax in
    the process, and goes on to processes that it starts. To be called before jax's devices start, that is before the
    first session; later it does nothing.

    >>> import pullback as pb
    >>> joined = pb.config.join_small_loops()  # doctest: +SKIP
    """
    given = os.environ.get(_FLAGS, "")
    if _EXTRA in given:
        return _OPTION in given
    os.environ[_FLAGS] = f"{_OPTION} {given}".strip()  # In front: XLA reads up to a word that is no flag.
    return True
