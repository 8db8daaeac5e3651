"""Functions for the tests of passes, and what is said of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pullback as pb
from pullback.core.function import Function, Parameter, trace
from pullback.core.types import tensor_type

FLOAT = tensor_type(pb.float32, [3])


def traced(build: Callable[..., Sequence[Any]], count: int = 1, of: Any = FLOAT) -> Function:
    """What `build` makes of parameters `x`, `y`, `z`, as a function `f`."""
    return trace(build, [of] * count, "f", ["x", "y", "z"][:count]).function


def types(function: Function) -> list[str]:
    """The types of the operations in the graph of a function, parameters left out."""
    return [op.type for op in function.graph.operations if not isinstance(op.primitive, Parameter)]


def size(function: Function) -> int:
    """The number of operations of a function and of those inside it, constants left out."""
    own = [op for op in function.operations if op.type != "Const"]
    return len(own) + sum(size(f) for op in own for f in op.primitive.functions)
