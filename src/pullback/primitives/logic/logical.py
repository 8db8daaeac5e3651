"""Logical operations: and, or, not of truth values, element by element."""

from __future__ import annotations

from ...core.dtypes import DType
from ...core.dtypes import bool as bool_
from ...core.operation import Tensor
from ...core.traits import COMMUTES, ELEMENTWISE
from ...core.typing import TensorLike
from ..base.broadcasting import AbstractPredicate, binary, binary_kernel, unary, unary_kernel

BOOL: frozenset[DType] = frozenset([bool_])


def logical_and(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Whether both `x` and `y`, element by element.

    Shapes: any that broadcast together. Dtypes: bool.

    Raises:
        TypeError: another dtype. ValueError: the shapes do not broadcast.

    >>> import pullback as pb
    >>> pb.Session().run(pb.logical_and([True, False], True))
    array([ True, False])
    """
    return binary(LogicalAnd(), x, y, name)


class LogicalAnd(AbstractPredicate):
    traits = (ELEMENTWISE, COMMUTES)
    function = "logical_and"
    dtypes = BOOL
    kernel = binary_kernel("logical_and")


def logical_or(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Whether `x` or `y` or both, element by element.

    Shapes: any that broadcast together. Dtypes: bool.

    Raises:
        TypeError: another dtype. ValueError: the shapes do not broadcast.

    >>> import pullback as pb
    >>> pb.Session().run(pb.logical_or([True, False], False))
    array([ True, False])
    """
    return binary(LogicalOr(), x, y, name)


class LogicalOr(AbstractPredicate):
    traits = (ELEMENTWISE, COMMUTES)
    function = "logical_or"
    dtypes = BOOL
    kernel = binary_kernel("logical_or")


def logical_xor(x: TensorLike, y: TensorLike, name: str | None = "LogicalXor") -> Tensor:
    """Whether one of `x` and `y` but not both, element by element.

    Shapes: any that broadcast together. Dtypes: bool.

    Raises:
        TypeError: another dtype. ValueError: the shapes do not broadcast.

    >>> import pullback as pb
    >>> pb.Session().run(pb.math.logical_xor([True, False], True))
    array([False,  True])
    """
    return binary(LogicalXor(), x, y, name)


class LogicalXor(AbstractPredicate):
    traits = (ELEMENTWISE, COMMUTES)
    function = "logical_xor"
    dtypes = BOOL
    kernel = binary_kernel("logical_xor")


def logical_not(x: TensorLike, name: str | None = None) -> Tensor:
    """Whether not `x`, element by element.

    Shapes: any. Dtypes: bool.

    Raises:
        TypeError: another dtype.

    >>> import pullback as pb
    >>> pb.Session().run(pb.logical_not([True, False]))
    array([False,  True])
    """
    return unary(LogicalNot(), x, name)


class LogicalNot(AbstractPredicate):
    function = "logical_not"
    dtypes = BOOL
    kernel = unary_kernel("logical_not")
