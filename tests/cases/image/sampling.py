"""Rows: images read between their pixels."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

import pullback as pb

from ..case import Case, normal

IMAGES = normal(3, 5, 6, 2)
BOXES = np.array(
    [[0.03, 0.02, 0.96, 0.99], [0.11, 0.23, 0.83, 0.72], [-0.23, 0.31, 1.17, 0.64], [0.83, 0.9, 0.24, 0.13]]
)
NUMBERS = np.array([0, 2, 1, 1], np.int32)
TRANSFORMS = np.array(
    [[1.18, -0.19, 0.48, -0.05, 0.91, -0.44, 0.02, -0.04], [0.97, -0.02, -2.6, 0.12, 0.92, 3.41, 0.02, 0.02]]
)


def _crop(name: str, size: Any, method: str = "bilinear", fill: float = 0.0, **more: Any) -> Case:
    return Case(
        f"crop_{name}",
        lambda x, boxes, numbers: pb.image.crop_and_resize(x, boxes, numbers, size, method, fill),
        [IMAGES, BOXES, NUMBERS],
        **more,
    )


def _transform(name: str, *how: Any, mode: str = "CONSTANT", **more: Any) -> Case:
    return Case(
        f"projective_{name}",
        lambda x, t: pb.image.projective_transform(x, t, *how, fill_mode=mode),
        [IMAGES[:2], TRANSFORMS],
        other_at_hard_points={"onnx": "places beyond the image are read as one that is not there"},
        **more,
    )


CASES = [
    _crop("boxes", [3, 4], third_order=True),
    _crop("filled", [4, 3], fill=7.0),
    _crop("middle", [1, 2]),
    _crop("nearest", [3, 4], "nearest", wrt=[0]),
    Case(
        "crop_whole",
        lambda x: pb.image.crop_and_resize(x, [[0.0, 0.0, 1.0, 1.0], [1.0, 1.0, 1.0, 1.0]], [0, 1], [5, 6]),
        [IMAGES],
        expected=lambda x: np.stack([x[0], np.broadcast_to(x[1, -1, -1], (5, 6, 2))]),
    ),
    Case(
        "crop_size_of_a_tensor",
        lambda x, boxes, size: pb.image.crop_and_resize(x, boxes, [0, 2, 1, 1], size),
        [IMAGES, BOXES, np.array([2, 3], np.int32)],
    ),
    Case(
        "crop_no_boxes",
        lambda x, boxes: pb.image.crop_and_resize(x, boxes, pb.zeros([0], pb.int32), [2, 2]),
        [IMAGES, np.zeros((0, 4))],
    ),
    _transform("bilinear", [2, 3], 2.0),
    _transform("nearest", [4, 3], 0.0, "NEAREST", wrt=[0]),
    _transform("reflect", [2, 3], mode="REFLECT"),
    _transform("wrap", [2, 3], mode="WRAP"),
    _transform("edge", [2, 3], mode="NEAREST"),
    Case(
        "projective_one_for_all",
        lambda x: pb.image.projective_transform(x, [[1.0, 0, 1, 0, 1, 0, 0, 0]]),
        [IMAGES],
        expected=lambda x: np.concatenate([x[:, :, 1:], np.zeros((3, 5, 1, 2))], 2),
    ),
]

_UNKNOWN_SIZE = "the size of a crop must be known"
_NAMES_UNKNOWN_SIZE = {"crop_size_of_a_tensor"}
CASES = [replace(case, not_onnx=_UNKNOWN_SIZE) if case.name in _NAMES_UNKNOWN_SIZE else case for case in CASES]
