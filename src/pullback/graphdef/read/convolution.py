"""GraphDef import of convolutions, and of TensorFlow's derivatives of them."""

from __future__ import annotations

from typing import Any

from ...core.operation import Tensor
from ...core.primitive import Primitive
from ...primitives.convolution.abstract import geometry_of
from ...primitives.convolution.conv import (
    Conv2D,
    Conv2DBackpropFilter,
    Conv2DBackpropInput,
    DepthwiseConv2dNative,
    DepthwiseConv2dNativeBackpropFilter,
    DepthwiseConv2dNativeBackpropInput,
)
from ...primitives.convolution.conv3d import Conv3D, Conv3DBackpropFilterV2, Conv3DBackpropInputV2
from ...primitives.convolution.morphology import Dilation2D
from ...primitives.shape.reshape import split_shape
from ..nodes import Node, reader
from .operands import padding_of

_FORMATS = {4: ("NHWC", "NCHW"), 5: ("NDHWC", "NCDHW")}
_FORWARD: dict[str, Any] = {
    "Conv2D": Conv2D,
    "DepthwiseConv2dNative": DepthwiseConv2dNative,
    "Conv3D": Conv3D,
}
_BY_INPUT: dict[str, Any] = {
    "Conv2DBackpropInput": Conv2DBackpropInput,
    "DepthwiseConv2dNativeBackpropInput": DepthwiseConv2dNativeBackpropInput,
    "Conv3DBackpropInputV2": Conv3DBackpropInputV2,
}
_BY_FILTER: dict[str, Any] = {
    "Conv2DBackpropFilter": Conv2DBackpropFilter,
    "DepthwiseConv2dNativeBackpropFilter": DepthwiseConv2dNativeBackpropFilter,
    "Conv3DBackpropFilterV2": Conv3DBackpropFilterV2,
}


def _geometry(node: Node) -> tuple[Any, ...]:
    strides = node.attribute("strides")
    formats = _FORMATS.get(len(strides), ("NHWC",))
    dilations = node.attribute("dilations", None) or [1] * len(strides)
    return geometry_of(
        node.op_type, strides, padding_of(node), node.text("data_format", formats[0]), list(dilations), formats
    )


@reader(*_FORWARD)
def forward(node: Node, x: Tensor, f: Tensor) -> Any:
    primitive: Primitive = _FORWARD[node.op_type](*_geometry(node))
    return node.make(primitive, x, f)


@reader(*_BY_INPUT)
def by_input(node: Node, sizes: Tensor, f: Tensor, dy: Tensor) -> Any:
    dims, lengths = split_shape(sizes)
    primitive: Primitive = _BY_INPUT[node.op_type](*_geometry(node), dims)
    return node.make(primitive, f, dy, *(() if lengths is None else (lengths,)))


@reader(*_BY_FILTER)
def by_filter(node: Node, x: Tensor, sizes: Tensor, dy: Tensor) -> Any:
    dims, lengths = split_shape(sizes)
    primitive: Primitive = _BY_FILTER[node.op_type](*_geometry(node), dims)
    return node.make(primitive, x, dy, *(() if lengths is None else (lengths,)))


@reader("Dilation2D")
def dilation(node: Node, x: Tensor, f: Tensor) -> Any:
    strides, rates = node.attribute("strides"), node.attribute("rates")
    steps, padding, _, holes = geometry_of("Dilation2D", strides, padding_of(node), "NHWC", rates, ("NHWC",))
    return node.make(Dilation2D(steps, padding, holes), x, f)
