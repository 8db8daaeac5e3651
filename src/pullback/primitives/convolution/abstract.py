"""Convolutions in general: three primitives that are each other's derivatives, to any order, dense or depthwise.

With C(x, f) the convolution, and I(f, dy) and F(x, dy) its cotangents by input and by filters, all three are
bilinear, and <dy, C(x, f)> = <I(f, dy), x> = <F(x, dy), f>.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ...core.dtypes import FLOATING, INTEGER
from ...core.operation import Operation, Tensor
from ...core.primitive import Primitive
from ...core.shape import TensorShape
from ...core.traits import ZEROS, Links, bilinear, shaped_by
from ...core.types import TensorType, shape_to_infer
from ..base.broadcasting import operands
from ..base.precision import widened
from ..base.window_links import Geometry, Images, Labels, images, window_links
from ..base.windows import (
    Padding,
    as_data_format,
    channels_last,
    check_data_format,
    infer_windows,
    pads_of,
    spatial_lengths,
    spatial_padding,
    split_axes,
    window_shape,
)
from ..shape.reshape import shape_to_use, split_shape
from ..shape.size import shape
from . import conv_kernels

Lengths = tuple[int | None, ...]


class Family(NamedTuple):
    """The three primitives of one kind of convolution and what they compute, all on arrays with channels last."""

    function: str
    """The name of the public function, for messages."""
    forward: Callable[..., Primitive]
    by_input: Callable[..., Primitive]
    by_filter: Callable[..., Primitive]
    result_channels: Callable[[TensorType, int | None], int | None]
    """The channels of the result, from the filters' type and the input's channels; ValueError if they do not fit."""
    labels: Callable[[int, int, int], Sequence[Labels]]
    """What the channels of the input, both axes of the filters, and the result are called; from the first three."""
    convolve: Callable[..., Any]
    convolve_by_input: Callable[..., Any]
    convolve_by_filter: Callable[..., Any]


class AbstractConvolution(Primitive):
    """C(x, f)."""

    traits = (bilinear(0, 1),)

    strides: tuple[int, ...]
    padding: Padding
    data_format: str
    dilations: tuple[int, ...]

    @abstractmethod
    def family(self) -> Family:
        """The primitives that belong together."""

    def infer(self, x: TensorType, f: TensorType) -> tuple[TensorType, ...]:
        windows = _check_filters(self, x, f)
        batch, counts, channels = infer_windows(
            self.family().function, x, windows, self.strides, self.dilations, self.padding, self.data_format
        )
        count = self.family().result_channels(f, channels)
        return (TensorType(x.dtype, window_shape(batch, counts, count, self.data_format)),)

    def links(self, i: int, x: TensorType, f: TensorType) -> Links | None:
        return _links(self, "result", "filters" if i else "image", x.shape, f.shape)

    def kernel(self, xp: Any, x: Any, f: Any) -> Any:
        dtype, (x, f) = x.dtype, (widened(x), widened(f))
        x = channels_last(xp, x, self.data_format)
        pads = pads_of(x.shape[1:-1], f.shape[:-2], self.strides, self.dilations, self.padding)
        y = self.family().convolve(x, f, self.strides, self.dilations, pads)
        return as_data_format(xp, y.astype(dtype, copy=False), self.data_format)

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        x, f = op.inputs
        return partial(convolution_by_input, self, x, f, dy), partial(convolution_by_filter, self, x, f, dy)


class AbstractConvolutionByInput(Primitive):
    """I(f, dy), for an input of shape `input_sizes`, whose batch may be None; a third input holds it where more is."""

    shape_inputs = length_inputs = (2,)
    traits = (bilinear(0, 1), shaped_by(2), ZEROS)

    strides: tuple[int, ...]
    padding: Padding
    data_format: str
    dilations: tuple[int, ...]
    input_sizes: Lengths | None

    @abstractmethod
    def family(self) -> Family:
        """The primitives that belong together."""

    def infer(self, f: TensorType, dy: TensorType, sizes: TensorType | None = None) -> tuple[TensorType, ...]:
        windows = _check_filters(self, dy, f)
        dims = dy.shape.lengths or (None,) * (len(windows) + 2)
        lengths = shape_to_infer(self.input_sizes, sizes).lengths or (None,) * (len(windows) + 2)
        batch, spatial, channels = split_axes(lengths, self.data_format)
        x = TensorType(dy.dtype, window_shape(dims[0] if batch is None else batch, spatial, channels, self.data_format))
        expected = _result_type(self, x, f, windows)
        if not expected.shape.is_compatible_with(dy.shape):
            raise ValueError(f"{self.family().function}_transpose: images {x} would give {expected}, not {dy}")
        return (x,)

    def links(self, i: int, f: TensorType, dy: TensorType, sizes: TensorType | None = None) -> Links | None:
        del dy, sizes
        return _links(self, "image", "result" if i else "filters", TensorShape(self.input_sizes), f.shape)

    def kernel(self, xp: Any, f: Any, dy: Any, sizes: Any = None) -> Any:
        dtype, (f, dy) = dy.dtype, (widened(f), widened(dy))
        _, lengths, channels = split_axes(shape_to_use(self.input_sizes, sizes), self.data_format)
        pads = pads_of(lengths, f.shape[:-2], self.strides, self.dilations, self.padding)
        dy = channels_last(xp, dy, self.data_format)
        x = self.family().convolve_by_input(f, dy, lengths, channels, self.strides, self.dilations, pads)
        return as_data_format(xp, x.astype(dtype, copy=False), self.data_format)

    def gradient(self, op: Operation, dx: Tensor) -> Sequence[Any]:
        f, dy = op.inputs[:2]
        by_filter = partial(convolution_by_filter, self, dx, f, dy)
        return (by_filter, partial(convolution, self, dx, f), None)[: len(op.inputs)]


class AbstractConvolutionByFilter(Primitive):
    """F(x, dy), for filters of shape `filter_sizes`, or the shape that a third input holds."""

    shape_inputs = length_inputs = (2,)
    traits = (bilinear(0, 1),)

    strides: tuple[int, ...]
    padding: Padding
    data_format: str
    dilations: tuple[int, ...]
    filter_sizes: Lengths | None

    @abstractmethod
    def family(self) -> Family:
        """The primitives that belong together."""

    def infer(self, x: TensorType, dy: TensorType, sizes: TensorType | None = None) -> tuple[TensorType, ...]:
        known = shape_to_infer(self.filter_sizes, sizes)
        f = TensorType(x.dtype, TensorShape([None] * (len(self.strides) + 2)) if known.rank is None else known)
        expected = _result_type(self, x, f, _check_filters(self, x, f))
        if not expected.shape.is_compatible_with(dy.shape):
            function = self.family().function
            raise ValueError(f"{function}_backprop_filter: filters {f} on images {x} would give {expected}, not {dy}")
        return (f,)

    def links(self, i: int, x: TensorType, dy: TensorType, sizes: TensorType | None = None) -> Links | None:
        del dy, sizes
        return _links(self, "filters", "result" if i else "image", x.shape, TensorShape(self.filter_sizes))

    def kernel(self, xp: Any, x: Any, dy: Any, sizes: Any = None) -> Any:
        dtype, (x, dy) = x.dtype, (widened(x), widened(dy))
        whole = shape_to_use(self.filter_sizes, sizes)
        if 0 in whole:
            return xp.zeros(whole, dtype)
        *windows, depth, _ = whole
        x, dy = channels_last(xp, x, self.data_format), channels_last(xp, dy, self.data_format)
        pads = pads_of(x.shape[1:-1], windows, self.strides, self.dilations, self.padding)
        f = self.family().convolve_by_filter(x, dy, windows, depth, self.strides, self.dilations, pads)
        return f.astype(dtype, copy=False)

    def gradient(self, op: Operation, df: Tensor) -> Sequence[Any]:
        x, dy = op.inputs[:2]
        by_input = partial(convolution_by_input, self, x, df, dy)
        return (by_input, partial(convolution, self, x, df), None)[: len(op.inputs)]


AnyConvolution = AbstractConvolution | AbstractConvolutionByInput | AbstractConvolutionByFilter


def bytes_beside(like: AnyConvolution, shapes: Sequence[Sequence[int]], itemsize: int) -> int:
    """The bytes that a kernel takes beside its result; `shapes` are those of the first two inputs and of the result."""
    family = like.family()
    if isinstance(like, AbstractConvolution):
        what, (x, f, y) = family.convolve, shapes
    elif isinstance(like, AbstractConvolutionByInput):
        what, (f, y, x) = family.convolve_by_input, shapes
    else:
        what, (x, y, f) = family.convolve_by_filter, shapes
    (_, of_image, channels), (batch, counts, count) = [split_axes(tuple(dims), like.data_format) for dims in (x, y)]
    pads = pads_of(of_image, f[:-2], like.strides, like.dilations, like.padding)
    return conv_kernels.bytes_beside(what, (batch, *of_image, channels), f, (batch, *counts, count), pads, itemsize)


def _links(primitive: AnyConvolution, y: str, x: str, image: TensorShape, filters: TensorShape) -> Links | None:
    """The axes of `y` that go along axes of `x`: of "image", "filters" or "result"."""
    count, form = len(primitive.strides), primitive.data_format
    if image.sizes is None or None in image.sizes[1:] or not filters.is_fully_defined():
        return None
    _, lengths, channels = split_axes(image.sizes, form)
    *windows, depth, last = filters.known
    geometry = Geometry(lengths, windows, primitive.strides, primitive.dilations, primitive.padding)
    of_image, of_depth, of_last, of_result = primitive.family().labels(channels, depth, last)
    arrays = {
        "image": images("elements", form, of_image),
        "filters": Images("places", None, range(count), {count: of_depth, count + 1: of_last}),
        "result": images("windows", form, of_result),
    }
    return window_links(geometry, arrays[y], arrays[x])


def geometry_of(
    what: str, strides: Any, padding: Any, data_format: str | None, dilations: Any, formats: Sequence[str]
) -> tuple[Any, ...]:
    """Strides, padding, data_format and dilations as the primitives keep them; the formats are of one rank."""
    form = check_data_format(what, data_format, formats)
    count = len(form) - 2
    return (
        spatial_lengths(what, "strides", strides, count, form),
        spatial_padding(what, padding, count, form),
        form,
        spatial_lengths(what, "dilations", 1 if dilations is None else dilations, count, form),
    )


def transposed(
    what: str,
    primitive: Callable[..., Primitive],
    geometry: tuple[Any, ...],
    input: Any,
    filters: Any,
    output_shape: Any,
    name: str | None,
) -> Tensor:
    """I(f, dy) for what users give: the images of shape `output_shape`."""
    dy, f = operands(input, filters)
    dims, lengths = split_shape(output_shape)
    rank = len(geometry[0]) + 2
    if dims is not None and len(dims) != rank:
        raise ValueError(f"{what}: output_shape must be {rank} integers, not {output_shape!r}")
    return primitive(*geometry, dims)(*((f, dy) if lengths is None else (f, dy, lengths)), name=name)


def convolution(like: AnyConvolution, x: Tensor, f: Tensor, name: str | None = None) -> Tensor:
    """C(x, f), with the strides and so on of `like`."""
    return like.family().forward(*_geometry(like))(x, f, name=name)


def convolution_by_input(like: AnyConvolution, x: Tensor, f: Tensor, dy: Tensor) -> Tensor:
    """I(f, dy) in the shape of `x`, with the strides and so on of `like`."""
    cls = like.family().by_input
    dims = x.shape.sizes
    if dims is None or None in dims[1:]:
        return cls(*_geometry(like), dims)(f, dy, shape(x))
    return cls(*_geometry(like), dims)(f, dy)


def convolution_by_filter(like: AnyConvolution, x: Tensor, f: Tensor, dy: Tensor) -> Tensor:
    """F(x, dy) in the shape of `f`, with the strides and so on of `like`."""
    cls = like.family().by_filter
    if not f.shape.is_fully_defined():
        return cls(*_geometry(like), None)(x, dy, shape(f))
    return cls(*_geometry(like), f.shape.known)(x, dy)


def _geometry(like: AnyConvolution) -> tuple[Any, ...]:
    return like.strides, like.padding, like.data_format, like.dilations


def _check_filters(primitive: Any, x: TensorType, f: TensorType) -> tuple[int | None, ...]:
    """The windows' lengths."""
    if x.dtype != f.dtype or (x.dtype not in FLOATING and x.dtype not in INTEGER):
        raise TypeError(
            f"{primitive.family().function}: input and filters must be real numbers of one dtype, not {x} and {f}"
        )
    count = len(primitive.strides)
    dims = f.shape.sizes
    if dims is None:
        return (None,) * count
    if len(dims) != count + 2:
        raise ValueError(f"{primitive.family().function}: the filters must have {count + 2} axes, not {f}")
    return dims[:count]


