"""Euclidean norms, and roots that have the derivative 0 at 0."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core import intervals
from ...core.contexts import in_graph_of_inputs
from ...core.dtypes import COMPLEX, FLOATING, INEXACT, INTEGER, bfloat16, float16, float32, float64
from ...core.intervals import Interval
from ...core.operation import Operation, Tensor
from ...core.traits import ELEMENTWISE, IGNORES_ZEROS, SINGULAR
from ...core.typing import AxisLike, TensorLike
from ..base.axes import as_axes, is_computed
from ..base.broadcasting import AbstractElementwise, Entry, in_float32
from ..casting.cast import cast
from ..elementwise.division import divide_no_nan
from .abstract import AbstractReduction
from .computed_axes import reduce_along
from .reduce import take_numbers
from .sum import keep_reduced


@in_graph_of_inputs
def euclidean_norm(
    input_tensor: TensorLike, axis: AxisLike | None = None, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """`sqrt(sum(abs(x)**2))` along `axis`: an axis, a list of them, or None for all. The derivative at 0 is 0.

    Shapes: any; the result lacks the axes, or with `keepdims` has length one there. Dtypes: any number; as
    in TensorFlow the norm of complex numbers is complex, that of integers an integer, rounded toward zero.

    Derivative: dx = dy * x / y, 0 where y is 0.

    Raises:
        ValueError: an axis is out of range or stands twice. TypeError: not floats.

    >>> import pullback as pb
    >>> pb.Session().run(pb.math.reduce_euclidean_norm([[3.0, 4.0], [0.0, 2.0]], axis=1))
    array([5., 2.], dtype=float32)
    """
    x = take_numbers(input_tensor, "reduce_euclidean_norm", INTEGER | INEXACT)
    if is_computed(axis):
        return reduce_along(euclidean_norm, x, axis, keepdims, name)
    norms = EuclideanNorm(as_axes(axis, x, "reduce_euclidean_norm"), bool(keepdims))
    if x.dtype not in FLOATING:
        return cast(norms(abs(x) if x.dtype in COMPLEX else cast(x, float64)), x.dtype, name=name)
    return norms(x, name=name)


class EuclideanNorm(AbstractReduction):
    traits = (IGNORES_ZEROS,)

    def kernel(self, xp: Any, x: Any) -> Any:
        dtype = x.dtype
        x = x.astype(float32) if dtype in (float16, bfloat16) else x
        total = xp.sum(x * x, axis=self.axis, keepdims=self.keepdims, dtype=x.dtype)
        return xp.sqrt(total).astype(dtype)

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        (x,), (y,) = op.inputs, op.outputs

        return (lambda: x * keep_reduced(divide_no_nan(dy, y), x, self.axis, self.keepdims),)

    def bounds(self, *xs: Interval) -> Interval:
        return intervals.total(intervals.absolute(xs[0]))


class Root(AbstractElementwise):
    """`x` to a power between 0 and 1, with derivative 0 at 0: there a norm has a kink, and 0 is among its slopes."""

    traits = (ELEMENTWISE, SINGULAR)
    dtypes = FLOATING

    exponent: float

    @in_float32
    def kernel(self, xp: Any, x: Any) -> Any:
        return xp.sqrt(x) if self.exponent == 0.5 else xp.power(x, self.exponent)

    def partials(self, dy: Tensor, y: Tensor, x: Tensor) -> Sequence[Entry]:
        if self.exponent == 0.5:
            return (lambda: divide_no_nan(dy * 0.5, y),)
        return (lambda: divide_no_nan(dy * y * self.exponent, x),)
