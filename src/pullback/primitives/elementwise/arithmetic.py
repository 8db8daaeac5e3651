"""Elementwise arithmetic: addition, multiplication and their kin."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, overload

from ...core import intervals
from ...core.contexts import in_graph_of_inputs
from ...core.dtypes import COMPLEX, FLOATING, INEXACT, INTEGER, string
from ...core.intervals import Interval
from ...core.operation import Tensor
from ...core.primitive import Primitive
from ...core.slices import IndexedSlices
from ...core.traits import COMMUTES, ELEMENTWISE, bilinear, linear
from ...core.typing import TensorLike
from ..base.broadcasting import AbstractElementwise, Entry, binary, binary_kernel, operands, unary, unary_kernel
from ..complex.complex import conj
from ..creation.constant import convert_to_tensor
from .masking import MaskedMul

NUMBERS = INTEGER | INEXACT
REAL = INTEGER | FLOATING
SIGNED = frozenset(d for d in NUMBERS if d.kind != "u")


@in_graph_of_inputs
def add(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """`x + y`, element by element; texts stand one behind the other.

    Shapes: any that broadcast together. Dtypes: any number, or string, the same for both.

    Derivative: dx = dz, dy = dz, each summed over the axes along which it was repeated.

    Raises:
        TypeError: the dtypes differ. ValueError: the shapes do not broadcast.

    >>> import pullback as pb
    >>> pb.Session().run(pb.add([1.0, 2.0], 3.0))
    array([4., 5.], dtype=float32)
    """
    if (type(x) is Tensor and x.type.dtype is string) or (type(y) is Tensor and y.type.dtype is string):
        from ..strings.parts import add_texts

        return add_texts(x, y, name or "Add")
    return binary(Add(), x, y, name or "Add")


class Add(AbstractElementwise):
    type = "AddV2"
    traits = (ELEMENTWISE, COMMUTES, linear(0, 1))
    function = "add"
    dtypes = NUMBERS
    kernel = binary_kernel("add")

    def partials(self, dy: Tensor, y: Tensor, a: Tensor, b: Tensor) -> Sequence[Entry]:
        del y, a, b
        return dy, dy

    def bounds(self, *xs: Interval) -> Interval:
        return intervals.add(*xs)


def subtract(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """`x - y`, element by element.

    Shapes: any that broadcast together. Dtypes: any number, the same for both.

    Derivative: dx = dz, dy = -dz, each summed over the axes along which it was repeated.

    Raises:
        TypeError: the dtypes differ. ValueError: the shapes do not broadcast.

    >>> import pullback as pb
    >>> pb.Session().run(pb.subtract([1.0, 2.0], 3.0))
    array([-2., -1.], dtype=float32)
    """
    return binary(Sub(), x, y, name)


class Sub(AbstractElementwise):
    traits = (ELEMENTWISE, linear(0, 1))
    function = "subtract"
    dtypes = NUMBERS
    kernel = binary_kernel("subtract")

    def partials(self, dy: Tensor, y: Tensor, a: Tensor, b: Tensor) -> Sequence[Entry]:
        del y, a, b
        return dy, lambda: -dy

    def bounds(self, *xs: Interval) -> Interval:
        return intervals.add(xs[0], intervals.negative(xs[1]))


def multiply(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """`x * y`, element by element.

    Shapes: any that broadcast together. Dtypes: any number, the same for both.

    Derivative: dx = y * dz, dy = x * dz, each summed over the axes along which it was repeated.

    Raises:
        TypeError: the dtypes differ. ValueError: the shapes do not broadcast.

    >>> import pullback as pb
    >>> pb.Session().run(pb.multiply([1.0, 2.0], 3.0))
    array([3., 6.], dtype=float32)
    """
    return binary(Mul(), x, y, name)


class Mul(AbstractElementwise):
    traits = (ELEMENTWISE, COMMUTES, bilinear(0, 1))
    function = "multiply"
    dtypes = NUMBERS
    kernel = binary_kernel("multiply")

    def partials(self, dy: Tensor, y: Tensor, a: Tensor, b: Tensor) -> Sequence[Entry]:
        del y
        return lambda: dy * conj(b), lambda: dy * conj(a)

    def bounds(self, *xs: Interval) -> Interval:
        return intervals.multiply(*xs)

    def masked(self) -> Primitive:
        return MaskedMul()


@overload
def negative(x: IndexedSlices, name: str | None = None) -> IndexedSlices: ...  # type: ignore[overload-overlap]
@overload
def negative(x: TensorLike, name: str | None = None) -> Tensor: ...
def negative(x: TensorLike, name: str | None = None) -> Tensor | IndexedSlices:
    """`-x`, element by element; of IndexedSlices, slices.

    Shapes: any. Dtypes: any signed number.

    Derivative: dx = -dy.

    Raises:
        TypeError: `x` is not a signed number.

    >>> import pullback as pb
    >>> pb.Session().run(pb.negative([1.0, -2.0]))
    array([-1.,  2.], dtype=float32)
    """
    if isinstance(x, IndexedSlices):
        return -x
    return unary(Neg(), x, name)


class Neg(AbstractElementwise):
    traits = (ELEMENTWISE, linear(0))
    function = "negative"
    dtypes = SIGNED
    takes_slices = True
    kernel = unary_kernel("negative")

    def partials(self, dy: Tensor, y: Tensor, x: Tensor) -> Sequence[Entry]:
        del y, x
        return (lambda: -dy,)

    def bounds(self, *xs: Interval) -> Interval:
        return intervals.negative(xs[0])


def squared_difference(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """The square of `x - y`, element by element; of complex numbers `conj(x - y) * (x - y)`.

    Shapes: any that broadcast together. Dtypes: any number, the same for both.

    Derivative: dx = 2 * (x - y) * dz, dy = -dx, each summed over the axes along which it was repeated.

    Raises:
        TypeError: the dtypes differ. ValueError: the shapes do not broadcast.

    >>> import pullback as pb
    >>> pb.Session().run(pb.math.squared_difference([1.0, 2.0], 4.0))
    array([9., 4.], dtype=float32)
    """
    return binary(SquaredDifference(), x, y, name)


class SquaredDifference(AbstractElementwise):
    function = "squared_difference"
    dtypes = NUMBERS

    def kernel(self, xp: Any, a: Any, b: Any) -> Any:
        d = xp.subtract(a, b)
        return xp.multiply(xp.conj(d), d) if d.dtype.kind == "c" else xp.multiply(d, d)

    def partials(self, dy: Tensor, y: Tensor, a: Tensor, b: Tensor) -> Sequence[Entry]:
        del y
        da = cache(lambda: (dy + conj(dy) if dy.dtype in COMPLEX else dy * 2) * (a - b))
        return da, lambda: -da()

    def bounds(self, *xs: Interval) -> Interval:
        return intervals.square(intervals.add(xs[0], intervals.negative(xs[1])))


@overload
def scalar_mul(scalar: TensorLike, x: IndexedSlices, name: str | None = None) -> IndexedSlices: ...  # type: ignore[overload-overlap]
@overload
def scalar_mul(scalar: TensorLike, x: TensorLike, name: str | None = None) -> Tensor: ...
@in_graph_of_inputs
def scalar_mul(scalar: TensorLike, x: TensorLike, name: str | None = None) -> Tensor | IndexedSlices:
    """`x` times the scalar `scalar`; of IndexedSlices, slices.

    Shapes: `scalar` []; `x` any. Dtypes: any number, the same for both.

    Derivative: dx = scalar * dy, dscalar = sum(x * dy).

    Raises:
        ValueError: `scalar` is not one number. TypeError: the dtypes differ.

    >>> import pullback as pb
    >>> pb.Session().run(pb.scalar_mul(2.0, [1.0, 3.0]))
    array([2., 6.], dtype=float32)
    """
    values = x.values if isinstance(x, IndexedSlices) else convert_to_tensor(x)
    factor = operands(scalar, values)[0]
    if factor.shape.rank not in (0, None):
        raise ValueError(f"scalar_mul: the scalar must have one element and no axes, not {factor}")
    product = binary(Mul(), factor, values, name)
    return IndexedSlices(product, x.indices, x.dense_shape, x.static_shape) if isinstance(x, IndexedSlices) else product
