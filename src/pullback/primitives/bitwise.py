"""Bitwise operations on integers, element by element."""

from __future__ import annotations

from ..core.dtypes import INTEGER
from ..core.operation import Tensor
from ..core.primitive import no_gradient
from ..core.traits import COMMUTES, ELEMENTWISE
from ..core.typing import TensorLike
from .base.broadcasting import AbstractElementwise, binary, binary_kernel, unary, unary_kernel


def bitwise_and(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """The bits set in both `x` and `y`.

    Shapes: any that broadcast together. Dtypes: any integer, the same for both.

    Raises:
        TypeError: another dtype, or the dtypes differ. ValueError: the shapes do not broadcast.

    >>> import pullback as pb
    >>> pb.Session().run(pb.bitwise.bitwise_and([12, 10], 6))
    array([4, 2], dtype=int32)
    """
    return binary(BitwiseAnd(), x, y, name)


class BitwiseAnd(AbstractElementwise):
    traits = (ELEMENTWISE, COMMUTES)
    function = "bitwise_and"
    dtypes = INTEGER
    kernel = binary_kernel("bitwise_and")
    gradient = no_gradient


def bitwise_or(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """The bits set in `x` or `y` or both.

    Shapes: any that broadcast together. Dtypes: any integer, the same for both.

    Raises:
        TypeError: another dtype, or the dtypes differ. ValueError: the shapes do not broadcast.

    >>> import pullback as pb
    >>> pb.Session().run(pb.bitwise.bitwise_or([12, 10], 6))
    array([14, 14], dtype=int32)
    """
    return binary(BitwiseOr(), x, y, name)


class BitwiseOr(AbstractElementwise):
    traits = (ELEMENTWISE, COMMUTES)
    function = "bitwise_or"
    dtypes = INTEGER
    kernel = binary_kernel("bitwise_or")
    gradient = no_gradient


def bitwise_xor(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """The bits set in one of `x` and `y` but not both.

    Shapes: any that broadcast together. Dtypes: any integer, the same for both.

    Raises:
        TypeError: another dtype, or the dtypes differ. ValueError: the shapes do not broadcast.

    >>> import pullback as pb
    >>> pb.Session().run(pb.bitwise.bitwise_xor([12, 10], 6))
    array([10, 12], dtype=int32)
    """
    return binary(BitwiseXor(), x, y, name)


class BitwiseXor(AbstractElementwise):
    traits = (ELEMENTWISE, COMMUTES)
    function = "bitwise_xor"
    dtypes = INTEGER
    kernel = binary_kernel("bitwise_xor")
    gradient = no_gradient


def invert(x: TensorLike, name: str | None = None) -> Tensor:
    """Each bit of `x` the other way.

    Shapes: any. Dtypes: any integer.

    Raises:
        TypeError: another dtype.

    >>> import pullback as pb
    >>> pb.Session().run(pb.bitwise.invert([0, 5]))
    array([-1, -6], dtype=int32)
    """
    return unary(Invert(), x, name)


class Invert(AbstractElementwise):
    dtypes = INTEGER
    kernel = unary_kernel("invert")
    gradient = no_gradient


def left_shift(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """`x` with its bits moved `y` places to the left; 0 where `y` is negative or at least the width of the dtype.

    Shapes: any that broadcast together. Dtypes: any integer, the same for both.

    Raises:
        TypeError: another dtype, or the dtypes differ. ValueError: the shapes do not broadcast.

    >>> import pullback as pb
    >>> pb.Session().run(pb.bitwise.left_shift([1, 1, 1], [0, 3, 40]))
    array([1, 8, 0], dtype=int32)
    """
    return binary(LeftShift(), x, y, name)


class LeftShift(AbstractElementwise):
    function = "left_shift"
    dtypes = INTEGER
    kernel = binary_kernel("left_shift")
    gradient = no_gradient


def right_shift(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """`x` with its bits moved `y` places to the right, filled with the sign bit where the dtype has one.

    Only the sign is left (0 or -1) where `y` is negative or at least the width of the dtype.

    Shapes: any that broadcast together. Dtypes: any integer, the same for both.

    Raises:
        TypeError: another dtype, or the dtypes differ. ValueError: the shapes do not broadcast.

    >>> import pullback as pb
    >>> pb.Session().run(pb.bitwise.right_shift([8, -8, -8], [1, 1, 40]))
    array([ 4, -4, -1], dtype=int32)
    """
    return binary(RightShift(), x, y, name)


class RightShift(AbstractElementwise):
    function = "right_shift"
    dtypes = INTEGER
    kernel = binary_kernel("right_shift")
    gradient = no_gradient
