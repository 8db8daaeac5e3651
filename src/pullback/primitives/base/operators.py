"""Operator overloading: Python's operators on tensors, with TensorFlow's names. `==` and `!=` compare identity."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...core.composite import AbstractComposite
from ...core.contexts import in_graph_of_inputs
from ...core.dtypes import INEXACT, INTEGER, string
from ...core.dtypes import bool as bool_
from ...core.operation import Tensor, define_methods
from ...core.primitive import Primitive
from ...core.typing import ShapeLike
from ..bitwise import BitwiseAnd, BitwiseOr, BitwiseXor, Invert
from ..elementwise.arithmetic import Add, Mul, Neg, Sub
from ..elementwise.division import FloorDiv, FloorMod, divide
from ..elementwise.powers import Pow
from ..elementwise.sign import absolute
from ..indexing.slicing import getitem
from ..linalg.matmul import matmul
from ..logic.comparison import Greater, GreaterEqual, Less, LessEqual
from ..logic.logical import LogicalAnd, LogicalNot, LogicalOr, LogicalXor
from ..strings.parts import add_texts
from .broadcasting import binary, operands, unary

Method = Callable[[Any, Any], Tensor]


def _operator(primitive: Primitive, name: str) -> tuple[Method, Method]:
    """The method and the reflected method that make `primitive`."""

    def method(a: Tensor, b: Any) -> Tensor:
        if type(b) is Tensor:
            graph = a.op.graph
            if b.op.graph is graph:
                return graph.add(primitive, (a, b), name).result  # type: ignore[return-value]
        if isinstance(b, AbstractComposite):
            return NotImplemented  # type: ignore[no-any-return]  # Python asks the other operand.
        return binary(primitive, a, b, name)

    def reflected(b: Tensor, a: Any) -> Tensor:
        return binary(primitive, a, b, name)

    return method, reflected


def _addition() -> tuple[Method, Method]:
    """As `_operator` of addition; texts stand one behind the other."""
    add, reflected_add = _operator(Add(), "add")

    def method(a: Tensor, b: Any) -> Tensor:
        if a.type.dtype is string and not isinstance(b, AbstractComposite):
            return add_texts(a, b, "add")
        return add(a, b)

    def reflected(b: Tensor, a: Any) -> Tensor:
        return add_texts(a, b, "add") if b.type.dtype is string else reflected_add(b, a)

    return method, reflected


def _logical_operator(logical: Primitive, bitwise: Primitive, name: str) -> tuple[Method, Method]:
    """As `_operator`, of two primitives: one for truth values, one for integers."""

    def method(a: Any, b: Any) -> Tensor:
        a, b = operands(a, b)
        return binary(logical if a.type.dtype == bool_ else bitwise, a, b, name)

    def reflected(b: Tensor, a: Any) -> Tensor:
        return method(a, b)

    return method, reflected


def _truediv(a: Any, b: Any) -> Tensor:
    if isinstance(b, AbstractComposite):
        return NotImplemented  # type: ignore[no-any-return]
    return divide(a, b)


def _rtruediv(b: Any, a: Any) -> Tensor:
    return divide(a, b)


def _div(a: Any, b: Any) -> Tensor:
    """As Python 2 divides: integers give the integer below."""
    a, b = operands(a, b)
    return divide(a, b) if a.type.dtype in INEXACT else binary(FloorDiv(), a, b, "div")


def _rdiv(b: Any, a: Any) -> Tensor:
    return _div(a, b)


def _matmul(a: Any, b: Any) -> Tensor:
    a, b = operands(a, b)
    return matmul(a, b, name="matmul")


def _rmatmul(b: Any, a: Any) -> Tensor:
    return _matmul(a, b)


def _neg(x: Tensor) -> Tensor:
    return x.op.graph.add(Neg(), (x,)).outputs[0]


def _invert(x: Tensor) -> Tensor:
    return unary(Invert() if x.type.dtype in INTEGER else LogicalNot(), x)


@in_graph_of_inputs
def set_shape(x: Tensor, shape: ShapeLike) -> None:
    """Note that `x` has `shape`, which operations made from now on know; a run of one fails where it has another.

    Operations that read `x` already stay as they are.

    Raises:
        ValueError: the static shape contradicts `shape`.
    """
    from ..identity.identity import ensure_shape

    known = x.shape
    if known.merge_with(shape) == known:
        return
    y = ensure_shape(x, shape)
    refined, (read,) = y.op.graph.refined, y.op.inputs
    refined[next((first for first, last in refined.items() if last is read), read)] = y


def _assign(x: Tensor) -> Any:
    """Assigns to the part of a variable that `x` is a slice of; other tensors have no such attribute."""
    from ..variables.slices import assignment_to

    return assignment_to(x)


def _read_value(x: Tensor) -> Any:
    """Reads anew the variable that `x` was read of, as after an assignment; other tensors have no such attribute."""
    from ..variables.operations import read_again

    return read_again(x)


def install_operators() -> None:
    """Give Tensor its operators; called once, when pullback is imported."""
    pairs = {
        "add": _addition(),
        "sub": _operator(Sub(), "sub"),
        "mul": _operator(Mul(), "mul"),
        "div": (_div, _rdiv),
        "truediv": (_truediv, _rtruediv),
        "floordiv": _operator(FloorDiv(), "floordiv"),
        "mod": _operator(FloorMod(), "mod"),
        "pow": _operator(Pow(), "pow"),
        "matmul": (_matmul, _rmatmul),
        "and": _logical_operator(LogicalAnd(), BitwiseAnd(), "and"),
        "or": _logical_operator(LogicalOr(), BitwiseOr(), "or"),
        "xor": _logical_operator(LogicalXor(), BitwiseXor(), "xor"),
    }
    comparisons = {"lt": Less(), "le": LessEqual(), "gt": Greater(), "ge": GreaterEqual()}
    others: dict[str, Callable[..., Tensor]] = {"neg": _neg, "abs": absolute, "invert": _invert, "getitem": getitem}
    define_methods(Tensor, {"assign": property(_assign), "read_value": property(_read_value), "set_shape": set_shape})
    define_methods(Tensor, {f"__{name}__": method for name, (method, _) in pairs.items()})
    define_methods(Tensor, {f"__r{name}__": reflected for name, (_, reflected) in pairs.items()})
    define_methods(Tensor, {f"__{name}__": _operator(p, p.type)[0] for name, p in comparisons.items()})
    define_methods(Tensor, {f"__{name}__": function for name, function in others.items()})
    operators = [*pairs, *[f"r{name}" for name in pairs], *comparisons, *others]
    Tensor.OVERLOADABLE_OPERATORS = frozenset([f"__{name}__" for name in operators])
