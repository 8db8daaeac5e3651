"""Trip count of loops: how many steps are made where the condition compares a counter with a known number."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from ..core.dtypes import INTEGER
from ..core.graph import Tensor
from ..core.traits import COMPARES, ELEMENTWISE, is_linear
from ..primitives.logic.logical import LogicalAnd


class Counted(Protocol):
    """A loop, and what is known of the values that it is run on."""

    def end(self, i: int) -> Tensor:
        """What the body makes of the carried member of that number."""

    def first(self, i: int) -> int | None:
        """What that member is at the beginning, where it is known."""

    def carried(self, x: Tensor) -> int | None:
        """The number of the carried member that `x`, a tensor of the body or of the condition, is."""

    def known(self, x: Tensor) -> int | None:
        """The value of `x`, a constant, or the same in each step, where it is known."""


def conjuncts(holds: Tensor) -> list[Tensor]:
    """The truth values that must all hold for `holds` to."""
    pending, found = [holds], []
    while pending:
        y = pending.pop()
        if isinstance(y.op.primitive, LogicalAnd):
            pending.extend(y.op.inputs)
        else:
            found.append(y)
    return found


def steps_while(loop: Counted, comparison: Tensor) -> int | None:
    """The number of steps for which `comparison` holds, where it is of a counter and a known number."""
    primitive = comparison.op.primitive
    if COMPARES not in primitive.traits or comparison.op.inputs[0].dtype not in INTEGER:
        return None
    a, b = comparison.op.inputs
    upward, downward, inclusive = [bool(primitive.kernel(np, *pair)) for pair in ((0, 1), (1, 0), (0, 0))]
    if upward == downward:
        return None
    i, end = loop.carried(a), loop.known(b)
    if i is None:
        i, end, upward = loop.carried(b), loop.known(a), not upward
    if i is None or end is None:
        return None
    step, start = increment(loop, i), loop.first(i)
    if not step or start is None or (step > 0) != upward:
        return None
    span = (end - start if upward else start - end) + inclusive
    info = np.iinfo(comparison.op.inputs[0].dtype)
    if not info.min <= end + step + (1 if upward else -1) <= info.max:
        return None
    return max(-(-span // abs(step)), 0)


def increment(loop: Counted, i: int) -> int | None:
    """What a step adds to the carried member of that number."""
    found = affine(loop.end(i), loop.known)
    return found[2] if found is not None and found[1] == 1 and loop.carried(found[0]) == i else None


def affine(x: Tensor, known: Callable[[Tensor], int | None]) -> tuple[Tensor, int, int] | None:
    """y, a, b such that the integer `x` is a * y + b, where the last operation says so: what else it reads is known."""
    primitive, inputs = x.op.primitive, x.op.inputs
    if ELEMENTWISE not in primitive.traits or any(y.dtype not in INTEGER for y in (x, *inputs)):
        return None
    values = [known(y) for y in inputs]
    open_ = [i for i, value in enumerate(values) if value is None]
    if len(open_) != 1 or not is_linear(primitive.traits, open_[0]):
        return None
    (i,) = open_
    zero, one = [
        int(primitive.kernel(np, *[np.int64(n if value is None else value) for value in values])) for n in (0, 1)
    ]
    return inputs[i], one - zero, zero


def whole_number(x: Any) -> int | None:
    """The value of an array, where it is a scalar integer."""
    return int(x) if isinstance(x, np.ndarray | np.generic) and x.ndim == 0 and x.dtype.kind in "iu" else None
