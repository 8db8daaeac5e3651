"""GraphDef export of convolutions and their derivatives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.graph import Operation
from ...primitives.base.windows import has_channels_first
from ...primitives.convolution.conv import (
    Conv2D,
    Conv2DBackpropFilter,
    Conv2DBackpropInput,
    DepthwiseConv2dNative,
    DepthwiseConv2dNativeBackpropFilter,
    DepthwiseConv2dNativeBackpropInput,
)
from ...primitives.convolution.conv3d import Conv3D, Conv3DBackpropFilterV2, Conv3DBackpropInputV2
from ..body import Body, Ref
from ..exporting import writer
from .creation import lengths_of, sizes_of


def for_all_axes(numbers: Sequence[int], data_format: str, outer: int = 1) -> list[int]:
    """A number for each axis: those of the spatial ones, `outer` for batch and channels."""
    return [outer, outer, *numbers] if has_channels_first(data_format) else [outer, *numbers, outer]


def _geometry(body: Body, op: Operation) -> dict[str, Any]:
    primitive: Any = op.primitive
    if len(primitive.strides) == 1:
        body.refuse("TensorFlow has it for images and volumes; put an axis of length one into its inputs")
    padding, layout = primitive.padding, primitive.data_format
    made = {
        "strides": for_all_axes(primitive.strides, layout),
        "dilations": for_all_axes(primitive.dilations, layout),
        "data_format": layout,
        "padding": padding if isinstance(padding, str) else "EXPLICIT",
    }
    if not isinstance(padding, str):
        pairs = [n for pair in padding for n in pair]
        made["explicit_paddings"] = [0, 0, 0, 0, *pairs] if has_channels_first(layout) else [0, 0, *pairs, 0, 0]
    return made


@writer(Conv2D, DepthwiseConv2dNative, Conv3D)
def forward(body: Body, op: Operation, x: Ref, f: Ref) -> Any:
    return body.main(op.type, x, f, **_geometry(body, op))


@writer(Conv2DBackpropInput, DepthwiseConv2dNativeBackpropInput, Conv3DBackpropInputV2)
def by_input(body: Body, op: Operation, f: Ref, dy: Ref, *sizes: Ref) -> Any:
    primitive: Any = op.primitive
    known = sizes_of(body, primitive.input_sizes, sizes, dy)
    return body.main(op.type, known, f, dy, **_geometry(body, op))


@writer(Conv2DBackpropFilter, DepthwiseConv2dNativeBackpropFilter, Conv3DBackpropFilterV2)
def by_filter(body: Body, op: Operation, x: Ref, dy: Ref, *sizes: Ref) -> Any:
    primitive: Any = op.primitive
    return body.main(op.type, x, lengths_of(body, primitive.filter_sizes, sizes), dy, **_geometry(body, op))
