"""Compile-time constants of XLA: the values of a plan that decide shapes, and what they are computed from."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from ..core.graph import Tensor
from ..core.needs import needed
from ..primitives.base.state import AbstractStateful
from .plan import NOWHERE, Plan, Step

SMALL = 256
"""Arrays of at most so many elements are computed when XLA compiles, where that can be."""
LIFTED_BYTES = 1024
"""Constants above this size are arguments of the compiled program, not part of it."""


class Concrete(NamedTuple):
    """What is computed with NumPy when XLA compiles."""

    slots: frozenset[int]
    """The slots whose values must be known then."""
    feeds: tuple[int, ...]
    """The numbers of the feeds whose values must be known then: another value means another program."""


def concrete_values(plan: Plan, decisive: Iterable[int] = ()) -> Concrete:
    """What must be known when XLA compiles `plan`, worked out from its end to its beginning.

    `decisive` are slots whose values decide shapes outside of the plan.
    """
    makers = {slot: step for step in plan.steps if step.op.primitive.reads_values for slot in step.outputs}
    wanted = [*decisive, *[slot for step in plan.steps for slot in shape_slots(step)]]
    wanted = [slot for slot in wanted if slot != NOWHERE]
    found = needed(wanted, lambda slot: makers[slot].inputs if slot in makers else ())
    return Concrete(frozenset(found), tuple([i for i, slot in enumerate(plan.feed_slots) if slot in found]))


def lifted_constants(plan: Plan) -> list[np.ndarray[Any, Any]]:
    """The constants of `plan` and of the functions inside it that are arguments of the compiled program, each once."""
    found: dict[int, np.ndarray[Any, Any]] = {}
    pending, seen = [plan], {id(plan)}
    for part in pending:
        known = concrete_values(part).slots
        large = [array for slot, array in part.constants if array.nbytes > LIFTED_BYTES and slot not in known]
        found.update([(id(array), array) for array in large])
        inner = {id(body.plan): body.plan for step in part.steps for body in step.bodies}
        pending.extend(p for key, p in inner.items() if key not in seen)
        seen.update(inner)
    return list(found.values())


def shape_slots(step: Step) -> list[int]:
    """The slots of the inputs whose values decide the shape of the step's outputs, if anything does."""
    primitive = step.op.primitive
    if isinstance(primitive, AbstractStateful) and not primitive.owns_state:
        return [step.inputs[i - 1] for i in primitive.shape_inputs if 0 < i <= len(step.inputs)]
    return [step.inputs[i] for i in primitive.shape_inputs if i < len(step.inputs)]


def is_small(y: Tensor) -> bool:
    """Whether an output is known to be so small that computing it once, when XLA compiles, is cheapest."""
    size = y.shape.num_elements()
    return size is not None and size <= SMALL
