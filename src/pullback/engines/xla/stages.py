"""Pipeline parallelism over processes: each segment of a plan is run by the process that has its device.

All processes call this alike. Each goes through all segments in one order, runs its own, takes part in the transfers
from and to them, and knows of the others' results the shapes, by tracing. What is fetched is sent to all.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp

from ...core.graph import Operation
from .. import messages
from ..placement import Segment, states_of
from ..plan import Plan
from .devices import Layout
from .lost_processes import while_watching
from .program import Program, host_value, own
from .segments import Arrays
from .transfers import brought, everywhere, is_here, nbytes_of

if TYPE_CHECKING:
    from .engine import XlaEngine


class StagedProgram:
    """The segments of a plan over several processes, called with one array for each feed."""

    def __init__(self, engine: XlaEngine, plan: Plan, segments: Sequence[Segment], to_host: bool) -> None:
        self.engine = engine
        self.plan = plan
        self.segments = segments
        self.to_host = to_host
        self.homes: dict[int, Any] = dict.fromkeys(plan.feed_slots)
        for part in segments:
            self.homes.update(dict.fromkeys(part.plan.fetch_slots, part.place))
        constants = dict(plan.constants)
        self.known = {slot: constants[slot] for slot in plan.fetch_slots if slot in constants}
        self.homes.update(dict.fromkeys(self.known))
        written = {key for i, key in enumerate(plan.states) if i in plan.written}
        self.programs = [self._program(part, written) for part in segments]

    def _program(self, part: Segment, written: set[Operation]) -> Program:
        device: jax.Device = part.place
        for number, key in enumerate(part.plan.states):
            if self.engine.device_of(key).process_index != device.process_index:
                user = next(step.op for step in part.plan.steps if number in states_of(step))
                raise messages.variable_of_another_process(key, user, device.process_index)
        program = Program(self.engine, part.plan, Layout(device=device), written, False)
        for i in program.concrete.feeds:
            if self.homes[part.plan.feed_slots[i]] is not None:
                raise messages.shape_by_another_process(part.plan.feeds[i].op)
        self.engine.programs.append(program)
        return program

    def __call__(self, feeds: Sequence[Any]) -> list[Any]:
        """One array for each fetch."""
        results: list[Any] = while_watching(self._run, feeds if self.to_host else own(feeds))
        return results

    def _run(self, feeds: Sequence[Any]) -> list[Any]:
        arrays: Arrays = {(slot, None): x for slot, x in zip(self.plan.feed_slots, feeds, strict=True)}
        arrays.update({(slot, None): x for slot, x in self.known.items()})
        states: dict[Operation, Any] = {}
        with jax.enable_x64(True):
            for segment, program in zip(self.segments, self.programs, strict=True):
                self._run_segment(segment, program, arrays, states)
            results = [self._result(slot, arrays) for slot in self.plan.fetch_slots]
            if self.to_host and not results:
                for state in states.values():
                    jax.block_until_ready(state)  # type: ignore[no-untyped-call]
        self.engine.keep(states, states.values())
        return results

    def communication(self, feeds: Sequence[Any]) -> dict[str, int]:
        """The bytes that this process is sent in a run, of which nothing is run."""
        shapes: Arrays = {(slot, None): x for slot, x in zip(self.plan.feed_slots, feeds, strict=True)}
        shapes.update({(slot, None): x for slot, x in self.known.items()})
        states: dict[Operation, Any] = {}
        received = 0
        with jax.enable_x64(True):
            for segment, program in zip(self.segments, self.programs, strict=True):
                place = segment.place
                for slot in [slot for slot in segment.plan.feed_slots if (slot, place) not in shapes]:
                    shapes[slot, place] = shapes[slot, self.homes[slot]]
                    if is_here(place) and not self._is_here(slot):
                        received += nbytes_of(shapes[slot, place])
                values = ChainMap(states, self.engine.values)
                outputs, new, _ = program.shapes(values, [shapes[slot, place] for slot in segment.plan.feed_slots], [])
                shapes.update(zip([(slot, place) for slot in segment.plan.fetch_slots], outputs, strict=True))
                states.update(zip(program.written, new, strict=True))
        away = [slot for slot in self.plan.fetch_slots if not self._is_here(slot)]
        received += sum([nbytes_of(shapes[slot, self.homes[slot]]) for slot in away])
        return {"collective-permute": received} if received else {}

    def _is_here(self, slot: int) -> bool:
        """Whether a process has a value without being sent it."""
        home = self.homes[slot]
        return home is None or is_here(home)

    def _result(self, slot: int, arrays: Arrays) -> Any:
        home = self.homes[slot]
        (value,) = everywhere([arrays[slot, home]], home)
        return host_value(value) if self.to_host else jnp.asarray(value)

    def _run_segment(self, segment: Segment, program: Program, arrays: Arrays, states: dict[Operation, Any]) -> None:
        place, slots = segment.place, segment.plan.feed_slots
        away: dict[Any, list[int]] = {}
        for slot in slots:
            if (slot, place) not in arrays:
                away.setdefault(self.homes[slot], []).append(slot)
        for home, group in away.items():
            there = brought([arrays[slot, home] for slot in group], home, place)
            arrays.update(zip([(slot, place) for slot in group], there, strict=True))
        values, feeds = ChainMap(states, self.engine.values), [arrays[slot, place] for slot in slots]
        outputs, new, counts = (program.launch if is_here(place) else program.shapes)(values, feeds, [])
        if counts:
            raise messages.rows_of_another_process(segment.plan.steps[-1].op)
        arrays.update(zip([(slot, place) for slot in segment.plan.fetch_slots], outputs, strict=True))
        states.update(zip(program.written, new, strict=True))
        for key in [key for key in arrays if key[0] in segment.frees]:
            del arrays[key]
