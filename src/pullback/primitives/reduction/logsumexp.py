"""Log-sum-exp along axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.contexts import in_graph_of_inputs
from ...core.dtypes import FLOATING
from ...core.intervals import UNIT, Interval
from ...core.operation import Operation, Tensor
from ...core.primitive import Primitive, same_type
from ...core.traits import Links, all_axes_but
from ...core.types import TensorType
from ...core.typing import AxisLike, TensorLike
from ..base.broadcasting import in_float32
from ..elementwise.masking import MaskedMul, multiply_no_nan
from .abstract import AbstractReduction, Axes
from .reduce import reduced
from .sum import Sum, keep_reduced


@in_graph_of_inputs
def reduce_logsumexp(
    input_tensor: TensorLike, axis: AxisLike | None = None, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """`log(sum(exp(x)))` along `axis` without overflow: an axis, a list of them, or None for all; of none it is -inf.

    The derivative by an element that is -inf is 0, by one that is inf 1.

    Shapes: any; the result lacks the axes, or with `keepdims` has length one there. Dtypes: floats.

    Derivative: dx = dy * exp(x) / sum(exp(x)).

    Raises:
        ValueError: an axis is out of range or stands twice. TypeError: not floats.

    >>> import pullback as pb
    >>> pb.Session().run(pb.reduce_logsumexp([0.0, 1000.0]))
    np.float32(1000.0)
    """
    return reduced(reduce_logsumexp, LogSumExp, FLOATING, input_tensor, axis, keepdims, name)


class LogSumExp(AbstractReduction):
    @in_float32
    def kernel(self, xp: Any, x: Any) -> Any:
        top, _, total = _exponentials(xp, x, self.axis)
        result = xp.log(total) + top
        return result if self.keepdims else xp.squeeze(result, self.axis)

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        (x,) = op.inputs
        return (lambda: multiply_no_nan(LogSumExpShares(self.axis)(x), keep_reduced(dy, x, self.axis, self.keepdims)),)


class LogSumExpShares(Primitive):
    """`exp(x) / sum(exp(x))` along axes; 0 of elements that are -inf, 1 of those that are inf.

    From the elements and not by `exp(x - y)`, as the result `y` of the reduction is as inexact as its last digit.
    """

    axis: Axes = None

    infer = same_type

    def links(self, i: int, x: TensorType) -> Links | None:
        del i
        rank = x.shape.rank
        return all_axes_but(rank, *(range(rank or 0) if self.axis is None else self.axis))

    @in_float32
    def kernel(self, xp: Any, x: Any) -> Any:
        _, e, total = _exponentials(xp, x, self.axis)
        if xp is np and total.all() and np.isfinite(total).all():
            return np.divide(e, total, out=e)
        one = xp.ones((), x.dtype)
        return xp.where(e == np.inf, one, e / xp.where(total == 0, one, total))

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        (y,) = op.outputs

        def back() -> Tensor:
            products = MaskedMul()(y, dy)
            return products - MaskedMul()(y, Sum(self.axis, keepdims=True)(products))

        return (back,)

    def bounds(self, *xs: Interval) -> Interval:
        return UNIT._replace(nan=xs[0].nan)


def _exponentials(xp: Any, x: Any, axis: Axes) -> tuple[Any, Any, Any]:
    """The largest element along `axis`, `exp` of the elements less that, and its sum; lengths of one stay.

    The largest is finite, so that `exp` is 0 of -inf, and inf of inf alone, where a softmax is NaN.
    """
    most = np.finfo(x.dtype).max
    top = xp.clip(xp.max(x, axis=axis, keepdims=True, initial=-np.inf), -most, most)
    lower = xp.asarray(x - top)
    e = np.exp(lower, out=lower) if xp is np else xp.exp(lower)
    return top, e, xp.sum(e, axis=axis, keepdims=True, dtype=x.dtype)
