"""Image layouts of ONNX: channels come second; convolutions of that kind, both ways."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...core.dtypes import int64
from ...primitives.base.windows import Padding, Pads, has_channels_first, pads_of, result_lengths, split_axes
from ..records import Value
from ..writing import Writer

Lengths = tuple[int | None, ...]
_BLOCK = 16
"""How many channels onnxruntime's convolutions take at once, where there are as many."""


class Geometry(NamedTuple):
    """How windows lie over an array [n, c, spatial...]."""

    windows: Lengths
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    padding: Padding

    @property
    def rank(self) -> int:
        """The number of spatial axes."""
        return len(self.strides)

    @property
    def spatial(self) -> list[int]:
        """The numbers of the spatial axes."""
        return list(range(2, self.rank + 2))

    def known_pads(self, lengths: Lengths) -> Pads | None:
        """The paddings where they are known while the model is written: SAME asks for lengths only beside a stride."""
        if not isinstance(self.padding, str) or self.padding == "VALID":
            return pads_of([0] * self.rank, [1] * self.rank, self.strides, self.dilations, self.padding)
        found: list[tuple[int, int]] = []
        for n, k, s, d in zip(lengths, self.windows, self.strides, self.dilations, strict=True):
            if k is None or (n is None and s != 1):
                return None
            found += pads_of([n or 1], [k], [s], [d], self.padding)
        return tuple(found)

    def counts(self, lengths: Lengths) -> Lengths:
        """How many windows there are along each axis."""
        counts = result_lengths(lengths, self.windows, self.strides, self.dilations, self.padding)
        return tuple([None if m is None else max(m, 0) for m in counts])

    def attributes(self, pads: Pads | None) -> dict[str, Any]:
        """Those of ONNX's convolutions and pools."""
        found: dict[str, Any] = {"strides": list(self.strides), "dilations": list(self.dilations)}
        if None not in self.windows:
            found["kernel_shape"] = list(self.windows)
        if pads is not None:
            found["pads"] = [*[a for a, _ in pads], *[b for _, b in pads]]
        return found


def channels_second(w: Writer, x: Value, data_format: str) -> Value:
    """`x` with its channels after the batch."""
    if has_channels_first(data_format):
        return x
    rank = len(data_format)
    return w.transpose(x, [0, rank - 1, *range(1, rank - 1)])


def as_data_format(w: Writer, x: Value, data_format: str) -> Value:
    """`x`, whose channels are the second axis, in the order of `data_format`."""
    if has_channels_first(data_format):
        return x
    rank = len(data_format)
    return w.transpose(x, [0, *range(2, rank), 1])


def split(x: Any, data_format: str) -> tuple[int | None, Lengths, int | None]:
    """Batch, spatial lengths and channels of a value or a tensor, as far as they are known."""
    return split_axes(x.type.shape.sizes or (None,) * len(data_format), data_format)


def dims_of(x: Value, rank: int) -> Lengths:
    """The lengths of `x`, as far as they are known."""
    return x.type.shape.sizes or (None,) * rank


def spatial_sizes(w: Writer, sizes: Value, data_format: str) -> Value:
    """The spatial lengths in a vector `sizes` of all lengths."""
    first = 2 if has_channels_first(data_format) else 1
    return w.gather(w.cast(sizes, int64), w.constant(np.arange(first, first + len(data_format) - 2)), 0)


def vector(w: Writer, numbers: Any) -> Value:
    """A constant vector of integers."""
    return w.constant(np.asarray(numbers, int64))


