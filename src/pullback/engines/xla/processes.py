"""Multi-process runs over `jax.distributed`."""

from __future__ import annotations

from typing import Any

import jax
from jax.experimental import multihost_utils


def join(address: str | None, count: int | None, index: int | None, start_timeout: int, lost_timeout: int) -> None:
    """Find the other processes; afterwards the devices of all are those of jax."""
    if getattr(jax.config, "jax_cpu_collectives_implementation", None) is None:
        config: Any = jax.config
        config.update("jax_cpu_collectives_implementation", "gloo")
    jax.distributed.initialize(
        address,
        count,
        index,
        initialization_timeout=start_timeout,
        heartbeat_timeout_seconds=lost_timeout,
        shutdown_timeout_seconds=lost_timeout,
    )


def leave() -> None:
    """Leave the other processes in order."""
    jax.distributed.shutdown()  # type: ignore[no-untyped-call]


def counted() -> tuple[int, int]:
    """How many processes there are, and which one this is."""
    return jax.process_count(), jax.process_index()


def wait_for_all(name: str) -> None:
    """Return when all processes have come here."""
    multihost_utils.sync_global_devices(name)
