"""jax's coordination service in a process of its own, so that no process that computes is the one that all others need.

Where the service goes, jax ends every process at once. Here it goes when the other end of its standard input does,
which `pullback launch` holds, or some time later: processes on other hosts have to hear from it which one is lost.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time

from .. import messages
from .jax_internals import coordination_service

READY = "ready"


def start(address: str, count: int, lost_timeout: int, lifeline: int, lingers: bool) -> None:
    """Start the service in another process, which listens at the port of `address` when this returns.

    Raises:
        UnavailableError: it does not listen.
    """
    port = os.environ.get("JAX_COORDINATOR_BIND_ADDRESS", f"[::]:{address.rpartition(':')[2]}")
    arguments = [port, str(count), str(lost_timeout), str(2 * lost_timeout if lingers else 0)]
    command = [sys.executable, "-m", __name__, *arguments]
    service = subprocess.Popen(
        command, stdin=lifeline, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True, text=True
    )
    assert service.stdout is not None
    with service.stdout as said:
        if said.readline().strip() != READY:
            raise messages.no_coordination(port)


def main(address: str, count: str, lost_timeout: str, linger: str) -> None:
    """Serve until standard input ends, and so many seconds longer."""
    service = coordination_service(address, int(count), int(lost_timeout))
    print(READY, flush=True)
    sys.stdin.read()
    time.sleep(float(linger))
    service.shutdown()


if __name__ == "__main__":
    main(*sys.argv[1:])
