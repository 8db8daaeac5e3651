"""GraphDef import of convolutions, and of TensorFlow's derivatives of them."""

from __future__ import annotations

from typing import Any

from ...core.operation import Tensor
from ...core.primitive import primitive_class
from ...primitives.convolution.abstract import geometry_of
from ...primitives.convolution.morphology import Dilation2D
from ...primitives.shape.reshape import split_shape
from ..nodes import Node, reader
from .operands import padding_of

_FORMATS = {4: ("NHWC", "NCHW"), 5: ("NDHWC", "NCDHW")}


def _geometry(node: Node) -> tuple[Any, ...]:
    strides = node.attribute("strides")
    formats = _FORMATS.get(len(strides), ("NHWC",))
    dilations = node.attribute("dilations", None) or [1] * len(strides)
    return geometry_of(
        node.op_type, strides, padding_of(node), node.text("data_format", formats[0]), list(dilations), formats
    )


@reader("Conv2D", "DepthwiseConv2dNative", "Conv3D")
def forward(node: Node, x: Tensor, f: Tensor) -> Any:
    primitive: Any = primitive_class(node.op_type)
    return node.make(primitive(*_geometry(node)), x, f)


@reader("Conv2DBackpropInput", "DepthwiseConv2dNativeBackpropInput", "Conv3DBackpropInputV2")
def by_input(node: Node, sizes: Tensor, f: Tensor, dy: Tensor) -> Any:
    return _back(node, sizes, f, dy)


@reader("Conv2DBackpropFilter", "DepthwiseConv2dNativeBackpropFilter", "Conv3DBackpropFilterV2")
def by_filter(node: Node, x: Tensor, sizes: Tensor, dy: Tensor) -> Any:
    return _back(node, sizes, x, dy)


def _back(node: Node, sizes: Tensor, *xs: Tensor) -> Any:
    """The derivative by what has these lengths."""
    dims, lengths = split_shape(sizes)
    primitive: Any = primitive_class(node.op_type)
    return node.make(primitive(*_geometry(node), dims), *xs, *(() if lengths is None else (lengths,)))


@reader("Dilation2D")
def dilation(node: Node, x: Tensor, f: Tensor) -> Any:
    strides, rates = node.attribute("strides"), node.attribute("rates")
    steps, padding, _, holes = geometry_of("Dilation2D", strides, padding_of(node), "NHWC", rates, ("NHWC",))
    return node.make(Dilation2D(steps, padding, holes), x, f)
