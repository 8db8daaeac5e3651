"""TensorFlow 1 parameters for `pullback.image`."""

from collections.abc import Callable
from functools import wraps
from typing import Any

import pullback as pb

from ... import image as today
from ...core.contexts import in_graph_of_inputs
from ...core.typing import TensorLike
from ...layers.image.framing import fitted
from . import io
from .arguments import older
from .composites import on_composites_too
from .glimpses import extract_glimpse as extract_glimpse
from .image_boxes import combined_non_max_suppression as combined_non_max_suppression
from .image_boxes import draw_bounding_boxes as draw_bounding_boxes
from .image_boxes import non_max_suppression_padded as non_max_suppression_padded
from .image_boxes import sample_distorted_bounding_box as sample_distorted_bounding_box

PARAMETERS = {
    "crop_and_resize": "image, boxes, box_ind:box_indices, crop_size, method, extrapolation_value, name, box_indices"
}

OLD_NAMES = {
    "resize": "resize_images",
    "transpose_image": "transpose",
    "resize_image_with_crop_or_pad": "resize_with_crop_or_pad",
}

IN_FLOAT32 = {
    *("resize", "resize_images", "resize_area", "resize_bicubic", "resize_bilinear", "crop_and_resize"),
    *("per_image_standardization", "psnr", "ssim", "ssim_multiscale"),
}
"""What gives float32 of float64 images in TensorFlow, where `pullback.image` gives float64."""


def _in_float32(function: Callable[..., Any]) -> Callable[..., Any]:
    """`function`, with results of float64 rounded to float32."""

    @wraps(function)
    def in_float32(*args: Any, **kwargs: Any) -> Any:
        y = function(*args, **kwargs)
        return pb.cast(y, pb.float32) if y.dtype == pb.float64 else y

    return in_float32


@in_graph_of_inputs
@_in_float32
def resize_image_with_pad(
    image: TensorLike,
    target_height: TensorLike,
    target_width: TensorLike,
    method: int | str = 0,
    align_corners: bool = False,
) -> pb.Tensor:
    """As `pb.image.resize_with_pad`, by the `resize_images` of version 1, whose pixels have no centers.

    >>> import pullback.compat.v1 as tf
    >>> tf.Session().run(tf.image.resize_image_with_pad([[[0.0], [1.0]]], 2, 4))[..., 0]
    array([[0. , 0.5, 1. , 1. ],
           [0. , 0.5, 1. , 1. ]], dtype=float32)
    """
    return fitted(
        image, target_height, target_width, lambda x, size: today.resize_images(x, size, method, align_corners)
    )


def __getattr__(name: str) -> Any:
    if name in io.OF_IMAGES:
        return getattr(io, name)
    found = older(getattr(today, OLD_NAMES.get(name, name)), PARAMETERS.get(name))
    return on_composites_too(name, _in_float32(found) if name in IN_FLOAT32 else found, None)


def __dir__() -> list[str]:
    return dir(today)
