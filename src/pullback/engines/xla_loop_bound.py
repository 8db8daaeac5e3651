"""The most steps that a loop can make which counts: one whose condition compares a counter with a known number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..control_flow.loop import Loop
from ..core.dtypes import INTEGER
from ..core.graph import Tensor
from ..primitives.arithmetic import Add, Sub
from ..primitives.comparison import Greater, GreaterEqual, Less, LessEqual
from ..primitives.constant import constant_value
from ..primitives.logic import LogicalAnd
from .plan import Body, Step

_COMPARISONS = (Less, LessEqual, Greater, GreaterEqual)


class Count(NamedTuple):
    """How many steps a loop makes at most; exactly so many where its condition is nothing else."""

    steps: int
    exact: bool


def count_of(step: Step, arrays: Sequence[Any]) -> Count | None:
    """What the condition of a loop says for these inputs, those that are known while the program is traced.

    `i < n`, and the like, where a step adds a constant to `i`; of several that must all hold, the one that ends first.
    """
    loop = step.op.primitive
    assert isinstance(loop, Loop)
    if loop.condition is None:
        return None
    (holds,) = loop.condition.results
    comparisons = _conjuncts(holds)
    given = _Given(loop, step.bodies, arrays)
    found = [_steps(given, y) for y in comparisons]
    known = [n for n in found if n is not None]
    if not known:
        return None
    return Count(min(known), comparisons == [holds] and len(loop.condition.operations) <= _MOST_OF_ONE)


_MOST_OF_ONE = 2
"""The operations of a condition that is one comparison: that one, and a constant."""


def _conjuncts(holds: Tensor) -> list[Tensor]:
    pending, found = [holds], []
    while pending:
        y = pending.pop()
        if isinstance(y.op.primitive, LogicalAnd):
            pending.extend(y.op.inputs)
        else:
            found.append(y)
    return found


class _Given(NamedTuple):
    """A loop and what it is run on."""

    loop: Loop
    bodies: Sequence[Body]
    """Of its body and of its condition."""
    arrays: Sequence[Any]


def _steps(given: _Given, comparison: Tensor) -> int | None:
    """The most steps for which `comparison` holds, where it is of a counter and a known number."""
    primitive = comparison.op.primitive
    if not isinstance(primitive, _COMPARISONS) or comparison.op.inputs[0].dtype not in INTEGER:
        return None
    _, condition = given.bodies
    a, b = comparison.op.inputs
    upward = isinstance(primitive, Less | LessEqual)
    i, end = _carried(given, condition, a), _known(given, condition, b)
    if i is None:
        i, end, upward = _carried(given, condition, b), _known(given, condition, a), not upward
    if i is None or end is None:
        return None
    step, start = _increment(given, i), _value(given.arrays[1 + i])
    if not step or start is None or (step > 0) != upward:
        return None
    span = (end - start if upward else start - end) + isinstance(primitive, LessEqual | GreaterEqual)
    info = np.iinfo(comparison.op.inputs[0].dtype)
    if not info.min <= end + step + (1 if upward else -1) <= info.max:
        return None
    return max(-(-span // abs(step)), 0)


def _increment(given: _Given, i: int) -> int | None:
    """What a step adds to the carried member of that number."""
    body = given.bodies[0]
    y = given.loop.body.results[i]
    primitive, inputs = y.op.primitive, y.op.inputs
    if not isinstance(primitive, Add | Sub):
        return None
    if _carried(given, body, inputs[0]) == i:
        by = _known(given, body, inputs[1])
        return -by if by is not None and isinstance(primitive, Sub) else by
    turned = isinstance(primitive, Add) and _carried(given, body, inputs[1]) == i
    return _known(given, body, inputs[0]) if turned else None


def _carried(given: _Given, body: Body, x: Tensor) -> int | None:
    """The number of what is carried that `x` is."""
    number = _number(body, x)
    return None if number is None or number > given.loop.carried else number - 1


def _known(given: _Given, body: Body, x: Tensor) -> int | None:
    """The value of a constant, or of what is the same in each step, where it is known."""
    value = constant_value(x)
    if value is not None:
        return _value(value)
    number = _number(body, x)
    return None if number is None or number <= given.loop.carried else _value(given.arrays[number])


def _number(body: Body, x: Tensor) -> int | None:
    """The number of the loop's input that the parameter `x` stands for."""
    found = zip(body.plan.feeds, body.arguments, strict=True)
    return next((n for p, n in found if p is x), None)


def _value(x: Any) -> int | None:
    return int(x) if isinstance(x, np.ndarray | np.generic) and x.ndim == 0 and x.dtype.kind in "iu" else None
