"""ONNX import of signal processing: Fourier transforms and windows; complex numbers are a last axis of two."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

from ...control_flow.conditional import switch_case
from ...core.dtypes import float32, float64, int32, int64
from ...core.operation import Tensor
from ...primitives.complex.complex import complex, imag, real
from ...primitives.creation.constant import constant
from ...primitives.creation.fill import zeros, zeros_like
from ...primitives.creation.ranges import range_
from ...primitives.elementwise.exponential import expm1, log1p
from ...primitives.elementwise.maximum import maximum
from ...primitives.elementwise.rounding import floor
from ...primitives.elementwise.trigonometric import cos
from ...primitives.indexing.gather import gather
from ...primitives.indexing.slicing import getitem
from ...primitives.indexing.where import where
from ...primitives.logic.comparison import equal
from ...primitives.shape.pad import pad
from ...primitives.shape.reshape import reshape
from ...primitives.shape.squeeze import expand_dims
from ...primitives.shape.stacking import stack
from ...primitives.signal.fourier import Fft, InverseRealFft, RealFft
from ..element_types import dtype_of
from ..reading import Node, reader
from .dtypes import cast
from .lengths import length, rank_of


@reader("DFT")
def dft(node: Node, x: Tensor, dft_length: Tensor | None = None, axis: Tensor | None = None) -> Tensor:
    rank = rank_of(node, x)
    known = -2 if axis is None else node.static(axis)
    count = None if dft_length is None else _number(node, dft_length)
    kinds = (bool(node.attribute("onesided", 0)), bool(node.attribute("inverse", 0)))
    transform = partial(_transformed, x, count, *kinds)
    if known is not None:
        if not -rank <= known < rank - 1 or known == -1:
            node.reject(f"axis {int(known)} is none of those along which {x.type} has numbers")
        return transform(int(known) % rank)
    # Which axis it is shows in a run: a branch for each.
    assert axis is not None
    place = cast(reshape(axis, []), int32)
    place = where(place < 0, place + rank, place)
    result: Tensor = switch_case(place, [partial(transform, i) for i in range(rank - 1)])
    return result


def _number(node: Node, x: Tensor) -> Any:
    """An integer where it is known, else a scalar of int64."""
    value = node.static(x)
    return cast(reshape(x, []), int64) if value is None else int(value.reshape(-1)[0])


def _transformed(x: Tensor, count: Any, one_sided: bool, inverse: bool, axis: int) -> Tensor:
    """The transform along one axis of `count` elements, as many as there are for None."""
    is_complex = x.shape.size(-1) == 2
    dtype = x.dtype
    wide = x if dtype.itemsize > 2 else cast(x, float32)
    # Counted from the end, without the axis of real and imaginary parts.
    place = axis - len(x.shape) + 1
    if one_sided and inverse:
        return cast(_to_reals(wide, count, axis, place), dtype)
    fitted = wide if count is None else _fitted(wide, count, axis)
    parts = fitted[..., 0]
    if one_sided and not is_complex:
        y: Any = RealFft((place,))(parts)
    else:
        values = complex(parts, _imaginary(fitted, parts))
        y = Fft((place,), inverse)(values)
        if one_sided:
            y = getitem(y, (*[slice(None)] * axis, slice(0, length(y, axis) // 2 + 1)))
    return cast(stack([real(y), imag(y)], -1), dtype)


def _imaginary(x: Tensor, parts: Tensor) -> Tensor:
    """The imaginary parts: the second entries of the last axis, zeros where there are none."""
    count = length(x, -1)
    if isinstance(count, int):
        return x[..., 1] if count == 2 else zeros_like(parts)
    return where(equal(count, 2), x[..., -1], zeros_like(parts))


def _to_reals(x: Tensor, count: Any, axis: int, place: int) -> Tensor:
    """Real numbers of which the first half of the transform is given."""
    if count is not None:
        x = _fitted(x, count // 2 + 1, axis)
    values = complex(x[..., 0], x[..., 1])
    if count is None:
        y = InverseRealFft((place,))(values)
    elif isinstance(count, int):
        y = InverseRealFft((place,), count)(values)
    else:
        # A tensor of that length says it.
        like = zeros([count if i == axis else 1 for i in range(len(x.shape) - 1)], x.dtype)
        y = InverseRealFft((place,))(values, like)
    return expand_dims(y, -1)


def _fitted(x: Tensor, count: Any, axis: int) -> Tensor:
    """The first `count` elements along an axis, followed by zeros where there are fewer."""
    n = length(x, axis)
    if isinstance(n, int) and isinstance(count, int):
        if n >= count:
            return x if n == count else getitem(x, (*[slice(None)] * axis, slice(0, count)))
        return pad(x, [(0, count - n if i == axis else 0) for i in range(len(x.shape))])
    cut = getitem(x, (*[slice(None)] * axis, slice(0, count)))
    none = constant(0, int64)
    more = maximum(cast(count - length(cut, axis), int64), 0)
    return pad(cut, stack([stack([none, more if i == axis else none]) for i in range(len(x.shape))]))


@reader("STFT")
def stft(
    node: Node, signal: Tensor, frame_step: Tensor, window: Tensor | None = None, frame_length: Tensor | None = None
) -> Tensor:
    if signal.shape.rank == 2:
        # Real signals without a last axis of one, which exporters write and onnxruntime takes.
        signal = expand_dims(signal, -1)
    total = length(signal, 1)
    step = _number(node, frame_step)
    size = total if window is None else length(window, 0)
    if frame_length is not None:
        size = _number(node, frame_length)
    count = (total - size) // step + 1
    first = expand_dims(range_(constant(0, int64), count) * step, 1)
    frames = gather(signal, first + range_(constant(0, int64), size), axis=1)
    if window is not None:
        frames = frames * expand_dims(window, 1)
    return _transformed(frames, None, bool(node.attribute("onesided", 1)), False, 2)


_FACTORS = {"HannWindow": [0.5, -0.5], "HammingWindow": [25 / 46, -21 / 46], "BlackmanWindow": [0.42, -0.5, 0.08]}


@reader(*_FACTORS)
def window(node: Node, size: Tensor) -> Tensor:
    """A sum of cosines of multiples of the angle that goes round once."""
    count, factors = _number(node, size), _FACTORS[node.op_type]
    n = cast(count if isinstance(count, Tensor) else constant(count, int64), float64)
    around = n if node.attribute("periodic", 1) else n - 1.0
    angle = cast(range_(constant(0, int64), count), float64) * (2 * math.pi) / around
    total: Any = factors[0]
    for i, factor in enumerate(factors[1:], 1):
        total = cos(angle * float(i)) * factor + total
    return cast(total, dtype_of(node.attribute("output_datatype", 1)))


@reader("MelWeightMatrix")
def mel_weight_matrix(
    node: Node, bins: Tensor, dft_length: Tensor, sample_rate: Tensor, low: Tensor, high: Tensor
) -> Tensor:
    """The triangles of the mel bands over the bins of a transform, [transform bins, bands]."""
    bands, size = _number(node, bins), _number(node, dft_length)
    size = size if isinstance(size, Tensor) else constant(size, int64)
    rate, lowest, highest = [cast(reshape(v, []), float64) for v in (sample_rate, low, high)]
    first, last = [log1p(v / 700.0) * (2595 / math.log(10)) for v in (lowest, highest)]
    places = range_(constant(0, int64), bands + 2)
    step = (last - first) / (cast(bands + 2, float64) if isinstance(bands, Tensor) else float(bands + 2))
    hertz = expm1((cast(places, float64) * step + first) * (math.log(10) / 2595)) * 700.0
    edges = floor(cast(size + 1, float64) * hertz / rate)
    left, middle, right = edges[:-2], edges[1:-1], edges[2:]
    at = expand_dims(cast(range_(constant(0, int64), size // 2 + 1), float64), 1)
    none = constant(0.0, float64)
    rise = where(
        (at >= left) & (at <= middle), where(middle > left, (at - left) / maximum(middle - left, 1.0), none + 1.0), none
    )
    fall = where((at >= middle) & (at < right), (right - at) / maximum(right - middle, 1.0), rise)
    return cast(fall, dtype_of(node.attribute("output_datatype", 1)))
