"""Grey-scale dilation and erosion: the largest sum, or smallest difference, of pixels and a structuring function."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from ...core.contexts import in_graph_of_inputs
from ...core.dtypes import FLOATING, INTEGER
from ...core.lengths import known_to_differ
from ...core.operation import Operation, Tensor
from ...core.primitive import Primitive
from ...core.traits import Links, linear
from ...core.types import TensorType
from ...core.typing import TensorLike
from ..base import largest
from ..base.broadcasting import operands
from ..base.precision import widened
from ..base.window_links import Geometry, Images, images, window_links
from ..base.windows import (
    Padding,
    at_offset,
    check_data_format,
    infer_windows,
    inside,
    offsets,
    padded,
    pads_of,
    result_lengths,
    spatial_lengths,
    spatial_padding,
    window_shape,
)
from ..elementwise.masking import kept
from ..reduction.reduce import lowest
from ..reduction.sum import sum_kernel
from ..shape.reverse import reverse

_FORM = "NHWC"


@in_graph_of_inputs
def dilation2d(
    input: TensorLike,
    filters: TensorLike,
    strides: int | Sequence[int],
    padding: str | Sequence[Sequence[int]],
    data_format: str = "NHWC",
    dilations: int | Sequence[int] = 1,
    name: str | None = None,
) -> Tensor:
    """The largest sum of a pixel and the filter's element there, over each window; each channel has its own filter.

    The derivative goes to the first of equal sums. Padding is never the largest. See `conv2d` for the arguments.

    Shapes: `input` [n, h, w, c]; `filters` [kh, kw, c]. Dtypes: any real number, the same for both.

    Derivative: dinput and dfilters = sum of dy over the windows in which the element gives the maximum, of equals the
    first.

    Raises:
        ValueError: the shapes do not fit, or an argument is not as for `conv2d`. TypeError: the dtypes differ.

    Source: Serra, Image Analysis and Mathematical Morphology, 1982.

    >>> import pullback as pb
    >>> x, filters = [[[[1.0], [2.0]], [[3.0], [4.0]]]], [[[0.0], [-3.0]], [[0.0], [0.0]]]
    >>> pb.Session().run(pb.nn.dilation2d(x, filters, 1, "SAME"))[0, :, :, 0]
    array([[4., 4.],
           [3., 4.]], dtype=float32)
    """
    x, f = operands(input, filters)
    return Dilation2D(*_arguments("dilation2d", strides, padding, data_format, dilations))(x, f, name=name)


@in_graph_of_inputs
def erosion2d(
    value: TensorLike,
    filters: TensorLike,
    strides: int | Sequence[int],
    padding: str | Sequence[Sequence[int]],
    data_format: str = "NHWC",
    dilations: int | Sequence[int] = 1,
    name: str | None = None,
) -> Tensor:
    """The smallest difference of a pixel and the element of the turned filter there: the dual of `dilation2d`.

    Shapes: `value` [n, h, w, c]; `filters` [kh, kw, c]. Dtypes: any float or signed integer, the same for both.

    Derivative: dinput = sum of dy over the windows in which the element gives the minimum, of equals the first;
    dfilters = minus that.

    Raises:
        ValueError: the shapes do not fit, or an argument is not as for `conv2d`. TypeError: the dtypes differ.

    >>> import pullback as pb
    >>> x, filters = [[[[1.0], [2.0]], [[3.0], [4.0]]]], [[[0.0], [0.0]], [[0.0], [0.0]]]
    >>> pb.Session().run(pb.nn.erosion2d(x, filters, 1, "VALID"))
    array([[[[1.]]]], dtype=float32)
    """
    x, f = operands(value, filters)
    arguments = _arguments("erosion2d", strides, padding, data_format, dilations)
    with x.graph.within(name or "erosion2d"):
        return -Dilation2D(*arguments)(-x, reverse(f, [0, 1]))


def _arguments(what: str, strides: Any, padding: Any, data_format: str, dilations: Any) -> tuple[Any, ...]:
    form = check_data_format(what, data_format, (_FORM,))
    return (
        spatial_lengths(what, "strides", strides, 2, form),
        spatial_padding(what, padding, 2, form),
        spatial_lengths(what, "dilations", dilations, 2, form),
    )


def _links_between(result: str, *inputs: str) -> Callable[..., Links | None]:
    """The `links` of what has images "x", filters "f" and windows "y" for its result and its inputs."""

    def links(self: Any, i: int, *types: TensorType) -> Links | None:
        x, f = [types[inputs.index(role)].shape for role in ("x", "f")]
        if not (x[1:].is_fully_defined() and f.is_fully_defined()):
            return None
        same = {"channel": np.arange(f.known[2])}
        roles = {
            "x": images("elements", _FORM, same),
            "y": images("windows", _FORM, same),
            "f": Images("places", None, (0, 1), {2: same}),
        }
        geometry = Geometry(x[1:3].known, f.known[:2], self.strides, self.dilations, self.padding)
        return window_links(geometry, roles[result], roles[inputs[i]])

    return links


class Dilation2D(Primitive):
    strides: tuple[int, ...]
    padding: Padding
    dilations: tuple[int, ...]

    def infer(self, x: TensorType, f: TensorType) -> tuple[TensorType, ...]:
        if x.dtype != f.dtype or (x.dtype not in FLOATING and x.dtype not in INTEGER):
            raise TypeError(f"dilation2d: input and filters must be real numbers of one dtype, not {x} and {f}")
        if f.shape.rank not in (3, None):
            raise ValueError(f"dilation2d: the filters must have three axes, not {f}")
        *windows, depth = f.shape.sizes or (None,) * 3
        batch, counts, channels = infer_windows(
            "dilation2d", x, windows, self.strides, self.dilations, self.padding, _FORM
        )
        if known_to_differ(channels, depth):
            raise ValueError(f"dilation2d: the filters {f} are for {depth} channels, not for {channels}")
        return (TensorType(x.dtype, window_shape(batch, counts, channels or depth, _FORM)),)

    links = _links_between("y", "x", "f")

    def kernel(self, xp: Any, x: Any, f: Any) -> Any:
        y = None
        for _, total in sums(self, xp, x, f):
            y = total if y is None else xp.maximum(y, total)
        return y

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        (x, f), y = op.inputs, op.outputs[0]
        where = (self.strides, self.padding, self.dilations)
        by_input, by_filter = Dilation2DBackpropInput(*where), Dilation2DBackpropFilter(*where)
        return partial(by_input, x, f, y, dy), partial(by_filter, x, f, y, dy)


class Dilation2DBackpropInput(Primitive):
    """`dy` put at the pixel of each window's first largest sum."""

    traits = (linear(3),)

    strides: tuple[int, ...]
    padding: Padding
    dilations: tuple[int, ...]

    def infer(self, x: TensorType, f: TensorType, y: TensorType, dy: TensorType) -> tuple[TensorType, ...]:
        del f, y, dy
        return (x,)

    links = _links_between("x", "x", "f", "y", "y")

    def kernel(self, xp: Any, x: Any, f: Any, y: Any, dy: Any) -> Any:
        dtype, dy = dy.dtype, widened(dy)
        pads = _pads(self, x, f)
        total = xp.zeros((x.shape[0], *_padded_lengths(x, pads), x.shape[-1]), dy.dtype)
        for offset, hit in _hits(self, xp, x, f, y):
            at = at_offset(offset, dy.shape[1:-1], self.strides, self.dilations)
            if xp is np:
                total[at] += kept(xp, hit, dy)
            else:
                total = total.at[at].add(kept(xp, hit, dy))
        return total[inside(x.shape[1:-1], pads)].astype(dtype)

    def gradient(self, op: Operation, ddx: Tensor) -> Sequence[Any]:
        x, f, y, _ = op.inputs
        pick = Dilation2DPick(self.strides, self.padding, self.dilations)
        return None, None, None, partial(pick, x, f, y, ddx)


