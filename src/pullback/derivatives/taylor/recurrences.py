"""Taylor recurrences of elementary functions: coefficient k of f(x(t)) from those of x, and those of f before.

Each is the differential equation of the function, compared coefficient by coefficient (Griewank and Walther, Evaluating
Derivatives, 2nd ed., table 13.2).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

from ...core.graph import Operation, Tensor
from ...primitives.activations.sigmoid import Sigmoid
from ...primitives.elementwise.division import DivNoNan, RealDiv
from ...primitives.elementwise.exponential import Exp, Expm1, Log, Log1p, Xdivy, Xlog1py, Xlogy
from ...primitives.elementwise.hyperbolic import Cosh, Sinh, Tanh
from ...primitives.elementwise.masking import MaskedDiv, QuotientGrad, mask, masked_divide
from ...primitives.elementwise.powers import Reciprocal, Sqrt, SqrtGrad, Square
from ...primitives.elementwise.trigonometric import Cos, Sin
from ...primitives.logic.comparison import not_equal
from ...primitives.variables.operations import ReadVariableOp
from .registry import RegisterJet
from .series import Coefficient, Curve, convolution, integral, minus, product, squared, times, total

Coefficients = Iterator[Coefficient]


@RegisterJet(Exp.type)
def exp(op: Operation, x: Curve) -> Coefficients:
    """y' = y x'."""
    y: list[Coefficient] = [op.outputs[0]]
    for k in count(1):
        y.append(integral(x, y, k))
        yield y[k]


@RegisterJet(Expm1.type)
def expm1(op: Operation, x: Curve) -> Coefficients:
    """y' = (y + 1) x'."""
    y: list[Coefficient] = [op.outputs[0] + 1]
    for k in count(1):
        y.append(integral(x, y, k))
        yield y[k]


@RegisterJet(Log.type)
def log(op: Operation, x: Curve) -> Coefficients:
    """x y' = x'."""
    return _logarithm(op.outputs[0], x, op.inputs[0])


@RegisterJet(Log1p.type)
def log1p(op: Operation, x: Curve) -> Coefficients:
    """(1 + x) y' = x'."""
    return _logarithm(op.outputs[0], x, op.inputs[0] + 1)


def _logarithm(y0: Tensor, x: Curve, divisor: Tensor) -> Coefficients:
    y = Curve(y0)
    for k in count(1):
        rest = total([product(y.speed(j), x[k - j]) for j in range(1, k)])
        y.append(_quotient(minus(x[k], times(rest, 1.0 / k)), divisor))
        yield y[k]


def _quotient(a: Coefficient, b: Tensor) -> Coefficient:
    return None if a is None else a / b


@RegisterJet(Sqrt.type)
def sqrt(op: Operation, x: Curve) -> Coefficients:
    """y y = x."""
    y: list[Coefficient] = [op.outputs[0]]
    for k in count(1):
        rest = squared(y, k, first=1)
        y.append(_quotient(times(minus(x[k], rest), 0.5), op.outputs[0]))
        yield y[k]


@RegisterJet(Square.type)
def square(op: Operation, x: Curve) -> Coefficients:
    """y = x x."""
    del op
    for k in count(1):
        yield squared(x, k)


@RegisterJet(Reciprocal.type)
def reciprocal(op: Operation, x: Curve) -> Coefficients:
    """x y = 1."""
    y: list[Coefficient] = [op.outputs[0]]
    for k in count(1):
        rest = convolution(x, y, k, first=1)
        y.append(None if rest is None else -(rest * op.outputs[0]))
        yield y[k]


@RegisterJet(RealDiv.type, DivNoNan.type, MaskedDiv.type)
def divide(op: Operation, a: Curve, b: Curve) -> Coefficients:
    """b y = a."""
    y: list[Coefficient] = [op.outputs[0]]
    for k in count(1):
        rest = minus(a[k], convolution(b, y, k, first=1))
        y.append(None if rest is None else op.primitive(rest, op.inputs[1]))
        yield y[k]


@RegisterJet(Xdivy.type)
def xdivy(op: Operation, a: Curve, b: Curve) -> Coefficients:
    """A quotient, but where `a` is 0: there its gradient is 0 by definition, and so are its coefficients."""
    return _where_not_zero(op.inputs[0], divide(op, a, b))


@RegisterJet(Xlogy.type)
def xlogy(op: Operation, x: Curve, y: Curve) -> Coefficients:
    """`x` times a logarithm, as above."""
    logarithm = Log()(op.inputs[1])
    return _times_logarithm(op, x, logarithm, _logarithm(logarithm, y, op.inputs[1]))


@RegisterJet(Xlog1py.type)
def xlog1py(op: Operation, x: Curve, y: Curve) -> Coefficients:
    """The same."""
    logarithm = Log1p()(op.inputs[1])
    return _times_logarithm(op, x, logarithm, _logarithm(logarithm, y, op.inputs[1] + 1))


def _times_logarithm(op: Operation, x: Curve, logarithm: Tensor, rest: Coefficients) -> Coefficients:
    series: list[Coefficient] = [logarithm]

    def products() -> Coefficients:
        for k, coefficient in enumerate(rest, start=1):
            series.append(coefficient)
            yield convolution(x, series, k)

    return _where_not_zero(op.inputs[0], products())


def _where_not_zero(x: Tensor, coefficients: Coefficients) -> Coefficients:
    there = not_equal(x, 0)
    for coefficient in coefficients:
        yield None if coefficient is None else mask(there, coefficient)


@RegisterJet(QuotientGrad.type)
def quotient_grad(op: Operation, a: Curve, y: Curve, b: Curve) -> Coefficients:
    """b z = -a y."""
    z: list[Coefficient] = [op.outputs[0]]
    for k in count(1):
        rest = total([convolution(a, y, k), convolution(b, z, k, first=1)])
        z.append(None if rest is None else masked_divide(-rest, op.inputs[2]))
        yield z[k]


@RegisterJet(SqrtGrad.type)
def sqrt_grad(op: Operation, y: Curve, dy: Curve) -> Coefficients:
    """2 y z = dy."""
    z: list[Coefficient] = [op.outputs[0]]
    for k in count(1):
        rest = minus(times(dy[k], 0.5), convolution(y, z, k, first=1))
        z.append(None if rest is None else masked_divide(rest, op.inputs[0]))
        yield z[k]


@RegisterJet(Tanh.type)
def tanh(op: Operation, x: Curve) -> Coefficients:
    """y' = (1 - y y) x'."""
    y: list[Coefficient] = [op.outputs[0]]
    slope: list[Coefficient] = [1 - op.outputs[0] * op.outputs[0]]
    for k in count(1):
        y.append(integral(x, slope, k))
        yield y[k]
        slope.append(minus(None, squared(y, k)))


@RegisterJet(Sigmoid.type)
def sigmoid(op: Operation, x: Curve) -> Coefficients:
    """y' = (y - y y) x'."""
    y: list[Coefficient] = [op.outputs[0]]
    slope: list[Coefficient] = [op.outputs[0] - op.outputs[0] * op.outputs[0]]
    for k in count(1):
        y.append(integral(x, slope, k))
        yield y[k]
        slope.append(minus(y[k], squared(y, k)))


@RegisterJet(Sin.type)
def sin(op: Operation, x: Curve) -> Coefficients:
    """y' = c x', c' = -y x'."""
    return _circle(op.outputs[0], Cos()(op.inputs[0]), x, -1, 1)


@RegisterJet(Cos.type)
def cos(op: Operation, x: Curve) -> Coefficients:
    """y' = -s x', s' = y x'."""
    return _circle(op.outputs[0], Sin()(op.inputs[0]), x, 1, -1)


@RegisterJet(Sinh.type)
def sinh(op: Operation, x: Curve) -> Coefficients:
    """y' = c x', c' = y x'."""
    return _circle(op.outputs[0], Cosh()(op.inputs[0]), x, 1, 1)


@RegisterJet(Cosh.type)
def cosh(op: Operation, x: Curve) -> Coefficients:
    """y' = s x', s' = y x'."""
    return _circle(op.outputs[0], Sinh()(op.inputs[0]), x, 1, 1)


def _circle(y0: Tensor, other: Tensor, x: Curve, turn: int, sign: int) -> Coefficients:
    """y' = sign * z x', z' = turn * y x'."""
    y: list[Coefficient] = [y0]
    z: list[Coefficient] = [other]
    for k in count(1):
        y.append(times(integral(x, z, k), sign))
        yield y[k]
        z.append(times(integral(x, y, k), turn))


@RegisterJet(ReadVariableOp.type)
def read(op: Operation, x: Curve) -> Coefficients:
    """A variable moves as its handle is said to."""
    del op
    for k in count(1):
        yield x[k]
