"""Host segments: what XLA cannot compile, texts and shapes that only the run knows, on NumPy between its programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import jax
import numpy as np

from ...core.dtypes import string
from ...core.graph import Operation
from .. import messages
from ..engine import EngineOptions
from ..plan import Plan, Step

if TYPE_CHECKING:
    from .engine import XlaEngine

HOST = "host"
"""The place of such a segment, among devices of jax."""


class HostProgram:
    """The steps of a segment, run by a NumPy engine, which is lent the values of the variables that they use."""

    def __init__(self, engine: XlaEngine, plan: Plan) -> None:
        from ..numpy.engine import NumpyEngine

        self.host = NumpyEngine(EngineOptions(engine.options.check_numerics))
        self.lost = engine.lost
        self.run = self.host.prepare(plan)
        self.states = plan.states
        self.written = tuple([key for i, key in enumerate(plan.states) if i in plan.written])

    def launch(
        self, values: Mapping[Operation, Any], feeds: Sequence[Any], launched: list[Any]
    ) -> tuple[list[Any], list[Any], dict[tuple[int, int], Any]]:
        """As `Program.launch`; the new values of variables are NumPy's."""
        del launched
        lent = self.host.values
        try:
            for key in self.states:
                value = values.get(key)
                if value is None and key in self.lost:
                    raise messages.lost(key)
                if value is not None:
                    lent[key] = np.asarray(value)
            outputs = self.run(feeds)
            return outputs, [lent[key] for key in self.written], {}
        finally:
            lent.clear()


def moved(arrays: Sequence[Any], place: Any) -> list[Any]:
    """The arrays at a place."""
    if place == HOST:
        return [np.asarray(x) if isinstance(x, jax.Array) else x for x in arrays]
    placed: list[Any] = jax.device_put(list(arrays), place)
    return placed


def steps_with_texts(plan: Plan) -> set[Operation]:
    """The operations of a plan that touch texts."""
    return {step.op for step in plan.steps if touches_texts(step)}


def has_texts(plan: Plan) -> bool:
    """Whether there is a text in a plan, or in the plans inside."""
    return any(x.dtype == string for x in (*plan.feeds, *plan.fetches)) or any(map(touches_texts, plan.steps))


def touches_texts(step: Step) -> bool:
    """Whether a step, or a body of it, takes or makes texts."""
    own = any(x.dtype == string for x in (*step.op.inputs, *step.op.outputs))
    return own or any(touches_texts(inner) for body in step.bodies for inner in body.plan.steps)