def same_pads(w: Writer, g: Geometry, lengths: Value) -> tuple[Value, Value]:
    """What SAME puts before and after axes of these lengths, worked out at run time."""
    reach = [((k or 1) - 1) * d + 1 for k, d in zip(g.windows, g.dilations, strict=True)]
    steps, one = vector(w, g.strides), vector(w, [1] * g.rank)
    counts = w.node("Div", w.node("Sub", w.node("Add", lengths, steps), one), steps)
    last = w.node("Mul", w.node("Sub", counts, one), steps)
    missing = w.node("Sub", w.node("Add", last, vector(w, reach)), lengths)
    total = w.node("Max", missing, vector(w, [0] * g.rank))
    before = w.node("Div", total, vector(w, [2] * g.rank))
    return before, w.node("Sub", total, before)


def padded(w: Writer, g: Geometry, x: Value, fill: float = 0.0) -> tuple[Value, Pads]:
    """`x` and the paddings that are still to be put around it: those that are only known at run time are put here."""
    dims = dims_of(x, g.rank + 2)
    pads = g.known_pads(dims[2:])
    if pads is not None:
        return x, pads
    before, after = same_pads(w, g, w.lengths(x, g.spatial))
    none = vector(w, [0, 0])
    return w.node("Pad", x, w.concat([none, before, none, after], 0), w.scalar(fill, x)), no_pads(g)


def no_pads(g: Geometry) -> Pads:
    """No padding."""
    return ((0, 0),) * g.rank


def zeros(w: Writer, like: Value, shape: Lengths) -> Value:
    """Zeros where there is nothing to compute with: onnxruntime refuses arrays without elements in some kernels."""
    return w.expand(w.scalar(0, like), vector(w, [n or 0 for n in shape]))


def convolved(w: Writer, g: Geometry, x: Value, filters: Value, groups: int) -> Value:
    """The convolution of `x` [n, c, spatial...] with `filters` [count, c / groups, window...]."""
    images, pads = padded(w, g, x)
    dims = dims_of(x, g.rank + 2)
    shape = (dims[0], dims_of(filters, g.rank + 2)[0], *g.counts(dims[2:]))
    if 0 in dims:
        return zeros(w, x, shape)
    return w.node("Conv", images, filters, group=groups, **g.attributes(pads))


def convolved_back(
    w: Writer, g: Geometry, dy: Value, filters: Value, groups: int, lengths: Lengths, sizes: Value | None
) -> Value:
    """The cotangent of the input of `convolved`, whose spatial lengths are `lengths` or those in `sizes`."""
    dims = dims_of(dy, g.rank + 2)
    depth = dims_of(filters, g.rank + 2)[1]
    channels = None if depth is None else depth * groups
    if 0 in dims:
        return zeros(w, dy, (dims[0], channels, *lengths))
    pads = g.known_pads(lengths)
    rests = None if pads is None else _rests(g, lengths, dims[2:], pads)
    if pads is not None and rests is not None:
        reached = tuple([(a, b + s - 1 - n) for (a, b), s, n in zip(pads, g.strides, rests, strict=True)])
        if _is_faster_flipped(w, g, filters, groups, reached):
            return _convolved_flipped(w, g, dy, filters, groups, reached)
        attributes = g.attributes(pads) | ({"output_padding": rests} if any(rests) else {})
        return w.node("ConvTranspose", dy, filters, group=groups, **attributes)
    if sizes is None:
        sizes = vector(w, lengths)
    before = same_pads(w, g, sizes)[0] if pads is None else vector(w, [a for a, _ in pads])
    over = [_overhang(g, i, lengths[i], dims[i + 2], pads) for i in range(g.rank)]
    attributes = g.attributes(no_pads(g)) | ({"output_padding": [s - 1 for s in g.strides]} if any(over) else {})
    whole = w.node("ConvTranspose", dy, filters, group=groups, **attributes)
    if max(over) >= max(g.strides):
        wide = vector(w, [0, 0, *[0] * g.rank, 0, 0, *over])
        whole = w.node("Pad", whole, wide)
    return w.slice(whole, before, w.node("Add", before, sizes), g.spatial)


