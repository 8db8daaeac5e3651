"""Image sampling between pixels: crop-and-resize of boxes, and projective transforms.

Reading is linear in the image and, between pixels, linear in each coordinate: the derivative by a coordinate is a
reading with the weights (-1, 1), so that two primitives, a reading and its transpose, give every order exactly.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ...core.contexts import in_graph_of_inputs
from ...core.dtypes import int32
from ...core.matmul_precision import in_full
from ...core.operation import Operation, Tensor
from ...core.primitive import Primitive, no_gradient
from ...core.shape import TensorShape, broadcast_static_shape
from ...core.traits import ZEROS, Links, affine, linear, reads_shape, same_axes
from ...core.types import TensorType
from ...core.typing import ShapeLike, TensorLike
from ..base.scattering import sum_rows
from ..casting.cast import cast
from ..creation.constant import convert_to_tensor
from ..linalg.matmul import matmul
from ..reduction.reduce import reduce_sum
from ..reduction.sum import sum_like
from ..shape.reshape import reshape, shape_to_use, split_shape
from ..shape.size import shape
from ..shape.squeeze import ExpandDims
from ..shape.stacking import concat
from .resizing import as_float

_BILINEAR, _NEAREST = "bilinear", "nearest"


@in_graph_of_inputs
def crop_and_resize(
    image: TensorLike,
    boxes: TensorLike,
    box_indices: TensorLike,
    crop_size: TensorLike,
    method: str = "bilinear",
    extrapolation_value: float = 0.0,
    name: str | None = None,
) -> Tensor:
    """The part of an image inside each box, brought to `crop_size`; derivatives go to the images and to the boxes.

    A box is (y1, x1, y2, x2), where 0 is the middle of the first row or column and 1 that of the last. What is read
    outside the image is `extrapolation_value`.

    Shapes: `image` [n, h, w, c]; `boxes` [count, 4]; `box_indices` [count], which image; `crop_size` two integers or a
    vector of them; the result [count, rows, columns, c]. Dtypes: `image` any real number; the boxes floats, the indices
    integers; the result is float32, or float64 for float64 images.

    Derivative: dimage = W^T dy for the weights W; dboxes = dy times the slope of the image, times where each row and
    column of the crop is.

    Raises:
        ValueError: another method, or the shapes do not fit.

    >>> import pullback as pb
    >>> x = [[[[0.0], [1.0]], [[2.0], [3.0]]]]
    >>> pb.Session().run(pb.image.crop_and_resize(x, [[0.0, 0.5, 1.0, 0.5]], [0], [3, 1]))[0, :, 0, 0]
    array([0.5, 1.5, 2.5], dtype=float32)
    """
    if method not in (_BILINEAR, _NEAREST):
        raise ValueError(f"crop_and_resize: method must be 'bilinear' or 'nearest', not {method!r}")
    x = as_float("crop_and_resize", convert_to_tensor(image))
    dims, lengths = split_shape(crop_size)
    if dims is not None and len(dims) != 2:
        raise ValueError(f"crop_and_resize: crop_size must be two integers, not {crop_size!r}")
    with x.graph.within(name or "CropAndResize"), in_full(x.graph):
        corners = cast(convert_to_tensor(boxes), x.dtype)
        more = () if lengths is None else (lengths,)
        rows, columns = [matmul(corners, CropPlaces(i, None if dims is None else dims[i])(x, *more)) for i in range(2)]
        read = ReadImages((0, 0), method, "all", float(extrapolation_value))
        return read(x, convert_to_tensor(box_indices), ExpandDims((2,))(rows), ExpandDims((1,))(columns))


class CropPlaces(Primitive):
    """The matrix [4, count] that takes boxes to the places of rows (`axis` 0) or columns (1) of an image."""

    traits = (reads_shape(0),)
    shape_inputs = (1,)

    axis: int
    count: int | None

    def infer(self, x: TensorType, size: TensorType | None = None) -> tuple[TensorType, ...]:
        del size
        return (TensorType(x.dtype, TensorShape([4, self.count])),)

    def kernel(self, xp: Any, x: Any, size: Any = None) -> Any:
        del xp
        count = self.count if size is None else int(np.asarray(size)[self.axis])
        assert count is not None
        share = np.arange(count) / (count - 1) if count > 1 else np.full(count, 0.5)
        matrix = np.zeros((4, count))
        matrix[self.axis], matrix[self.axis + 2] = 1 - share, share
        return (matrix * (x.shape[self.axis + 1] - 1)).astype(x.dtype)

    gradient = no_gradient


class ReadImages(Primitive):
    """Images read at places: [b, i, j] is what image `numbers[b]` has at row `ys[b, i, j]` and column `xs[b, i, j]`.

    `ys` and `xs` have length one along an axis where they do not change.
    """

    traits = (affine(0),)

    order: tuple[int, int]
    """How often the weights are differentiated by row and by column, 0 or 1."""
    method: str
    outside: str
    """What is filled outside the image: "all" of a place that is, or "each" of the pixels that it is read from."""
    fill: float

    def infer(self, x: TensorType, numbers: TensorType, ys: TensorType, xs: TensorType) -> tuple[TensorType, ...]:
        if x.shape.rank not in (4, None):
            raise ValueError(f"crop_and_resize: images have four axes, but {x} has {x.shape.rank}")
        channels = None if x.shape.lengths is None else x.shape.lengths[3]
        count = None if numbers.shape.lengths is None else numbers.shape.lengths[0]
        places = broadcast_static_shape(broadcast_static_shape(ys.shape, xs.shape), TensorShape([count, 1, 1]))
        return (TensorType(x.dtype, places.concatenate([channels])),)

    def links(self, i: int, x: TensorType, numbers: TensorType, ys: TensorType, xs: TensorType) -> Links | None:
        del x, numbers, ys, xs
        return same_axes(([3], [0], range(3), range(3))[i])

    def kernel(self, xp: Any, x: Any, numbers: Any, ys: Any, xs: Any) -> Any:
        x, n = xp.asarray(x), numbers[:, None, None]
        fill = x.dtype.type(self.fill)
        total = None
        for corner in _corners(self, xp, x.shape, ys, xs):
            pixel = x[n, corner.row, corner.column]
            if self.outside == "each":
                pixel = xp.where(corner.inside[..., None], pixel, fill)
            term = pixel * corner.weight[..., None]
            total = term if total is None else total + term
        if self.outside == "all":
            inside = _inside(xp, x.shape, ys, xs)[..., None]
            total = xp.where(inside, total, fill if self.order == (0, 0) else x.dtype.type(0))
        return total

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        x, numbers, ys, xs = op.inputs
        put = PutImages(self.order, self.method, self.outside)
        along = [partial(_by_place, self, self.fill, axis, dy, x, numbers, ys, xs) for axis in (0, 1)]
        return partial(put, dy, numbers, ys, xs, x), None, *along


class PutImages(Primitive):
    """The transpose of ReadImages by the images: `dy` added up at the pixels that it was read from, in images like the
    last input."""

    traits = (linear(0), ZEROS, reads_shape(4))

    order: tuple[int, int]
    method: str
    outside: str

    def infer(
        self, dy: TensorType, numbers: TensorType, ys: TensorType, xs: TensorType, like: TensorType
    ) -> tuple[TensorType, ...]:
        del dy, numbers, ys, xs
        return (like,)

    def links(
        self, i: int, dy: TensorType, numbers: TensorType, ys: TensorType, xs: TensorType, like: TensorType
    ) -> Links | None:
        del dy, numbers, ys, xs, like
        return same_axes([3]) if i == 0 else None

    def kernel(self, xp: Any, dy: Any, numbers: Any, ys: Any, xs: Any, like: Any) -> Any:
        count, height, width, channels = like.shape
        n, whole = numbers[:, None, None] * height, _inside(xp, like.shape, ys, xs)
        rows, terms = [], []
        for corner in _corners(self, xp, like.shape, ys, xs):
            inside = corner.inside if self.outside == "each" else whole
            term = dy * xp.where(inside, corner.weight, xp.zeros((), dy.dtype))[..., None]
            rows.append(xp.broadcast_to((n + corner.row) * width + corner.column, term.shape[:-1]).reshape(-1))
            terms.append(term.reshape(rows[-1].shape[0], channels))
        total = sum_rows(xp, xp.concatenate(rows), xp.concatenate(terms), count * height * width)
        return total.reshape(like.shape)

    def gradient(self, op: Operation, d: Tensor) -> Sequence[Any]:
        dy, numbers, ys, xs, _ = op.inputs
        read = ReadImages(self.order, self.method, self.outside, 0.0)
        along = [partial(_by_place, self, 0.0, axis, dy, d, numbers, ys, xs) for axis in (0, 1)]
        return partial(read, d, numbers, ys, xs), None, *along, None


def _by_place(
    p: Any, fill: float, axis: int, dy: Tensor, x: Tensor, numbers: Tensor, ys: Tensor, xs: Tensor
) -> Tensor | None:
    """The cotangent of the rows (`axis` 0) or columns (1) of a reading; it is linear in each between pixels."""
    if p.order[axis] or p.method == _NEAREST:
        return None
    order = (1, p.order[1]) if axis == 0 else (p.order[0], 1)
    slope = ReadImages(order, p.method, p.outside, fill)(x, numbers, ys, xs)
    return sum_like(reduce_sum(dy * slope, -1), ys if axis == 0 else xs)


class _Corner(NamedTuple):
    """One of the pixels that a place is read from."""

    row: Any
    column: Any
    weight: Any
    inside: Any


def _corners(p: Any, xp: Any, dims: Sequence[int], ys: Any, xs: Any) -> Iterator[_Corner]:
    sides = [_sides(p, xp, places, n, order) for places, n, order in zip((ys, xs), dims[1:3], p.order, strict=True)]
    for row, weight, row_inside in sides[0]:
        for column, other, column_inside in sides[1]:
            yield _Corner(row, column, weight * other, row_inside & column_inside)


def _sides(p: Any, xp: Any, places: Any, n: int, order: int) -> list[tuple[Any, Any, Any]]:
    """The pixels before and after each place along an axis of length `n`, their weights, and whether they exist."""
    real = xp.where(places == places, xp.clip(places, -2, n + 1), -2).astype(places.dtype)
    low = xp.floor(real) if p.method == _BILINEAR else _rounded(xp, real)
    part = real - low
    ends = [low] if p.method == _NEAREST else [low, xp.ceil(real) if p.outside == "all" else low + 1]
    one = xp.ones_like(part)
    shares = [one] if p.method == _NEAREST else [1 - part, part] if order == 0 else [-one, one]
    sides = []
    for end, share in zip(ends, shares, strict=True):
        number = end.astype(int32)
        sides.append((xp.clip(number, 0, n - 1), share, (number >= 0) & (number < n)))
    return sides


def _rounded(xp: Any, places: Any) -> Any:
    """The nearest integers, halves away from zero: half a pixel before the first is outside of the image."""
    half = places.dtype.type(0.5)
    return xp.where(places < 0, -xp.floor(half - places), xp.floor(places + half))


def _inside(xp: Any, dims: Sequence[int], ys: Any, xs: Any) -> Any:
    """Whether a place is between the middles of the first and last pixels, but for rounding."""
    result = None
    for places, n in zip((ys, xs), dims[1:3], strict=True):
        slack = 4 * float(np.finfo(places.dtype).eps) * n
        inside = (places >= -slack) & (places <= n - 1 + slack)
        result = inside if result is None else result & inside
    return result


@in_graph_of_inputs
def projective_transform(
    images: TensorLike,
    transforms: TensorLike,
    output_shape: ShapeLike | None = None,
    fill_value: float = 0.0,
    interpolation: str = "BILINEAR",
    fill_mode: str = "CONSTANT",
    name: str | None = None,
) -> Tensor:
    """Images transformed projectively; derivatives go to the images and to the transforms.

    With a transform (a0, a1, a2, b0, b1, b2, c0, c1) the pixel in column x and row y of the result is what the image
    has in column (a0 x + a1 y + a2) / k and row (b0 x + b1 y + b2) / k, where k = c0 x + c1 y + 1. `interpolation` is
    "BILINEAR" or "NEAREST". `fill_mode` says what is outside the image: "CONSTANT" `fill_value`, "REFLECT" the image
    mirrored, "WRAP" the image again, "NEAREST" the nearest pixel.

    Shapes: `images` [n, h, w, c]; `transforms` [n, 8] or [1, 8]; `output_shape` two integers or a vector of them, those
    of the images unless given. Dtypes: `images` any real number; the result is float32, or float64 for float64.

    Derivative: dimages = W^T dy for the weights W; dtransforms = dy times the slope of the image, times the derivative
    of the places.

    Raises:
        ValueError: another interpolation or fill mode, or the shapes do not fit.

    >>> import pullback as pb
    >>> x = [[[[1.0], [2.0], [3.0]]]]
    >>> pb.Session().run(pb.image.projective_transform(x, [[1, 0, 0.5, 0, 1, 0, 0, 0]]))[0, 0, :, 0]
    array([1.5, 2.5, 1.5], dtype=float32)
    """
    what, method, mode = "projective_transform", interpolation.lower(), fill_mode.upper()
    if method not in (_BILINEAR, _NEAREST):
        raise ValueError(f"{what}: interpolation must be 'BILINEAR' or 'NEAREST', not {interpolation!r}")
    if mode not in ("CONSTANT", "REFLECT", "WRAP", "NEAREST"):
        raise ValueError(f"{what}: fill_mode must be CONSTANT, REFLECT, WRAP or NEAREST, not {fill_mode!r}")
    x = as_float(what, convert_to_tensor(images))
    size: Any = output_shape
    if size is None:
        known = None if x.shape.sizes is None else x.shape.sizes[1:3]
        size = shape(x)[1:3] if known is None or None in known else known
    dims, lengths = split_shape(size)
    with x.graph.within(name or what), in_full(x.graph):
        numbers = cast(convert_to_tensor(transforms), x.dtype)
        grid = PixelGrid(dims)(x, *(() if lengths is None else (lengths,)))
        over = matmul(numbers[:, 6:8], grid[:2]) + 1
        columns, rows = [
            reshape(matmul(part, grid) / over, concat([shape(over)[:1], convert_to_tensor(size, int32)], 0))
            for part in (numbers[:, 0:3], numbers[:, 3:6])
        ]
        if mode != "CONSTANT":
            rows, columns = FoldPlaces(mode, 0)(rows, x), FoldPlaces(mode, 1)(columns, x)
        read = ReadImages((0, 0), method, "each", float(fill_value))
        return read(x, ImageNumbers()(x), rows, columns)


class PixelGrid(Primitive):
    """The columns, the rows, and ones, of all pixels of an image of `size`: [3, number of pixels]."""

    traits = (reads_shape(0),)
    shape_inputs = (1,)

    size: tuple[int | None, ...] | None

    def infer(self, x: TensorType, size: TensorType | None = None) -> tuple[TensorType, ...]:
        del size
        lengths = self.size or (None, None)
        count = None if None in lengths else int(np.prod([n for n in lengths if n is not None]))
        return (TensorType(x.dtype, TensorShape([3, count])),)

    def kernel(self, xp: Any, x: Any, size: Any = None) -> Any:
        del xp
        rows, columns = np.indices(shape_to_use(self.size, size))
        return np.stack([columns.reshape(-1), rows.reshape(-1), np.ones(rows.size)]).astype(x.dtype)

    gradient = no_gradient


class ImageNumbers(Primitive):
    """0, 1, 2, and so on, for each of the images."""

    reads_values = False

    def infer(self, x: TensorType) -> tuple[TensorType, ...]:
        return (TensorType(int32, TensorShape([None if x.shape.lengths is None else x.shape.lengths[0]])),)

    def kernel(self, xp: Any, x: Any) -> Any:
        del xp
        return np.arange(x.shape[0], dtype=int32)

    gradient = no_gradient


class FoldPlaces(Primitive):
    """Places brought into the image by mirroring, repeating, or moving them to its edge; its length is that of the
    second input's rows (`axis` 0) or columns (1)."""

    mode: str
    axis: int

    def infer(self, places: TensorType, x: TensorType) -> tuple[TensorType, ...]:
        del x
        return (places,)

    def kernel(self, xp: Any, places: Any, x: Any) -> Any:
        return _folded(xp, self.mode, places, x.shape[self.axis + 1])[0]

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        return (lambda: dy * FoldSlopes(self.mode, self.axis)(*op.inputs)), None


