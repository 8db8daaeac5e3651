"""GraphDef export of images: changes of size, and patches."""

from __future__ import annotations

from typing import Any

from ...core.dtypes import float32
from ...primitives.image.patches import ExtractImagePatches
from ...primitives.image.resize_weights import Method
from ...primitives.image.resizing import Resize, ResizeGrad
from ..body import Body, Ref
from ..exporting import writer
from .creation import lengths_of

_TYPES = {"bilinear": "ResizeBilinear", "nearest": "ResizeNearestNeighbor", "bicubic": "ResizeBicubic"}


@writer(Resize)
def resize(body: Body, p: Any, x: Ref, *size: Ref) -> Any:
    op_type, attributes = _method(body, p)
    made = body.main(op_type, x, lengths_of(body, p.size, size), **attributes)
    return body.cast(made, body.op.outputs[0].dtype)


@writer(ResizeGrad)
def resize_grad(body: Body, p: Any, dy: Ref, *size: Ref) -> Any:
    op_type, attributes = _method(body, p)
    lengths, dtype = lengths_of(body, p.size, size), body.op.outputs[0].dtype
    if op_type == "ResizeNearestNeighbor":
        return body.main(f"{op_type}Grad", dy, lengths, **attributes)
    ends = [body.node("Slice", body.shape_of(dy), body.integers([i]), body.integers([1])) for i in (0, 3)]
    shape = body.node("ConcatV2", [ends[0], body.cast(lengths, ends[0].dtype), ends[1]], body.integers(0))
    like = body.node("Fill", shape, body.constant(0, dtype))
    return body.main(f"{op_type}Grad", body.cast(dy, float32), like, **attributes)


def _method(body: Body, p: Any) -> tuple[str, dict[str, bool]]:
    """The op type of a way of resizing, and its attributes."""
    method = Method(*p.method)
    if method.name not in _TYPES or method.antialias or body.op.inputs[0].shape.rank != 4:
        body.refuse(f"its export is there for {', '.join(_TYPES)} without antialias, and of images of rank 4")
    if body.op.outputs[0].dtype != float32 and method.name != "nearest":
        body.refuse("TensorFlow's has results of float32")
    attributes = {"align_corners": method.align_corners, "half_pixel_centers": method.half_pixel_centers}
    return _TYPES[method.name], attributes


@writer(ExtractImagePatches)
def patches(body: Body, p: Any, x: Ref) -> Any:
    if not isinstance(p.padding, str):
        return body.refuse("its export is there with SAME or VALID")
    sides = {"ksizes": p.ksize, "strides": p.strides, "rates": p.rates}
    windows = {key: [1, *lengths, 1] for key, lengths in sides.items()}
    return body.main("ExtractImagePatches", x, padding=p.padding, **windows)
