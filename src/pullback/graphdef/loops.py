"""Loops over values of any kind: what a step changes is carried, in the widest shapes that it gets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..control_flow.while_loop import while_loop
from ..core.errors import InvalidArgumentError
from ..core.graph import Tensor
from ..core.shape import TensorShape
from ..primitives.creation.constant import constant


class _Wider(Exception):
    """A step makes shapes that the loop was not told."""

    def __init__(self, shapes: list[TensorShape | None]) -> None:
        super().__init__()
        self.shapes = shapes


def looped(
    holds: Callable[[list[Any]], Tensor],
    step: Callable[[list[Any]], list[Any]],
    start: Sequence[Any],
    fixed: Sequence[bool],
) -> list[Any]:
    """What `start` becomes by steps while `holds` is true of it; those that are `fixed` stay as they are."""
    moving = [i for i, same in enumerate(fixed) if not same]
    start = [x if same else _made(x) for x, same in zip(start, fixed, strict=True)]

    def whole(values: Sequence[Any]) -> list[Any]:
        found = list(start)
        for i, value in zip(moving, values, strict=False):
            found[i] = value
        return found

    shapes = [start[i].shape if isinstance(start[i], Tensor) else None for i in moving]

    def body(*values: Any) -> list[Any]:
        made = step(whole(values))
        after = [_made(made[i]) for i in moving]
        wider = [_wider(x, y) for x, y in zip(shapes, after, strict=True)]
        if any(x is not None and x != y for x, y in zip(shapes, wider, strict=True)):
            raise _Wider(wider)
        return after or list(values)

    variables = [start[i] for i in moving] or [constant(0)]
    while True:
        invariants = shapes or [TensorShape.SCALAR]
        try:
            return whole(while_loop(lambda *values: holds(whole(values)), body, variables, invariants))
        except _Wider as found:
            shapes = found.shapes


def _made(x: Any) -> Any:
    """A constant for known texts; anything else as it is."""
    return constant(x) if isinstance(x, np.ndarray) else x


def _wider(shape: TensorShape | None, y: Any) -> TensorShape | None:
    if isinstance(y, Tensor) != (shape is not None):
        raise InvalidArgumentError("a step makes an array of a tensor, or a tensor of an array")
    return None if shape is None else shape.most_specific_compatible_shape(y.shape)