class FoldSlopes(Primitive):
    """The derivative of FoldPlaces: 1, -1 or 0."""

    mode: str
    axis: int

    def infer(self, places: TensorType, x: TensorType) -> tuple[TensorType, ...]:
        del x
        return (places,)

    def kernel(self, xp: Any, places: Any, x: Any) -> Any:
        return _folded(xp, self.mode, places, x.shape[self.axis + 1])[1]

    gradient = no_gradient


def _folded(xp: Any, mode: str, places: Any, n: int) -> tuple[Any, Any]:
    """The places inside an axis of length `n`, and their derivative."""
    slope = xp.ones_like(places)
    inner = places
    if mode == "REFLECT":
        around = xp.mod(places + places.dtype.type(0.5), 2 * n)
        inner = xp.where(around > n, 2 * n - around, around) - places.dtype.type(0.5)
        slope = xp.where(around > n, -slope, slope)
    elif mode == "WRAP":
        # TensorFlow's: one axis is longer by one than what it goes round.
        turns = max(n - 1, 1)
        below = places + n * (xp.trunc(-places / turns) + 1)
        above = places - n * xp.trunc(places / turns)
        inner = xp.where(places < 0, below, xp.where(places > n - 1, above, places))
    clipped = xp.clip(inner, 0, n - 1)
    return clipped.astype(places.dtype), xp.where(clipped == inner, slope, xp.zeros_like(slope))
