"""ONNX export of Fourier transforms.

Along axes of known length their kernels are traced. Where a length is not known the transform is a product with a
matrix whose size the run decides.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ....core.dtypes import float64, int64
from ....core.operation import Operation
from ....core.types import TensorType
from ....primitives.signal.dct import Dct
from ....primitives.signal.fft import FftShift
from ....primitives.signal.fourier import Fft, InverseRealFft, RealFft
from ...pairs import Pair, trace_kernel
from ...records import Value
from ...registry import writer
from ...writing import Writer
from ..shapes import rank_of
from ..traced import traced


@writer(Fft, pairs=True)
def fft(w: Writer, p: Any, x: Pair) -> Any:
    if _is_known(w.op):
        return trace_kernel(w, [x])
    for axis in p.axes:
        x = _along(w, x, axis, p.inverse, p.norm)
    return [x]


@writer(RealFft, pairs=True)
def real_fft(w: Writer, p: Any, x: Value) -> Any:
    if _is_known(w.op):
        return trace_kernel(w, [x])
    axis = p.axes[-1]
    n = _length(w, x, axis)
    bins = w.node("Add", w.node("Div", n, w.constant(2, int64)), w.constant(1, int64))
    c, s = _waves(w, n, n, bins)
    factor = _factor(w, n, p.norm == "forward", p.norm)
    if p.doubled:
        factor = _multiplied(w, factor, _counts(w, n, bins))
    parts = [_scaled(w, m, factor) for m in (c, w.node("Neg", s))]
    pair = Pair(*[_product(w, x, m, axis) for m in parts])
    for other in p.axes[:-1]:
        pair = _along(w, pair, other, False, p.norm)
    return [pair]


@writer(InverseRealFft, pairs=True)
def inverse_real_fft(w: Writer, p: Any, x: Pair, like: Value | None = None) -> Any:
    """The bins up to the middle count twice but for the ends, whose imaginary parts do not count."""
    if _is_known(w.op) and (like is None or p.length is not None):
        return trace_kernel(w, [x])
    axis = p.axes[-1]
    for other in p.axes[:-1]:
        x = _along(w, x, other, True, p.norm)
    if p.length is not None:
        n = w.constant(p.length, int64)
    elif like is not None:
        n = _length(w, like, axis)
    else:
        two, one = w.constant(2, int64), w.constant(1, int64)
        n = w.node("Mul", two, w.node("Sub", _length(w, x.re, axis), one))
    bins = w.node("Add", w.node("Div", n, w.constant(2, int64)), w.constant(1, int64))
    c, s = _waves(w, n, bins, n)
    factor = _factor(w, n, p.norm == "backward", p.norm)
    if not p.halved:
        factor = _multiplied(w, factor, w.unsqueeze(_counts(w, n, bins), [1]))
    re, im = [fitted(w, part, bins, axis) for part in (x.re, x.im)]
    first = _product(w, re, _scaled(w, c, factor), axis)
    return [w.node("Sub", first, _product(w, im, _scaled(w, s, factor), axis))]


def _is_known(op: Operation) -> bool:
    return all(x.shape.is_fully_defined() for x in (op.inputs[0], *op.outputs))


def _length(w: Writer, x: Value, axis: int) -> Value:
    return w.reshape(w.lengths(x, [axis]), [])


class _Waves(NamedTuple):
    c: Value
    s: Value


def _waves(w: Writer, n: Value, rows: Value, columns: Value) -> _Waves:
    """Cosines and sines of 2 pi j k / n for j below `rows` and k below `columns`, from exact remainders; in float64."""
    zero, one = w.constant(0, int64), w.constant(1, int64)
    j, k = [w.node("Range", zero, m, one) for m in (rows, columns)]
    products = w.node("Mul", w.unsqueeze(j, [1]), w.unsqueeze(k, [0]))
    part = w.node("Div", w.cast(w.node("Mod", products, n), float64), w.cast(n, float64))
    angle = w.node("Mul", part, w.constant(2 * np.pi, float64))
    return _Waves(w.node("Cos", angle), w.node("Sin", angle))


def _factor(w: Writer, n: Value, divided: bool, norm: str) -> Value | None:
    """What a transform is multiplied by; None for 1."""
    if norm == "ortho":
        return w.node("Reciprocal", w.node("Sqrt", w.cast(n, float64)))
    return w.node("Reciprocal", w.cast(n, float64)) if divided else None


def _counts(w: Writer, n: Value, bins: Value) -> Value:
    """For how many bins of a transform of `n` real numbers each of those that are kept stands."""
    k = w.node("Range", w.constant(0, int64), bins, w.constant(1, int64))
    twice = w.node("Mul", k, w.constant(2, int64))
    single = w.node("Or", w.node("Equal", k, w.constant(0, int64)), w.node("Equal", twice, n))
    return w.where(single, w.constant(1.0, float64), w.constant(2.0, float64))


def _multiplied(w: Writer, factor: Value | None, counts: Value) -> Value:
    return counts if factor is None else w.node("Mul", factor, counts)


def _scaled(w: Writer, matrix: Value, factor: Value | None) -> Value:
    return matrix if factor is None else w.node("Mul", matrix, factor)


def _product(w: Writer, x: Value, matrix: Value, axis: int) -> Value:
    """`x` times the matrix along an axis."""
    rank = rank_of(x)
    last = [i for i in range(rank) if i != axis % rank] + [axis % rank]
    moved = w.transpose(x, last)
    product = w.node("MatMul", moved, w.cast(matrix, x.type.dtype))
    return w.transpose(product, np.argsort(last).tolist())


def _along(w: Writer, x: Pair, axis: int, inverse: bool, norm: str) -> Pair:
    """The complex transform along an axis."""
    n = _length(w, x.re, axis)
    c, s = _waves(w, n, n, n)
    factor = _factor(w, n, (norm == "forward") != inverse, norm)
    c, s = _scaled(w, c, factor), _scaled(w, s if inverse else w.node("Neg", s), factor)
    re = w.node("Sub", _product(w, x.re, c, axis), _product(w, x.im, s, axis))
    im = w.node("Add", _product(w, x.re, s, axis), _product(w, x.im, c, axis))
    return Pair(_as(re, x.re.type), _as(im, x.re.type))


def _as(y: Value, type: TensorType) -> Value:
    return Value(y.name, TensorType(type.dtype, y.type.shape.merge_with(type.shape)))


def fitted(w: Writer, x: Value, bins: Value, axis: int) -> Value:
    """`x` cut, or followed by zeros, to `bins` along an axis."""
    rank = rank_of(x)
    place = axis % rank
    count = w.reshape(bins, [1])
    more = w.node("Max", w.node("Sub", count, w.lengths(x, [place])), w.vector([0]))
    cut = w.slice(x, w.vector([0]), count, [place])
    widths = [more if i == rank + place else w.vector([0]) for i in range(2 * rank)]
    return w.node("Pad", cut, w.concat(widths, 0))


# Where all lengths are known, the kernels of these say how they are written.
writer(Dct, FftShift, pairs=True)(traced)
