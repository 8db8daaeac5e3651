"""The side of a peer: a process that runs one workload and answers each line of JSON with one line of JSON.

    {"command": "about"}               versions and installed size
    {"command": "build"}               makes the arrays, then the model: "seconds", "facts" to report with them
    {"command": "compile"}             the first step: "seconds", "loss"
    {"command": "step", "count": 10}   "seconds" of each, the last "loss"
    {"command": "memory"}              "bytes": the most that was resident while stepping, above the imported library
    {"command": "quit"}

An exception is answered by {"error": "..."}; its traceback goes to the standard error.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import platform
import sys
import traceback
from time import perf_counter
from typing import Any

from .installed import installed_bytes, version_of
from .memory import peak_memory, reset_peak, resident_memory
from .peers import PEERS, Peer
from .workload import Made, Step, Workload
from .workloads import all_workloads


class Worker:
    """What one process knows: the workload, the peer and, once built, the step."""

    def __init__(self, workload: Workload, peer: Peer, threads: int) -> None:
        self.workload = workload
        self.peer = peer
        peer.prepare(threads)
        gc.collect()
        self.before = resident_memory()
        self.step: Step | None = None

    def about(self) -> dict[str, Any]:
        package = self.peer.package
        return {
            "python": platform.python_version(),
            "package": package,
            "version": version_of(package),
            "installed": installed_bytes(package),
        }

    def build(self) -> dict[str, Any]:
        data = self.workload.data()
        start = perf_counter()
        step = self.workload.peers[self.peer.name](data)
        made = step if isinstance(step, Made) else Made(step, perf_counter() - start)
        self.step = made.step
        del data, step
        gc.collect()
        reset_peak()
        return {"seconds": made.seconds, "facts": dict(made.facts)}

    def compile(self) -> dict[str, Any]:
        answer = self.steps(1)
        return {"seconds": answer["seconds"][0], "loss": answer["loss"]}

    def steps(self, count: int) -> dict[str, Any]:
        step = self.step
        if step is None:
            raise RuntimeError("'build' comes before the steps")
        seconds = []
        for _ in range(count):
            if self.workload.collect:
                gc.collect()
            start = perf_counter()
            loss = step()
            seconds.append(perf_counter() - start)
        return {"seconds": seconds, "loss": None if loss is None else float(loss)}

    def memory(self) -> dict[str, Any]:
        return {"bytes": peak_memory() - self.before}

    def answer(self, message: dict[str, Any]) -> dict[str, Any]:
        """The answer to one message."""
        command = message["command"]
        if command == "step":
            return self.steps(message["count"])
        if command not in ("about", "build", "compile", "memory"):
            raise ValueError(f"there is no command '{command}'")
        return getattr(self, command)()


def main() -> None:
    """Answer until "quit" or the end of the input."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.worker", description="One peer of one workload.")
    parser.add_argument("workload")
    parser.add_argument("peer")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--core", type=int, help="the only processor core to use")
    arguments = parser.parse_args()
    if arguments.core is not None:
        os.sched_setaffinity(0, {arguments.core})
    # Libraries print to the standard output: it goes where the errors go, and the answers have it for themselves.
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    worker = None
    for line in sys.stdin:
        message = json.loads(line)
        if message["command"] == "quit":
            return
        try:
            if worker is None:
                workload = all_workloads()[arguments.workload]
                worker = Worker(workload, PEERS[arguments.peer], arguments.threads)
            answer = worker.answer(message)
        except Exception as error:  # the runner goes on with the other peers
            traceback.print_exc()
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), file=answers)


if __name__ == "__main__":
    main()
