"""Convolutions over as many spatial axes as the input has, and atrous (dilated) ones."""

from __future__ import annotations

from collections.abc import Sequence

from ...core.contexts import in_graph_of_inputs
from ...core.operation import Tensor
from ...core.typing import ShapeLike, TensorLike
from ..base.broadcasting import operands
from ..creation.constant import convert_to_tensor
from ..shape.reshape import split_shape
from .abstract import geometry_of, transposed
from .conv import (
    DepthwiseConv2dNativeBackpropFilter,
    DepthwiseConv2dNativeBackpropInput,
    conv1d,
    conv1d_transpose,
    conv2d,
    conv2d_transpose,
)
from .conv3d import conv3d, conv3d_transpose

_CONVOLVE = {1: conv1d, 2: conv2d, 3: conv3d}
_TRANSPOSE = {1: conv1d_transpose, 2: conv2d_transpose, 3: conv3d_transpose}
_LAST = {1: "NWC", 2: "NHWC", 3: "NDHWC"}


@in_graph_of_inputs
def convolution(
    input: TensorLike,
    filters: TensorLike,
    strides: int | Sequence[int] | None = None,
    padding: str | Sequence[Sequence[int]] = "VALID",
    data_format: str | None = None,
    dilations: int | Sequence[int] | None = None,
    name: str | None = None,
) -> Tensor:
    """`conv1d`, `conv2d` or `conv3d`, whichever the rank asks for; see `conv2d` for the arguments.

    `strides` and `dilations` are 1 where they are None.

    Shapes: `input` [n, spatial..., c] with one to three spatial axes, or [n, c, spatial...] with a data_format that
    begins with "NC"; `filters` [window..., c / groups, count]. Dtypes: any real number, the same for both.

    Derivative: dx = conv_transpose(dy, filters), dfilters = x correlated with dy.

    Raises:
        ValueError: the shapes do not fit, or the number of spatial axes is not known. TypeError: the dtypes differ.

    >>> import pullback as pb
    >>> pb.nn.convolution(pb.zeros([8, 20, 3]), pb.zeros([5, 3, 4]), dilations=2).shape
    TensorShape([8, 12, 4])
    """
    x, f = operands(input, filters)
    count = _spatial_axes("convolution", x, f, data_format)
    return _CONVOLVE[count](
        x, f, 1 if strides is None else strides, padding, data_format or _LAST[count], dilations, name
    )


@in_graph_of_inputs
def conv_transpose(
    input: TensorLike,
    filters: TensorLike,
    output_shape: ShapeLike,
    strides: int | Sequence[int],
    padding: str | Sequence[Sequence[int]] = "SAME",
    data_format: str | None = None,
    dilations: int | Sequence[int] | None = None,
    name: str | None = None,
) -> Tensor:
    """The transpose of `convolution` as a linear map; see `conv2d_transpose`.

    Shapes: `input` [n, spatial..., c] with one to three spatial axes; `filters` [window..., count, c] give `count`
    channels; `output_shape` has one length for each axis. Dtypes: any real number, the same for both.

    Derivative: dx = convolution(dy, filters), dfilters = dy correlated with x.

    Raises:
        ValueError: the shapes do not fit, or the number of spatial axes is not known. TypeError: the dtypes differ.

    >>> import pullback as pb
    >>> pb.nn.conv_transpose(pb.zeros([1, 4, 2]), pb.zeros([3, 5, 2]), [1, 8, 5], 2).shape
    TensorShape([1, 8, 5])
    """
    x, f = operands(input, filters)
    count = _spatial_axes("conv_transpose", x, f, data_format)
    return _TRANSPOSE[count](x, f, output_shape, strides, padding, data_format or _LAST[count], dilations, name)


def _spatial_axes(what: str, x: Tensor, f: Tensor, data_format: str | None) -> int:
    ranks = (None if data_format is None else len(data_format), x.shape.rank, f.shape.rank)
    rank = next((r for r in ranks if r is not None), None)
    if rank is None or rank - 2 not in _CONVOLVE:
        raise ValueError(f"{what}: there must be one to three spatial axes, which cannot be said of {x} and {f}")
    return rank - 2


@in_graph_of_inputs
def atrous_conv2d(
    value: TensorLike, filters: TensorLike, rate: int, padding: str | Sequence[Sequence[int]], name: str | None = None
) -> Tensor:
    """`conv2d` with `rate - 1` holes between the elements of the filters.

    Shapes: `value` [n, h, w, c]; `filters` [kh, kw, c, count]. Dtypes: any real number, the same for both.

    Derivative: dx = atrous_conv2d_transpose(dy, filters), dfilters = x correlated with dy.

    Raises:
        ValueError: the shapes do not fit. TypeError: the dtypes differ.

    Source: Chen, Papandreou, Kokkinos, Murphy, Yuille, Semantic Image Segmentation with Deep Convolutional Nets,
    Atrous Convolution, and Fully Connected CRFs, 2014.

    >>> import pullback as pb
    >>> pb.nn.atrous_conv2d(pb.zeros([1, 9, 9, 2]), pb.zeros([3, 3, 2, 4]), 2, "VALID").shape
    TensorShape([1, 5, 5, 4])
    """
    return conv2d(value, filters, 1, padding, dilations=rate, name=name)


