"""ONNX export of complex numbers: what makes them and takes them apart; they are pairs of real ones in the model."""

from __future__ import annotations

from typing import Any

from ...primitives.complex.complex import Complex, Conj, Imag, Real
from ..lean import same_shape
from ..namespace import Namespace
from ..pairs import Pair, as_array, as_value
from ..records import Value
from ..registry import writer
from ..writing import Writer


@writer(Complex, pairs=True)
def complex_number(w: Writer, p: Any, re: Value, im: Value) -> Any:
    if same_shape(re, im):
        return [Pair(re, im)]
    if re.type.shape.is_fully_defined() and im.type.shape.is_fully_defined():
        parts = Namespace(w).broadcast_arrays(as_array(w, re), as_array(w, im))
        return [Pair(parts[0].value, parts[1].value)]
    zeros = [w.expand(w.scalar(0, x), w.shape(x)) for x in (re, im)]
    return [Pair(w.node("Add", re, zeros[1]), w.node("Add", im, zeros[0]))]


@writer(Real, pairs=True)
def real(w: Writer, p: Any, x: Any) -> Any:
    del w
    return x.re if isinstance(x, Pair) else x


@writer(Imag, pairs=True)
def imag(w: Writer, p: Any, x: Any) -> Any:
    array = as_array(w, x)
    return as_value(w, Namespace(w).imag(array), w.op.outputs[0].dtype)


@writer(Conj, pairs=True)
def conj(w: Writer, p: Any, x: Any) -> Any:
    return [Pair(x.re, w.node("Neg", x.im))] if isinstance(x, Pair) else x
