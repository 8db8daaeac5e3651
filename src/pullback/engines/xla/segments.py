"""Multi-device execution: one XLA program for each segment of a plan, and the transfers between them."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp

from ...core.dtypes import string
from ...core.graph import Operation
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

    def __init__(self, engine: XlaEngine, plan: Plan, segments: Sequence[Segment], to_host: bool) -> None:
        self.engine = engine
        self.plan = plan
        self.segments = segments
        self.to_host = to_host
        written = {key for i, key in enumerate(plan.states) if i in plan.written}
        self.programs = [self._program(part, written) for part in segments]
        self.homes: dict[int, Any] = dict.fromkeys(plan.feed_slots)
        for part in segments:
            self.homes.update(dict.fromkeys(part.plan.fetch_slots, part.place))
        constants = dict(plan.constants)
        self.known = {slot: constants[slot] for slot in plan.fetch_slots if slot in constants}
        self.homes.update(dict.fromkeys(self.known))

    def _program(self, part: Segment, written: set[Operation]) -> Program | HostProgram:
        if part.place == HOST:
            return HostProgram(self.engine.host, part.plan)
        return Program(self.engine, part.plan, Layout(device=part.place), written, False)

    def __call__(self, feeds: Sequence[Any]) -> list[Any]:
        """One array for each fetch."""
        engine = self.engine
        feeds = feeds if self.to_host else own(feeds)
        arrays: Arrays = {(slot, None): x for slot, x in zip(self.plan.feed_slots, feeds, strict=True)}
        arrays.update({(slot, None): x for slot, x in self.known.items()})
        states: dict[Operation, Any] = {}
        with jax.enable_x64(True):
            for segment, program in zip(self.segments, self.programs, strict=True):
                self._run(segment, program, arrays, states)
            results = [self._result(arrays[slot, self.homes[slot]]) for slot in self.plan.fetch_slots]
            for state in states.values() if self.to_host and not results else ():
                state.block_until_ready()
        engine.keep(states, [self._at_home(key, state) for key, state in states.items()])
        return results

    def _result(self, value: Any) -> Any:
        if isinstance(value, bytes) or value.dtype == string:
            return value if isinstance(value, bytes) or value.ndim else value.item()
        return host_value(value) if self.to_host else jnp.asarray(value)

    def _at_home(self, key: Operation, state: Any) -> Any:
        """The value of a variable on its own device, from which a loop or branch on another one took it."""
        home = self.engine.device_of(key)
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
            if segment.plan.fetch_slots[i] in self.plan.fetch_slots:
                arrays[segment.plan.fetch_slots[i], place] = cut(outputs[i], axis, count)
        states.update(zip(program.written, new, strict=True))
        for key in [key for key in arrays if key[0] in segment.frees]:
            del arrays[key]
