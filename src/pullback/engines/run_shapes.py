"""Shape checking in a run: inference again, where lengths were unknown while the graph was built (note 34)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..core.dtypes import resource
from ..core.graph import Operation
from ..core.traits import ELEMENTWISE, SETTLES
from ..core.types import tensor_type
from ..primitives.base.broadcasting import AbstractElementwise
from .plan import Step

_MANY = 256
"""So many combinations of shapes are known to fit, before that is forgotten."""


def has_unknown_shapes(step: Step) -> bool:
    """Whether inference has not seen all lengths of the inputs, which a kernel may take as they come.

    One input whose elements count one by one may have any shape, and several that broadcast do so in the kernel too.
    """
    op, traits = step.op, step.op.primitive.traits
    if step.bodies or SETTLES in traits or type(op.primitive).infer is AbstractElementwise.infer:
        return False
    if len(op.inputs) == 1 and ELEMENTWISE in traits:
        return False
    is_read = len(step.inputs) == sum(x.dtype != resource for x in op.inputs)
    return is_read and not all(x.shape.is_fully_defined() for x in op.inputs)


def check_shapes(op: Operation, arrays: Sequence[Any]) -> None:
    """Raise what inference says of the shapes of `arrays`, all inputs of `op` but handles: ValueError or TypeError.

    What has no shape of numbers is not looked at: texts, rows of a loop that differ, what is exported for all lengths.
    """
    shapes = [getattr(array, "shape", None) for array in arrays]
    if not all(shape is not None and all(isinstance(n, int) for n in shape) for shape in shapes):
        return
    found = iter(shapes)
    op.primitive.infer(*[x.type if x.dtype == resource else tensor_type(x.dtype, next(found)) for x in op.inputs])


def with_checked_shapes(step: Step, fn: Callable[..., Any]) -> Callable[..., Any]:
    """`fn`, the kernel of a step, which first looks at shapes that it has not met.

    This is in the way of each run, so kernels of one and of two arrays get theirs without a list of them.
    """
    op = step.op
    met: set[Any] = set()

    def look(shapes: Any, *arrays: Any) -> None:
        check_shapes(op, arrays)
        if len(met) == _MANY:
            met.clear()
        met.add(shapes)

    def unary(x: Any) -> Any:
        shape = getattr(x, "shape", None)
        if shape not in met:
            look(shape, x)
        return fn(x)

    def binary(x: Any, y: Any) -> Any:
        shapes = getattr(x, "shape", None), getattr(y, "shape", None)
        if shapes not in met:
            look(shapes, x, y)
        return fn(x, y)

    def general(*arrays: Any) -> Any:
        shapes = tuple([getattr(x, "shape", None) for x in arrays])
        if shapes not in met:
            look(shapes, *arrays)
        return fn(*arrays)

    of: dict[int, Callable[..., Any]] = {1: unary, 2: binary}
    return of.get(len(step.inputs), general)
