"""Products along axes, with derivatives that are exact where elements are 0."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.contexts import in_graph_of_inputs
from ...core.dtypes import bfloat16, float16, float32
from ...core.operation import Operation, Tensor
from ...core.typing import AxisLike, TensorLike
from ..complex.complex import conj
from ..cumulative.cumsum import Cumprod
from ..shape.reshape import reshape, reshape_like
from .abstract import AbstractReduction
from .reduce import NUMBERS, reduced
from .sum import keep_reduced


@in_graph_of_inputs
def reduce_prod(
    input_tensor: TensorLike, axis: AxisLike | None = None, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """The product of the elements along `axis`: an axis, a list of them, or None for all; of none it is 1.

    The derivatives are exact where elements are 0.

    Shapes: any; the result lacks the axes, or with `keepdims` has length one there. Dtypes: any number.

    Derivative: dx_i = dy * (product of the other x), exact where some are 0.

    Raises:
        ValueError: an axis is out of range or stands twice. TypeError: not numbers.

    >>> import pullback as pb
    >>> x = pb.constant([2.0, 0.0, 4.0])
    >>> dx, = pb.gradients(pb.reduce_prod(x), x)
    >>> pb.Session().run(dx)
    array([0., 8., 0.], dtype=float32)
    """
    return reduced(reduce_prod, Prod, NUMBERS, input_tensor, axis, keepdims, name)


class Prod(AbstractReduction):
    def kernel(self, xp: Any, x: Any) -> Any:
        wide = float32 if x.dtype in (float16, bfloat16) else x.dtype
        return xp.prod(x, axis=self.axis, keepdims=self.keepdims, dtype=wide).astype(x.dtype)

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        (x,) = op.inputs
        if self.axis is None:
            return (lambda: _all_back(dy, x),)
        axes = self.axis
        return (lambda: _axes_back(keep_reduced(dy, x, axes, self.keepdims), x, axes),)


def _all_back(dy: Tensor, x: Tensor) -> Tensor:
    flat = x if x.shape.rank == 1 else reshape(x, [-1])
    dy = dy if dy.shape.rank == 0 else reshape(dy, [])
    return reshape_like(dy * _product_of_others(flat, 0), x)


def _axes_back(dy: Tensor, x: Tensor, axes: tuple[int, ...]) -> Tensor:
    """One axis after the other: the cotangent times the product of the other elements along it."""
    stages: list[Tensor] = []
    for axis in axes:
        stages.append(x)
        x = Prod((axis,), keepdims=True)(x) if axis != axes[-1] else x
    for stage, axis in zip(reversed(stages), reversed(axes), strict=True):
        dy = dy * _product_of_others(stage, axis)
    return dy


def _product_of_others(x: Tensor, axis: int) -> Tensor:
    """For each element the (conjugate) product of the others along `axis`."""
    return conj(Cumprod(axis, True)(x) * Cumprod(axis, True, True)(x))
