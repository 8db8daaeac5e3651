"""GraphDef export of convolutions and their derivatives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

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


def _geometry(body: Body, p: Any) -> dict[str, Any]:
    """The attributes; those of signals are of images of height one."""
    layout: str = p.data_format
    ones = [1] * _is_of_signals(p)
    if ones:
        layout = layout.replace("W", "HW")
    made = {
        "strides": for_all_axes([*ones, *p.strides], layout),
        "dilations": for_all_axes([*ones, *p.dilations], layout),
        "data_format": layout,
        "padding": p.padding if isinstance(p.padding, str) else "EXPLICIT",
    }
    if not isinstance(p.padding, str):
        pairs = [0, 0] * len(ones) + [n for pair in p.padding for n in pair]
        made["explicit_paddings"] = [0, 0, 0, 0, *pairs] if has_channels_first(layout) else [0, 0, *pairs, 0, 0]
    return made


def _is_of_signals(p: Any) -> bool:
    return len(p.strides) == 1


def _height(p: Any) -> int:
    """The axis of length one that signals are given."""
    return 2 if has_channels_first(p.data_format) else 1


def _as_image(body: Body, p: Any, x: Ref) -> Ref:
    return body.node("ExpandDims", x, body.integers(_height(p))) if _is_of_signals(p) else x


def _as_filter(body: Body, p: Any, f: Ref) -> Ref:
    return body.node("ExpandDims", f, body.integers(0)) if _is_of_signals(p) else f


def _with_height(body: Body, p: Any, lengths: Ref, axis: int) -> Ref:
    """Lengths among which there is a one at `axis`."""
    if not _is_of_signals(p):
        return lengths
    ends = body.integers([0]), body.integers([axis]), body.integers([-1])
    first, last = body.node("Slice", lengths, ends[0], ends[1]), body.node("Slice", lengths, ends[1], ends[2])
    return body.node("ConcatV2", [first, body.constant([1], lengths.dtype), last], body.integers(0))


def _made(body: Body, p: Any, axis: int, *inputs: Ref) -> Any:
    """The result, without the axis of length one."""
    if not _is_of_signals(p):
        return body.main(p.type, *inputs, **_geometry(body, p))
    return body.main("Squeeze", body.node(p.type, *inputs, **_geometry(body, p)), squeeze_dims=[axis])


@writer(Conv2D, DepthwiseConv2dNative, Conv3D)
def forward(body: Body, p: Any, x: Ref, f: Ref) -> Any:
    return _made(body, p, _height(p), _as_image(body, p, x), _as_filter(body, p, f))


@writer(Conv2DBackpropInput, DepthwiseConv2dNativeBackpropInput, Conv3DBackpropInputV2)
def by_input(body: Body, p: Any, f: Ref, dy: Ref, *sizes: Ref) -> Any:
    known = _with_height(body, p, sizes_of(body, p.input_sizes, sizes, dy), _height(p))
    return _made(body, p, _height(p), known, _as_filter(body, p, f), _as_image(body, p, dy))


@writer(Conv2DBackpropFilter, DepthwiseConv2dNativeBackpropFilter, Conv3DBackpropFilterV2)
def by_filter(body: Body, p: Any, x: Ref, dy: Ref, *sizes: Ref) -> Any:
    known = _with_height(body, p, lengths_of(body, p.filter_sizes, sizes), 0)
    return _made(body, p, 0, _as_image(body, p, x), known, _as_image(body, p, dy))
