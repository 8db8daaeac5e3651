"""Reductions along axes that only a run knows: those of the rows of a matrix, whose columns are these axes as one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...core.dtypes import INTEGER, int32
from ...core.operation import Tensor
from ..casting.cast import cast
from ..creation.constant import convert_to_tensor


def reduce_along(
    reduction: Callable[[Tensor, int], Tensor], x: Tensor, axis: Any, keepdims: bool | None, name: str | None
) -> Tensor:
    """`reduction`, a function of a tensor and one axis, of `x` along the computed `axis`, an integer or a vector."""
    # These are made of reductions themselves.
    from ..creation.ranges import range_
    from ..debugging.assertions import assert_
    from ..indexing.gather import boolean_mask
    from ..indexing.where import where
    from ..logic.comparison import equal
    from ..logic.logical import logical_not
    from ..shape.reshape import reshape
    from ..shape.size import shape, size
    from ..shape.stacking import concat
    from ..shape.transpose import transpose
    from .product import reduce_prod
    from .reduce import reduce_all, reduce_any, reduce_sum

    axes = convert_to_tensor(axis)
    if axes.dtype not in INTEGER:
        raise TypeError(f"a reduction along axes: they must be integers, not {axes}")
    with x.graph.acting.within(name or "reduce") as scope:
        lengths = shape(x)
        rank, numbers = size(lengths), reshape(cast(axes, int32), [-1])
        places, chosen = range_(rank), where(numbers < 0, numbers + rank, numbers)
        gone = reduce_any(equal(reshape(chosen, [-1, 1]), places), 0)
        fits = reduce_all((chosen >= 0) & (chosen < rank))
        once = equal(reduce_sum(cast(gone, int32)), size(numbers))
        checks = [
            assert_(fits, ["there are no axes", axes, "of", lengths], 8),
            assert_(logical_not(fits) | once, ["a reduction: an axis stands twice in", axes], 8),
        ]
        with x.graph.acting.control_dependencies(checks):
            kept = logical_not(gone)
        columns = transpose(x, concat([boolean_mask(places, kept), boolean_mask(places, gone)], 0))
        matrix = [reduce_prod(where(part, lengths, 1)) for part in (kept, gone)]
        left = where(gone, 1, lengths) if keepdims else boolean_mask(lengths, kept)
        return reshape(reduction(reshape(columns, matrix), 1), left, name=scope)
