"""Comparisons, element by element: yes or no. None has a derivative."""

from __future__ import annotations

from ...core.dtypes import FLOATING, INEXACT
from ...core.operation import Tensor
from ...core.traits import COMMUTES, COMPARES, ELEMENTWISE
from ...core.typing import TensorLike
from ..base.broadcasting import AbstractPredicate, binary, binary_kernel, unary, unary_kernel
from ..elementwise.arithmetic import REAL


def equal(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Whether `x` and `y` are equal, element by element; NaN equals nothing.

    Shapes: any that broadcast together. Dtypes: any, the same for both.

    Raises:
        TypeError: the dtypes differ. ValueError: the shapes do not broadcast.

    >>> import pullback as pb
    >>> pb.Session().run(pb.equal([1, 2], 2))
    array([False,  True])
    """
    return binary(Equal(), x, y, name)


class Equal(AbstractPredicate):
    traits = (ELEMENTWISE, COMPARES, COMMUTES)
    kernel = binary_kernel("equal")


def not_equal(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Whether `x` and `y` differ, element by element; NaN differs from everything.

    Shapes: any that broadcast together. Dtypes: any, the same for both.

    Raises:
        TypeError: the dtypes differ. ValueError: the shapes do not broadcast.

    >>> import pullback as pb
    >>> pb.Session().run(pb.not_equal([1, 2], 2))
    array([ True, False])
    """
    return binary(NotEqual(), x, y, name)


class NotEqual(AbstractPredicate):
    traits = (ELEMENTWISE, COMPARES, COMMUTES)
    function = "not_equal"
    kernel = binary_kernel("not_equal")


def less(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Whether `x < y`, element by element; no where either is NaN.

    Shapes: any that broadcast together. Dtypes: any integer or float, the same for both.

    Raises:
        TypeError: another dtype, or the dtypes differ. ValueError: the shapes do not broadcast.

    >>> import pullback as pb
    >>> pb.Session().run(pb.less([1, 2], 2))
    array([ True, False])
    """
    return binary(Less(), x, y, name)


class Less(AbstractPredicate):
    traits = (ELEMENTWISE, COMPARES)
    dtypes = REAL
    kernel = binary_kernel("less")


def less_equal(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Whether `x <= y`, element by element; no where either is NaN.

    Shapes: any that broadcast together. Dtypes: any integer or float, the same for both.

    Raises:
        TypeError: another dtype, or the dtypes differ. ValueError: the shapes do not broadcast.

    >>> import pullback as pb
    >>> pb.Session().run(pb.less_equal([1, 2, 3], 2))
    array([ True,  True, False])
    """
    return binary(LessEqual(), x, y, name)


class LessEqual(AbstractPredicate):
    traits = (ELEMENTWISE, COMPARES)
    function = "less_equal"
    dtypes = REAL
    kernel = binary_kernel("less_equal")


def greater(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Whether `x > y`, element by element; no where either is NaN.

    Shapes: any that broadcast together. Dtypes: any integer or float, the same for both.

    Raises:
        TypeError: another dtype, or the dtypes differ. ValueError: the shapes do not broadcast.

    >>> import pullback as pb
    >>> pb.Session().run(pb.greater([1, 2, 3], 2))
    array([False, False,  True])
    """
    return binary(Greater(), x, y, name)


class Greater(AbstractPredicate):
    traits = (ELEMENTWISE, COMPARES)
    dtypes = REAL
    kernel = binary_kernel("greater")


def greater_equal(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Whether `x >= y`, element by element; no where either is NaN.

    Shapes: any that broadcast together. Dtypes: any integer or float, the same for both.

    Raises:
        TypeError: another dtype, or the dtypes differ. ValueError: the shapes do not broadcast.

    >>> import pullback as pb
    >>> pb.Session().run(pb.greater_equal([1, 2, 3], 2))
    array([False,  True,  True])
    """
    return binary(GreaterEqual(), x, y, name)


class GreaterEqual(AbstractPredicate):
    traits = (ELEMENTWISE, COMPARES)
    function = "greater_equal"
    dtypes = REAL
    kernel = binary_kernel("greater_equal")


def is_nan(x: TensorLike, name: str | None = None) -> Tensor:
    """Whether each element is NaN.

    Shapes: any. Dtypes: any float or complex.

    Raises:
        TypeError: another dtype.

    >>> import pullback as pb
    >>> pb.Session().run(pb.math.is_nan([1.0, float("nan")]))
    array([False,  True])
    """
    return unary(IsNan(), x, name)


class IsNan(AbstractPredicate):
    function = "is_nan"
    dtypes = INEXACT
    kernel = unary_kernel("isnan")


def is_inf(x: TensorLike, name: str | None = None) -> Tensor:
    """Whether each element is infinite, of either sign.

    Shapes: any. Dtypes: any float.

    Raises:
        TypeError: another dtype.

    >>> import pullback as pb
    >>> pb.Session().run(pb.math.is_inf([1.0, -float("inf")]))
    array([False,  True])
    """
    return unary(IsInf(), x, name)


class IsInf(AbstractPredicate):
    function = "is_inf"
    dtypes = FLOATING
    kernel = unary_kernel("isinf")


def is_finite(x: TensorLike, name: str | None = None) -> Tensor:
    """Whether each element is neither infinite nor NaN.

    Shapes: any. Dtypes: any float.

    Raises:
        TypeError: another dtype.

    >>> import pullback as pb
    >>> pb.Session().run(pb.math.is_finite([1.0, float("inf"), float("nan")]))
    array([ True, False, False])
    """
    return unary(IsFinite(), x, name)


class IsFinite(AbstractPredicate):
    function = "is_finite"
    dtypes = FLOATING
    kernel = unary_kernel("isfinite")
