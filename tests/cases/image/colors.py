"""Rows: colours of images."""

from __future__ import annotations

import colorsys

import numpy as np

import pullback as pb

from ..case import Case, positive

# Of all orders of the three colours, no two equal, and some above 1 or below 0 after the adjustments.
PIXELS = np.array(
    [[[0.9, 0.5, 0.2], [0.9, 0.2, 0.55], [0.3, 0.8, 0.1]], [[0.1, 0.8, 0.33], [0.2, 0.4, 0.7], [0.47, 0.21, 0.95]]]
)
HUES = np.array([[0.07, 0.3, 0.9], [0.21, 0.8, 0.4], [0.45, 0.33, 0.6], [0.61, 0.95, 0.2], [0.9, 0.2, 0.77]])


def _each(x: np.ndarray, convert: object) -> np.ndarray:
    return np.array([convert(*pixel) for pixel in x.reshape(-1, 3)]).reshape(x.shape)  # type: ignore[operator]


CASES = [
    Case(
        "rgb_to_hsv", pb.image.rgb_to_hsv, [PIXELS], expected=lambda x: _each(x, colorsys.rgb_to_hsv), third_order=True
    ),
    Case("rgb_to_hsv_grey", pb.image.rgb_to_hsv, [np.full((2, 3), 0.5)], expected=np.array([[0, 0, 0.5]] * 2), wrt=[]),
    Case("hsv_to_rgb", pb.image.hsv_to_rgb, [HUES], expected=lambda x: _each(x, colorsys.hsv_to_rgb), third_order=True),
    Case("hsv_and_back", lambda x: pb.image.hsv_to_rgb(pb.image.rgb_to_hsv(x)), [PIXELS], expected=lambda x: x),
    Case("grayscale", pb.image.rgb_to_grayscale, [PIXELS], expected=lambda x: x @ [[0.2989], [0.587], [0.114]]),
    Case("grayscale_to_rgb", pb.image.grayscale_to_rgb, [PIXELS[..., :1]], expected=lambda x: np.repeat(x, 3, -1)),
    Case("yiq", lambda x: pb.image.yiq_to_rgb(2 * pb.image.rgb_to_yiq(x)), [PIXELS]),
    Case("yuv", lambda x: pb.image.yuv_to_rgb(2 * pb.image.rgb_to_yuv(x)), [PIXELS]),
    Case("brightness", pb.image.adjust_brightness, [PIXELS, np.array(0.3)], expected=lambda x, d: x + d),
    Case("contrast", pb.image.adjust_contrast, [PIXELS, np.array(1.7)]),
    Case(
        "gamma",
        pb.image.adjust_gamma,
        [PIXELS, np.array(1.7), np.array(0.9)],
        expected=lambda x, g, a: a * x**g,
        third_order=True,
    ),
    Case("hue", pb.image.adjust_hue, [PIXELS, np.array(0.31)], third_order=True, slow=True),
    Case("saturation", pb.image.adjust_saturation, [PIXELS, np.array(1.13)]),
    Case(
        "brightness_of_bytes",
        lambda x: pb.image.adjust_brightness(x, 0.5),
        [np.array([0, 100, 200], np.uint8)],
        expected=np.array([127, 227, 255]),
    ),
    Case(
        "convert_to_bytes",
        lambda x: pb.image.convert_image_dtype(x, pb.uint8, saturate=True),
        [np.array([-0.5, 0.0, 0.5, 1.0, 2.0])],
        expected=np.array([0, 0, 127, 255, 255]),
        wrt=[],
    ),
    Case(
        "convert_to_wider",
        lambda x: pb.image.convert_image_dtype(x, pb.int16),
        [np.array([0, 1, 255], np.uint8)],
        expected=np.array([0, 128, 32640]),
    ),
    Case(
        "convert_to_narrower",
        lambda x: pb.image.convert_image_dtype(x, pb.uint8),
        [np.array([0, 128, 32767], np.int16)],
        expected=np.array([0, 1, 255]),
    ),
    Case(
        "convert_float_to_float",
        lambda x: pb.cast(pb.image.convert_image_dtype(x, pb.float64), x.dtype),
        [positive(3)],
        lambda x: x,
    ),
]
