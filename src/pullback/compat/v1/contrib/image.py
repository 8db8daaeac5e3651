"""Projective transforms of images (`tf.contrib.image`): rotated, moved, or brought to other places by matrices.

A transform is the first eight numbers of a 3 x 3 matrix whose last one is 1. It takes the column, the row and 1 of a
pixel of the result to where the image is read; derivatives go to the images, to the transforms and to the angles.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import pullback as pb

from ....core.contexts import in_graph_of_inputs
from ....core.typing import ShapeLike, TensorLike


@in_graph_of_inputs
def transform(
    images: TensorLike,
    transforms: TensorLike,
    interpolation: str = "NEAREST",
    output_shape: ShapeLike | None = None,
    name: str | None = None,
) -> pb.Tensor:
    """Images [n, rows, columns, channels], or one without the first axis or the last too, read at other places.

    A transform (a0, a1, a2, b0, b1, b2, c0, c1) reads column `(a0 x + a1 y + a2) / k` and row `(b0 x + b1 y + b2) / k`
    for column x and row y of the result, where `k = c0 x + c1 y + 1`; there is one for all images, or one for each.
    Zeros stand for what is outside. The result has the dtype of the images, and their size unless `output_shape` says
    its rows and columns.

    Raises:
        TypeError: the rank of the images is not 2, 3 or 4, that of the transforms not 1 or 2. ValueError: another
            interpolation than "NEAREST" and "BILINEAR".

    >>> import pullback.compat.v1 as tf
    >>> to_the_left = [1.0, 0.0, 0.5, 0.0, 1.0, 0.0, 0.0, 0.0]
    >>> tf.Session().run(tf.contrib.image.transform([[1.0, 2.0, 4.0]], to_the_left, "BILINEAR"))
    array([[1.5, 3. , 2. ]], dtype=float32)
    """
    rows = _rows("transform", "transforms", transforms, 2)

    def moved(x: pb.Tensor) -> pb.Tensor:
        return pb.image.projective_transform(x, rows, output_shape, interpolation=interpolation)

    return _of_images("transform", images, moved, name)


@in_graph_of_inputs
def rotate(
    images: TensorLike, angles: TensorLike, interpolation: str = "NEAREST", name: str | None = None
) -> pb.Tensor:
    """Images turned about their middle by `angles`, in radians, against the clock: one for all, or one for each.

    Raises:
        TypeError, ValueError: as `transform`.

    >>> import pullback.compat.v1 as tf
    >>> tf.Session().run(tf.contrib.image.rotate([[1, 2, 3], [4, 5, 6], [7, 8, 9]], 3.141592653589793 / 2))
    array([[3, 6, 9],
           [2, 5, 8],
           [1, 4, 7]], dtype=int32)
    """

    def turned(x: pb.Tensor) -> pb.Tensor:
        height, width = pb.unstack(pb.shape(x)[1:3], 2)
        turns = angles_to_projective_transforms(angles, height, width)
        return pb.image.projective_transform(x, turns, interpolation=interpolation)

    return _of_images("rotate", images, turned, name)


@in_graph_of_inputs
def translate(
    images: TensorLike, translations: TensorLike, interpolation: str = "NEAREST", name: str | None = None
) -> pb.Tensor:
    """Images moved by `translations`, columns to the right and rows down: [dx, dy] for all, or one for each.

    Raises:
        TypeError, ValueError: as `transform`.

    >>> import pullback.compat.v1 as tf
    >>> tf.Session().run(tf.contrib.image.translate([[1, 2], [3, 4]], [1.0, 0.0]))
    array([[0, 1],
           [0, 3]], dtype=int32)
    """
    return transform(images, translations_to_projective_transforms(translations), interpolation, name=name)


@in_graph_of_inputs
def angles_to_projective_transforms(
    angles: TensorLike, image_height: TensorLike, image_width: TensorLike, name: str | None = None
) -> pb.Tensor:
    """The transforms [n, 8] that turn images of a size about their middle by `angles`, a scalar or a vector.

    Raises:
        TypeError: another rank.

    >>> import pullback.compat.v1 as tf
    >>> tf.Session().run(tf.contrib.image.angles_to_projective_transforms(0.0, 4.0, 6.0))
    array([[ 1., -0.,  0.,  0.,  1.,  0.,  0.,  0.]], dtype=float32)
    """
    turn = _rows("angles_to_projective_transforms", "angles", angles, 1)
    cos, sin = pb.cos(turn), pb.sin(turn)
    down, right = [pb.cast(n, turn.dtype) - 1.0 for n in (image_height, image_width)]
    x = (right - (cos * right - sin * down)) / 2.0
    y = (down - (sin * right + cos * down)) / 2.0
    none = pb.zeros_like(turn)
    return pb.stack([cos, -sin, x, sin, cos, y, none, none], 1, name=name or "angles_to_projective_transforms")


def translations_to_projective_transforms(translations: TensorLike, name: str | None = None) -> pb.Tensor:
    """The transforms [n, 8] that move images by `translations` [dx, dy], or by rows of such.

    Raises:
        TypeError: another rank.

    >>> import pullback.compat.v1 as tf
    >>> tf.Session().run(tf.contrib.image.translations_to_projective_transforms([2.0, 3.0]))
    array([[ 1.,  0., -2.,  0.,  1., -3.,  0.,  0.]], dtype=float32)
    """
    by = _rows("translations_to_projective_transforms", "translations", translations, 2)
    dx, dy = by[:, 0], by[:, 1]
    one, none = pb.ones_like(dx), pb.zeros_like(dx)
    return pb.stack(
        [one, none, -dx, none, one, -dy, none, none], 1, name=name or "translations_to_projective_transforms"
    )


def compose_transforms(*transforms: TensorLike) -> pb.Tensor:
    """The transforms [n, 8] that do to images what the given ones do in order.

    Raises:
        ValueError: there are none.

    >>> import pullback.compat.v1 as tf
    >>> image = tf.contrib.image
    >>> right, down = [image.translations_to_projective_transforms(d) for d in ([1.0, 0.0], [0.0, 2.0])]
    >>> tf.Session().run(image.compose_transforms(right, down))
    array([[ 1.,  0., -1.,  0.,  1., -2.,  0.,  0.]], dtype=float32)
    """
    if not transforms:
        raise ValueError("compose_transforms: give at least one transform")
    composed, *others = [flat_transforms_to_matrices(t) for t in transforms]
    for matrix in others:
        composed = pb.matmul(composed, matrix)
    return matrices_to_flat_transforms(composed)


def flat_transforms_to_matrices(transforms: TensorLike, name: str | None = None) -> pb.Tensor:
    """The matrices [n, 3, 3] of transforms [n, 8], or of one.

    >>> import pullback.compat.v1 as tf
    >>> tf.Session().run(tf.contrib.image.flat_transforms_to_matrices([1.0, 2, 3, 4, 5, 6, 7, 8]))
    array([[[1., 2., 3.],
            [4., 5., 6.],
            [7., 8., 1.]]], dtype=float32)
    """
    numbers = pb.reshape(pb.convert_to_tensor(transforms, dtype_hint=pb.float32), [-1, 8])
    return pb.reshape(pb.concat([numbers, pb.ones_like(numbers[:, :1])], 1), [-1, 3, 3], name=name)


def matrices_to_flat_transforms(transform_matrices: TensorLike, name: str | None = None) -> pb.Tensor:
    """The transforms [n, 8] of matrices [n, 3, 3], divided by their last elements.

    >>> import pullback.compat.v1 as tf
    >>> tf.Session().run(tf.contrib.image.matrices_to_flat_transforms([[[2.0, 4, 6], [8, 10, 12], [14, 16, 2]]]))
    array([[1., 2., 3., 4., 5., 6., 7., 8.]], dtype=float32)
    """
    numbers = pb.reshape(pb.convert_to_tensor(transform_matrices, dtype_hint=pb.float32), [-1, 9])
    return pb.math.divide(numbers[:, :8], numbers[:, 8:], name=name)


def _of_images(what: str, images: TensorLike, act: Callable[[pb.Tensor], pb.Tensor], name: str | None) -> pb.Tensor:
    """What `act` makes of images with four axes, in the rank and the dtype of those that are given."""
    x = pb.convert_to_tensor(images)
    rank = x.shape.rank
    if rank not in (2, 3, 4):
        raise TypeError(f"{what}: images must have two to four axes, not {x.type}")
    with x.graph.acting.within(name or what):
        y = pb.cast(act(x[None, :, :, None] if rank == 2 else x[None] if rank == 3 else x), x.dtype)
        return y[0, :, :, 0] if rank == 2 else y[0] if rank == 3 else y


def _rows(what: str, values: str, given: TensorLike, rank: int) -> pb.Tensor:
    """`given` with the axis for images where it has none."""
    x = pb.convert_to_tensor(given, dtype_hint=None if isinstance(given, np.ndarray) else pb.float32)
    if x.shape.rank not in (rank - 1, rank):
        raise TypeError(f"{what}: {values} must be of rank {rank - 1} or {rank}, not {x.type}")
    return x if x.shape.rank == rank else x[None]
