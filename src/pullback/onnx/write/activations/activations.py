"""ONNX export of activations that are operators of the standard, or a few of them.

onnxruntime has kernels of these for float32, which 16-bit floats are cast to; float64 is computed as NumPy does.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ....core.dtypes import bfloat16, float16, float32, float64
from ....primitives.activations.bias import BiasAdd
from ....primitives.activations.gelu import CUBIC, SCALE, Gelu, GeluGrad
from ....primitives.activations.rectifiers import Elu, LeakyRelu, Relu, Relu6, Selu, Silu, SiluGrad
from ....primitives.activations.sigmoid import Sigmoid, SigmoidGrad, Softplus, SoftplusGrad
from ...namespace import Namespace
from ...pairs import as_array, as_value
from ...recording import record_kernel
from ...records import Value
from ...registry import writer
from ...tracing import Traced
from ...writing import Writer

_WRITTEN = (float32, float16, bfloat16)
Form = Callable[..., Value]


def in_float32(w: Writer, p: Any, form: Form, *xs: Value) -> Any:
    """`form` of the inputs in float32, cast back; where they are wider most are written as their kernels."""
    dtype = w.op.outputs[0].dtype
    if dtype == float64 and isinstance(p, Relu | Relu6):
        return form(w, p, *xs)
    if dtype not in _WRITTEN:
        return record_kernel(w, xs)
    return w.cast(form(w, p, *[w.cast(x, float32) for x in xs]), dtype)


def _node(op_type: str) -> Form:
    def form(w: Writer, p: Any, x: Value) -> Value:
        return w.node(op_type, x)

    return form


def _sigmoid_grad(w: Writer, p: Any, y: Value, dy: Value) -> Value:
    """`(1 - y) * y * dy`."""
    return w.node("Mul", w.node("Mul", w.node("Sub", w.scalar(1, y), y), y), dy)


def _silu_grad(w: Writer, p: Any, x: Value, dy: Value) -> Value:
    """`dy * s * (1 + x * (1 - s))`."""
    s, one = w.node("Sigmoid", x), w.scalar(1, x)
    slope = w.node("Mul", s, w.node("Add", w.node("Mul", x, w.node("Sub", one, s)), one))
    return w.node("Mul", slope, dy)


def _form(w: Writer, x: Any, approximate: bool) -> Any:
    """The error function, or the hyperbolic tangent, in the form that onnxruntime looks for."""
    if approximate:
        return Namespace(w).tanh(SCALE * x * (1 + CUBIC * x * x))
    return Traced(w, w.node("Erf", (x * math.sqrt(0.5)).value))


def _gelu(w: Writer, p: Any, x: Value) -> Any:
    """onnxruntime makes one node of these where it finds them, FastGelu, whose kernel takes no scalar."""
    if x.type.shape.rank == 0:
        return w.reshape(_gelu(w, p, w.reshape(x, [1])), [])
    array = as_array(w, x)
    return as_value(w, array * 0.5 * (_form(w, array, p.approximate) + 1), x.type.dtype)


def _gelu_grad(w: Writer, p: Any, x: Value, dy: Value) -> Any:
    array = as_array(w, x)
    t = _form(w, array, p.approximate)
    if p.approximate:
        change: Any = 0.5 * array * (1 - t * t) * (SCALE * (1 + 3 * CUBIC * array * array))
    else:
        change = array * Namespace(w).exp(array * array * -0.5) * (1 / math.sqrt(2 * math.pi))
    return w.node("Mul", as_value(w, 0.5 * (t + 1) + change, x.type.dtype), dy)  # type: ignore[arg-type]


_FORMS: dict[type, Form] = {
    Elu: _node("Elu"),
    Gelu: _gelu,
    GeluGrad: _gelu_grad,
    LeakyRelu: lambda w, p, x: w.node("LeakyRelu", x, alpha=float(p.alpha)),
    Relu: _node("Relu"),
    Relu6: lambda w, p, x: w.node("Clip", x, w.scalar(0, x), w.scalar(6, x)),
    Selu: _node("Selu"),
    Sigmoid: _node("Sigmoid"),
    SigmoidGrad: _sigmoid_grad,
    Silu: lambda w, p, x: w.node("Mul", x, w.node("Sigmoid", x)),
    SiluGrad: _silu_grad,
    Softplus: _node("Softplus"),
    SoftplusGrad: lambda w, p, dy, x: w.node("Mul", dy, w.node("Sigmoid", x)),
}


@writer(*_FORMS)
def activation(w: Writer, p: Any, *xs: Value) -> Any:
    return in_float32(w, p, _FORMS[type(p)], *xs)


@writer(BiasAdd)
def bias_add(w: Writer, p: Any, x: Value, bias: Value) -> Value:
    rank = x.type.shape.rank or 2
    if p.channels_first and rank > 2:
        bias = w.unsqueeze(bias, list(range(1, rank - 1)))
    return w.node("Add", x, bias)
