"""Images in float64 come out of TensorFlow 1's functions as they do there: mostly as float32."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pullback as pb
import pullback.compat.v1 as tf

IMAGES = np.random.default_rng(0).random((1, 12, 12, 3))
IN_FLOAT32: dict[str, Callable[[], Any]] = {
    "resize_images": lambda: tf.image.resize_images(IMAGES, [5, 4]),
    "resize": lambda: tf.image.resize(IMAGES, [5, 4]),
    "resize_bilinear": lambda: tf.image.resize_bilinear(IMAGES, [5, 4]),
    "resize_bicubic": lambda: tf.image.resize_bicubic(IMAGES, [5, 4]),
    "resize_area": lambda: tf.image.resize_area(IMAGES, [5, 4]),
    "resize_image_with_pad": lambda: tf.image.resize_image_with_pad(IMAGES, 5, 4),
    "crop_and_resize": lambda: tf.image.crop_and_resize(IMAGES, [[0.0, 0.0, 1.0, 1.0]], [0], [2, 2]),
    "per_image_standardization": lambda: tf.image.per_image_standardization(IMAGES),
    "psnr": lambda: tf.image.psnr(IMAGES, IMAGES / 2, 1.0),
    "ssim": lambda: tf.image.ssim(IMAGES, IMAGES / 2, 1.0),
}
IN_FLOAT64: dict[str, Callable[[], Any]] = {
    "nearest": lambda: tf.image.resize_nearest_neighbor(IMAGES, [5, 4]),
    "adjust_contrast": lambda: tf.image.adjust_contrast(IMAGES, 0.5),
    "rgb_to_grayscale": lambda: tf.image.rgb_to_grayscale(IMAGES),
    "total_variation": lambda: tf.image.total_variation(IMAGES),
    "sobel_edges": lambda: tf.image.sobel_edges(IMAGES),
    "resize of today": lambda: pb.image.resize(IMAGES, [5, 4]),
}


@pytest.mark.parametrize("name", IN_FLOAT32)
def test_they_are_rounded(name: str) -> None:
    y = IN_FLOAT32[name]()
    assert y.dtype == pb.float32
    assert tf.Session().run(y).dtype == np.float32


@pytest.mark.parametrize("name", IN_FLOAT64)
def test_they_stay(name: str) -> None:
    assert IN_FLOAT64[name]().dtype == pb.float64
