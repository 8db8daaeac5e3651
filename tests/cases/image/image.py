"""Rows: images turned, cut, framed and measured."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

import pullback as pb
from pullback.primitives.image.boxes_by_class import NonMaxSuppressionByClass

from ..case import DRAWN_THERE, Case, distinct, normal, positive

RANK_IS_NEEDED = "the rank says which axes are rows and columns"
IMAGES = normal(2, 5, 4, 3)

BOXES = np.array([[0, 0, 1, 1], [0, 0.1, 1, 1.1], [0, -0.1, 1, 0.2], [0, 10, 1, 11.0], [1, 12, 0, 10], [0, 5, 1, 6.0]])
SCORES = np.array([0.9, 0.75, 0.6, 0.95, 0.5, 0.05])


def _framed(name: str, build: Any, expected: Any = None, **more: Any) -> Case:
    return Case(name, build, [IMAGES], expected=expected, not_erased_rank=RANK_IS_NEEDED, **more)


def _turned(k: int) -> Case:
    return Case(f"rot90_{k}", lambda x: pb.image.rot90(x, k), [IMAGES], lambda x: np.rot90(x, k, (1, 2)))


_BOXES = np.array([[[0.0, 0.0, 1.0, 1.0], [0.0, 0.1, 1.0, 1.1], [0.0, 2.0, 1.0, 3.0]]])

_SCORES = np.array([[[0.9, 0.75, 0.6], [0.1, 0.7, 0.8]]])


def _kept(boxes: Any, scores: Any) -> Any:
    limits = [pb.constant(2, pb.int64), pb.constant(0.5, pb.float32), pb.constant(0.2, pb.float32)]
    return NonMaxSuppressionByClass()(boxes, scores, *limits)


def _patches(name: str, shape: tuple[int, ...], size: int, stride: int, rate: int, padding: str) -> Case:
    def build(x: pb.Tensor) -> pb.Tensor:
        numbers = ([1, n, n, 1] for n in (size, stride, rate))
        return pb.image.extract_patches(x, *numbers, padding)

    return Case(f"patches_{name}", build, [normal(*shape)])


CASES = [
    Case("flip_left_right", pb.image.flip_left_right, [IMAGES], expected=lambda x: x[:, :, ::-1]),
    Case("flip_up_down", pb.image.flip_up_down, [IMAGES[0]], expected=lambda x: x[::-1]),
    Case("transpose", pb.image.transpose, [IMAGES], lambda x: x.swapaxes(1, 2)),
    Case(
        "rot90_computed",
        lambda x, k: pb.image.rot90(x, k),
        [IMAGES[:, :4], np.array(3)],
        lambda x, k: np.rot90(x, k, (1, 2)),
        not_onnx="the order of the axes is an attribute there",
    ),
    *map(_turned, range(4)),
    _framed("central_crop", lambda x: pb.image.central_crop(x, 0.5), lambda x: x[:, 1:4, 1:3]),
    _framed("crop_to_box", lambda x: pb.image.crop_to_bounding_box(x, 1, 2, 3, 1), lambda x: x[:, 1:4, 2:3]),
    _framed(
        "pad_to_box",
        lambda x: pb.image.pad_to_bounding_box(x, 1, 0, 6, 7),
        lambda x: np.pad(x, ((0, 0), (1, 0), (0, 3), (0, 0))),
    ),
    _framed(
        "crop_or_pad",
        lambda x: pb.image.resize_with_crop_or_pad(x, 3, 7),
        lambda x: np.pad(x[:, 1:4], ((0, 0), (0, 0), (1, 2), (0, 0))),
    ),
    _framed("crop_or_pad_same", lambda x: pb.image.resize_with_crop_or_pad(x, 5, 4), lambda x: x),
    _framed("resize_with_pad", lambda x: pb.image.resize_with_pad(x, 6, 9)),
    _framed("standardization", pb.image.per_image_standardization),
    Case(
        "standardization_of_one_color",
        pb.image.per_image_standardization,
        [np.full((2, 2, 1), 3.0)],
        expected=np.zeros((2, 2, 1)),
        wrt=[],
    ),
    Case(
        "image_gradients",
        pb.image.image_gradients,
        [IMAGES],
        expected=lambda x: [
            np.pad(np.diff(x, axis=1), ((0, 0), (0, 1), (0, 0), (0, 0))),
            np.pad(np.diff(x, axis=2), ((0, 0), (0, 0), (0, 1), (0, 0))),
        ],
    ),
    _framed("sobel_edges", pb.image.sobel_edges),
    Case(
        "total_variation",
        pb.image.total_variation,
        [distinct(2, 3, 4, 2)],
        expected=lambda x: abs(np.diff(x, axis=1)).sum((1, 2, 3)) + abs(np.diff(x, axis=2)).sum((1, 2, 3)),
        not_erased_rank=RANK_IS_NEEDED,
    ),
    Case(
        "psnr",
        lambda a, b: pb.image.psnr(a, b, 2.0),
        [positive(2, 3, 4, 2), positive(2, 3, 4, 2, seed=1)],
        expected=lambda a, b: 20 * np.log10(2.0) - 10 * np.log10(((a - b) ** 2).mean((1, 2, 3))),
    ),
    Case(
        "ssim",
        lambda a, b: pb.image.ssim(a, b, 1.0, filter_size=3),
        [positive(2, 5, 4, 2), positive(2, 5, 4, 2, seed=1)],
        not_erased_rank=RANK_IS_NEEDED,
        float32_tolerance=1e-4,
        third_order=True,
        slow=True,
    ),
    Case(
        "ssim_map_of_stacks",
        lambda a, b: pb.image.ssim(a, b, 1.0, filter_size=3, return_index_map=True),
        [positive(2, 1, 4, 4, 1), positive(2, 1, 4, 4, 1, seed=1)],
        not_erased_rank=RANK_IS_NEEDED,
        float32_tolerance=1e-4,
    ),
    Case(
        "ssim_multiscale",
        lambda a, b: pb.image.ssim_multiscale(a, b, 1.0, [0.4, 0.6], filter_size=3),
        [positive(1, 7, 8, 1) / 2, positive(1, 7, 8, 1) / 2 + 0.1 * positive(1, 7, 8, 1, seed=1)],
        other_at_hard_points=dict.fromkeys(["onnx", "onnxruntime"], "it is convolved in float32"),
        not_erased="the sides must be known",
        float32_tolerance=1e-4,
    ),
    Case(
        "non_max_suppression",
        lambda boxes, scores: pb.image.non_max_suppression(boxes, scores, 3, 0.4, 0.1),
        [BOXES, SCORES],
        expected=np.array([3, 0, 2]),
        wrt=[],
    ),
    Case(
        "non_max_suppression_soft",
        lambda boxes, scores: pb.image.non_max_suppression_with_scores(boxes, scores, 3, soft_nms_sigma=0.5)[0],
        [BOXES, SCORES],
        expected=np.array([3, 0, 2]),
        wrt=[],
    ),
    Case(
        "non_max_suppression_overlaps",
        lambda overlaps, scores: pb.image.non_max_suppression_overlaps(overlaps, scores, 2),
        [np.array([[1.0, 0.8, 0.1], [0.8, 1.0, 0.0], [0.1, 0.0, 1.0]]), np.array([0.5, 0.5, 0.2])],
        expected=np.array([0, 2]),
        wrt=[],
    ),
    Case("random_brightness", lambda x: pb.image.stateless_random_brightness(x, 0.5, [1, 2]), [IMAGES]),
    Case("random_contrast", lambda x: pb.image.stateless_random_contrast(x, 0.5, 1.5, [1, 2]), [IMAGES]),
    Case("random_hue", lambda x: pb.image.stateless_random_hue(x, 0.1, [1, 2]), [positive(2, 3)]),
    Case("random_saturation", lambda x: pb.image.stateless_random_saturation(x, 0.4, 0.6, [1, 2]), [positive(2, 3)]),
    _framed("random_flip_left_right", lambda x: pb.image.stateless_random_flip_left_right(x, [1, 2])),
    _framed("random_flip_up_down", lambda x: pb.image.stateless_random_flip_up_down(x, [1, 3])),
    Case("random_crop", lambda x: pb.image.stateless_random_crop(x, [1, 3, 2, 3], [1, 2]), [IMAGES]),
    Case("random_brightness_drawn", lambda x: pb.image.random_brightness(x, 0.5, 1), [IMAGES]),
    Case("random_contrast_drawn", lambda x: pb.image.random_contrast(x, 0.5, 1.5, 1), [IMAGES]),
    Case("random_hue_drawn", lambda x: pb.image.random_hue(x, 0.1, 1), [positive(2, 3)]),
    Case("random_saturation_drawn", lambda x: pb.image.random_saturation(x, 0.4, 0.6, 1), [positive(2, 3)]),
    _framed("random_flip_left_right_drawn", lambda x: pb.image.random_flip_left_right(x, 1)),
    _framed("random_flip_up_down_drawn", lambda x: pb.image.random_flip_up_down(x, 1)),
    Case("random_crop_drawn", lambda x: pb.image.random_crop(x, [1, 3, 2, 3], 1), [IMAGES]),
    Case(
        "non_max_suppression_by_class",
        _kept,
        [_BOXES, _SCORES],
        expected=np.array([[0, 0, 0], [0, 0, 2], [0, 1, 2], [0, 1, 1]]),
        not_differentiable="the result is numbers of boxes",
        not_compiled="the number of results depends on values",
    ),
    _patches("valid", (2, 5, 6, 2), 2, 2, 1, "VALID"),
    _patches("same_holes", (1, 5, 6, 2), 3, 1, 2, "SAME"),
    _patches("no_images", (0, 4, 4, 1), 2, 1, 1, "SAME"),
    Case(
        "volume_patches",
        lambda x: pb.extract_volume_patches(x, [1, 2, 1, 2, 1], [1, 1, 2, 2, 1], "SAME"),
        [normal(1, 3, 4, 3, 2)],
    ),
    Case(
        "volume_patches_of_tiles",
        lambda x: pb.extract_volume_patches(x, [1, 1, 2, 2, 1], [1, 1, 2, 2, 1], "VALID"),
        [normal(1, 2, 4, 6, 3)],
        expected=lambda x: x.reshape(1, 2, 2, 2, 3, 2, 3).transpose(0, 1, 2, 4, 3, 5, 6).reshape(1, 2, 2, 3, 12),
    ),
]

_NAMES_DRAWN = {
    "random_brightness_drawn",
    "random_contrast_drawn",
    "random_crop_drawn",
    "random_flip_left_right_drawn",
    "random_flip_up_down_drawn",
    "random_hue_drawn",
    "random_saturation_drawn",
}
CASES = [replace(case, not_onnx=DRAWN_THERE) if case.name in _NAMES_DRAWN else case for case in CASES]

_NO_SUPPRESSION = "onnxruntime suppresses boxes by their overlap only"
_NAMES_NO_SUPPRESSION = {"non_max_suppression_soft", "non_max_suppression_overlaps"}
CASES = [replace(case, not_onnx=_NO_SUPPRESSION) if case.name in _NAMES_NO_SUPPRESSION else case for case in CASES]
