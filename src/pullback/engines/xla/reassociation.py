"""Reassociation of constants: what XLA would add up before a run is kept apart.

XLA makes (1 - x) + 1e-8 into (1 + 1e-8) - x, which is 1 - x again: a logarithm that was guarded is infinite. So what is
added to a constant and then to another is rounded in between, by an operation that changes nothing, and that XLA does
not look through.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from ...core.dtypes import FLOATING
from ...core.traits import ELEMENTWISE, linear
from ..plan import Step


class Sums:
    """The slots whose values are something plus, or minus, a constant."""

    def __init__(self) -> None:
        self._slots: set[int] = set()

    def rounded(self, step: Step, arrays: list[Any]) -> list[Any]:
        """`arrays`; rounded where a step adds a constant to such a value."""
        if not _adds_constant(step, arrays):
            self._slots.difference_update(step.outputs)
            return arrays
        found = [_rounded(x) if n in self._slots else x for n, x in zip(step.inputs, arrays, strict=True)]
        self._slots.update(step.outputs)
        return found


def _adds_constant(step: Step, arrays: Sequence[Any]) -> bool:
    traits = step.op.primitive.traits
    if len(arrays) != 2 or ELEMENTWISE not in traits or linear(0, 1) not in traits:
        return False
    known = [not isinstance(x, jax.core.Tracer) for x in arrays]
    return any(known) and not all(known) and step.op.outputs[0].dtype in FLOATING


def _rounded(x: Any) -> Any:
    form = jnp.finfo(x.dtype)  # type: ignore[no-untyped-call]
    return lax.reduce_precision(x, form.nexp, form.nmant)
