"""Rows: images in another size."""

from __future__ import annotations

from typing import Any

import numpy as np

import pullback as pb

from ..case import Case, cubed, normal

METHODS = ["bilinear", "nearest", "bicubic", "area", "lanczos3", "lanczos5", "gaussian", "mitchellcubic"]
IMAGES = normal(2, 4, 5, 2)


def _resize(name: str, size: Any, *how: Any, **more: Any) -> Case:
    return Case(f"resize_{name}", lambda x: pb.image.resize(x, size, *how, **more), [IMAGES])


def _of_old(kind: str, size: Any, **more: Any) -> Case:
    resize = getattr(pb.image, f"resize_{kind}")
    words = "_".join([kind, *more])
    return Case(words, lambda x: resize(x, size, **more), [IMAGES])


CASES = [
    *[_resize(f"{method}_up_and_down", [7, 3], method) for method in METHODS],
    *[_resize(f"{method}_antialias", [2, 9], method, antialias=True) for method in ("bilinear", "bicubic", "lanczos3")],
    _resize("doubled_nearest", [8, 10], "nearest"),
    _resize("halved_nearest", [2, 1], "nearest"),
    Case("nearest_of_complex", lambda x: pb.image.resize(x, [7, 3], "nearest"), [IMAGES + 1j * IMAGES[::-1]]),
    *[_of_old(kind, [7, 3]) for kind in ("bilinear", "bicubic", "nearest_neighbor", "area")],
    *[_of_old(kind, [3, 8], align_corners=True) for kind in ("bilinear", "bicubic", "nearest_neighbor", "area")],
    *[_of_old(kind, [3, 8], half_pixel_centers=True) for kind in ("bicubic", "nearest_neighbor")],
    Case(
        "resize_bilinear_doubled",
        lambda x: pb.image.resize(x, [4, 2]),
        [np.array([[[0.0], [4.0]], [[8.0], [0.0]]])],
        expected=np.array([[0.0, 4.0], [2.0, 3.0], [6.0, 1.0], [8.0, 0.0]])[..., None],
    ),
    Case(
        "resize_area_is_the_mean",
        lambda x: pb.image.resize(x, [2, 2], "area"),
        [normal(1, 4, 6, 3)],
        expected=lambda x: x.reshape(1, 2, 2, 2, 3, 3).mean((2, 4)),
    ),
    Case(
        "resize_size_of_a_tensor",
        lambda x, like: pb.image.resize(x, pb.shape(like)[1:3], "bicubic"),
        [IMAGES, np.zeros((1, 3, 7, 1))],
        wrt=[0],
    ),
    Case("resize_keeps_the_ratio", lambda x: pb.image.resize(x, [9, 9], preserve_aspect_ratio=True), [normal(2, 3, 1)]),
    Case("resize_no_images", lambda x: pb.image.resize(x, [3, 3]), [np.zeros((0, 4, 5, 2))]),
    Case("resize_many_channels", lambda x: pb.image.resize(x, [6, 6]), [normal(1, 3, 4, 7)]),
    Case(
        "resize_integers",
        lambda x: pb.image.resize(x, [1, 4]),
        [np.array([[[0], [4]]], np.uint8)],
        expected=np.array([[[0.0], [1.0], [3.0], [4.0]]]),
    ),
    Case(
        "scale_and_translate",
        lambda x: pb.image.scale_and_translate(x, [3, 6], [0.75, 1.3], [0.3, -0.7]),
        [IMAGES],
    ),
    Case(
        "scale_and_translate_moving",
        lambda x, s: pb.image.scale_and_translate(x, [3, 4], s, [0.0, 0.5], "triangle", antialias=False),
        [IMAGES, np.array([0.8, 1.2])],
        wrt=[0],
    ),
    Case(
        "cube_of_resize", cubed(lambda x: pb.image.resize(x, [3, 2], "bicubic")), [normal(1, 2, 3, 1)], third_order=True
    ),
]
