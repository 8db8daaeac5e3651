"""GraphDef export of images: changes of size, and patches."""

from __future__ import annotations

from typing import Any

from ...core.dtypes import float32
from ...core.graph import Operation
from ...primitives.image.patches import ExtractImagePatches
from ...primitives.image.resize_weights import Method
from ...primitives.image.resizing import Resize, ResizeGrad
from ..body import Body, Ref
from ..exporting import writer
from .creation import lengths_of

_TYPES = {"bilinear": "ResizeBilinear", "nearest": "ResizeNearestNeighbor", "bicubic": "ResizeBicubic"}


@writer(Resize)
def resize(body: Body, op: Operation, x: Ref, *size: Ref) -> Any:
    primitive: Any = op.primitive
    op_type, attributes = _method(body, op)
    made = body.main(op_type, x, lengths_of(body, primitive.size, size), **attributes)
    return body.cast(made, op.outputs[0].dtype)


@writer(ResizeGrad)
def resize_grad(body: Body, op: Operation, dy: Ref, *size: Ref) -> Any:
    primitive: Any = op.primitive
    op_type, attributes = _method(body, op)
    lengths, dtype = lengths_of(body, primitive.size, size), op.outputs[0].dtype
    if op_type == "ResizeNearestNeighbor":
        return body.main(f"{op_type}Grad", dy, lengths, **attributes)
    ends = [body.node("Slice", body.shape_of(dy), body.integers([i]), body.integers([1])) for i in (0, 3)]
    shape = body.node("ConcatV2", [ends[0], body.cast(lengths, ends[0].dtype), ends[1]], body.integers(0))
    like = body.node("Fill", shape, body.constant(0, dtype))
    return body.main(f"{op_type}Grad", body.cast(dy, float32), like, **attributes)


def _method(body: Body, op: Operation) -> tuple[str, dict[str, bool]]:
    """The op type of a way of resizing, and its attributes."""
    primitive: Any = op.primitive
    method = Method(*primitive.method)
    if method.name not in _TYPES or method.antialias or op.inputs[0].shape.rank != 4:
        body.refuse(f"its export is there for {', '.join(_TYPES)} without antialias, and of images of rank 4")
    if op.outputs[0].dtype != float32 and method.name != "nearest":
        body.refuse("TensorFlow's has results of float32")
    attributes = {"align_corners": method.align_corners, "half_pixel_centers": method.half_pixel_centers}
    return _TYPES[method.name], attributes


@writer(ExtractImagePatches)
def patches(body: Body, op: Operation, x: Ref) -> Any:
    primitive: Any = op.primitive
    if not isinstance(primitive.padding, str):
        return body.refuse("its export is there with SAME or VALID")
    sides = {"ksizes": primitive.ksize, "strides": primitive.strides, "rates": primitive.rates}
    windows = {key: [1, *lengths, 1] for key, lengths in sides.items()}
    return body.main("ExtractImagePatches", x, padding=primitive.padding, **windows)
