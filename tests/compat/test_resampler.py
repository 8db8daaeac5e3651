"""Resampling of images: values and derivatives beside SciPy's and differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.ndimage import map_coordinates

import pullback.compat.v1 as tf

resampler = tf.contrib.resampler.resampler
GENERATOR = np.random.default_rng(3)
IMAGES = GENERATOR.normal(size=(2, 4, 5, 3))
PLACES = GENERATOR.uniform(-1.5, 5.5, size=(2, 6, 7, 2))


def run(x: Any, feeds: Any = None, engine: str = "numpy") -> Any:
    return tf.Session(engine=engine).run(x, feeds)


@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_values_and_derivatives(engine: str) -> None:
    images, places = tf.placeholder(tf.float64, [2, 4, 5, 3]), tf.placeholder(tf.float64, [2, None, 7, 2])
    y = resampler(images, places)
    assert y.shape.as_list() == [2, None, 7, 3]
    weights = GENERATOR.normal(size=(2, 6, 7, 3))
    loss = tf.reduce_sum(y * weights)
    feeds = {images: IMAGES, places: PLACES}
    found, total, by_image, by_place = run([y, loss, *tf.gradients(loss, [images, places])], feeds, engine)
    for i in range(2):
        for c in range(3):
            at = [PLACES[i, ..., 1], PLACES[i, ..., 0]]
            expected = map_coordinates(IMAGES[i, ..., c], at, order=1, mode="grid-constant")
            np.testing.assert_allclose(found[i, ..., c], expected, atol=1e-12)
    for by, key, array in ((by_image, images, IMAGES), (by_place, places, PLACES)):
        direction = GENERATOR.normal(size=array.shape)
        other = run(loss, feeds | {key: array + 1e-7 * direction}, engine)
        assert (by * direction).sum() == pytest.approx((other - total) / 1e-7, rel=1e-4)


def test_what_lies_outside_is_zero_and_shapes_may_be_unknown() -> None:
    images, places = tf.placeholder(tf.float32), tf.placeholder(tf.float32)
    y = resampler(images, places)
    image = np.ones([1, 2, 2, 1], "f")
    found = run(y, {images: image, places: [[-0.5, 0.0], [-1.0, 0.0], [5.0, 0.0], [1.0, 1.0], [1.5, 1.5]]})
    assert found.tolist() == [[0.5], [0.0], [0.0], [1.0], [0.25]]
    with pytest.raises(ValueError, match=r"^resampler: takes images \[batch, height, width, channels\] and places"):
        resampler(tf.ones([2, 3]), tf.ones([2, 2]))


def test_draws_of_two_seeds() -> None:
    draws = tf.contrib.stateless.stateless_multinomial([[0.0, 9.0]], 3, seed=[1, 2], output_dtype=tf.int32)
    assert (draws.dtype, run(draws).tolist()) == (tf.int32, [[1, 1, 1]])
    assert tf.contrib.keras.layers.Dense is tf.keras.layers.Dense
