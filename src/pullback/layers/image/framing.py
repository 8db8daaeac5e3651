"""Image cropping, padding, flips and rotations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

from ...core.contexts import in_graph_of_inputs
from ...core.operation import AbstractTensorLike, Tensor
from ...core.typing import TensorLike
from ...primitives.base.axes import is_computed, static_integer, static_integers
from ...primitives.casting.cast import cast
from ...primitives.creation.constant import convert_to_tensor
from ...primitives.creation.ranges import range_
from ...primitives.debugging.assertions import assert_rank_in
from ...primitives.elementwise.division import floormod
from ...primitives.elementwise.maximum import maximum, minimum
from ...primitives.elementwise.rounding import floor
from ...primitives.identity.identity import ensure_shape, identity
from ...primitives.image.resizing import ResizeMethod, resize
from ...primitives.indexing.slice import slice_
from ...primitives.indexing.where import where
from ...primitives.logic.comparison import equal, greater_equal
from ...primitives.logic.logical import logical_or
from ...primitives.reduction.reduce import reduce_max
from ...primitives.shape.pad import pad
from ...primitives.shape.reverse import reverse
from ...primitives.shape.size import rank, shape
from ...primitives.shape.stacking import stack, unstack
from ...primitives.shape.transpose import transpose as transpose_axes


def flip_left_right(image: TensorLike) -> Tensor:
    """`image` with its columns in reverse order.

    Shapes: [..., h, w, c]. Dtypes: any.

    Derivative: dx = flip_left_right(dy).

    Raises:
        ValueError: fewer than three axes.

    >>> import pullback as pb
    >>> pb.Session().run(pb.image.flip_left_right([[[1], [2]]]))
    array([[[2],
            [1]]], dtype=int32)
    """
    return reverse(_images("flip_left_right", image), [-2])


def flip_up_down(image: TensorLike) -> Tensor:
    """`image` with its rows in reverse order.

    Shapes: [..., h, w, c]. Dtypes: any.

    Derivative: dx = flip_up_down(dy).

    Raises:
        ValueError: fewer than three axes.

    >>> import pullback as pb
    >>> pb.Session().run(pb.image.flip_up_down([[[1]], [[2]]]))
    array([[[2]],
    <BLANKLINE>
           [[1]]], dtype=int32)
    """
    return reverse(_images("flip_up_down", image), [-3])


def transpose(image: TensorLike, name: str | None = None) -> Tensor:
    """`image` with rows and columns exchanged.

    Shapes: [h, w, c] or [n, h, w, c]. Dtypes: any.

    Derivative: dx = transpose(dy).

    Raises:
        ValueError: another rank. InvalidArgumentError: in a run, another one than those, where it was not known.

    >>> import pullback as pb
    >>> pb.image.transpose(pb.zeros([2, 3, 4, 1])).shape
    TensorShape([2, 4, 3, 1])
    """
    return _exchanged(_images("transpose", image, ranks=(3, 4)), name)


def _exchanged(x: Tensor, name: str | None = None) -> Tensor:
    return transpose_axes(x, _exchanged_axes(x), name=name or "transpose")


def _exchanged_axes(x: Tensor) -> Any:
    """The axes of `x`, rows and columns exchanged; as a tensor where their number is not known."""
    if x.shape.rank is not None:
        own = list(range(x.shape.rank))
        return [*own[:-3], own[-2], own[-3], own[-1]]
    count = rank(x)
    axes = range_(count)
    return axes + cast(equal(axes, count - 3), axes.dtype) - cast(equal(axes, count - 2), axes.dtype)


@in_graph_of_inputs
def rot90(image: TensorLike, k: TensorLike = 1, name: str | None = None) -> Tensor:
    """`image` turned `k` times by 90 degrees, against the clock.

    Shapes: [h, w, c] or [n, h, w, c]; `k` an integer. Dtypes: any.

    Derivative: dx = dy turned back.

    Raises:
        ValueError: another rank. InvalidArgumentError: in a run, another one than those, where it was not known.

    >>> import pullback as pb
    >>> pb.Session().run(pb.image.rot90([[[1], [2]]]))
    array([[[2]],
    <BLANKLINE>
           [[1]]], dtype=int32)
    """
    x = _images("rot90", image, ranks=(3, 4))
    if is_computed(k):
        return _turned(x, convert_to_tensor(k), name)
    turns = static_integers(k, "rot90: k")[0] % 4
    with x.graph.within(name or "rot90"):
        if turns == 0:
            return x
        if turns == 2:
            return reverse(x, [-3, -2])
        return reverse(_exchanged(x), [-3]) if turns == 1 else _exchanged(reverse(x, [-3]))


def _turned(x: Tensor, k: Tensor, name: str | None) -> Tensor:
    """`x` turned a number of times that a run computes: its axes exchanged, then one or both of them reversed."""
    with x.graph.within(name or "rot90"):
        turns, own = floormod(k, 4), range_(rank(x))
        y = transpose_axes(x, where(equal(floormod(turns, 2), 1), _exchanged_axes(x), own))
        y = where(logical_or(equal(turns, 1), equal(turns, 2)), reverse(y, [-3]), y)
        return where(greater_equal(turns, 2), reverse(y, [-2]), y)


def central_crop(image: TensorLike, central_fraction: float) -> Tensor:
    """The middle of `image`: `central_fraction` of its rows and of its columns.

    Shapes: [..., h, w, c]. Dtypes: any.

    Derivative: dx = zeros with dy in the place of the part.

    Raises:
        ValueError: the fraction is not in (0, 1]; fewer than three axes; the rank is unknown.

    >>> import pullback as pb
    >>> pb.image.central_crop(pb.zeros([8, 6, 3]), 0.5).shape
    TensorShape([4, 4, 3])
    """
    x = _images("central_crop", image)
    if not 0 < central_fraction <= 1:
        raise ValueError(f"central_crop: central_fraction must be in (0, 1], not {central_fraction}")
    height, width = _lengths(x)
    top, left = [_half_of_rest(n, central_fraction) for n in (height, width)]
    return _cut(x, top, left, height - 2 * top, width - 2 * left)


def _half_of_rest(n: Any, fraction: float) -> Any:
    if isinstance(n, int):
        return int((n - n * fraction) / 2)
    whole = cast(n, "float64")
    return cast((whole - whole * fraction) / 2, n.dtype)


@in_graph_of_inputs
def crop_to_bounding_box(
    image: TensorLike,
    offset_height: int | Tensor,
    offset_width: int | Tensor,
    target_height: int | Tensor,
    target_width: int | Tensor,
) -> Tensor:
    """The part of `image` that begins at the given row and column and has the given numbers of them.

    Shapes: [..., h, w, c], of unknown rank [h, w, c]; the numbers are integers or integer scalars. Dtypes: any.

    Derivative: dx = zeros with dy in the place of the part.

    Raises:
        ValueError: the part is not inside the image; the rank is below three.

    >>> import pullback as pb
    >>> pb.image.crop_to_bounding_box(pb.zeros([2, 8, 6, 3]), 1, 2, 4, 3).shape
    TensorShape([2, 4, 3, 3])
    """
    x = _framed_images("crop_to_bounding_box", image)
    return _cut(x, offset_height, offset_width, target_height, target_width)


def _cut(x: Tensor, top: Any, left: Any, height: Any, width: Any) -> Tensor:
    assert x.shape.rank is not None
    lead = x.shape.rank - 3
    return _of_size(slice_(x, [*[0] * lead, top, left, 0], [*[-1] * lead, height, width, -1]), x, (height, width))


@in_graph_of_inputs
def pad_to_bounding_box(
    image: TensorLike,
    offset_height: int | Tensor,
    offset_width: int | Tensor,
    target_height: int | Tensor,
    target_width: int | Tensor,
) -> Tensor:
    """`image` in a frame of zeros of the given size, so that it begins at the given row and column.

    Shapes: [..., h, w, c], of unknown rank [h, w, c]; the numbers are integers or integer scalars. Dtypes: any.

    Derivative: dx = the part of dy where x stands.

    Raises:
        ValueError: the image does not fit into the frame; the rank is below three.

    >>> import pullback as pb
    >>> pb.image.pad_to_bounding_box(pb.zeros([2, 4, 3, 3]), 1, 2, 8, 6).shape
    TensorShape([2, 8, 6, 3])
    """
    x = _framed_images("pad_to_bounding_box", image)
    height, width = _lengths(x)
    offset_height, offset_width, target_height, target_width = (
        _as_number("pad_to_bounding_box", n) for n in (offset_height, offset_width, target_height, target_width)
    )
    below, right = target_height - offset_height - height, target_width - offset_width - width
    if any(isinstance(n, int) and n < 0 for n in (offset_height, offset_width, below, right)):
        raise ValueError(
            f"pad_to_bounding_box: {x} at row {offset_height}, column {offset_width} is not inside "
            f"{target_height} by {target_width}"
        )
    return _framed(x, (offset_height, below), (offset_width, right), (target_height, target_width))


def _framed(x: Tensor, rows: tuple[Any, Any], columns: tuple[Any, Any], size: Sequence[Any]) -> Tensor:
    """`x` in a frame of zeros, which makes it as large as `size`."""
    assert x.shape.rank is not None
    return _of_size(pad(x, [*[[0, 0]] * (x.shape.rank - 3), list(rows), list(columns), [0, 0]]), x, size)


def _of_size(y: Tensor, x: Tensor, size: Sequence[Any]) -> Tensor:
    """`y`, of which the height and width are known where they are numbers, and the rest is that of `x`."""
    before = x.shape.as_list()
    known = [None if isinstance(n, Tensor | AbstractTensorLike) else n for n in size]
    y.set_shape([*before[:-3], *known, before[-1]])
    return y


@in_graph_of_inputs
def resize_with_crop_or_pad(image: TensorLike, target_height: TensorLike, target_width: TensorLike) -> Tensor:
    """`image` cut, or framed with zeros, to the given size, its middle in the middle.

    Shapes: [..., h, w, c], of unknown rank [h, w, c]; the numbers are integers or integer scalars. Dtypes: any.

    Derivative: dx = resize_with_crop_or_pad(dy).

    Raises:
        ValueError: a size is not positive; the rank is below three.

    >>> import pullback as pb
    >>> pb.image.resize_with_crop_or_pad(pb.zeros([2, 8, 3, 3]), 5, 6).shape
    TensorShape([2, 5, 6, 3])
    """
    x = _framed_images("resize_with_crop_or_pad", image)
    targets = [_as_length("resize_with_crop_or_pad", n) for n in (target_height, target_width)]
    lengths = _lengths(x)
    sizes = [_smaller(n, t) for n, t in zip(lengths, targets, strict=True)]
    if any(size is not n for size, n in zip(sizes, lengths, strict=True)):
        top, left = [(n - size) // 2 for n, size in zip(lengths, sizes, strict=True)]
        x = _cut(x, top, left, *sizes)
    around = [((t - size) // 2, (t - size) - (t - size) // 2) for t, size in zip(targets, sizes, strict=True)]
    if all(isinstance(n, int) and n == 0 for pair in around for n in pair):
        return x
    return _framed(x, around[0], around[1], targets)


@in_graph_of_inputs
def resize_with_pad(
    image: TensorLike,
    target_height: TensorLike,
    target_width: TensorLike,
    method: str | int = ResizeMethod.BILINEAR,
    antialias: bool = False,
) -> Tensor:
    """`image` in the largest size that fits and keeps the ratio of its sides, in the middle of a frame of zeros.

    Shapes: [..., h, w, c], of unknown rank [h, w, c]; the numbers are integers or integer scalars. Dtypes: as for
    `resize`.

    Derivative: the chain of resize and pad.

    Raises:
        ValueError: a size is not positive; the rank is below three.

    >>> import pullback as pb
    >>> pb.image.resize_with_pad(pb.ones([4, 2, 1]), 6, 9).shape
    TensorShape([6, 9, 1])
    """
    return fitted(image, target_height, target_width, lambda x, size: resize(x, size, method, antialias=antialias))


def fitted(
    image: TensorLike, target_height: TensorLike, target_width: TensorLike, resized: Callable[[Tensor, Any], Tensor]
) -> Tensor:
    """`image` as `resized(image, size)` of the largest size that fits, in the middle of a frame of zeros."""
    x = _framed_images("resize_with_pad", image)
    targets = [_as_length("resize_with_pad", n) for n in (target_height, target_width)]
    lengths = _lengths(x)
    if all(isinstance(n, int) for n in (*targets, *lengths)):
        sizes, around = _fit(np, *np.array([lengths, targets], np.float32))
        sizes, around = sizes.astype(int).tolist(), around.astype(int).tolist()
    else:
        wide = [stack([cast(convert_to_tensor(n), "float32") for n in pair]) for pair in (lengths, targets)]
        sizes, around = (unstack(cast(n, "int32"), 2) for n in _fit(_TENSORS, *wide))
    pairs = [(a, t - s - a) for a, t, s in zip(around, targets, sizes, strict=True)]
    return _framed(resized(x, sizes), pairs[0], pairs[1], targets)


_TENSORS = SimpleNamespace(floor=floor, max=reduce_max, maximum=maximum)


def _fit(xp: Any, lengths: Any, targets: Any) -> tuple[Any, Any]:
    """The sides of the largest image that fits, and how far it is from the frame; in float32, as TensorFlow."""
    whole = lengths / xp.max(lengths / targets)
    return xp.floor(whole), xp.maximum(xp.floor((targets - whole) / 2), 0)


def _framed_images(what: str, image: Any) -> Tensor:
    """One image where the rank is unknown, as TensorFlow takes what a decoder gives."""
    x = convert_to_tensor(image)
    return _images(what, ensure_shape(x, [None] * 3) if x.shape.rank is None else x)


def _images(what: str, image: Any, ranks: tuple[int, ...] = ()) -> Tensor:
    x = convert_to_tensor(image)
    count = x.shape.rank
    if count is None and what.startswith("flip"):
        return x
    if count is None and ranks:
        right = assert_rank_in(x, ranks, message=f"{what}: an image has 3 axes, several have 4")
        with x.graph.acting.control_dependencies([right]):
            return identity(x)
    if count is None or count < 3 or (ranks and count not in ranks):
        raise ValueError(f"{what}: an image has the axes height, width, channels, which cannot be said of {x}")
    return x


def _lengths(x: Tensor) -> list[Any]:
    """Height and width: integers where they are known, else scalars."""
    count = x.shape.rank
    assert count is not None
    dynamic = None
    result: list[Any] = []
    for axis in (count - 3, count - 2):
        n = x.shape.size(axis)
        if n is None:
            dynamic = shape(x) if dynamic is None else dynamic
        result.append(dynamic[axis] if n is None and dynamic is not None else n)
    return result


def _as_length(what: str, n: Any) -> Any:
    number = _as_number(what, n)
    if isinstance(number, int) and number <= 0:
        raise ValueError(f"{what}: a size must be positive, not {n}")
    return number


def _as_number(what: str, n: Any) -> Any:
    if isinstance(n, Tensor | AbstractTensorLike):
        return convert_to_tensor(n)
    return static_integer(n, f"{what}: a number of pixels")


def _smaller(a: Any, b: Any) -> Any:
    return min(a, b) if isinstance(a, int) and isinstance(b, int) else minimum(a, b)
