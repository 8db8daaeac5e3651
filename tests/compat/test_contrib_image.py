"""`tf.contrib.image`: images turned, moved and brought to other places."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import ndimage

import pullback as pb
import pullback.compat.v1 as tf

image = tf.contrib.image
X = np.random.default_rng(0).normal(size=(2, 5, 6, 3))


def value(*fetches: Any) -> Any:
    return pb.Session(engine="numpy").run(list(fetches))


@pytest.mark.parametrize("pick", [np.s_[:], np.s_[0], np.s_[0, :, :, 0]], ids=["batch", "image", "plane"])
def test_quarter_turns_are_against_the_clock(pick: Any) -> None:
    x = np.asarray(X[:, :, :5][pick], np.float32)
    axes = (1, 2) if x.ndim == 4 else (0, 1)
    (found,) = value(image.rotate(x, np.pi / 2))
    np.testing.assert_array_equal(found, np.rot90(x, axes=axes))


def test_each_image_has_its_angle() -> None:
    found = value(image.rotate(X, [0.0, np.pi], "BILINEAR"))[0]
    np.testing.assert_allclose(found, [X[0], X[1, ::-1, ::-1]], atol=1e-5)


def test_between_pixels_it_is_linear_with_zeros_outside() -> None:
    matrix, offset = np.array([[0.9, -0.2], [0.1, 0.8]]), np.array([0.7, -0.25])
    flat = [matrix[1, 1], matrix[1, 0], offset[1], matrix[0, 1], matrix[0, 0], offset[0], 0.0, 0.0]
    padded = np.pad(X[0, :, :, 0], 3)
    wanted = ndimage.affine_transform(padded, matrix, offset + 3 - matrix @ [3, 3], order=1)[3:-3, 3:-3]
    found = value(image.transform(X[0, :, :, 0], np.array(flat), "BILINEAR"))[0]
    np.testing.assert_allclose(found, wanted, atol=1e-12)


@pytest.mark.parametrize("by", [0.5, -0.5])
def test_half_a_pixel_is_rounded_away_from_zero(by: float) -> None:
    found = value(image.translate(np.array([[1.0, 2.0, 3.0]]), [by, 0.0]))[0]
    np.testing.assert_array_equal(found, [[0.0, 2.0, 3.0]] if by > 0 else [[2.0, 3.0, 0.0]])


def test_composed_transforms_do_what_each_does_in_order() -> None:
    turn, move = image.angles_to_projective_transforms(np.pi / 2, 5.0, 5.0), [1.0, 0, -1, 0, 1, 1, 0, 0]
    together = image.transform(X, image.compose_transforms(turn, move), output_shape=[4, 7])
    one_by_one = image.transform(image.transform(X, turn, output_shape=[9, 9]), move, output_shape=[4, 7])
    np.testing.assert_array_equal(*value(together, one_by_one))


@pytest.mark.parametrize("interpolation", ["NEAREST", "BILINEAR"])
def test_the_derivative_by_the_images_is_the_transpose(interpolation: str) -> None:
    x, dy = tf.constant(X), tf.constant(np.random.default_rng(1).normal(size=X.shape))
    y = image.rotate(x, [0.3, -1.0], interpolation)
    (dx,) = tf.gradients(y, x, dy)
    assert np.subtract(*value(tf.reduce_sum(y * dy), tf.reduce_sum(x * dx))) == pytest.approx(0.0, abs=1e-10)


def test_angles_are_learned() -> None:
    angle, step = tf.placeholder(tf.float64, []), 1e-6
    cost = tf.reduce_sum(image.rotate(X, angle, "BILINEAR") ** 2)
    session = pb.Session(engine="numpy")
    slope = session.run(tf.gradients(cost, angle)[0], {angle: 0.4})
    there, back = [session.run(cost, {angle: 0.4 + s}) for s in (step, -step)]
    assert slope == pytest.approx((there - back) / (2 * step), rel=1e-5)


def test_whole_numbers_stay_such() -> None:
    x = (X * 50 + 100).astype(np.uint8)
    assert value(image.translate(x, [[1.0, 0.0], [0.0, -1.0]], "BILINEAR"))[0].dtype == np.uint8


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: image.rotate(tf.zeros([5]), 0.0), "rotate: images must have two to four axes, not float32[5]"),
        (
            lambda: image.transform(X, tf.zeros([1, 1, 8])),
            "transform: transforms must be of rank 1 or 2, not float32[1,1,8]",
        ),
    ],
    ids=["images", "transforms"],
)
def test_other_ranks_are_refused(make: Callable[[], Any], said: str) -> None:
    with pytest.raises(TypeError) as error:
        make()
    assert str(error.value) == said
