"""How many steps a loop makes whose condition compares a counter with a known number."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from ..core.dtypes import INTEGER
from ..core.graph import Tensor
from ..primitives.arithmetic import Add, Sub
from ..primitives.comparison import Greater, GreaterEqual, Less, LessEqual
from ..primitives.logic import LogicalAnd

_COMPARISONS = (Less, LessEqual, Greater, GreaterEqual)


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
    if not isinstance(primitive, _COMPARISONS) or comparison.op.inputs[0].dtype not in INTEGER:
        return None
    a, b = comparison.op.inputs
    upward = isinstance(primitive, Less | LessEqual)
    i, end = loop.carried(a), loop.known(b)
    if i is None:
        i, end, upward = loop.carried(b), loop.known(a), not upward
    if i is None or end is None:
        return None
    step, start = increment(loop, i), loop.first(i)
    if not step or start is None or (step > 0) != upward:
        return None
    span = (end - start if upward else start - end) + isinstance(primitive, LessEqual | GreaterEqual)
    info = np.iinfo(comparison.op.inputs[0].dtype)
    if not info.min <= end + step + (1 if upward else -1) <= info.max:
        return None
    return max(-(-span // abs(step)), 0)


def increment(loop: Counted, i: int) -> int | None:
    """What a step adds to the carried member of that number."""
    y = loop.end(i)
    primitive, inputs = y.op.primitive, y.op.inputs
    if not isinstance(primitive, Add | Sub):
        return None
    if loop.carried(inputs[0]) == i:
        by = loop.known(inputs[1])
        return -by if by is not None and isinstance(primitive, Sub) else by
    turned = isinstance(primitive, Add) and loop.carried(inputs[1]) == i
    return loop.known(inputs[0]) if turned else None


def whole_number(x: Any) -> int | None:
    """The value of an array, where it is a scalar integer."""
    return int(x) if isinstance(x, np.ndarray | np.generic) and x.ndim == 0 and x.dtype.kind in "iu" else None
