"""Half the sum of squares."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.dtypes import FLOATING, bfloat16, float16, float32
from ...core.operation import Operation, Tensor
from ...core.primitive import Primitive
from ...core.traits import IGNORES_ZEROS, Links, reduced_axes
from ...core.types import TensorType
from ...core.typing import TensorLike
from ..reduction.abstract import reduced_shape
from ..reduction.reduce import take_numbers


def l2_loss(t: TensorLike, name: str | None = None) -> Tensor:
    """`sum(t**2) / 2`.

    Shapes: any; the result is a scalar. Dtypes: floats.

    Derivative: dt = dy * t.

    Raises:
        TypeError: not floats.

    >>> import pullback as pb
    >>> pb.Session().run(pb.nn.l2_loss([1.0, 3.0]))
    np.float32(5.0)
    """
    return L2Loss()(take_numbers(t, "l2_loss", FLOATING), name=name)


class L2Loss(Primitive):
    traits = (IGNORES_ZEROS,)

    def infer(self, x: TensorType) -> tuple[TensorType, ...]:
        return (TensorType(x.dtype, reduced_shape(x.shape, None, False)),)

    def links(self, i: int, x: TensorType) -> Links | None:
        del i
        return reduced_axes(x.shape.rank, None, keepdims=False)

    def kernel(self, xp: Any, x: Any) -> Any:
        flat = (x.astype(float32) if x.dtype in (float16, bfloat16) else x).reshape(-1)
        return (xp.vdot(flat, flat) / 2).astype(x.dtype)

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        return (lambda: op.inputs[0] * dy,)
