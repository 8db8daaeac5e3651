"""TensorFlow 1 parameters for `pullback.image`."""

from typing import Any

from ... import image as today
from . import io
from .arguments import older

PARAMETERS = {
    "crop_and_resize": "image, boxes, box_ind:box_indices, crop_size, method, extrapolation_value, name, box_indices"
}


def __getattr__(name: str) -> Any:
    if name in io.OF_IMAGES:
        return getattr(io, name)
    return older(getattr(today, "resize_images" if name == "resize" else name), PARAMETERS.get(name))


def __dir__() -> list[str]:
    return dir(today)