def _is_faster_flipped(w: Writer, g: Geometry, filters: Value, groups: int, pads: Pads) -> bool:
    """Whether a convolution with the filters turned around is faster: one filter for each channel; or constants, which
    are turned around when the model is loaded, of one element, or of channels enough for kernels that take blocks."""
    count, depth = dims_of(filters, g.rank + 2)[:2]
    axes = zip(g.windows, g.dilations, pads, strict=True)
    narrow = all(max(pad) <= ((k or 1) - 1) * d for k, d, pad in axes)
    if not narrow or g.rank != 2 or None in g.windows or count is None or depth is None:
        return False
    by_steps = max(g.strides) == 1
    if groups > 1:
        return depth == 1 and count == groups and (by_steps or (groups % _BLOCK == 0 and w.reads_finite()))
    constant = w.static(filters) is not None or _is_transposed_constant(w, filters)
    wide = min(count, depth) >= 2 * _BLOCK and count % _BLOCK == depth % _BLOCK == 0
    return constant and by_steps and (wide or set(g.windows) == {1})


def _is_transposed_constant(w: Writer, x: Value) -> bool:
    record = w.model.producers.get(x.name)
    return record is not None and record.op_type == "Transpose" and record.inputs[0] in w.model.arrays


def _convolved_flipped(w: Writer, g: Geometry, dy: Value, filters: Value, groups: int, pads: Pads) -> Value:
    turned = filters if groups > 1 else w.transpose(filters, [1, 0, *g.spatial])
    if max(g.strides) > 1:
        dy, g = _spread(w, g, dy), g._replace(strides=(1,) * g.rank)
    windows = [k or 1 for k in g.windows]
    if max(windows) > 1:
        low = [-(2**31)] * g.rank
        turned = w.slice(turned, [-1] * g.rank, low, g.spatial, [-1] * g.rank)
    reach = [(k - 1) * d for k, d in zip(windows, g.dilations, strict=True)]
    around = tuple([(r - a, r - b) for r, (a, b) in zip(reach, pads, strict=True)])
    return w.node("Conv", dy, turned, group=groups, **g.attributes(around))


def _spread(w: Writer, g: Geometry, dy: Value) -> Value:
    """`dy` with zeros between its elements, by strides: enlarged, times a pattern of ones and zeros."""
    counts = [m * s for m, s in zip(dims_of(dy, g.rank + 2)[2:], g.strides, strict=True)]  # type: ignore[operator]
    pattern = np.zeros([1, 1, *counts], np.float32)
    pattern[..., :: g.strides[0], :: g.strides[1]] = 1
    scales = w.constant(np.array([1, 1, *g.strides], np.float32))
    how = {"mode": "nearest", "nearest_mode": "floor", "coordinate_transformation_mode": "asymmetric"}
    return w.node("Mul", w.node("Resize", dy, None, scales, **how), w.constant(pattern))


def _overhang(g: Geometry, i: int, n: int | None, m: int | None, pads: Pads | None) -> int:
    """How many elements at the end of an axis no window reaches; a bound of that where it is not known."""
    k = g.windows[i]
    if n is None or m is None or k is None or pads is None:
        return g.strides[i] - 1
    return max(n + sum(pads[i]) - ((m - 1) * g.strides[i] + (k - 1) * g.dilations[i] + 1), 0)


def _rests(g: Geometry, lengths: Lengths, counts: Lengths, pads: Pads) -> list[int] | None:
    """How many elements at the end no window reaches; None where that is not known, or is not less than a stride."""
    found = []
    axes = zip(lengths, counts, g.windows, g.strides, g.dilations, pads, strict=True)
    for n, m, k, s, d, (a, b) in axes:
        if s == 1 and (n is None or m is None or k is None):
            found.append(0)
            continue
        if n is None or m is None or k is None:
            return None
        rest = n + a + b - ((m - 1) * s + (k - 1) * d + 1)
        if not 0 <= rest < max(s, 1):
            return None
        found.append(rest)
    return found