def _result_type(primitive: Any, x: TensorType, f: TensorType, windows: Lengths) -> TensorType:
    batch, counts, channels = infer_windows(
        primitive.family().function,
        x,
        windows,
        primitive.strides,
        primitive.dilations,
        primitive.padding,
        primitive.data_format,
    )
    count = primitive.family().result_channels(f, channels)
    return TensorType(x.dtype, window_shape(batch, counts, count, primitive.data_format))


def dense_labels(channels: int, depth: int, count: int) -> Sequence[Labels]:
    """Filters see all channels of their group."""
    groups = channels // depth if depth else 1
    of_image, of_result = {"depth": np.arange(channels) % max(depth, 1)}, {"count": np.arange(count)}
    if groups > 1:
        of_image["group"] = np.arange(channels) // depth
        of_result["group"] = np.arange(count) // max(count // groups, 1)
    return of_image, {"depth": np.arange(depth)}, of_result, of_result


def dense_channels(what: str, f: TensorType, channels: int | None) -> int | None:
    """The channels of the result of a convolution whose filters see all channels of a group."""
    if f.shape.sizes is None:
        return None
    depth, count = f.shape.sizes[-2:]
    if not isinstance(channels, int) or depth is None:
        return count
    if depth == 0 or channels == 0 or channels % depth:
        raise ValueError(f"{what}: {channels} channels are no multiple of the {depth} that the filters {f} take")
    if count is not None and count % (channels // depth):
        raise ValueError(f"{what}: the {count} filters of {f} do not divide into {channels // depth} groups")
    return count
