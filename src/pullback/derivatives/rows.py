"""Rows of a Jacobian: one derivative for each element of a tensor, stacked, a chunk of them at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..control_flow.loop import Loop
from ..core.function import Parameter, trace
from ..core.graph import Tensor
from ..core.shape import TensorShape
from ..core.types import TensorType
from ..primitives.creation.one_hot import one_hot
from ..primitives.creation.ranges import range_
from ..primitives.shape.reshape import reshape, reshape_like
from ..primitives.shape.size import size


def rows_of(
    y: Tensor, pull: Callable[[Tensor], Sequence[Tensor | None]], batch_size: int | None
) -> list[Tensor | None]:
    """What `pull` returns for each unit cotangent of `y`, in the order of its elements, stacked along a new first axis.

    None where it returns None.
    """
    count = y.shape.num_elements()
    depth = size(y) if count is None else count
    found: list[bool] = []

    def row(number: Tensor) -> list[Tensor]:
        unit = one_hot(number, depth, dtype=y.dtype)
        terms = pull(reshape(unit, y.shape.known) if y.shape.is_fully_defined() else reshape_like(unit, y))
        found[:] = [term is not None for term in terms]
        return [term for term in terms if term is not None]

    stacked = iter(map_rows(row, range_(depth), batch_size))
    return [next(stacked) if there else None for there in found]


def map_rows(step: Callable[[Tensor], Sequence[Tensor]], numbers: Tensor, batch_size: int | None) -> Sequence[Tensor]:
    """What `step` returns for each of `numbers`, stacked; `batch_size` of them at once, None: as the engine likes."""
    traced = trace(
        lambda number: step(number), [Parameter(TensorType(numbers.dtype, TensorShape.SCALAR))], "row", ["i"]
    )
    results = traced.function.results
    if not results:
        return []
    length = numbers.shape.size(0) if numbers.shape.rank else None
    loop = Loop(traced.function, None, 0, scanned=1, stacked=len(results), length=length, at_once=batch_size or 0)
    outputs = loop.operation(size(numbers), numbers, *traced.captured).outputs
    return outputs[1:]
