"""Image resizing of TensorFlow 1: by a number for the method, with pixels at corners."""

from __future__ import annotations

from ..core.contexts import in_graph_of_inputs
from ..core.operation import Tensor
from ..core.typing import TensorLike
from ..primitives.creation.constant import convert_to_tensor
from ..primitives.image.resizing import (
    fitting_size,
    resize_area,
    resize_bicubic,
    resize_bilinear,
    resize_nearest_neighbor,
)
from ..primitives.shape.reshape import split_shape

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


@in_graph_of_inputs
def resize_images(
    images: TensorLike,
    size: TensorLike,
    method: str | int = 0,
    align_corners: bool = False,
    preserve_aspect_ratio: bool = False,
    name: str | None = None,
) -> Tensor:
    """`images` in another size, with pixels where TensorFlow 1 places them; `pb.image.resize` places them as today.

    With `preserve_aspect_ratio` the result is as large as fits into `size`. Images that are known to have the size stay
    what they are, of any dtype.

    `method` is "bilinear" or 0, "nearest" or 1, "bicubic" or 2, "area" or 3.

    Raises:
        ValueError: another method.

    >>> import pullback as pb
    >>> pb.image.resize_images(pb.zeros([4, 4, 3]), [2, 2]).shape
    TensorShape([2, 2, 3])
    """
    if method not in _METHODS:
        raise ValueError(f"resize_images: method must be one of {list(_METHODS)}, not {method!r}")
    x = convert_to_tensor(images)
    if preserve_aspect_ratio:
        size = fitting_size(x, size)
    wanted, _ = split_shape(size)
    if x.shape.sizes is not None and wanted is not None and None not in wanted and x.shape.sizes[-3:-1] == wanted:
        return x
    return _METHODS[method](x, size, align_corners, name)
