"""Runs the peers of one workload in turn, a batch of steps each, round after round, and takes medians.

What else the machine does changes from minute to minute, and so all peers see the same of it. Ratios are
taken round by round.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from time import monotonic
from typing import Any

from .environments import find_python
from .peers import PEERS
from .process import PeerFailedError, PeerProcess
from .settings import Settings
from .workload import Workload

FEWEST_ROUNDS = 3


@dataclass(frozen=True)
class Result:
    """One peer on one workload: seconds of build, compilation and steady step, and the peak of memory in bytes.

    Steady step and memory are divided by the workload's `per`. `ratio` is the step's to that of the reference peer,
    None where that did not run. `facts` are what else the peer reports. `problem` says why there are no numbers.
    """

    workload: str
    peer: str
    about: Mapping[str, Any]
    build: float = 0.0
    compile: float = 0.0
    step: float = 0.0
    fastest: float = 0.0
    memory: float = 0.0
    steps: int = 0
    loss: float | None = None
    ratio: float | None = None
    facts: Mapping[str, float] = field(default_factory=dict)
    problem: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


class DisagreementError(Exception):
    """Two peers computed different losses from the same values: they do not run the same model."""


def run_workload(workload: Workload, settings: Settings, tell: Callable[[str], None]) -> list[Result]:
    """One result per peer of `workload` that was asked for, in the order of the workload.

    Raises:
        DisagreementError: the losses after three steps differ by more than the workload allows.
    """
    results: dict[str, Result] = {}
    running: list[PeerProcess] = []
    try:
        for name in workload.peers:
            if name not in settings.peers:
                continue
            found = _start(workload, name, settings)
            if isinstance(found, Result):
                tell(f"{workload.name}: {name}: {found.problem}")
                results[name] = found
            else:
                running.append(found)
        losses = {process.peer.name: process.losses for process in running}
        compare_losses(workload.name, losses, workload.tolerance)
        _run_rounds(running, settings)
        for process in running:
            process.finish()
    except PeerFailedError as error:
        raise PeerFailedError(f"{workload.name}: {error}") from None
    finally:
        for process in running:
            process.close()
    for process in running:
        results[process.peer.name] = _result(workload, process, running)
    return [results[name] for name in workload.peers if name in results]


def _start(workload: Workload, name: str, settings: Settings) -> PeerProcess | Result:
    peer = PEERS[name]
    python = find_python(peer.environment, settings.pythons)
    if python is None:
        problem = f"not installed; run `python -m benchmarks setup {peer.environment}`"
        return Result(workload.name, name, {}, problem=problem)
    try:
        process = PeerProcess(workload, peer, python, settings)
    except OSError:
        return Result(workload.name, name, {}, problem=f"cannot run {python}")
    try:
        process.start()
    except PeerFailedError as error:
        process.close()
        return Result(workload.name, name, process.about, problem=str(error))
    return process


def compare_losses(workload: str, losses: Mapping[str, Sequence[float | None]], tolerance: float) -> None:
    """Compare the `losses` of each peer with those of the first.

    Raises:
        DisagreementError: they differ by more than that part of them, or are not numbers.
    """
    first = next(iter(losses), "")
    for name, found in losses.items():
        if not all(_close(a, b, tolerance) for a, b in zip(losses[first], found, strict=True)):
            raise DisagreementError(
                f"{workload}: {name} computes another model than {first}: losses {found} and {losses[first]}"
            )


def _close(expected: float | None, found: float | None, tolerance: float) -> bool:
    if expected is None or found is None:
        return True
    return abs(found - expected) <= tolerance * max(abs(expected), 1e-6)


def _run_rounds(running: Sequence[PeerProcess], settings: Settings) -> None:
    end = monotonic() + settings.seconds
    for done in range(settings.rounds + 1):
        if done > FEWEST_ROUNDS and monotonic() > end:
            break
        for process in running:
            process.run_batch(settings.batch)
    for process in running:
        del process.batches[0]  # it was for warming up


def _result(workload: Workload, process: PeerProcess, running: Sequence[PeerProcess]) -> Result:
    reference = next((other for other in running if other.peer.name == workload.reference), None)
    medians = [statistics.median(batch) for batch in process.batches]
    seconds = [time for batch in process.batches for time in batch]
    ratio = None
    if reference is not None:
        theirs = [statistics.median(batch) for batch in reference.batches]
        ratio = statistics.median(a / b for a, b in zip(medians, theirs, strict=True))
    return Result(
        workload=workload.name,
        peer=process.peer.name,
        about=process.about,
        build=process.build,
        compile=process.compile,
        step=statistics.median(medians) / workload.per,
        fastest=min(seconds) / workload.per,
        memory=process.memory / workload.per,
        steps=len(seconds),
        loss=process.losses[-1],
        ratio=ratio,
        facts=process.facts,
    )
