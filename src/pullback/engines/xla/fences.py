"""Fences: what comes after a computation waits for it, so that XLA does not run it before and keep what it gives.

XLA on a processor runs what is ready, in whatever order, and drops barriers. What computes again to save memory relies
on the order of the plan, as do micro-batches, and loops inside of kernels, as those by filters of depthwise
convolutions, would all come last, with all that they read: in such plans a step that lets go of more than it makes is a
fence. Later ones read an input by a choice whose condition XLA cannot know.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental.layout import Layout, with_layout_constraint

from ...control_flow.call import RecomputedCall
from ...core.dtypes import INEXACT
from ...core.primitive import Primitive
from ...core.traits import multiplies
from ...primitives.shape.transpose import Transpose
from ..plan import Plan, Step
from .platform import is_ours, on_processor

_late: set[type[Primitive]] = {RecomputedCall}
_bordered: set[type[Primitive]] = set()


def computed_by_loops(*classes: type[Primitive]) -> None:
    """Note that XLA's kernels of `classes` are loops, which would come last."""
    _late.update(classes)


def computed_with_borders(*classes: type[Primitive]) -> None:
    """Note that XLA's kernels of `classes` begin with a copy that has a border, which it would make long before."""
    _bordered.update(classes)


class Fences:
    """The latest step that others wait for, and what is known to come after it."""

    def __init__(self, plan: Plan, *, in_order: bool = False) -> None:
        self.are_needed = in_order or any(type(step.op.primitive) in _late for step in plan.steps)
        self.passed: Any = None
        """True once the step is done; XLA does not know that."""
        self.after: set[int] = set()
        """The slots of what depends on it."""

    def behind(self, step: Step, arrays: list[Any]) -> list[Any]:
        """`arrays`, the inputs of a step, of which one waits: the smallest one, where it would not be a large copy.

        A choice that is made together with a copy costs nothing: the largest one waits.
        """
        if self.passed is None:
            return arrays
        waits = not self.after.isdisjoint(step.inputs)
        floats = [i for i, x in enumerate(arrays) if _is_floats(x)]
        if not waits and floats:
            is_bordered = type(step.op.primitive) in _bordered
            sizes = {i: arrays[i].size for i in floats}
            chosen = (max if is_bordered else min)(floats, key=sizes.__getitem__)
            x = arrays[chosen]
            if is_bordered or not multiplies(step.op.primitive.traits) or 4 * x.size <= max(sizes.values()):
                arrays = [*arrays[:chosen], jnp.where(self.passed, x, np.zeros((), x.dtype)), *arrays[chosen + 1 :]]
                waits = True
        if waits:
            self.after.update(step.outputs)
        return arrays

    def in_row_major(self, step: Step, results: tuple[Any, ...]) -> tuple[Any, ...]:
        """What a step transposes in this order in memory; XLA would keep it in two where a call reads it as well."""
        x = results[0] if isinstance(step.op.primitive, Transpose) else None
        if not (self.are_needed and on_processor() and is_ours()) or not isinstance(x, jax.Array) or x.ndim < 2:
            return results
        return (with_layout_constraint(x, Layout(tuple(range(x.ndim)))),)  # type: ignore[no-untyped-call]

    def note(self, step: Step, slots: Sequence[Any], results: Sequence[Any]) -> None:
        """Put a fence at a step that lets go of more than it makes."""
        if not self.are_needed or not on_processor():
            return
        freed = sum(x.nbytes for x in [slots[n] for n in step.frees] if _is_floats(x))
        made = [y for y in results if _is_floats(y)]
        if made and (freed > sum(y.nbytes for y in made) or isinstance(step.op.primitive, RecomputedCall)):
            self.passed, self.after = is_there(made[0]), set(step.outputs)


def is_there(*xs: jax.Array) -> jax.Array:
    """True, which XLA does not know before it has computed `xs`."""
    return reduce(jnp.logical_and, [(some == some) | (some != some) for some in [jnp.ravel(x)[0] for x in xs]])


def steps_after(count: int, *xs: jax.Array) -> Any:
    """The number of a loop's steps; where it is one XLA does not know it before `xs` are there, and keeps the loop."""
    return count if count > 1 else jnp.where(is_there(*xs), 1, 0)


def zeros_after(shape: Sequence[int], *xs: jax.Array) -> jax.Array:
    """Zeros that XLA makes when `xs` are there: those that loops begin with it would make long before, and keep."""
    return jnp.broadcast_to(jnp.where(is_there(*xs), 0, 1).astype(xs[0].dtype), shape)


def _is_floats(x: Any) -> bool:
    return isinstance(x, jax.Array) and x.size > 0 and x.dtype in INEXACT