class Dilation2DPick(Primitive):
    """The pixel of `ddx` where each window of `x` has its first largest sum."""

    traits = (linear(3),)

    strides: tuple[int, ...]
    padding: Padding
    dilations: tuple[int, ...]

    def infer(self, x: TensorType, f: TensorType, y: TensorType, ddx: TensorType) -> tuple[TensorType, ...]:
        del x, f, ddx
        return (y,)

    links = _links_between("y", "x", "f", "y", "x")

    def kernel(self, xp: Any, x: Any, f: Any, y: Any, ddx: Any) -> Any:
        ddx, total = padded(xp, ddx, _pads(self, x, f)), None
        for offset, hit in _hits(self, xp, x, f, y):
            term = kept(xp, hit, ddx[at_offset(offset, y.shape[1:-1], self.strides, self.dilations)])
            total = term if total is None else xp.add(total, term)
        return total

    def gradient(self, op: Operation, d: Tensor) -> Sequence[Any]:
        x, f, y, _ = op.inputs
        put = Dilation2DBackpropInput(self.strides, self.padding, self.dilations)
        return None, None, None, partial(put, x, f, y, d)


class Dilation2DBackpropFilter(Primitive):
    """`dy` added up at the filter's element of each window's first largest sum."""

    traits = (linear(3),)

    strides: tuple[int, ...]
    padding: Padding
    dilations: tuple[int, ...]

    def infer(self, x: TensorType, f: TensorType, y: TensorType, dy: TensorType) -> tuple[TensorType, ...]:
        del x, y, dy
        return (f,)

    links = _links_between("f", "x", "f", "y", "y")

    def kernel(self, xp: Any, x: Any, f: Any, y: Any, dy: Any) -> Any:
        sums = [sum_kernel(xp, kept(xp, hit, dy), (0, 1, 2), False) for _, hit in _hits(self, xp, x, f, y)]
        return xp.stack(sums).reshape(f.shape)

    def gradient(self, op: Operation, ddf: Tensor) -> Sequence[Any]:
        x, f, y, _ = op.inputs
        pick = Dilation2DPickFilter(self.strides, self.padding, self.dilations)
        return None, None, None, partial(pick, x, f, y, ddf)