@in_graph_of_inputs
def atrous_conv2d_transpose(
    value: TensorLike,
    filters: TensorLike,
    output_shape: ShapeLike,
    rate: int,
    padding: str | Sequence[Sequence[int]],
    name: str | None = None,
) -> Tensor:
    """The transpose of `atrous_conv2d` as a linear map: images of shape `output_shape`.

    Shapes: `value` [n, h, w, c]; `filters` [kh, kw, count, c] give `count` channels. Dtypes: any real number, the same
    for both.

    Derivative: dx = atrous_conv2d(dy, filters), dfilters = dy correlated with x.

    Raises:
        ValueError: the shapes do not fit. TypeError: the dtypes differ.

    >>> import pullback as pb
    >>> x, filters = pb.zeros([1, 5, 5, 4]), pb.zeros([3, 3, 2, 4])
    >>> pb.nn.atrous_conv2d_transpose(x, filters, [1, 9, 9, 2], 2, "VALID").shape
    TensorShape([1, 9, 9, 2])
    """
    dy = convert_to_tensor(value)
    return conv2d_transpose(dy, filters, output_shape, 1, padding, dilations=rate, name=name)


@in_graph_of_inputs
def depthwise_conv2d_backprop_input(
    input_sizes: ShapeLike,
    filter: TensorLike,
    out_backprop: TensorLike,
    strides: int | Sequence[int],
    padding: str | Sequence[Sequence[int]],
    data_format: str = "NHWC",
    dilations: int | Sequence[int] = 1,
    name: str | None = None,
) -> Tensor:
    """The derivative of `depthwise_conv2d` by its input, of shape `input_sizes`, for a cotangent of its result.

    Shapes: those of `depthwise_conv2d`. Dtypes: any real number, the same for both.

    Derivative: it is linear in both: dfilter = depthwise_conv2d_backprop_filter(dy, out_backprop), dout_backprop =
    depthwise_conv2d(dy, filter).

    Raises:
        ValueError: the shapes do not fit. TypeError: the dtypes differ.

    >>> import pullback as pb
    >>> dy, filters = pb.zeros([1, 8, 8, 6]), pb.zeros([3, 3, 3, 2])
    >>> pb.nn.depthwise_conv2d_backprop_input([1, 8, 8, 3], filters, dy, [1, 1, 1, 1], "SAME").shape
    TensorShape([1, 8, 8, 3])
    """
    what = "depthwise_conv2d_backprop_input"
    geometry = geometry_of(what, strides, padding, data_format, dilations, ("NHWC", "NCHW"))
    return transposed(what, DepthwiseConv2dNativeBackpropInput, geometry, out_backprop, filter, input_sizes, name)


@in_graph_of_inputs
def depthwise_conv2d_backprop_filter(
    input: TensorLike,
    filter_sizes: ShapeLike,
    out_backprop: TensorLike,
    strides: int | Sequence[int],
    padding: str | Sequence[Sequence[int]],
    data_format: str = "NHWC",
    dilations: int | Sequence[int] = 1,
    name: str | None = None,
) -> Tensor:
    """The derivative of `depthwise_conv2d` by its filters, of shape `filter_sizes`, for a cotangent of its result.

    Shapes: those of `depthwise_conv2d`. Dtypes: any real number, the same for both.

    Derivative: it is linear in both: dinput = depthwise_conv2d_backprop_input(dy, out_backprop), dout_backprop =
    depthwise_conv2d(input, dy).

    Raises:
        ValueError: the shapes do not fit. TypeError: the dtypes differ.

    >>> import pullback as pb
    >>> x, dy = pb.zeros([1, 8, 8, 3]), pb.zeros([1, 8, 8, 6])
    >>> pb.nn.depthwise_conv2d_backprop_filter(x, [3, 3, 3, 2], dy, [1, 1, 1, 1], "SAME").shape
    TensorShape([3, 3, 3, 2])
    """
    what = "depthwise_conv2d_backprop_filter"
    x, dy = operands(input, out_backprop)
    steps, pads, form, holes = geometry_of(what, strides, padding, data_format, dilations, ("NHWC", "NCHW"))
    dims, lengths = split_shape(filter_sizes)
    inputs = (x, dy) if lengths is None else (x, dy, lengths)
    return DepthwiseConv2dNativeBackpropFilter(steps, pads, form, holes, dims)(*inputs, name=name)
