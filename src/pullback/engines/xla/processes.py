"""Multi-process runs over `jax.distributed`."""

from __future__ import annotations

import atexit
from typing import Any

import jax
from jax.experimental import multihost_utils

from . import coordinator, lost_processes
from .lost_processes import watch, while_watching


def join(
    address: str | None,
    count: int | None,
    index: int | None,
    start_timeout: int,
    lost_timeout: int,
    lifeline: tuple[int, bool] | None,
) -> None:
    """Find the other processes; afterwards the devices of all are those of jax.

    `lifeline` is what `pullback launch` keeps open, and whether it is one of several launchers.
    """
    own: dict[str, Any] = {}
    if lifeline and address and count and index == 0 and not jax.distributed.is_initialized():
        coordinator.start(address, count, lost_timeout, *lifeline)
        own = {"coordinator_bind_address": "localhost:0"}  # jax has process 0 start a service, which nobody calls.
    config: Any = jax.config
    if getattr(jax.config, "jax_cpu_collectives_implementation", None) is None:
        config.update("jax_cpu_collectives_implementation", "gloo")
    config.update("jax_enable_recoverability", True)  # Else jax ends the process where it should raise.
    jax.distributed.initialize(
        address,
        count,
        index,
        initialization_timeout=start_timeout,
        heartbeat_timeout_seconds=lost_timeout,
        shutdown_timeout_seconds=lost_timeout,
        **own,
    )
    watch(lost_timeout)
    atexit.register(leave)


def leave() -> None:
    """Leave the other processes in order: when all do so, or one is lost."""
    lost_processes.leave()
    jax.distributed.shutdown()  # type: ignore[no-untyped-call]


def counted() -> tuple[int, int]:
    """How many processes there are, and which one this is."""
    return jax.process_count(), jax.process_index()


def wait_for_all(name: str) -> None:
    """Return when all processes have come here."""
    while_watching(multihost_utils.sync_global_devices, name)
