"""The side of the runner: a peer's process, and what it has answered so far."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
from pathlib import Path
from typing import Any

from .environments import ROOT
from .peers import Peer, memory_variables, thread_variables
from .settings import Settings
from .workload import Workload

LOGS = ROOT / "benchmarks" / "results"


class PeerFailedError(Exception):
    """A peer could not do what it was asked; the text says why."""


class PeerProcess:
    """One worker. `batches` holds the seconds of every step, batch by batch."""

    def __init__(self, workload: Workload, peer: Peer, python: str, settings: Settings) -> None:
        self.peer = peer
        self.about: dict[str, Any] = {}
        self.build = self.compile = 0.0
        self.facts: dict[str, float] = {}
        self.memory = 0
        self.losses: list[float | None] = []
        self.batches: list[list[float]] = []
        command = [python, "-m", "benchmarks.worker", workload.name, peer.name, "--threads", str(settings.threads)]
        if settings.core is not None:
            command += ["--core", str(settings.core)]
        variables = thread_variables(settings.threads) | (memory_variables() if settings.keep_memory else {})
        LOGS.mkdir(parents=True, exist_ok=True)
        self.log = LOGS / f"{workload.name}-{peer.name}.log"
        with self.log.open("w") as errors:
            self._process = subprocess.Popen(
                command,
                cwd=ROOT,
                env=os.environ | variables,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
            )

    def start(self) -> None:
        """Build, compile and take three steps, whose losses are for comparing with the other peers."""
        self.about = self._ask(command="about")
        built = self._ask(command="build")
        self.build, self.facts = built["seconds"], built["facts"]
        first = self._ask(command="compile")
        self.compile = first["seconds"]
        self.losses = [first["loss"]] + [self._ask(command="step", count=1)["loss"] for _ in range(2)]

    def run_batch(self, budget: float) -> None:
        """Take as many steps as fit into `budget` seconds, by the last batch; at least one, at most 500."""
        before = statistics.median(self.batches[-1]) if self.batches else budget
        count = max(1, min(500, int(budget / max(before, 1e-9))))
        self.batches.append(self._ask(command="step", count=count)["seconds"])

    def finish(self) -> None:
        """Ask for the memory and end the process."""
        self.memory = self._ask(command="memory")["bytes"]
        self.close()

    def close(self) -> None:
        """End the process, in whatever state it is."""
        for stream in (self._process.stdin, self._process.stdout):
            if stream:
                stream.close()
        try:
            self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _ask(self, **message: Any) -> dict[str, Any]:
        questions, answers = self._process.stdin, self._process.stdout
        assert questions is not None
        assert answers is not None
        try:
            questions.write(json.dumps(message) + "\n")
            questions.flush()
            line = answers.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            raise PeerFailedError(f"its process ended; see {_short(self.log)}")
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise PeerFailedError(f"{answer['error']} (see {_short(self.log)})")
        return answer


def _short(path: Path) -> str:
    return str(path.relative_to(ROOT))
