"""GraphDef export of pooling: the largest and the mean of windows of images, and their derivatives."""

from __future__ import annotations

from typing import Any

from ...core.graph import Operation
from ...primitives.pooling.avg_pool import AvgPool, AvgPoolGrad
from ...primitives.pooling.max_pool import MaxPool, MaxPoolGrad
from ..body import Body, Ref
from ..exporting import writer
from .convolution import for_all_axes
from .creation import sizes_of


def _windows(body: Body, op: Operation) -> dict[str, Any]:
    primitive: Any = op.primitive
    layout = primitive.data_format
    if len(primitive.ksize) != 2 or any(n != 1 for n in primitive.dilations) or not isinstance(primitive.padding, str):
        body.refuse("its export is there for windows of images, without holes, with SAME or VALID")
    return {
        "ksize": for_all_axes(primitive.ksize, layout),
        "strides": for_all_axes(primitive.strides, layout),
        "padding": primitive.padding,
        "data_format": layout,
    }


@writer(MaxPool, AvgPool, MaxPoolGrad)
def pool(body: Body, op: Operation, *xs: Ref) -> Any:
    return body.main(op.type, *xs, **_windows(body, op))


@writer(AvgPoolGrad)
def avg_pool_grad(body: Body, op: Operation, dy: Ref, *sizes: Ref) -> Any:
    primitive: Any = op.primitive
    return body.main("AvgPoolGrad", sizes_of(body, primitive.input_sizes, sizes, dy), dy, **_windows(body, op))
