"""Next representable number (nextafter), as the dtype has them."""

from __future__ import annotations

from collections.abc import Sequence

from ...core.dtypes import float32, float64
from ...core.operation import Tensor
from ...core.primitive import ZERO
from ...core.typing import TensorLike
from ..base.broadcasting import AbstractElementwise, Entry, binary, binary_kernel


def nextafter(x1: TensorLike, x2: TensorLike, name: str | None = None) -> Tensor:
    """The number next to `x1` towards `x2`, element by element; `x2` where they are equal.

    The derivative by `x1` is 1, that by `x2` is 0.

    Shapes: any that broadcast together. Dtypes: float32 or float64, the same for both.

    Derivative: dx1 = dy; dx2 = 0.

    Raises:
        TypeError: another dtype, or the dtypes differ. ValueError: the shapes do not broadcast.

    >>> import pullback as pb
    >>> pb.Session().run(pb.math.nextafter(1.0, 2.0) - 1.0)
    np.float32(1.1920929e-07)
    """
    return binary(NextAfter(), x1, x2, name)


class NextAfter(AbstractElementwise):
    dtypes = frozenset([float32, float64])
    kernel = binary_kernel("nextafter")

    def partials(self, dy: Tensor, y: Tensor, a: Tensor, b: Tensor) -> Sequence[Entry]:
        del y, a, b
        return dy, ZERO
