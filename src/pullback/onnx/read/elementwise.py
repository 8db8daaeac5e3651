"""ONNX import of elementwise arithmetic."""

from __future__ import annotations

from functools import reduce
from typing import Any

from ...core.dtypes import FLOATING, INTEGER
from ...core.operation import Tensor
from ...primitives.activations.rectifiers import relu6
from ...primitives.casting.cast import cast
from ...primitives.elementwise import arithmetic, exponential, hyperbolic, powers, rounding, sign, trigonometric
from ...primitives.elementwise.add_n import add_n
from ...primitives.elementwise.clip import clip_by_value
from ...primitives.elementwise.division import RealDiv, floormod, truncatediv, truncatemod
from ...primitives.elementwise.maximum import maximum, minimum
from ...primitives.identity.identity import identity
from ...primitives.special import error_function as errorfunction
from ..reading import Node, calling, reader

_UNARY: dict[str, Any] = {
    "Abs": sign.absolute,
    "Acos": trigonometric.acos,
    "Acosh": hyperbolic.acosh,
    "Asin": trigonometric.asin,
    "Asinh": hyperbolic.asinh,
    "Atan": trigonometric.atan,
    "Atanh": hyperbolic.atanh,
    "Ceil": rounding.ceil,
    "Cos": trigonometric.cos,
    "Cosh": hyperbolic.cosh,
    "Erf": errorfunction.erf,
    "Exp": exponential.exp,
    "Floor": rounding.floor,
    "Log": exponential.log,
    "Neg": arithmetic.negative,
    "Reciprocal": powers.reciprocal,
    "Round": rounding.rint,
    "Sign": sign.sign,
    "Sin": trigonometric.sin,
    "Sinh": hyperbolic.sinh,
    "Sqrt": powers.sqrt,
    "Tan": trigonometric.tan,
    "Tanh": hyperbolic.tanh,
}

reader("Add")(calling(arithmetic.add))
reader("Sub")(calling(arithmetic.subtract))
reader("Mul")(calling(arithmetic.multiply))


@reader(*_UNARY)
def unary(node: Node, x: Tensor) -> Any:
    return _UNARY[node.op_type](x)


@reader("Div")
def div(node: Node, a: Tensor, b: Tensor) -> Tensor:
    del node
    if a.dtype in INTEGER:
        return truncatediv(a, b)
    return RealDiv()(a, b)


@reader("Mod")
def mod(node: Node, a: Tensor, b: Tensor) -> Tensor:
    return truncatemod(a, b) if node.attribute("fmod", 0) else floormod(a, b)


@reader("Pow")
def power(node: Node, a: Tensor, b: Tensor) -> Tensor:
    """The result has the base's dtype, whatever the exponent's."""
    del node
    if a.dtype == b.dtype:
        return powers.pow(a, b)
    if a.dtype in INTEGER and b.dtype in FLOATING:
        return cast(powers.pow(cast(a, b.dtype), b), a.dtype)
    return powers.pow(a, cast(b, a.dtype))


@reader("Sum")
def sum_(node: Node, *xs: Tensor) -> Tensor:
    del node
    if len(xs) > 2 and all(x.shape.is_fully_defined() and x.shape == xs[0].shape for x in xs):
        return add_n(list(xs))
    return reduce(arithmetic.add, xs)


@reader("Mean")
def mean(node: Node, *xs: Tensor) -> Tensor:
    total = sum_(node, *xs)
    return total if len(xs) == 1 else arithmetic.multiply(total, 1 / len(xs))


@reader("Max")
def max_(node: Node, *xs: Tensor) -> Tensor:
    del node
    return reduce(maximum, xs)


@reader("Min")
def min_(node: Node, *xs: Tensor) -> Tensor:
    del node
    return reduce(minimum, xs)


@reader("Clip")
def clip(node: Node, x: Tensor, low: Tensor | None = None, high: Tensor | None = None) -> Any:
    """With bounds in the wrong order the result is the upper one: `Min(high, Max(low, x))`.

    From 0 to 6 it is what exporters make of relu6, whose derivative at both is 0 for torch and TensorFlow.
    """
    if high is None:
        return identity(x) if low is None else maximum(x, low)
    if low is None:
        return minimum(x, high)
    first, last = node.static(low), node.static(high)
    if first is not None and last is not None and first.size == last.size == 1 and first.item() <= last.item():
        return relu6(x) if (first.item(), last.item()) == (0, 6) else clip_by_value(x, low, high)
    return minimum(high, maximum(low, x))
