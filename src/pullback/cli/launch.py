"""`pullback launch`: a program in several processes, each told which one it is.

A process that fails or is killed ends the others at once, which could only wait for it; with `--restarts` all begin
again, from the last checkpoint if the program restores it. With `--hosts` it is run on each host: the processes on
other hosts hear of a lost one from jax's coordination service, which lives as long as the launcher of the first host
wants it, whatever becomes of the processes.
"""

from __future__ import annotations

import argparse
import os
import signal
import socket
import subprocess
import sys
import time

from pullback.engines.processes import ADDRESS, COUNT, INDEX, LIFELINE, LOST_TIMEOUT, OTHER_HOSTS

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
    _check_hosts(args)
    if not os.path.isfile(args.program):
        raise CommandError(f"pullback launch: there is no file {args.program}")
    for left in range(args.restarts, -1, -1):
        lost = _run_once(command, args, args.restarts - left)
        if lost is None:
            return 0
        if left:
            print(f"pullback launch: {lost}; starting all again, {left} restarts left", file=sys.stderr, flush=True)
    raise CommandError(f"pullback launch: {lost}; the others were ended")


def _check_hosts(args: argparse.Namespace) -> None:
    if args.hosts > 1 and (args.coordinator is None or args.host is None):
        raise CommandError("pullback launch: --hosts needs --host, which of them this is, and --coordinator, at host 0")
    if args.host is not None and not 0 <= args.host < args.hosts:
        raise CommandError(f"pullback launch: --host must be from 0 to {args.hosts - 1}, not {args.host}")


def _run_once(command: list[str], args: argparse.Namespace, attempt: int) -> str | None:
    """Which process of this host was lost, and how; None where all ended well."""
    shared = os.environ | {ADDRESS: _address(args.coordinator, attempt), COUNT: str(args.hosts * args.processes)}
    if args.hosts > 1:
        shared[OTHER_HOSTS] = str(args.hosts - 1)
    if args.lost_timeout is not None:
        shared[LOST_TIMEOUT] = str(args.lost_timeout)
    first = (args.host or 0) * args.processes
    lifeline, held = os.pipe()
    shared[LIFELINE] = str(lifeline)
    processes = [
        subprocess.Popen(command, env=shared | {INDEX: str(first + i)}, pass_fds=[lifeline])
        for i in range(args.processes)
    ]
    try:
        return _first_lost(processes, first, args.hosts * args.processes)
    finally:
        _end(processes)
        os.close(lifeline)
        os.close(held)


def _address(coordinator: str | None, attempt: int) -> str:
    """Where processes find each other: at a port that is free; where one was said, at a later one after each restart.

    Launchers of several hosts begin again one after the other: none may find what another one has not ended yet.
    """
    if coordinator is None:
        with socket.socket() as probe:
            probe.bind(("localhost", 0))
            return f"localhost:{probe.getsockname()[1]}"
    host, _, port = coordinator.rpartition(":")
    return f"{host}:{int(port) + attempt}"


def _first_lost(processes: list[subprocess.Popen[bytes]], number: int, count: int) -> str | None:
    """Wait until a process fails, or all have ended; the first of them is `number` of `count`."""
    while True:
        codes = [process.poll() for process in processes]
        lost = [i for i, code in enumerate(codes) if code]
        if lost:
            # Those that miss another one end with an error, too: of several, one that was killed was the first.
            first = min(lost, key=lambda i: codes[i] or 0)
            return f"process {number + first} of {count} {_ending(codes[first] or 0)}"
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
