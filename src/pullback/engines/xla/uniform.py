"""Uniform factors: products with a matrix all of whose elements are the same, which YNNPACK computes wrongly.

XLA broadcasts one number to such a matrix when it multiplies. Where it hands that to YNNPACK together with a sum, which
the number is or the other factor is made of, the result is memory that nobody has written: x @ fill([n, n], sum(x)).
Programs that may have such a product are computed without YNNPACK.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from ...control_flow.loop import Loop
from ...core.operation import Operation, Tensor
from ...core.traits import ZEROS, multiplies
from ...primitives.linalg.matmul import MatMul
from ..plan import NOWHERE, Body, Plan, Step


def has_uniform_factor(plan: Plan, uniform_feeds: Collection[int] = ()) -> bool:
    """Whether a product of a plan, or of its bodies, is with a matrix whose elements are the same by construction.

    `uniform_feeds` are the slots of feeds whose elements are.
    """
    uniform = {slot for slot, value in plan.constants if value.size and np.all(value == value.flat[0])}
    uniform.update(uniform_feeds)
    for step in plan.steps:
        op = step.op
        if step.bodies:
            if any(has_uniform_factor(body.plan, _uniform_feeds(op, body, step, uniform)) for body in step.bodies):
                return True
        elif step.state is None and len(step.inputs) == len(op.inputs):
            given = [n in uniform or x.shape.num_elements() == 1 for n, x in zip(step.inputs, op.inputs, strict=True)]
            if multiplies(op.primitive.traits) and any(given[i] and not _is_vector(op.inputs[i]) for i in _factors(op)):
                return True
            if ZEROS not in op.primitive.traits and all(same or not _is_read(op, i) for i, same in enumerate(given)):
                uniform.update([n for n in step.outputs if n != NOWHERE])
    return False


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
