"""GraphDef export of pooling: the largest and the mean of windows of images, and their derivatives."""

from __future__ import annotations

from typing import Any

from ...primitives.pooling.argmax import MaxPoolWithArgmax
from ...primitives.pooling.avg_pool import AvgPool, AvgPoolGrad
from ...primitives.pooling.max_pool import MaxPool, MaxPoolGrad, MaxPoolGradGrad
from ..body import Body, Ref
from ..exporting import writer
from .convolution import for_all_axes
from .creation import sizes_of


def _windows(body: Body, p: Any) -> dict[str, Any]:
    layout = p.data_format
    known = len(p.ksize) > 1 and isinstance(p.padding, str)
    if not known or any(n != 1 for n in p.dilations):
        body.refuse("its export is there for windows of images and volumes, without holes, with SAME or VALID")
    return {
        "ksize": for_all_axes(p.ksize, layout),
        "strides": for_all_axes(p.strides, layout),
        "padding": p.padding,
        "data_format": layout,
    }


@writer(MaxPool, AvgPool, MaxPoolGrad, MaxPoolGradGrad)
def pool(body: Body, p: Any, *xs: Ref) -> Any:
    return body.main(_type(p, p.type), *xs, **_windows(body, p))


def _type(p: Any, of_images: str) -> str:
    """The op type, which is another one of volumes."""
    return of_images if len(p.ksize) == 2 else of_images.replace("Pool", "Pool3D")


@writer(MaxPoolWithArgmax)
def pool_with_places(body: Body, p: Any, x: Ref) -> Any:
    attributes = _windows(body, p)
    if attributes.pop("data_format") != "NHWC":
        return body.refuse("its export is there for images with the channels last")
    kind, batch = p.output_dtype, p.include_batch_in_index
    return body.main("MaxPoolWithArgmax", x, Targmax=kind, include_batch_in_index=batch, **attributes)


@writer(AvgPoolGrad)
def avg_pool_grad(body: Body, p: Any, dy: Ref, *sizes: Ref) -> Any:
    return body.main(_type(p, "AvgPoolGrad"), sizes_of(body, p.input_sizes, sizes, dy), dy, **_windows(body, p))
