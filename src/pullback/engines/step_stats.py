"""Traces of runs, as `StepStats` of TensorFlow: when each operation of a run began and ended, on which device."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

from ..core.graph import Operation
from .configuration import RunMetadata, RunOptions
from .deadlines import time_limit
from .engine import AbstractEngine, traced_run


@dataclass
class NodeExecStats:
    """When an operation ran: microseconds of the clock, and from there on."""

    node_name: str
    all_start_micros: int
    op_end_rel_micros: int
    timeline_label: str
    op_start_rel_micros: int = 0
    thread_id: int = 0

    @property
    def all_end_rel_micros(self) -> int:
        """When it ended, from its beginning on."""
        return self.op_end_rel_micros


@dataclass
class DeviceStepStats:
    """What ran on a device."""

    device: str
    node_stats: list[NodeExecStats] = field(default_factory=list)


@dataclass
class StepStats:
    """What ran, device by device."""

    dev_stats: list[DeviceStepStats] = field(default_factory=list)


class Recorder:
    """Takes down what an engine says that it has run."""

    def __init__(self) -> None:
        self._nodes: dict[str, list[NodeExecStats]] = {}

    def note(self, op: Operation, began: int, ended: int) -> None:
        """`op` ran between these nanoseconds of `time.perf_counter_ns`."""
        label = f"{op.name} = {op.type}({', '.join(x.op.name for x in op.inputs)})"
        self._add(op.device, op.name, label, began, ended)

    def note_program(self, began: int, ended: int) -> None:
        """A whole program ran, of which nothing else is known unless its operations were taken down."""
        if not self._nodes:
            self._add("", "program", "program = Program()", began, ended)

    def stats(self) -> StepStats:
        """All of it."""
        return StepStats([DeviceStepStats(device, nodes) for device, nodes in self._nodes.items()])

    def _add(self, device: str, name: str, label: str, began: int, ended: int) -> None:
        nodes = self._nodes.setdefault(device or "/device:CPU:0", [])
        nodes.append(NodeExecStats(name, began // 1000, (ended - began) // 1000, label))


def around_run(engine: AbstractEngine, options: object, run_metadata: object) -> AbstractContextManager[Any] | None:
    """A block for a run that has a time limit, or is taken down in `run_metadata`, if `options` say so; None else."""
    if options is None or type(options).__name__ != RunOptions.__name__:
        return None
    given: Any = options  # Ours, or TensorFlow's message.
    around, limited = ExitStack(), given.timeout_in_ms > 0
    if limited:
        around.enter_context(time_limit(given.timeout_in_ms))
    if given.trace_level > 0 and isinstance(run_metadata, RunMetadata):
        around.enter_context(recording(engine, run_metadata))
        return around
    return around if limited else None


@contextmanager
def recording(engine: AbstractEngine, run_metadata: RunMetadata) -> Iterator[None]:
    """A block whose run is taken down in `run_metadata`."""
    recorder = Recorder()
    began, outer = time.perf_counter_ns(), traced_run.set((engine, recorder))
    try:
        yield
    finally:
        recorder.note_program(began, time.perf_counter_ns())
        traced_run.reset(outer)
        run_metadata.step_stats = recorder.stats()
