"""Multi-device execution: one program for each segment of a plan, of XLA or on the host, and the transfers between."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from ...core.dtypes import string
from ...core.graph import Operation
from ..data_dependent_shapes import DataDependentShapeError
from ..placement import Segment
from ..plan import Plan
from .devices import Layout
from .host_segments import HOST, HostProgram, moved
from .loops.padded import cut
from .program import Program, host_value, own

if TYPE_CHECKING:
    from .engine import XlaEngine

Arrays = dict[tuple[int, Any], Any]
"""The arrays of a run by slot and device; None is the device of what is fed."""


class SegmentedProgram:
    """The segments of a plan, called with one array for each feed.

    No segment donates the variables it assigns to: where one fails, those of before are still there.
    """

    def __init__(self, engine: XlaEngine, plan: Plan, to_host: bool, refused: Sequence[Operation] = ()) -> None:
        self.engine = engine
        self.plan = plan
        self.to_host = to_host
        self.refused = list(refused)
        """Operations that XLA refused for their shapes."""
        self.written = {key for i, key in enumerate(plan.states) if i in plan.written}
        constants = dict(plan.constants)
        self.known = {slot: constants[slot] for slot in plan.fetch_slots if slot in constants}
        self.homes: dict[int, Any] = dict.fromkeys([*plan.feed_slots, *self.known])
        self.parts = self._parts(engine.segments(plan, self.refused))

    def _parts(self, segments: Sequence[Segment]) -> list[tuple[Segment, Program | HostProgram]]:
        for segment in segments:
            self.homes.update(dict.fromkeys(segment.plan.fetch_slots, segment.place))
        return [(segment, self._program(segment)) for segment in segments]

    def _program(self, segment: Segment) -> Program | HostProgram:
        if segment.place == HOST:
            return HostProgram(self.engine, segment.plan)
        program = Program(self.engine, segment.plan, Layout(device=segment.place), self.written, False)
        self.engine.programs.append(program)
        return program

    def __call__(self, feeds: Sequence[Any]) -> list[Any]:
        """One array for each fetch."""
        engine = self.engine
        feeds = feeds if self.to_host else own(feeds)
        arrays: Arrays = {(slot, None): x for slot, x in zip(self.plan.feed_slots, feeds, strict=True)}
        arrays.update({(slot, None): x for slot, x in self.known.items()})
        states: dict[Operation, Any] = {}
        with jax.enable_x64(True):
            done = 0
            while done < len(self.parts):
                try:
                    self._run(*self.parts[done], arrays, states)
                    done += 1
                except DataDependentShapeError as error:
                    self._leave_to_host(done, error)
            results = [self._result(arrays[slot, self.homes[slot]]) for slot in self.plan.fetch_slots]
            if self.to_host and not results:
                jax.block_until_ready(list(states.values()))  # type: ignore[no-untyped-call]
        engine.keep(states, [self._at_home(key, state) for key, state in states.items()])
        return results

    def _leave_to_host(self, number: int, error: DataDependentShapeError) -> None:
        """Cut the segment of that number, which XLA refused and which has not run, or all, if none has run before."""
        segment = self.parts[number][0]
        if segment.place == HOST or all(step.op is not error.op for step in segment.plan.steps):
            raise error
        if not number:
            self.refused.append(error.op)
            self.parts = self._parts(self.engine.segments(self.plan, self.refused))
            return
        inside = self.engine.segments(segment.plan, [error.op])
        still_read = set(segment.plan.feed_slots) - set(segment.frees)
        pieces = [piece._replace(frees=tuple([n for n in piece.frees if n not in still_read])) for piece in inside]
        self.parts[number : number + 1] = self._parts(pieces)

    def _result(self, value: Any) -> Any:
        if isinstance(value, bytes) or value.dtype == string:
            return value if isinstance(value, bytes) or value.ndim else value.item()
        return host_value(value) if self.to_host else jnp.asarray(value)

    def _at_home(self, key: Operation, state: Any) -> Any:
        """The value of a variable on its own device, from which the host, or a loop on another device, took it."""
        home = self.engine.device_of(key)
        if isinstance(state, np.ndarray):
            return state if state.dtype == string else Layout(home).copied(state)
        return state if state.device == home else jax.device_put(state, home)

    def _run(
        self, segment: Segment, program: Program | HostProgram, arrays: Arrays, states: dict[Operation, Any]
    ) -> None:
        place, feeds = segment.place, segment.plan.feed_slots
        away = [slot for slot in feeds if (slot, place) not in arrays]
        there = moved([arrays[slot, self.homes[slot]] for slot in away], place)
        arrays.update(zip([(slot, place) for slot in away], there, strict=True))
        values = ChainMap(states, self.engine.values)
        outputs, new, counts = program.launch(values, [arrays[slot, place] for slot in feeds], [])
        arrays.update(zip([(slot, place) for slot in segment.plan.fetch_slots], outputs, strict=True))
        for (i, axis), count in counts.items():
            arrays[segment.plan.fetch_slots[i], place] = cut(outputs[i], axis, count)
        states.update(zip(program.written, new, strict=True))
        for key in [key for key in arrays if key[0] in segment.frees]:
            del arrays[key]
