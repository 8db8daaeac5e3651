"""Cumulative log-sum-exp, and the weights that its derivatives are made of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.contexts import in_graph_of_inputs
from ...core.dtypes import FLOATING, bfloat16, float16, float32, float64
from ...core.intervals import ANY, POSITIVE, Interval
from ...core.operation import Operation, Tensor
from ...core.primitive import Primitive, same_type
from ...core.traits import Links, bounds_by_traits
from ...core.types import TensorType
from ...core.typing import AxisLike, TensorLike
from ..base.broadcasting import AbstractElementwise, Entry, in_float32
from ..casting.cast import cast
from ..elementwise.masking import multiply_no_nan
from ..reduction.reduce import take_numbers
from .cumsum import Recurrence, Shift, running_axes, scanned, shifted


@in_graph_of_inputs
def cumulative_logsumexp(
    x: TensorLike, axis: AxisLike = 0, exclusive: bool = False, reverse: bool = False, name: str | None = None
) -> Tensor:
    """The running `log(sum(exp(x)))` along `axis`, without overflow: entry i is that of the elements up to i.

    With `exclusive` of those before i, of which there are none for the first: -inf. With `reverse` from the end.

    Shapes: any of rank at least 1; the result has the same; a run may compute `axis`, a scalar.
    Dtypes: floats.

    Derivative: dx_i = sum over the later j of dy_j * exp(x_i - y_j).

    Raises:
        InvalidArgumentError: the axis is out of range. TypeError: not floats.

    >>> import pullback as pb
    >>> pb.Session().run(pb.math.cumulative_logsumexp([0.0, 0.0]))
    array([0.       , 0.6931...], dtype=float32)
    """
    tensor = take_numbers(x, "cumulative_logsumexp", FLOATING)
    return scanned(
        lambda place: CumulativeLogsumexp(place, bool(exclusive), bool(reverse)),
        tensor,
        axis,
        "cumulative_logsumexp",
        name,
    )


class CumulativeLogsumexp(Primitive):
    axis: int
    exclusive: bool = False
    reverse: bool = False

    infer = same_type

    def links(self, i: int, x: TensorType) -> Links | None:
        del i
        return running_axes(x.shape.rank, self.axis, self.exclusive, self.reverse)

    def kernel(self, xp: Any, x: Any) -> Any:
        """With NumPy; XLA has a function of its own for `running`.

        In float64: where what is added is smaller than the last digit of the sum, the sum would stay as it is.
        """
        return self.computed(xp, x, lambda z: np.logaddexp.accumulate(z.astype(float64), axis=self.axis))

    def computed(self, xp: Any, x: Any, running: Any) -> Any:
        """The result by `running`, the inclusive form from the front."""
        z = x.astype(float32) if x.dtype in (float16, bfloat16) else x
        if self.reverse:
            z = xp.flip(z, self.axis)
        if self.exclusive:
            z = shifted(xp, z, self.axis, -np.inf)
        y = running(z).astype(x.dtype)
        return xp.flip(y, self.axis) if self.reverse else y

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        return (lambda: self._back(dy, op),)

    def _back(self, dy: Tensor, op: Operation) -> Tensor:
        """`s[i] = dy[i] + s[i+1] * exp(y[i] - y[i+1])`, times `exp(x - y)`: no exponent is above 0.

        Of 16-bit floats with results in float32, as exponents are as inexact as the last digit of a result.
        """
        (x,), (y,) = op.inputs, op.outputs
        if x.dtype in (float16, bfloat16):
            x, dy = cast(x, float32), cast(dy, float32)
            return cast(self._back(dy, self(x).op), y.dtype)
        after = Shift(self.axis, not self.reverse, np.inf)(y)
        sums = Recurrence(self.axis, not self.reverse)(ExpDifference()(y, after), dy)
        if self.exclusive:
            return multiply_no_nan(ExpDifference()(x, after), Shift(self.axis, not self.reverse)(sums))
        return multiply_no_nan(ExpDifference()(x, y), sums)

    def bounds(self, *xs: Interval) -> Interval:
        return ANY if self.exclusive else bounds_by_traits(self.traits, xs)


class ExpDifference(AbstractElementwise):
    """`exp(x - y)` of `x` that are not larger than `y`.

    Where both are infinite it is 1 for inf and 0 for -inf, so that infinite elements have derivatives.
    """

    dtypes = FLOATING

    @in_float32
    def kernel(self, xp: Any, x: Any, y: Any) -> Any:
        tie = xp.where(y == -np.inf, 0.0, 1.0).astype(y.dtype)
        return xp.where(x == y, tie, xp.exp(xp.subtract(x, y)))

    def partials(self, dy: Tensor, out: Tensor, x: Tensor, y: Tensor) -> Sequence[Entry]:
        del x, y
        return lambda: multiply_no_nan(out, dy), lambda: -multiply_no_nan(out, dy)

    def bounds(self, *xs: Interval) -> Interval:
        return POSITIVE._replace(nan=any(x.nan for x in xs))
