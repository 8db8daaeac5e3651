"""Image augmentation: images turned, cut, of another brightness, contrast, hue; at random, or by a seed."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.contexts import in_graph_of_inputs
from ...core.dtypes import float32, int32
from ...core.operation import Tensor
from ...core.typing import ShapeLike, TensorLike
from ...primitives.casting.cast import cast
from ...primitives.creation.constant import convert_to_tensor
from ...primitives.indexing.slice import slice_
from ...primitives.indexing.where import where
from ...primitives.logic.comparison import less
from ...primitives.random.stateful import random_uniform
from ...primitives.random.stateless import stateless_uniform
from ...primitives.shape.reshape import reshape
from ...primitives.shape.size import shape
from .colors import adjust_brightness, adjust_contrast, adjust_hue, adjust_saturation
from .framing import flip_left_right, flip_up_down


def _number(low: float, high: float, seed: Any, stateless: bool) -> Tensor:
    if stateless:
        return stateless_uniform([], seed, low, high)
    return random_uniform([], low, high, seed=seed)


def _checked(what: str, low: float, high: float) -> tuple[float, float]:
    if not 0 <= low < high:
        raise ValueError(f"{what}: 0 <= lower < upper is needed, not {low} and {high}")
    return low, high


@in_graph_of_inputs
def random_brightness(image: TensorLike, max_delta: float, seed: int | None = None) -> Tensor:
    """`adjust_brightness` by a number drawn from [-max_delta, max_delta).

    Shapes: any. Dtypes: any real number.

    Derivative: dx = dy.

    Raises:
        ValueError: `max_delta` is negative.

    >>> import pullback as pb
    >>> y = pb.Session().run(pb.image.random_brightness(pb.zeros([2, 2, 3]), 0.5, seed=1))
    >>> bool((abs(y) <= 0.5).all() and (y == y[0, 0, 0]).all())
    True
    """
    return adjust_brightness(image, _around("random_brightness", max_delta, seed, False))


@in_graph_of_inputs
def stateless_random_brightness(image: TensorLike, max_delta: float, seed: TensorLike) -> Tensor:
    """`random_brightness`, the same for the same `seed`, two integers.

    Shapes: any; `seed` [2]. Dtypes: any real number.

    Derivative: dx = dy.

    Raises:
        ValueError: `max_delta` is negative.

    >>> import pullback as pb
    >>> pb.image.stateless_random_brightness(pb.zeros([2, 2, 3]), 0.5, [1, 2]).shape
    TensorShape([2, 2, 3])
    """
    return adjust_brightness(image, _around("stateless_random_brightness", max_delta, seed, True))


def _around(what: str, most: float, seed: Any, stateless: bool) -> Tensor:
    if most < 0:
        raise ValueError(f"{what}: max_delta must not be negative, but it is {most}")
    return _number(-most, most, seed, stateless)


@in_graph_of_inputs
def random_contrast(image: TensorLike, lower: float, upper: float, seed: int | None = None) -> Tensor:
    """`adjust_contrast` by a factor drawn from [lower, upper).

    Shapes: [..., h, w, c]. Dtypes: any real number.

    Derivative: that of adjust_contrast.

    Raises:
        ValueError: not `0 <= lower < upper`.

    >>> import pullback as pb
    >>> pb.Session().run(pb.image.random_contrast(pb.ones([1, 1, 1]), 0.5, 1.5))
    array([[[1.]]], dtype=float32)
    """
    return adjust_contrast(image, _number(*_checked("random_contrast", lower, upper), seed, False))


@in_graph_of_inputs
def stateless_random_contrast(image: TensorLike, lower: float, upper: float, seed: TensorLike) -> Tensor:
    """`random_contrast`, the same for the same `seed`, two integers.

    Shapes: [..., h, w, c]; `seed` [2]. Dtypes: any real number.

    Derivative: that of adjust_contrast.

    Raises:
        ValueError: not `0 <= lower < upper`.

    >>> import pullback as pb
    >>> pb.image.stateless_random_contrast(pb.zeros([2, 2, 3]), 0.5, 1.5, [1, 2]).shape
    TensorShape([2, 2, 3])
    """
    return adjust_contrast(image, _number(*_checked("stateless_random_contrast", lower, upper), seed, True))


@in_graph_of_inputs
def random_hue(image: TensorLike, max_delta: float, seed: int | None = None) -> Tensor:
    """`adjust_hue` by a number drawn from [-max_delta, max_delta).

    Shapes: [..., 3]. Dtypes: any real number.

    Derivative: that of adjust_hue.

    Raises:
        ValueError: `max_delta` is not in [0, 0.5].

    >>> import pullback as pb
    >>> pb.image.random_hue(pb.zeros([2, 2, 3]), 0.2).shape
    TensorShape([2, 2, 3])
    """
    return adjust_hue(image, _hue("random_hue", max_delta, seed, False))


@in_graph_of_inputs
def stateless_random_hue(image: TensorLike, max_delta: float, seed: TensorLike) -> Tensor:
    """`random_hue`, the same for the same `seed`, two integers.

    Shapes: [..., 3]; `seed` [2]. Dtypes: any real number.

    Derivative: that of adjust_hue.

    Raises:
        ValueError: `max_delta` is not in [0, 0.5].

    >>> import pullback as pb
    >>> pb.image.stateless_random_hue(pb.zeros([2, 2, 3]), 0.2, [1, 2]).shape
    TensorShape([2, 2, 3])
    """
    return adjust_hue(image, _hue("stateless_random_hue", max_delta, seed, True))


def _hue(what: str, most: float, seed: Any, stateless: bool) -> Tensor:
    if most > 0.5:
        raise ValueError(f"{what}: max_delta must be at most 0.5, but it is {most}")
    return _around(what, most, seed, stateless)


@in_graph_of_inputs
def random_saturation(image: TensorLike, lower: float, upper: float, seed: int | None = None) -> Tensor:
    """`adjust_saturation` by a factor drawn from [lower, upper).

    Shapes: [..., 3]. Dtypes: any real number.

    Derivative: that of adjust_saturation.

    Raises:
        ValueError: not `0 <= lower < upper`.

    >>> import pullback as pb
    >>> pb.image.random_saturation(pb.zeros([2, 2, 3]), 0.5, 1.5).shape
    TensorShape([2, 2, 3])
    """
    return adjust_saturation(image, _number(*_checked("random_saturation", lower, upper), seed, False))


@in_graph_of_inputs
def stateless_random_saturation(image: TensorLike, lower: float, upper: float, seed: TensorLike) -> Tensor:
    """`random_saturation`, the same for the same `seed`, two integers.

    Shapes: [..., 3]; `seed` [2]. Dtypes: any real number.

    Derivative: that of adjust_saturation.

    Raises:
        ValueError: not `0 <= lower < upper`.

    >>> import pullback as pb
    >>> pb.image.stateless_random_saturation(pb.zeros([2, 2, 3]), 0.5, 1.5, [1, 2]).shape
    TensorShape([2, 2, 3])
    """
    return adjust_saturation(image, _number(*_checked("stateless_random_saturation", lower, upper), seed, True))


def random_flip_left_right(image: TensorLike, seed: int | None = None) -> Tensor:
    """Each image as it is or with its columns in reverse order, with even chances.

    Shapes: [h, w, c] or [n, h, w, c]. Dtypes: any.

    Derivative: dx = dy, turned where x was.

    Raises:
        ValueError: another rank, or an unknown one.

    >>> import pullback as pb
    >>> y = pb.Session().run(pb.image.random_flip_left_right([[[1], [2]]]))
    >>> sorted(y[0, :, 0].tolist())
    [1, 2]
    """
    return _flipped("random_flip_left_right", image, flip_left_right, seed, False)


@in_graph_of_inputs
def stateless_random_flip_left_right(image: TensorLike, seed: TensorLike) -> Tensor:
    """`random_flip_left_right`, the same for the same `seed`, two integers.

    Shapes: [h, w, c] or [n, h, w, c]; `seed` [2]. Dtypes: any.

    Derivative: dx = dy, turned where x was.

    Raises:
        ValueError: another rank, or an unknown one.

    >>> import pullback as pb
    >>> pb.image.stateless_random_flip_left_right(pb.zeros([2, 2, 3]), [1, 2]).shape
    TensorShape([2, 2, 3])
    """
    return _flipped("stateless_random_flip_left_right", image, flip_left_right, seed, True)


def random_flip_up_down(image: TensorLike, seed: int | None = None) -> Tensor:
    """Each image as it is or with its rows in reverse order, with even chances.

    Shapes: [h, w, c] or [n, h, w, c]. Dtypes: any.

    Derivative: dx = dy, turned where x was.

    Raises:
        ValueError: another rank, or an unknown one.

    >>> import pullback as pb
    >>> pb.image.random_flip_up_down(pb.zeros([4, 2, 2, 3])).shape
    TensorShape([4, 2, 2, 3])
    """
    return _flipped("random_flip_up_down", image, flip_up_down, seed, False)


@in_graph_of_inputs
def stateless_random_flip_up_down(image: TensorLike, seed: TensorLike) -> Tensor:
    """`random_flip_up_down`, the same for the same `seed`, two integers.

    Shapes: [h, w, c] or [n, h, w, c]; `seed` [2]. Dtypes: any.

    Derivative: dx = dy, turned where x was.

    Raises:
        ValueError: another rank, or an unknown one.

    >>> import pullback as pb
    >>> pb.image.stateless_random_flip_up_down(pb.zeros([2, 2, 3]), [1, 2]).shape
    TensorShape([2, 2, 3])
    """
    return _flipped("stateless_random_flip_up_down", image, flip_up_down, seed, True)


def _flipped(what: str, image: Any, flip: Any, seed: Any, stateless: bool) -> Tensor:
    x = convert_to_tensor(image)
    if x.shape.rank not in (3, 4):
        raise ValueError(f"{what}: images have three or four axes, which cannot be said of {x}")
    with x.graph.within(what):
        count = [1] if x.shape.rank == 3 else [x.shape.size(0) if x.shape.size(0) is not None else shape(x)[0]]
        drawn = stateless_uniform(count, seed) if stateless else random_uniform(count, seed=seed)
        turned = less(reshape(drawn, [1, 1, 1] if x.shape.rank == 3 else [-1, 1, 1, 1]), np.float32(0.5))
        return where(turned, flip(x), x)


@in_graph_of_inputs
def random_crop(value: TensorLike, size: ShapeLike, seed: int | None = None, name: str | None = None) -> Tensor:
    """A block of `size` of `value`, from a place drawn with even chances.

    Shapes: `size` one length for each axis, or a vector of them. Dtypes: any.

    Derivative: dx = zeros with dy in the place of the part.

    Raises:
        ValueError: the block is larger than `value`.

    >>> import pullback as pb
    >>> pb.image.random_crop(pb.zeros([8, 8, 3]), [4, 5, 3]).shape
    TensorShape([4, 5, 3])
    """
    return _crop("random_crop", value, size, seed, False, name)


@in_graph_of_inputs
def stateless_random_crop(value: TensorLike, size: ShapeLike, seed: TensorLike, name: str | None = None) -> Tensor:
    """`random_crop`, the same for the same `seed`, two integers.

    Shapes: `size` one length for each axis, or a vector of them; `seed` [2]. Dtypes: any.

    Derivative: dx = zeros with dy in the place of the part.

    Raises:
        ValueError: the block is larger than `value`.

    >>> import pullback as pb
    >>> pb.image.stateless_random_crop(pb.zeros([8, 8, 3]), [4, 5, 3], [1, 2]).shape
    TensorShape([4, 5, 3])
    """
    return _crop("stateless_random_crop", value, size, seed, True, name)


def _crop(what: str, value: Any, size: Any, seed: Any, stateless: bool, name: str | None) -> Tensor:
    x = convert_to_tensor(value)
    with x.graph.within(name or what) as scope:
        wanted = cast(convert_to_tensor(size), int32)
        places = cast(shape(x) - wanted + 1, float32)
        drawn = stateless_uniform(shape(wanted), seed) if stateless else random_uniform(shape(wanted), seed=seed)
        return slice_(x, cast(drawn * places, int32), size, name=scope)
