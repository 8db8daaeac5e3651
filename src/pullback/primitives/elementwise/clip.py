"""Clipping to an interval, element by element."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, overload

from ...core import intervals
from ...core.contexts import in_graph_of_inputs
from ...core.intervals import Interval
from ...core.operation import Tensor
from ...core.slices import IndexedSlices
from ...core.typing import TensorLike
from ..base.broadcasting import AbstractElementwise, Entry, operands
from ..logic.comparison import equal, greater, greater_equal, less, not_equal
from ..logic.logical import logical_and
from .arithmetic import REAL
from .masking import mask
from .maximum import minimum


@overload
def clip_by_value(  # type: ignore[overload-overlap]
    t: IndexedSlices, clip_value_min: TensorLike, clip_value_max: TensorLike, name: str | None = None
) -> IndexedSlices: ...


@overload
def clip_by_value(
    t: TensorLike, clip_value_min: TensorLike, clip_value_max: TensorLike, name: str | None = None
) -> Tensor: ...


@in_graph_of_inputs
def clip_by_value(
    t: TensorLike, clip_value_min: TensorLike, clip_value_max: TensorLike, name: str | None = None
) -> Tensor | IndexedSlices:
    """`t` with what is below `clip_value_min` or above `clip_value_max` replaced by it; of IndexedSlices, slices.

    Where `clip_value_min` is the larger bound it is the result.

    Shapes: bounds that broadcast to the shape of `t`. Dtypes: any integer or float, the same for all. On the bounds the
    derivative is by `t`, beyond them by the bound.

    Derivative: dt = dy where clip_value_min <= t <= clip_value_max, else 0; each bound gets the sum of dy beyond it.

    Raises:
        TypeError: another dtype, or the dtypes differ. ValueError: the shapes do not broadcast to that of `t`.

    >>> import pullback as pb
    >>> pb.Session().run(pb.clip_by_value([1.0, 2.0, 5.0], 1.5, 3.0))
    array([1.5, 2. , 3. ], dtype=float32)
    """
    name = name or "clip_by_value"
    values = t.values if isinstance(t, IndexedSlices) else t
    x, low, high = operands(values, clip_value_min, clip_value_max)
    clipped = ClipByValue()(x, low, high, name=name)
    if not clipped.shape.is_compatible_with(x.shape):
        raise ValueError(f"clip_by_value: the bounds {low} and {high} do not broadcast to {x}")
    return IndexedSlices(clipped, t.indices, t.dense_shape, t.static_shape) if isinstance(t, IndexedSlices) else clipped


class ClipByValue(AbstractElementwise):
    function = "clip_by_value"
    dtypes = REAL

    def kernel(self, xp: Any, x: Any, low: Any, high: Any) -> Any:
        return xp.maximum(xp.minimum(x, high), low)

    def partials(self, dy: Tensor, y: Tensor, x: Tensor, low: Tensor, high: Tensor) -> Sequence[Entry]:
        return (
            lambda: mask(equal(x, y), dy),
            lambda: mask(logical_and(less(minimum(x, high), low), not_equal(x, y)), dy),
            lambda: mask(logical_and(greater(x, high), greater_equal(high, low)), dy),
        )

    def bounds(self, *xs: Interval) -> Interval:
        return intervals.maximum(intervals.minimum(xs[0], xs[2]), xs[1])
