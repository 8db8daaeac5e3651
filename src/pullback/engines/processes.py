"""Multi-process execution (SPMD): one program over the devices of many processes, each fed with its own rows."""

from __future__ import annotations

import os
from typing import Any

from ..core.errors import FailedPreconditionError
from .random_stream import untouched_stream

ADDRESS, COUNT, INDEX = "JAX_COORDINATOR_ADDRESS", "PULLBACK_PROCESS_COUNT", "PULLBACK_PROCESS_INDEX"
"""The environment variables by which `pullback launch` tells a process which one it is."""
LIFELINE, OTHER_HOSTS = "PULLBACK_LIFELINE", "PULLBACK_OTHER_HOSTS"
"""Those of what it keeps open while processes run, and of whether there are some on other hosts."""
LOST_TIMEOUT = "PULLBACK_LOST_TIMEOUT"
"""That of the seconds of silence after which a process is lost."""
DEFAULT_LOST_TIMEOUT = 30


def initialize(
    coordinator_address: str | None = None,
    num_processes: int | None = None,
    process_id: int | None = None,
    *,
    start_timeout: int = 300,
    lost_timeout: int | None = None,
) -> None:
    """Join the other processes of a program: from then on `Session(mesh=...)` spreads over the devices of all.

    To be called by every process, before its first session on XLA. Without arguments they are those that `pullback
    launch` or a cluster that jax knows (Slurm, Kubernetes, Open MPI, Cloud TPU) has set for the process.

    Args:
        coordinator_address: host and port at which process 0 can be reached by all.
        num_processes, process_id: how many there are, and which one this is, from 0.
        start_timeout: the seconds that all have to come.
        lost_timeout: the seconds after which a process that is not heard of any more is lost, by default those of
            `pullback launch --lost-timeout`, else 30. A process that compiles for minutes is heard of all the time, by
            a thread of jax that needs no Python; one that is stopped or swapped out is not. Whoever waits for a lost
            one gets an UnavailableError; who does not wait is ended with that message after as many seconds again.
            Without `pullback launch` all are ended at once where process 0 is lost.

    Raises:
        ImportError: jax is not installed. FailedPreconditionError: it is too late, or this was done already.
        ValueError: which process this is was not said, or a variable that says it or `lost_timeout` is no such number.
        UnavailableError: the port of the coordinator is taken.

    >>> import pullback as pb
    >>> pb.distributed.initialize("localhost:12345", num_processes=1, process_id=0)  # doctest: +SKIP
    """
    count_now = _said_by(COUNT, 1) if num_processes is None else num_processes
    index_now = _said_by(INDEX, 0) if process_id is None else process_id
    address = coordinator_address or os.environ.get(ADDRESS)
    silence = (_said_by(LOST_TIMEOUT, 1) or DEFAULT_LOST_TIMEOUT) if lost_timeout is None else lost_timeout
    if silence < 1:
        raise ValueError(f"distributed.initialize: lost_timeout is {silence}; give a number of seconds, at least 1")
    try:
        _processes().join(address, count_now, index_now, start_timeout, silence, _lifeline())
    except RuntimeError as error:
        raise FailedPreconditionError(f"distributed.initialize: {error} Call it once, before any session.") from error
    except ValueError as error:
        raise ValueError(
            f"distributed.initialize: {error} Pass coordinator_address, num_processes and process_id, or start the "
            "program by `pullback launch`."
        ) from error


def _said_by(variable: str, least: int) -> int | None:
    """The number that a variable of the environment is set to; None where it is not set.

    Raises:
        ValueError: it is set to something else.
    """
    text = os.environ.get(variable)
    if not text:
        return None
    if not text.isdecimal() or int(text) < least:
        raise ValueError(
            f"distributed.initialize: the environment variable {variable} is {text!r}; set it to a whole number of at "
            f"least {least}, or unset it"
        )
    return int(text)


def _lifeline() -> tuple[int, bool] | None:
    """The descriptor that `pullback launch` keeps open, and whether there are processes on other hosts."""
    descriptor = os.environ.get(LIFELINE)
    return (int(descriptor), OTHER_HOSTS in os.environ) if descriptor else None


def shutdown() -> None:
    """Leave the other processes in order; done at the end of the program unless called before.

    >>> import pullback as pb
    >>> pb.distributed.shutdown()
    """
    _processes().leave()


def process_count() -> int:
    """How many processes run the program together.

    >>> import pullback as pb
    >>> pb.distributed.process_count()
    1
    """
    count: int = _processes().counted()[0]
    return count


def process_index() -> int:
    """Which of the processes this is, from 0.

    >>> import pullback as pb
    >>> pb.distributed.process_index()
    0
    """
    index: int = _processes().counted()[1]
    return index


def barrier(name: str) -> None:
    """Return when all processes have called this with the same name.

    >>> import pullback as pb
    >>> pb.distributed.barrier("written")
    """
    _processes().wait_for_all(name)


def _processes() -> Any:
    """What speaks with jax; ImportError where that is not installed."""
    try:
        with untouched_stream():
            from .xla import processes
    except ModuleNotFoundError as error:
        raise ImportError(f"pb.distributed needs jax ({error}): pip install 'pullback[xla]'") from error
    return processes
