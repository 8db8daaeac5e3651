"""Rows of a Jacobian: one derivative for each seed, stacked, a chunk of them at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..control_flow.loop import Loop
from ..core.dtypes import int32
from ..core.function import Parameter, trace
from ..core.graph import Tensor
from ..core.shape import TensorShape
from ..core.types import TensorType
from ..primitives.creation.constant import constant
from ..primitives.creation.one_hot import one_hot
from ..primitives.creation.ranges import range_
from ..primitives.shape.reshape import reshape, reshape_like
from ..primitives.shape.size import size


def rows_of(
    y: Tensor,
    pull: Callable[[Tensor], Sequence[Tensor | None]],
    batch_size: int | None,
    seeds: Tensor | None = None,
) -> list[Tensor | None]:
    """What `pull` returns for each unit cotangent of `y`, in the order of its elements, stacked along a new first axis.

    Of `seeds`, where they are there: what it returns for each of their rows. None where it returns None.
    """
    count = y.shape.num_elements()
    depth = size(y) if count is None else count
    found: list[bool] = []

    def unit(number: Tensor) -> Tensor:
        flat = one_hot(number, depth, dtype=y.dtype)
        return reshape(flat, y.shape.known) if y.shape.is_fully_defined() else reshape_like(flat, y)

    def row(given: Tensor) -> list[Tensor]:
        terms = pull(unit(given) if seeds is None else given)
        found[:] = [term is not None for term in terms]
        return [term for term in terms if term is not None]

    stacked = iter(map_rows(row, range_(depth) if seeds is None else seeds, batch_size))
    return [next(stacked) if there else None for there in found]


def map_rows(step: Callable[[Tensor], Sequence[Tensor]], rows: Tensor, batch_size: int | None) -> Sequence[Tensor]:
    """What `step` returns for each of `rows`, stacked; `batch_size` of them at once, None: as the engine likes."""
    shape = rows.shape[1:] if rows.shape.rank else TensorShape.SCALAR
    traced = trace(lambda row: step(row), [Parameter(TensorType(rows.dtype, shape))], "row", ["i"])
    results = traced.function.results
    if not results:
        return []
    length = rows.shape.size(0) if rows.shape.rank else None
    loop = Loop(traced.function, None, 0, scanned=1, stacked=len(results), length=length, at_once=batch_size or 0)
    count = size(rows) if length is None else constant(length, int32)
    outputs = loop.operation(count, rows, *traced.captured).outputs
    return outputs[1:]
