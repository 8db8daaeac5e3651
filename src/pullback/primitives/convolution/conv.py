"""Convolutions over one and two spatial axes: dense, transposed, depthwise, separable."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from ...core.contexts import in_graph_of_inputs
from ...core.lengths import known_to_differ
from ...core.operation import Tensor
from ...core.types import TensorType
from ...core.typing import ShapeLike, TensorLike
from ..base.broadcasting import operands
from ..base.window_links import Labels
from . import conv_kernels
from .abstract import (
    AbstractConvolution,
    AbstractConvolutionByFilter,
    AbstractConvolutionByInput,
    Family,
    dense_channels,
    dense_labels,
    geometry_of,
    transposed,
)

_SIGNALS = ("NWC", "NCW", "NHC", "NCH")
_IMAGES = ("NHWC", "NCHW")


@in_graph_of_inputs
def conv2d(
    input: TensorLike,
    filters: TensorLike,
    strides: int | Sequence[int],
    padding: str | Sequence[Sequence[int]],
    data_format: str = "NHWC",
    dilations: int | Sequence[int] | None = None,
    name: str | None = None,
) -> Tensor:
    """Images correlated with `filters`: what a convolutional layer computes before its bias.

    `strides` and `dilations` are one number, two, or one for each axis of `input`; `padding` is "SAME" (as many results
    as `ceil(length / stride)`), "VALID", or a list of [before, after] for each axis of `input`.

    Shapes: `input` [n, h, w, c], or [n, c, h, w] with data_format="NCHW"; `filters` [kh, kw, c / groups, count] give
    `count` channels, each from the channels of its group. Dtypes: any real number, the same for both.

    Derivative: dx = conv2d_transpose(dy, filters), dfilters = x correlated with dy.

    Raises:
        ValueError: the shapes do not fit, or an argument is not as above. TypeError: the dtypes differ.

    >>> import pullback as pb
    >>> pb.nn.conv2d(pb.zeros([8, 28, 28, 3]), pb.zeros([5, 5, 3, 16]), strides=2, padding="SAME").shape
    TensorShape([8, 14, 14, 16])
    """
    x, f = operands(input, filters)
    return Conv2D(*geometry_of("conv2d", strides, padding, data_format, dilations, _IMAGES))(x, f, name=name)


class Conv2D(AbstractConvolution):
    def family(self) -> Family:
        return _DENSE


class Conv2DBackpropInput(AbstractConvolutionByInput):
    def family(self) -> Family:
        return _DENSE


class Conv2DBackpropFilter(AbstractConvolutionByFilter):
    def family(self) -> Family:
        return _DENSE


_DENSE = Family(
    "conv2d",
    Conv2D,
    Conv2DBackpropInput,
    Conv2DBackpropFilter,
    partial(dense_channels, "conv2d"),
    dense_labels,
    conv_kernels.convolve,
    conv_kernels.convolve_by_input,
    conv_kernels.convolve_by_filter,
)


@in_graph_of_inputs
def conv2d_transpose(
    input: TensorLike,
    filters: TensorLike,
    output_shape: ShapeLike,
    strides: int | Sequence[int],
    padding: str | Sequence[Sequence[int]] = "SAME",
    data_format: str = "NHWC",
    dilations: int | Sequence[int] | None = None,
    name: str | None = None,
) -> Tensor:
    """The transpose of `conv2d` as a linear map: images of shape `output_shape` whose convolution has that of `input`.

    Shapes: `input` [n, h, w, c]; `filters` [kh, kw, count, c] give `count` channels; `output_shape`, four integers or
    an integer vector, is in the order of `data_format`. Dtypes: any real number, the same for both.

    Derivative: dx = conv2d(dy, filters), dfilters = dy correlated with x.

    Raises:
        ValueError: the shapes do not fit. TypeError: the dtypes differ.

    Source: Zeiler, Krishnan, Taylor, Fergus, Deconvolutional Networks, 2010.

    >>> import pullback as pb
    >>> pb.nn.conv2d_transpose(pb.zeros([1, 4, 4, 2]), pb.zeros([3, 3, 5, 2]), [1, 8, 8, 5], 2).shape
    TensorShape([1, 8, 8, 5])
    """
    what = "conv2d_transpose"
    geometry = geometry_of(what, strides, padding, data_format, dilations, _IMAGES)
    return transposed(what, Conv2DBackpropInput, geometry, input, filters, output_shape, name)


@in_graph_of_inputs
def conv1d(
    input: TensorLike,
    filters: TensorLike,
    stride: int | Sequence[int],
    padding: str | Sequence[Sequence[int]],
    data_format: str | None = "NWC",
    dilations: int | Sequence[int] | None = None,
    name: str | None = None,
) -> Tensor:
    """Signals correlated with `filters`; see `conv2d`.

    Shapes: `input` [n, w, c], or [n, c, w] with data_format="NCW"; `filters` [k, c / groups, count]. Dtypes: any real
    number, the same for both.

    Derivative: dx = conv1d_transpose(dy, filters), dfilters = x correlated with dy.

    Raises:
        ValueError: the shapes do not fit, or an argument is not as for `conv2d`. TypeError: the dtypes differ.

    >>> import pullback as pb
    >>> pb.nn.conv1d(pb.zeros([8, 100, 3]), pb.zeros([5, 3, 16]), stride=2, padding="VALID").shape
    TensorShape([8, 48, 16])
    """
    x, f = operands(input, filters)
    return Conv2D(*geometry_of("conv1d", stride, padding, data_format, dilations, _SIGNALS))(x, f, name=name)


@in_graph_of_inputs
def conv1d_transpose(
    input: TensorLike,
    filters: TensorLike,
    output_shape: ShapeLike,
    strides: int | Sequence[int],
    padding: str | Sequence[Sequence[int]] = "SAME",
    data_format: str | None = "NWC",
    dilations: int | Sequence[int] | None = None,
    name: str | None = None,
) -> Tensor:
    """The transpose of `conv1d` as a linear map: signals of shape `output_shape` whose convolution has that of `input`.

    Shapes: `input` [n, w, c]; `filters` [k, count, c] give `count` channels; `output_shape`, three integers or an
    integer vector, is in the order of `data_format`. Dtypes: any real number, the same for both.

    Derivative: dx = conv1d(dy, filters), dfilters = dy correlated with x.

    Raises:
        ValueError: the shapes do not fit. TypeError: the dtypes differ.

    >>> import pullback as pb
    >>> pb.nn.conv1d_transpose(pb.zeros([1, 4, 2]), pb.zeros([3, 5, 2]), [1, 8, 5], 2).shape
    TensorShape([1, 8, 5])
    """
    what = "conv1d_transpose"
    geometry = geometry_of(what, strides, padding, data_format, dilations, _SIGNALS)
    return transposed(what, Conv2DBackpropInput, geometry, input, filters, output_shape, name)


@in_graph_of_inputs
def depthwise_conv2d(
    input: TensorLike,
    filter: TensorLike,
    strides: int | Sequence[int],
    padding: str | Sequence[Sequence[int]],
    data_format: str | None = None,
    dilations: int | Sequence[int] | None = None,
    name: str | None = None,
) -> Tensor:
    """Each channel of the images correlated with its own filters; see `conv2d` for the arguments.

    Shapes: `input` [n, h, w, c]; `filter` [kh, kw, c, m] gives c * m channels, those of one input channel side by side.
    Dtypes: any real number, the same for both.

    Derivative: dx = the transpose of the convolution, of dy; dfilter = each channel of x correlated with its channels
    of dy.

    Raises:
        ValueError: the shapes do not fit. TypeError: the dtypes differ.

    >>> import pullback as pb
    >>> pb.nn.depthwise_conv2d(pb.zeros([8, 28, 28, 3]), pb.zeros([3, 3, 3, 2]), [1, 1, 1, 1], "SAME").shape
    TensorShape([8, 28, 28, 6])
    """
    x, f = operands(input, filter)
    geometry = geometry_of("depthwise_conv2d", strides, padding, data_format, dilations, _IMAGES)
    return DepthwiseConv2dNative(*geometry)(x, f, name=name)


@in_graph_of_inputs
def separable_conv2d(
    input: TensorLike,
    depthwise_filter: TensorLike,
    pointwise_filter: TensorLike,
    strides: int | Sequence[int],
    padding: str | Sequence[Sequence[int]],
    data_format: str | None = None,
    dilations: int | Sequence[int] | None = None,
    name: str | None = None,
) -> Tensor:
    """`depthwise_conv2d`, then a convolution that mixes the channels of each place.

    Shapes: `input` [n, h, w, c]; `depthwise_filter` [kh, kw, c, m]; `pointwise_filter` [1, 1, c * m, count]. Dtypes:
    any real number, the same for all.

    Derivative: the chain of depthwise_conv2d and conv2d.

    Raises:
        ValueError: the shapes do not fit. TypeError: the dtypes differ.

    Source: Chollet, Xception, 2017.

    >>> import pullback as pb
    >>> x, depthwise, pointwise = pb.zeros([8, 28, 28, 3]), pb.zeros([3, 3, 3, 2]), pb.zeros([1, 1, 6, 16])
    >>> pb.nn.separable_conv2d(x, depthwise, pointwise, [1, 1, 1, 1], "SAME").shape
    TensorShape([8, 28, 28, 16])
    """
    x, depthwise, pointwise = operands(input, depthwise_filter, pointwise_filter)
    dims = pointwise.shape.sizes
    if dims is not None and (len(dims) != 4 or any(n not in (1, None) for n in dims[:2])):
        raise ValueError(f"separable_conv2d: pointwise_filter must be [1,1,c,count], not {pointwise.type}")
    mixed = depthwise_conv2d(x, depthwise, strides, padding, data_format, dilations)
    return conv2d(mixed, pointwise, 1, "VALID", data_format or "NHWC", name=name)


class DepthwiseConv2dNative(AbstractConvolution):
    def family(self) -> Family:
        return _DEPTHWISE


class DepthwiseConv2dNativeBackpropInput(AbstractConvolutionByInput):
    def family(self) -> Family:
        return _DEPTHWISE


class DepthwiseConv2dNativeBackpropFilter(AbstractConvolutionByFilter):
    def family(self) -> Family:
        return _DEPTHWISE


def _depthwise_channels(f: TensorType, channels: int | None) -> int | None:
    if f.shape.sizes is None:
        return None
    depth, multiplier = f.shape.sizes[-2:]
    if known_to_differ(channels, depth):
        raise ValueError(f"depthwise_conv2d: the filters {f} are for {depth} channels, not for {channels}")
    depth = channels if depth is None and isinstance(channels, int) else depth
    return None if depth is None or multiplier is None else depth * multiplier


def _depthwise_labels(channels: int, depth: int, multiplier: int) -> Sequence[Labels]:
    """The channels of one input channel are side by side."""
    of_depth, count = {"depth": np.arange(depth)}, np.arange(channels * multiplier)
    of_result = {"depth": count // max(multiplier, 1), "multiple": count % max(multiplier, 1)}
    return of_depth, of_depth, {"multiple": np.arange(multiplier)}, of_result


_DEPTHWISE = Family(
    "depthwise_conv2d",
    DepthwiseConv2dNative,
    DepthwiseConv2dNativeBackpropInput,
    DepthwiseConv2dNativeBackpropFilter,
    _depthwise_channels,
    _depthwise_labels,
    conv_kernels.convolve_depthwise,
    conv_kernels.depthwise_by_input,
    conv_kernels.depthwise_by_filter,
)
