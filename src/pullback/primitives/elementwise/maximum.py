"""Maximum, minimum and clipping, element by element. NaN in either input gives NaN."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from ...core import intervals
from ...core.intervals import Interval
from ...core.operation import Tensor
from ...core.traits import COMMUTES, ELEMENTWISE
from ...core.typing import TensorLike
from ..base.broadcasting import AbstractElementwise, Entry, binary, binary_kernel
from ..logic.comparison import greater_equal, less_equal
from .arithmetic import REAL
from .masking import mask


def maximum(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """The larger of `x` and `y`, element by element.

    Shapes: any that broadcast together. Dtypes: any integer or float, the same for both. Where they are equal the
    derivative is all by `x`.

    Derivative: dx = dz where x >= y, dy = dz where x < y.

    Raises:
        TypeError: another dtype, or the dtypes differ. ValueError: the shapes do not broadcast.

    >>> import pullback as pb
    >>> pb.Session().run(pb.maximum([1.0, 3.0], 2.0))
    array([2., 3.], dtype=float32)
    """
    return binary(Maximum(), x, y, name)


class Maximum(AbstractElementwise):
    traits = (ELEMENTWISE, COMMUTES)
    dtypes = REAL
    kernel = binary_kernel("maximum")

    def partials(self, dy: Tensor, y: Tensor, a: Tensor, b: Tensor) -> Sequence[Entry]:
        del y
        first = cache(lambda: greater_equal(a, b))
        return lambda: mask(first(), dy), lambda: mask(first(), dy, keep=False)

    def bounds(self, *xs: Interval) -> Interval:
        return intervals.maximum(*xs)


def minimum(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """The smaller of `x` and `y`, element by element.

    Shapes: any that broadcast together. Dtypes: any integer or float, the same for both. Where they are equal the
    derivative is all by `x`.

    Derivative: dx = dz where x <= y, dy = dz where x > y.

    Raises:
        TypeError: another dtype, or the dtypes differ. ValueError: the shapes do not broadcast.

    >>> import pullback as pb
    >>> pb.Session().run(pb.minimum([1.0, 3.0], 2.0))
    array([1., 2.], dtype=float32)
    """
    return binary(Minimum(), x, y, name)


class Minimum(AbstractElementwise):
    traits = (ELEMENTWISE, COMMUTES)
    dtypes = REAL
    kernel = binary_kernel("minimum")

    def partials(self, dy: Tensor, y: Tensor, a: Tensor, b: Tensor) -> Sequence[Entry]:
        del y
        first = cache(lambda: less_equal(a, b))
        return lambda: mask(first(), dy), lambda: mask(first(), dy, keep=False)

    def bounds(self, *xs: Interval) -> Interval:
        return intervals.minimum(*xs)
