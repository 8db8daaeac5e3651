"""GraphDef export of pooling: the largest and the mean of windows of images, and their derivatives."""

from __future__ import annotations

from typing import Any

from ...core.graph import Operation
from ...primitives.pooling.argmax import MaxPoolWithArgmax
from ...primitives.pooling.avg_pool import AvgPool, AvgPoolGrad
from ...primitives.pooling.max_pool import MaxPool, MaxPoolGrad, MaxPoolGradGrad
from ..body import Body, Ref
from ..exporting import writer
from .convolution import for_all_axes
from .creation import sizes_of


def _windows(body: Body, op: Operation) -> dict[str, Any]:
    primitive: Any = op.primitive
    layout = primitive.data_format
    known = len(primitive.ksize) > 1 and isinstance(primitive.padding, str)
    if not known or any(n != 1 for n in primitive.dilations):
        body.refuse("its export is there for windows of images and volumes, without holes, with SAME or VALID")
    return {
        "ksize": for_all_axes(primitive.ksize, layout),
        "strides": for_all_axes(primitive.strides, layout),
        "padding": primitive.padding,
        "data_format": layout,
    }


@writer(MaxPool, AvgPool, MaxPoolGrad, MaxPoolGradGrad)
def pool(body: Body, op: Operation, *xs: Ref) -> Any:
    return body.main(_type(op, op.type), *xs, **_windows(body, op))


def _type(op: Operation, of_images: str) -> str:
    """The op type, which is another one of volumes."""
    primitive: Any = op.primitive
    return of_images if len(primitive.ksize) == 2 else of_images.replace("Pool", "Pool3D")


@writer(MaxPoolWithArgmax)
def pool_with_places(body: Body, op: Operation, x: Ref) -> Any:
    primitive: Any = op.primitive
    attributes = _windows(body, op)
    if attributes.pop("data_format") != "NHWC":
        return body.refuse("its export is there for images with the channels last")
    kind, batch = primitive.output_dtype, primitive.include_batch_in_index
    return body.main("MaxPoolWithArgmax", x, Targmax=kind, include_batch_in_index=batch, **attributes)


@writer(AvgPoolGrad)
def avg_pool_grad(body: Body, op: Operation, dy: Ref, *sizes: Ref) -> Any:
    primitive: Any = op.primitive
    return body.main(
        _type(op, "AvgPoolGrad"), sizes_of(body, primitive.input_sizes, sizes, dy), dy, **_windows(body, op)
    )
