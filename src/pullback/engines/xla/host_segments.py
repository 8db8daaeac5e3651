"""Host segments: operations on texts, which XLA does not have, run on NumPy between its programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import jax
import numpy as np

from ...core.dtypes import string
from ...core.errors import UnimplementedError
from ...core.graph import Operation, site_of
from ..numpy.engine import NumpyEngine
from ..plan import Plan, Step

HOST = "host"
"""The place of such a segment, among devices of jax."""


class HostProgram:
    """The steps of a segment, run by the NumPy engine `host`."""

    def __init__(self, host: NumpyEngine, plan: Plan) -> None:
        self.run = host.prepare(plan)
        self.written: tuple[Operation, ...] = ()

    def launch(
        self, values: Mapping[Operation, Any], feeds: Sequence[Any], launched: list[Any]
    ) -> tuple[list[Any], list[Any], dict[tuple[int, int], Any]]:
        """As `Program.launch`."""
        del values, launched
        return self.run(feeds), [], {}


def moved(arrays: Sequence[Any], place: Any) -> list[Any]:
    """The arrays at a place."""
    if place == HOST:
        return [np.asarray(x) if isinstance(x, jax.Array) else x for x in arrays]
    placed: list[Any] = jax.device_put(list(arrays), place)
    return placed


def steps_with_texts(plan: Plan) -> set[Operation]:
    """The operations that touch texts; UnimplementedError where one needs a variable, which XLA has."""
    steps = [step for step in plan.steps if touches_texts(step)]
    found = {step.op for step in steps}
    for step in steps:
        numbers = [n for body in step.bodies for n in body.states] + ([] if step.state is None else [step.state])
        for key in [plan.states[n] for n in numbers]:
            if key not in found:
                raise UnimplementedError(
                    f"'{step.op.name}' (made at {site_of(step.op)}) is about texts and uses the variable '{key.name}', "
                    "which XLA keeps; use Session(engine='numpy')"
                )
    return found


def has_texts(plan: Plan) -> bool:
    """Whether there is a text in a plan, or in the plans inside."""
    return any(x.dtype == string for x in (*plan.feeds, *plan.fetches)) or any(map(touches_texts, plan.steps))


def touches_texts(step: Step) -> bool:
    """Whether a step, or a body of it, takes or makes texts."""
    own = any(x.dtype == string for x in (*step.op.inputs, *step.op.outputs))
    return own or any(touches_texts(inner) for body in step.bodies for inner in body.plan.steps)
