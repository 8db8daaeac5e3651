"""Abstract feeds: what stands for placeholders where a program is compiled for their shapes, and not run."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.dtypes import string
from ..core.graph import Tensor
from ..primitives.creation.placeholders import Placeholder
from .concrete import concrete_values
from .plan import Plan


def zeros_for(plan: Plan) -> dict[Tensor, Any]:
    """Arrays of zeros, in no memory, for placeholders of a plan whose shapes are known and whose values decide none."""
    needed = concrete_values(plan).slots
    found = {}
    for step in plan.steps:
        if isinstance(step.op.primitive, Placeholder):
            (y,), (slot,) = step.op.outputs, step.outputs
            if y.shape.is_fully_defined() and slot not in needed and y.dtype != string:
                found[y] = np.broadcast_to(np.zeros((), y.dtype), y.shape.known)  # type: ignore[arg-type]
    return found
