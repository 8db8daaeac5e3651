"""`pullback launch`: a program in several processes on this machine, each told which one it is.

A process that fails or is killed ends the others at once, which could only wait for it; with `--restarts` all begin
again, from the last checkpoint if the program restores it.
"""

from __future__ import annotations

import argparse
import os
import signal
import socket
import subprocess
import sys
import time

from pullback.engines.processes import ADDRESS, COUNT, INDEX

from .failure import CommandError

INTERVAL = 0.1
"""Seconds between looks at the processes."""
PATIENCE = 10.0
"""Seconds that processes have to end in order before they are killed."""


def run(args: argparse.Namespace) -> int:
    """Starts the processes, again where one was lost and restarts are left; 0 when all have ended well.

    Raises:
        CommandError: a process was lost and no restart is left; it names it and how it ended.
    """
    command = [sys.executable, "-m", "pullback.cli.launched", args.program, *args.arguments]
    for left in range(args.restarts, -1, -1):
        lost = _run_once(command, args.processes)
        if lost is None:
            return 0
        if left:
            print(f"pullback launch: {lost}; starting all again, {left} restarts left", file=sys.stderr, flush=True)
    raise CommandError(f"pullback launch: {lost}; the others were ended")


def _run_once(command: list[str], count: int) -> str | None:
    """Which process was lost, and how; None where all ended well."""
    with socket.socket() as probe:
        probe.bind(("localhost", 0))
        address = f"localhost:{probe.getsockname()[1]}"
    shared = os.environ | {ADDRESS: address, COUNT: str(count)}
    processes = [subprocess.Popen(command, env=shared | {INDEX: str(i)}) for i in range(count)]
    try:
        return _first_lost(processes)
    finally:
        _end(processes)


def _first_lost(processes: list[subprocess.Popen[bytes]]) -> str | None:
    """Wait until a process fails, or all have ended."""
    while True:
        codes = [process.poll() for process in processes]
        lost = [i for i, code in enumerate(codes) if code]
        if lost:
            # Those that miss another one end with an error, too: of several, one that was killed was the first.
            first = min(lost, key=lambda i: codes[i] or 0)
            return f"process {first} of {len(processes)} {_ending(codes[first] or 0)}"
        if None not in codes:
            return None
        time.sleep(INTERVAL)


def _ending(code: int) -> str:
    return f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"


def _end(processes: list[subprocess.Popen[bytes]]) -> None:
    """End those that still run: politely, then not."""
    running = [process for process in processes if process.poll() is None]
    for process in running:
        process.terminate()
    until = time.monotonic() + PATIENCE
    for process in running:
        try:
            process.wait(max(until - time.monotonic(), 0.0))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
