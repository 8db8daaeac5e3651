"""TensorFlow 1 parameters for `pullback.image`."""

from typing import Any

from ... import image as today
from . import io
from .arguments import older

PARAMETERS = {
    "crop_and_resize": "image, boxes, box_ind:box_indices, crop_size, method, extrapolation_value, name, box_indices"
}

OLD_NAMES = {
    "resize": "resize_images",
    "resize_image_with_crop_or_pad": "resize_with_crop_or_pad",
    "resize_image_with_pad": "resize_with_pad",
}


def __getattr__(name: str) -> Any:
    if name in io.OF_IMAGES:
        return getattr(io, name)
    return older(getattr(today, OLD_NAMES.get(name, name)), PARAMETERS.get(name))


def __dir__() -> list[str]:
    return dir(today)
