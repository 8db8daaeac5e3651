"""Angles of complex numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ...core.dtypes import COMPLEX, FLOATING, real_dtype
from ...core.operation import Operation, Tensor
from ...core.primitive import ZERO, Primitive
from ...core.traits import ELEMENTWISE
from ...core.types import TensorType
from ...core.typing import TensorLike
from ..base.broadcasting import Entry, infer_elementwise, unary
from ..creation.fill import zeros_like
from ..elementwise.division import divide_no_nan
from .complex import complex as complex_number
from .complex import conj


def angle(input: TensorLike, name: str | None = None) -> Tensor:
    """The argument of each element, in (-pi, pi]; of a real number 0 or pi.

    Shapes: any. Dtypes: any float or complex; complex64 gives float32, complex128 float64. At 0 the derivative is 0.

    Derivative: dx = 1j * dy / conj(x) for complex x; 0 for real x.

    Raises:
        TypeError: another dtype.

    >>> import pullback as pb
    >>> pb.Session().run(pb.math.angle(1j))
    np.float64(1.5707...)
    """
    return unary(Angle(), input, name)


class Angle(Primitive):
    traits = (ELEMENTWISE,)
    function = "angle"
    dtypes = FLOATING | COMPLEX

    def infer(self, x: TensorType) -> tuple[TensorType, ...]:
        infer_elementwise(self, (x,))
        return (TensorType(real_dtype(x.dtype), x.shape),)

    def kernel(self, xp: Any, x: Any) -> Any:
        if x.dtype.kind == "c":
            return xp.arctan2(xp.imag(x), xp.real(x))
        return xp.multiply(x < 0, xp.asarray(math.pi, x.dtype))

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Entry]:
        """`i * dy * x / |x|^2`, which is `i * dy / conj(x)`; 0 at 0."""
        (x,) = op.inputs
        if x.dtype not in COMPLEX:
            return (ZERO,)
        return (lambda: divide_no_nan(complex_number(zeros_like(dy), dy), conj(x)),)
