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
    """The attributes; those of signals are of images of height one."""
    primitive: Any = op.primitive
    layout: str = primitive.data_format
    ones = [1] * _is_of_signals(op)
    if ones:
        layout = layout.replace("W", "HW")
    made = {
        "strides": for_all_axes([*ones, *primitive.strides], layout),
        "dilations": for_all_axes([*ones, *primitive.dilations], layout),
        "data_format": layout,
        "padding": primitive.padding if isinstance(primitive.padding, str) else "EXPLICIT",
    }
    if not isinstance(primitive.padding, str):
        pairs = [0, 0] * len(ones) + [n for pair in primitive.padding for n in pair]
        made["explicit_paddings"] = [0, 0, 0, 0, *pairs] if has_channels_first(layout) else [0, 0, *pairs, 0, 0]
    return made


def _is_of_signals(op: Operation) -> bool:
    primitive: Any = op.primitive
    return len(primitive.strides) == 1


def _height(op: Operation) -> int:
    """The axis of length one that signals are given."""
    primitive: Any = op.primitive
    return 2 if has_channels_first(primitive.data_format) else 1


def _as_image(body: Body, op: Operation, x: Ref) -> Ref:
    ref: Ref = body.node("ExpandDims", x, body.integers(_height(op))) if _is_of_signals(op) else x
    return ref


def _as_filter(body: Body, op: Operation, f: Ref) -> Ref:
    ref: Ref = body.node("ExpandDims", f, body.integers(0)) if _is_of_signals(op) else f
    return ref


def _with_height(body: Body, op: Operation, lengths: Ref, axis: int) -> Ref:
    """Lengths among which there is a one at `axis`."""
    if not _is_of_signals(op):
        return lengths
    ends = body.integers([0]), body.integers([axis]), body.integers([-1])
    first, last = body.node("Slice", lengths, ends[0], ends[1]), body.node("Slice", lengths, ends[1], ends[2])
    ref: Ref = body.node("ConcatV2", [first, body.constant([1], lengths.dtype), last], body.integers(0))
    return ref


def _made(body: Body, op: Operation, axis: int, *inputs: Ref) -> Any:
    """The result, without the axis of length one."""
    if not _is_of_signals(op):
        return body.main(op.type, *inputs, **_geometry(body, op))
    return body.main("Squeeze", body.node(op.type, *inputs, **_geometry(body, op)), squeeze_dims=[axis])


@writer(Conv2D, DepthwiseConv2dNative, Conv3D)
def forward(body: Body, op: Operation, x: Ref, f: Ref) -> Any:
    return _made(body, op, _height(op), _as_image(body, op, x), _as_filter(body, op, f))


@writer(Conv2DBackpropInput, DepthwiseConv2dNativeBackpropInput, Conv3DBackpropInputV2)
def by_input(body: Body, op: Operation, f: Ref, dy: Ref, *sizes: Ref) -> Any:
    primitive: Any = op.primitive
    known = _with_height(body, op, sizes_of(body, primitive.input_sizes, sizes, dy), _height(op))
    return _made(body, op, _height(op), known, _as_filter(body, op, f), _as_image(body, op, dy))


@writer(Conv2DBackpropFilter, DepthwiseConv2dNativeBackpropFilter, Conv3DBackpropFilterV2)
def by_filter(body: Body, op: Operation, x: Ref, dy: Ref, *sizes: Ref) -> Any:
    primitive: Any = op.primitive
    known = _with_height(body, op, lengths_of(body, primitive.filter_sizes, sizes), 0)
    return _made(body, op, 0, _as_image(body, op, x), known, _as_image(body, op, dy))
