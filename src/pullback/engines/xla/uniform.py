"""Uniform factors: products with a matrix all of whose elements are the same, which YNNPACK computes wrongly.

XLA broadcasts one number to such a matrix when it multiplies. Where it hands that to YNNPACK together with a sum, which
the number is or the other factor is made of, the result is memory that nobody has written: x @ fill([n, n], sum(x)).
Programs that may have such a product are computed without YNNPACK.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from typing import Any

import numpy as np

from ...control_flow.loop import Loop
from ...core.operation import Operation, Tensor
from ...core.traits import COMMUTES, ELEMENTWISE, JOINS, MOVES, ZEROS, multiplies
from ...primitives.linalg.matmul import MatMul
from ..plan import NOWHERE, Body, Plan, Step


def has_uniform_factor(plan: Plan, uniform_feeds: Collection[int] = ()) -> bool:
    """Whether a product of a plan, or of its bodies, is with a matrix whose elements are the same by construction.

    `uniform_feeds` are the slots of feeds whose elements are.
    """
    values = _Values()
    for slot, value in plan.constants:
        if value.size and np.all(value == value.flat[0]):
            values.put(slot, ("constant", value.dtype, value.flat[0].tobytes()))
    for slot in uniform_feeds:
        values.put(slot, ("feed", slot))
    for step in plan.steps:
        op = step.op
        if step.bodies:
            if any(has_uniform_factor(body.plan, _uniform_feeds(op, body, step, values.slots)) for body in step.bodies):
                return True
        elif step.state is None and len(step.inputs) == len(op.inputs):
            given = [values.of(n, x) for n, x in zip(step.inputs, op.inputs, strict=True)]
            factors = _factors(op) if multiplies(op.primitive.traits) else ()
            if any(given[i] is not None and not _is_vector(op.inputs[i]) for i in factors):
                return True
            read = [i for i in range(len(given)) if _is_read(op, i)]
            same = [number for i in read if (number := given[i]) is not None]
            if ZEROS not in op.primitive.traits and len(same) == len(read):
                _note(values, step, same)
    return False


class _Values:
    """The slots of what is uniform, with a number for each value that its elements may have."""

    def __init__(self) -> None:
        self.slots: dict[int, int] = {}
        self._numbers: dict[Hashable, int] = {}

    def put(self, slot: int, made_of: Hashable) -> None:
        """Note a slot; two have the same value for sure if they are made of the same."""
        self.slots[slot] = self._numbers.setdefault(made_of, len(self._numbers))

    def of(self, slot: int, x: Tensor) -> int | None:
        """The number of the value of a slot, which holds `x`; None where its elements may differ."""
        if slot not in self.slots and x.shape.num_elements() == 1:
            self.put(slot, ("number", slot))
        return self.slots.get(slot)


def _note(values: _Values, step: Step, read: Sequence[int]) -> None:
    """Note the results of a step, whose elements depend on uniform inputs only."""
    op = step.op
    traits, count = op.primitive.traits, len(step.outputs)
    if JOINS in traits and count == 1 and len({*read}) > 1:
        return
    types = () if ELEMENTWISE in traits else tuple([x.type for x in op.inputs])
    for i, n in enumerate(step.outputs):
        if n == NOWHERE:
            continue
        moved = read[i] if count == len(read) else read[0] if len({*read}) == 1 else None
        if MOVES in traits and moved is not None:
            values.slots[n] = moved
        else:
            values.put(n, (op.primitive, i, *(sorted(read) if COMMUTES in traits else read), types))


def _uniform_feeds(op: Operation, body: Body, step: Step, uniform: Collection[int]) -> list[int]:
    """The feeds of a body that stand for what is uniform, and do not change from step to step."""
    carried = range(1, 1 + op.primitive.carried) if isinstance(op.primitive, Loop) else ()
    pairs = zip(body.plan.feed_slots, body.arguments, strict=True)
    return [slot for slot, i in pairs if i < len(step.inputs) and i not in carried and step.inputs[i] in uniform]


def _factors(op: Operation) -> tuple[int, ...]:
    """The inputs that may be the second factor of XLA's product."""
    p: Any = op.primitive
    return (1,) if isinstance(p, MatMul) and not p.transpose_a else (*range(len(op.inputs)),)


def _is_vector(x: Tensor) -> bool:
    """Whether an input is a matrix of one row or column, or less: XLA multiplies with that element by element."""
    lengths = x.shape.lengths
    return lengths is not None and len(lengths) <= 2 and (len(lengths) < 2 or 1 in lengths)


def _is_read(op: Operation, i: int) -> bool:
    """Whether elements of an input make those of the results."""
    p = op.primitive
    shapes = any(t.name == "reads shape" and i in t.inputs for t in p.traits)
    return p.reads_values and not shapes and i not in p.shape_inputs
