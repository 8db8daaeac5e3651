"""Image resizing of TensorFlow 1: by a number for the method, with pixels at corners."""

from __future__ import annotations

from ..core.operation import Tensor
from ..core.typing import TensorLike
from ..primitives.image.resizing import resize_area, resize_bicubic, resize_bilinear, resize_nearest_neighbor

_METHODS = {
    0: resize_bilinear,
    1: resize_nearest_neighbor,
    2: resize_bicubic,
    3: resize_area,
    "bilinear": resize_bilinear,
    "nearest": resize_nearest_neighbor,
    "bicubic": resize_bicubic,
    "area": resize_area,
}


def resize_images(
    images: TensorLike,
    size: TensorLike,
    method: str | int = 0,
    align_corners: bool = False,
    preserve_aspect_ratio: bool = False,
    name: str | None = None,
) -> Tensor:
    """`images` in another size, with pixels where TensorFlow 1 places them; `pb.image.resize` places them as today.

    `method` is "bilinear" or 0, "nearest" or 1, "bicubic" or 2, "area" or 3.

    Raises:
        ValueError: another method; `preserve_aspect_ratio` is asked for, which `pb.image.resize` has.

    >>> import pullback as pb
    >>> pb.image.resize_images(pb.zeros([4, 4, 3]), [2, 2]).shape
    TensorShape([2, 2, 3])
    """
    if preserve_aspect_ratio:
        raise ValueError("resize_images: preserve_aspect_ratio=True is not supported; use pb.image.resize")
    if method not in _METHODS:
        raise ValueError(f"resize_images: method must be one of {list(_METHODS)}, not {method!r}")
    return _METHODS[method](images, size, align_corners, name)
