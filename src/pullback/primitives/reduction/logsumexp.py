"""Log-sum-exp along axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.contexts import in_graph_of_inputs
from ...core.dtypes import FLOATING, bfloat16, float16, float32
from ...core.operation import Operation, Tensor
from ...core.typing import AxisLike, TensorLike
from ..cumulative.logsumexp import ExpDifference
from ..elementwise.masking import multiply_no_nan
from .abstract import AbstractReduction
from .reduce import reduced
from .sum import keep_reduced


@in_graph_of_inputs
def reduce_logsumexp(
    input_tensor: TensorLike, axis: AxisLike | None = None, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """`log(sum(exp(x)))` along `axis` without overflow: an axis, a list of them, or None for all; of none it is -inf.

    The derivative by an element that is -inf is 0, by one that is inf 1.

    Shapes: any; the result lacks the axes, or with `keepdims` has length one there. Dtypes: floats.

    Derivative: dx = dy * exp(x - y).

    Raises:
        ValueError: an axis is out of range or stands twice. TypeError: not floats.

    >>> import pullback as pb
    >>> pb.Session().run(pb.reduce_logsumexp([0.0, 1000.0]))
    np.float32(1000.0)
    """
    return reduced(reduce_logsumexp, LogSumExp, FLOATING, input_tensor, axis, keepdims, name)


class LogSumExp(AbstractReduction):
    def kernel(self, xp: Any, x: Any) -> Any:
        dtype = x.dtype
        x = x.astype(float32) if dtype in (float16, bfloat16) else x
        top = xp.max(x, axis=self.axis, keepdims=True, initial=-xp.inf)
        top = xp.where(xp.isfinite(top), top, xp.zeros((), x.dtype))
        total = xp.log(xp.sum(xp.exp(x - top), axis=self.axis, keepdims=self.keepdims, dtype=x.dtype))
        return (total + top.reshape(total.shape)).astype(dtype)

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        (x,), (y,) = op.inputs, op.outputs

        def back() -> Tensor:
            weights = ExpDifference()(x, keep_reduced(y, x, self.axis, self.keepdims))
            return multiply_no_nan(weights, keep_reduced(dy, x, self.axis, self.keepdims))

        return (back,)