class Dilation2DPickFilter(Primitive):
    """The element of `ddf` where each window of `x` has its first largest sum."""

    traits = (linear(3),)

    strides: tuple[int, ...]
    padding: Padding
    dilations: tuple[int, ...]

    def infer(self, x: TensorType, f: TensorType, y: TensorType, ddf: TensorType) -> tuple[TensorType, ...]:
        del x, f, ddf
        return (y,)

    links = _links_between("y", "x", "f", "y", "f")

    def kernel(self, xp: Any, x: Any, f: Any, y: Any, ddf: Any) -> Any:
        total = xp.zeros(y.shape, ddf.dtype)
        for offset, hit in _hits(self, xp, x, f, y):
            total = xp.where(hit, ddf[offset], total)
        return total

    def gradient(self, op: Operation, d: Tensor) -> Sequence[Any]:
        x, f, y, _ = op.inputs
        put = Dilation2DBackpropFilter(self.strides, self.padding, self.dilations)
        return None, None, None, partial(put, x, f, y, d)


def _pads(p: Any, x: Any, f: Any) -> Any:
    return pads_of(x.shape[1:-1], f.shape[:-1], p.strides, p.dilations, p.padding)


def _padded_lengths(x: Any, pads: Any) -> list[int]:
    return [before + n + after for n, (before, after) in zip(x.shape[1:-1], pads, strict=True)]


def sums(p: Any, xp: Any, x: Any, f: Any) -> Iterator[tuple[tuple[int, ...], Any]]:
    """For each place in the window, the pixels there plus the filter's element; the lowest number on padding."""
    lengths, windows = x.shape[1:-1], f.shape[:-1]
    counts = [max(m or 0, 0) for m in result_lengths(lengths, windows, p.strides, p.dilations, p.padding)]
    pads = _pads(p, x, f)
    real = padded(np, np.ones((1, *lengths, 1), bool), pads, False)
    x = padded(xp, x, pads)
    for offset in offsets(windows):
        at = at_offset(offset, counts, p.strides, p.dilations)
        total = x[at] + f[offset]
        yield offset, total if real[at].all() else xp.where(real[at], total, np.array(lowest(x.dtype), x.dtype))


def _hits(p: Any, xp: Any, x: Any, f: Any, y: Any) -> Iterator[tuple[tuple[int, ...], Any]]:
    """For each place in the window, whether the first largest sum is there."""
    found = largest.hits(xp, (total for _, total in sums(p, xp, x, f)), y)
    return zip(offsets(f.shape[:-1]), found, strict=True)
