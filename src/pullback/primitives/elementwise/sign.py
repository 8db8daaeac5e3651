"""Absolute value and sign."""

from __future__ import annotations

from collections.abc import Sequence

from ...core import intervals
from ...core.dtypes import COMPLEX, real_dtype
from ...core.intervals import Interval
from ...core.operation import Operation, Tensor
from ...core.primitive import ZERO, Primitive
from ...core.traits import ELEMENTWISE
from ...core.types import TensorType
from ...core.typing import TensorLike
from ..base.broadcasting import AbstractElementwise, Entry, unary, unary_kernel
from ..casting.cast import cast
from ..complex.complex import complex, conj, imag
from ..creation.constant import convert_to_tensor
from ..creation.fill import zeros_like
from .arithmetic import NUMBERS, REAL
from .division import divide_no_nan


def absolute(x: TensorLike, name: str | None = None) -> Tensor:
    """The absolute value of each element; of a complex number its distance from 0, a real number.

    Shapes: any. Dtypes: any number. The derivative at 0 is 0.

    Derivative: dx = dy * sign(x).

    Raises:
        TypeError: another dtype.

    >>> import pullback as pb
    >>> pb.Session().run(pb.abs([-1.5, 2.0]))
    array([1.5, 2. ], dtype=float32)
    """
    x = convert_to_tensor(x)
    return unary(ComplexAbs() if x.dtype in COMPLEX else Abs(), x, name or "Abs")


class Abs(AbstractElementwise):
    dtypes = REAL
    kernel = unary_kernel("abs")

    def partials(self, dy: Tensor, y: Tensor, x: Tensor) -> Sequence[Entry]:
        del y
        return (lambda: dy * sign(x),)

    def bounds(self, *xs: Interval) -> Interval:
        return intervals.absolute(xs[0])


class ComplexAbs(Primitive):
    traits = (ELEMENTWISE,)

    def infer(self, x: TensorType) -> tuple[TensorType, ...]:
        return (TensorType(real_dtype(x.dtype), x.shape),)

    kernel = unary_kernel("abs")

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Entry]:
        (x,) = op.inputs
        return (lambda: cast(dy, x.dtype) * sign(x),)

    def bounds(self, *xs: Interval) -> Interval:
        return intervals.absolute(xs[0])


def sign(x: TensorLike, name: str | None = None) -> Tensor:
    """-1, 0 or 1, the sign of each element; of a complex number `x / abs(x)`, and 0 for 0.

    Shapes: any. Dtypes: any number. The derivative of a real sign is zeros.

    Derivative: 0; of complex x what of dy is across x, divided by |x|.

    Raises:
        TypeError: another dtype.

    >>> import pullback as pb
    >>> pb.Session().run(pb.sign([-1.5, 0.0, 2.0]))
    array([-1.,  0.,  1.], dtype=float32)
    """
    return unary(Sign(), x, name)


class Sign(AbstractElementwise):
    dtypes = NUMBERS
    kernel = unary_kernel("sign")

    def partials(self, dy: Tensor, y: Tensor, x: Tensor) -> Sequence[Entry]:
        """Complex: what of `dy` is across the direction of `x`, divided by the length of `x`."""
        if x.dtype not in COMPLEX:
            return (ZERO,)

        def across() -> Tensor:
            turn = imag(conj(y) * dy)
            return divide_no_nan(y * complex(zeros_like(turn), turn), cast(absolute(x), x.dtype))

        return (across,)
