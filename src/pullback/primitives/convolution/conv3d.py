"""Convolutions over three spatial axes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from ...core.contexts import in_graph_of_inputs
from ...core.operation import Tensor
from ...core.typing import ShapeLike, TensorLike
from ..base.broadcasting import operands
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

_VOLUMES = ("NDHWC", "NCDHW")


@in_graph_of_inputs
def conv3d(
    input: TensorLike,
    filters: TensorLike,
    strides: int | Sequence[int],
    padding: str | Sequence[Sequence[int]],
    data_format: str = "NDHWC",
    dilations: int | Sequence[int] | None = None,
    name: str | None = None,
) -> Tensor:
    """Volumes correlated with `filters`; see `conv2d` for the arguments.

    Shapes: `input` [n, d, h, w, c], or [n, c, d, h, w] with data_format="NCDHW"; `filters` [kd, kh, kw, c / groups,
    count] give `count` channels. Dtypes: any real number, the same for both.

    Derivative: dx = conv3d_transpose(dy, filters), dfilters = x correlated with dy.

    Raises:
        ValueError: the shapes do not fit, or an argument is not as for `conv2d`. TypeError: the dtypes differ.

    >>> import pullback as pb
    >>> pb.nn.conv3d(pb.zeros([2, 8, 9, 10, 3]), pb.zeros([3, 3, 3, 3, 4]), [1, 2, 2, 2, 1], "SAME").shape
    TensorShape([2, 4, 5, 5, 4])
    """
    x, f = operands(input, filters)
    return Conv3D(*geometry_of("conv3d", strides, padding, data_format, dilations, _VOLUMES))(x, f, name=name)


@in_graph_of_inputs
def conv3d_transpose(
    input: TensorLike,
    filters: TensorLike,
    output_shape: ShapeLike,
    strides: int | Sequence[int],
    padding: str | Sequence[Sequence[int]] = "SAME",
    data_format: str = "NDHWC",
    dilations: int | Sequence[int] | None = None,
    name: str | None = None,
) -> Tensor:
    """The transpose of `conv3d` as a linear map: volumes of shape `output_shape` whose convolution has that of `input`.

    Shapes: `input` [n, d, h, w, c]; `filters` [kd, kh, kw, count, c] give `count` channels; `output_shape`, five
    integers or an integer vector, is in the order of `data_format`. Dtypes: any real number, the same for both.

    Derivative: dx = conv3d(dy, filters), dfilters = dy correlated with x.

    Raises:
        ValueError: the shapes do not fit. TypeError: the dtypes differ.

    >>> import pullback as pb
    >>> x, filters = pb.zeros([1, 2, 2, 2, 4]), pb.zeros([3, 3, 3, 5, 4])
    >>> pb.nn.conv3d_transpose(x, filters, [1, 4, 4, 4, 5], 2).shape
    TensorShape([1, 4, 4, 4, 5])
    """
    what = "conv3d_transpose"
    geometry = geometry_of(what, strides, padding, data_format, dilations, _VOLUMES)
    return transposed(what, Conv3DBackpropInputV2, geometry, input, filters, output_shape, name)


class Conv3D(AbstractConvolution):
    def family(self) -> Family:
        return _DENSE


class Conv3DBackpropInputV2(AbstractConvolutionByInput):
    def family(self) -> Family:
        return _DENSE


class Conv3DBackpropFilterV2(AbstractConvolutionByFilter):
    def family(self) -> Family:
        return _DENSE


_DENSE = Family(
    "conv3d",
    Conv3D,
    Conv3DBackpropInputV2,
    Conv3DBackpropFilterV2,
    partial(dense_channels, "conv3d"),
    dense_labels,
    conv_kernels.convolve,
    conv_kernels.convolve_by_input,
    conv_kernels.convolve_by_filter,
)
