"""Rounding: floor, ceil, round. All of it is constant almost everywhere: no derivative."""

from __future__ import annotations

from typing import Any

from ...core.dtypes import FLOATING
from ...core.operation import Tensor
from ...core.primitive import no_gradient
from ...core.typing import TensorLike
from ..base.broadcasting import AbstractElementwise, unary, unary_kernel
from .arithmetic import REAL


def floor(x: TensorLike, name: str | None = None) -> Tensor:
    """The largest whole number that is not above each element.

    Shapes: any. Dtypes: any float.

    Derivative: none: constant between jumps.

    Raises:
        TypeError: another dtype.

    >>> import pullback as pb
    >>> pb.Session().run(pb.floor([-1.5, 1.5]))
    array([-2.,  1.], dtype=float32)
    """
    return unary(Floor(), x, name)


class Floor(AbstractElementwise):
    dtypes = FLOATING
    kernel = unary_kernel("floor")
    gradient = no_gradient


def ceil(x: TensorLike, name: str | None = None) -> Tensor:
    """The smallest whole number that is not below each element.

    Shapes: any. Dtypes: any float.

    Derivative: none: constant between jumps.

    Raises:
        TypeError: another dtype.

    >>> import pullback as pb
    >>> pb.Session().run(pb.math.ceil([-1.5, 1.5]))
    array([-1.,  2.], dtype=float32)
    """
    return unary(Ceil(), x, name)


class Ceil(AbstractElementwise):
    dtypes = FLOATING
    kernel = unary_kernel("ceil")
    gradient = no_gradient


def round(x: TensorLike, name: str | None = None) -> Tensor:
    """The whole number nearest to each element, the even one of two; an integer is itself.

    Shapes: any. Dtypes: any integer or float.

    Derivative: none: constant between jumps.

    Raises:
        TypeError: another dtype.

    >>> import pullback as pb
    >>> pb.Session().run(pb.round([0.5, 1.5, 2.6]))
    array([0., 2., 3.], dtype=float32)
    """
    return unary(Round(), x, name)


class Round(AbstractElementwise):
    dtypes = REAL

    def kernel(self, xp: Any, x: Any) -> Any:
        return xp.rint(x) if x.dtype in FLOATING else x

    gradient = no_gradient


def rint(x: TensorLike, name: str | None = None) -> Tensor:
    """The whole number nearest to each element, the even one of two.

    Shapes: any. Dtypes: any float.

    Derivative: none: constant between jumps.

    Raises:
        TypeError: another dtype.

    >>> import pullback as pb
    >>> pb.Session().run(pb.math.rint([0.5, 1.5, 2.6]))
    array([0., 2., 3.], dtype=float32)
    """
    return unary(Rint(), x, name)


class Rint(AbstractElementwise):
    dtypes = FLOATING
    kernel = unary_kernel("rint")
    gradient = no_gradient
