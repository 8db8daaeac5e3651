"""Division and remainders: true, floored, truncated, and those that know no division by zero.

Integers divided by zero give 0, quotient and remainder, on every engine.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core import intervals
from ...core.contexts import in_graph_of_inputs
from ...core.dtypes import INEXACT, INTEGER, float32, float64, int8, int16, uint8, uint16
from ...core.intervals import Interval
from ...core.operation import Tensor
from ...core.primitive import Primitive, no_gradient
from ...core.traits import ELEMENTWISE, SINGULAR, linear
from ...core.typing import TensorLike
from ..base.broadcasting import AbstractElementwise, Entry, binary, binary_kernel, in_float32, operands
from ..casting.cast import cast
from ..complex.complex import conj
from ..creation.constant import convert_to_tensor
from .arithmetic import REAL
from .masking import MaskedDiv, kept, masked_divide, multiply_no_nan, quotient_grad

_SHORT = frozenset([int8, int16, uint8, uint16])


@in_graph_of_inputs
def divide(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """`x / y`, element by element; integers are divided as floats.

    Shapes: any that broadcast together. Dtypes: any number, the same for both; integers of 8 and 16 bits give float32,
    the other integers float64.

    Derivative: dx = dz / y, dy = -dz * z / y.

    Raises:
        TypeError: the dtypes differ. ValueError: the shapes do not broadcast.

    >>> import pullback as pb
    >>> pb.Session().run(pb.divide([1.0, 2.0], 4.0))
    array([0.25, 0.5 ], dtype=float32)
    """
    name = name or "truediv"
    tensor = x if isinstance(x, Tensor) else y
    if isinstance(tensor, Tensor) and tensor.dtype not in INTEGER:
        return binary(RealDiv(), x, y, name)
    return _as_floats(RealDiv(), x, y, name)


def _as_floats(primitive: AbstractElementwise, x: Any, y: Any, name: str) -> Tensor:
    """A division of `x` by `y`, where both are integers of one dtype as floats."""
    a, b = operands(x, y)
    if a.dtype not in INTEGER or a.dtype != b.dtype:
        return binary(primitive, a, b, name)
    wide = float32 if a.type.dtype in _SHORT else float64
    with a.graph.within(name) as scope:
        return binary(primitive, cast(a, wide), cast(b, wide), scope)


truediv = divide


class RealDiv(AbstractElementwise):
    traits = (ELEMENTWISE, linear(0), SINGULAR)
    function = "divide"
    dtypes = INEXACT
    kernel = binary_kernel("divide")

    def partials(self, dy: Tensor, y: Tensor, a: Tensor, b: Tensor) -> Sequence[Entry]:
        del a
        return lambda: masked_divide(dy, conj(b)), lambda: quotient_grad(dy, conj(y), conj(b))

    def bounds(self, *xs: Interval) -> Interval:
        return intervals.multiply(xs[0], intervals.reciprocal(xs[1]))

    def masked(self) -> Primitive:
        return MaskedDiv()


@in_graph_of_inputs
def divide_no_nan(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """`x / y`, element by element, and 0 where `y` is 0; the derivatives are 0 there too.

    Shapes: any that broadcast together. Dtypes: any number, the same for both; integers as in `divide`.

    Derivative: dx = dz / y, dy = -dz * z / y, both 0 where y is 0.

    Raises:
        TypeError: the dtypes differ. ValueError: the shapes do not broadcast.

    >>> import pullback as pb
    >>> pb.Session().run(pb.math.divide_no_nan([1.0, 2.0], [4.0, 0.0]))
    array([0.25, 0.  ], dtype=float32)
    """
    return _as_floats(DivNoNan(), x, y, name or "div_no_nan")


class DivNoNan(AbstractElementwise):
    traits = (ELEMENTWISE, linear(0))
    function = "divide_no_nan"
    dtypes = INEXACT

    def kernel(self, xp: Any, a: Any, b: Any) -> Any:
        return kept(xp, b != 0, xp.divide(a, b))

    def partials(self, dy: Tensor, y: Tensor, a: Tensor, b: Tensor) -> Sequence[Entry]:
        del a
        return lambda: divide_no_nan(dy, conj(b)), lambda: divide_no_nan(-multiply_no_nan(conj(y), dy), conj(b))


def reciprocal_no_nan(x: TensorLike, name: str | None = None) -> Tensor:
    """`1 / x`, element by element, and 0 where `x` is 0; the derivative is 0 there too.

    Shapes: any. Dtypes: any float or complex.

    Derivative: dx = -dy * y^2.

    Raises:
        TypeError: another dtype.

    >>> import pullback as pb
    >>> pb.Session().run(pb.math.reciprocal_no_nan([4.0, 0.0]))
    array([0.25, 0.  ], dtype=float32)
    """
    return binary(DivNoNan(), 1, convert_to_tensor(x), name or "reciprocal_no_nan")


def floordiv(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """`floor(x / y)`, element by element, Python's `//`; it counts as constant in every derivative.

    Shapes: any that broadcast together. Dtypes: any integer or float, the same for both; integers divided by 0 give 0.

    Derivative: none: constant between jumps.

    Raises:
        TypeError: the dtypes differ. ValueError: the shapes do not broadcast.

    >>> import pullback as pb
    >>> pb.Session().run(pb.math.floordiv([7, -7, 1], [2, 2, 0]))
    array([ 3, -4,  0], dtype=int32)
    """
    return binary(FloorDiv(), x, y, name or "floordiv")


class FloorDiv(AbstractElementwise):
    traits = (ELEMENTWISE, SINGULAR)
    dtypes = REAL

    @in_float32
    def kernel(self, xp: Any, a: Any, b: Any) -> Any:
        if a.dtype == object or b.dtype == object:
            return _quotient_of_lengths(a, b)
        if a.dtype not in INTEGER:
            return xp.floor(xp.divide(a, b))
        return kept(xp, b != 0, xp.floor_divide(a, _not_zero(xp, b)))

    gradient = no_gradient


def _quotient_of_lengths(a: Any, b: Any) -> Any:
    """`a // b` for lengths that a run decides, by numbers: another length may be 0, where the quotient is 0."""
    if b.dtype == object or not b.all():
        raise TypeError("lengths are divided by numbers that are not 0")
    return a // b


def floormod(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """The remainder `x - floor(x / y) * y`, element by element, Python's `%`: it has the sign of `y`.

    Shapes: any that broadcast together. Dtypes: any integer or float, the same for both; integers divided by 0 leave 0.

    Derivative: dx = dz, dy = -dz * floor(x / y).

    Raises:
        TypeError: the dtypes differ. ValueError: the shapes do not broadcast.

    >>> import pullback as pb
    >>> pb.Session().run(pb.math.floormod([7, -7, 1], [3, 3, 0]))
    array([1, 2, 0], dtype=int32)
    """
    return binary(FloorMod(), x, y, name)


mod = floormod


class FloorMod(AbstractElementwise):
    traits = (ELEMENTWISE, SINGULAR)
    dtypes = REAL

    def kernel(self, xp: Any, a: Any, b: Any) -> Any:
        if a.dtype not in INTEGER:
            return xp.remainder(a, b)
        return kept(xp, b != 0, xp.remainder(a, _not_zero(xp, b)))

    def partials(self, dy: Tensor, y: Tensor, a: Tensor, b: Tensor) -> Sequence[Entry]:
        del y
        return dy, lambda: -multiply_no_nan(floordiv(a, b), dy)


def truncatediv(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """`x / y` without its fraction, element by element, as C divides; it counts as constant in every derivative.

    Shapes: any that broadcast together. Dtypes: any integer or float, the same for both; integers divided by 0 give 0.

    Derivative: none: constant between jumps.

    Raises:
        TypeError: the dtypes differ. ValueError: the shapes do not broadcast.

    >>> import pullback as pb
    >>> pb.Session().run(pb.truncatediv([7, -7, 1], [2, 2, 0]))
    array([ 3, -3,  0], dtype=int32)
    """
    return binary(TruncateDiv(), x, y, name)


class TruncateDiv(AbstractElementwise):
    traits = (ELEMENTWISE, SINGULAR)
    dtypes = REAL

    @in_float32
    def kernel(self, xp: Any, a: Any, b: Any) -> Any:
        if a.dtype not in INTEGER:
            return xp.trunc(xp.divide(a, b))
        safe = _not_zero(xp, b)
        quotient = xp.floor_divide(a, safe)
        if a.dtype.kind == "i":
            inexact = xp.multiply(quotient, safe) != a
            quotient = quotient + xp.logical_and(quotient < 0, inexact).astype(a.dtype)
        return kept(xp, b != 0, quotient)

    gradient = no_gradient


def truncatemod(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """The remainder of `truncatediv`, element by element, C's `%`: it has the sign of `x`.

    Shapes: any that broadcast together. Dtypes: any integer or float, the same for both; integers divided by 0 leave 0.

    Derivative: dx = dz, dy = -dz * trunc(x / y).

    Raises:
        TypeError: the dtypes differ. ValueError: the shapes do not broadcast.

    >>> import pullback as pb
    >>> pb.Session().run(pb.truncatemod([7, -7, 1], [3, 3, 0]))
    array([ 1, -1,  0], dtype=int32)
    """
    return binary(TruncateMod(), x, y, name)


class TruncateMod(AbstractElementwise):
    traits = (ELEMENTWISE, SINGULAR)
    dtypes = REAL

    def kernel(self, xp: Any, a: Any, b: Any) -> Any:
        if a.dtype not in INTEGER:
            return xp.fmod(a, b)
        return kept(xp, b != 0, xp.fmod(a, _not_zero(xp, b)))

    def partials(self, dy: Tensor, y: Tensor, a: Tensor, b: Tensor) -> Sequence[Entry]:
        del y
        return dy, lambda: -multiply_no_nan(truncatediv(a, b), dy)


def _not_zero(xp: Any, b: Any) -> Any:
    """Integers `b` with 1 for 0."""
    return xp.where(b == 0, xp.ones((), b.dtype), b)
