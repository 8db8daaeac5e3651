"""Images: what is refused, third derivatives, dtypes, and numbers that are known from elsewhere."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pullback as pb


def _run(fetch: Any, engine: str = "numpy") -> Any:
    return pb.Session(engine=engine).run(fetch)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (
            lambda x: pb.image.resize(x, [2, 2], "cubic"),
            "resize: method must be one of ResizeMethod, not 'cubic'",
        ),
        (
            lambda x: pb.image.resize(x, [2, 2, 2]),
            "resize: size must be two integers, rows and columns, not [2, 2, 2]",
        ),
        (
            lambda x: pb.image.resize_bilinear(x, [2, 2], align_corners=True, half_pixel_centers=True),
            "resize_bilinear: align_corners and half_pixel_centers contradict each other",
        ),
        (
            lambda x: pb.image.resize(x[0, 0], [2, 2]),
            "resize: images have three axes or more, but float32[4,3] has 2",
        ),
        (
            lambda x: pb.image.crop_and_resize(x, [[0.0, 0.0, 1.0, 1.0]], [0], [2, 2], "bicubic"),
            "crop_and_resize: method must be 'bilinear' or 'nearest', not 'bicubic'",
        ),
        (
            lambda x: pb.image.projective_transform(x, [[1.0] * 8], fill_mode="MIRROR"),
            "projective_transform: fill_mode must be CONSTANT, REFLECT, WRAP or NEAREST, not 'MIRROR'",
        ),
        (
            lambda x: pb.image.central_crop(x, 0),
            "central_crop: central_fraction must be in (0, 1], not 0",
        ),
        (
            lambda x: pb.image.pad_to_bounding_box(x, 1, 1, 3, 9),
            "pad_to_bounding_box: float32[2,5,4,3] 'x:0' at row 1, column 1 is not inside 3 by 9",
        ),
        (
            lambda x: pb.image.extract_patches(x, [1, 9, 9, 1], [1, 1, 1, 1], [1, 1, 1, 1], "VALID"),
            "extract_patches: a window of [9, 9] does not fit into float32[2,5,4,3]",
        ),
        (
            lambda x: pb.image.ssim(x, x, 1.0),
            "ssim: the sides of float32[2,5,4,3] 'x:0' must not be shorter than filter_size=11",
        ),
    ],
)
def test_what_does_not_fit_is_refused(call: Callable[[Any], Any], text: str) -> None:
    x = pb.placeholder(pb.float32, [2, 5, 4, 3], name="x")
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        call(x)


@pytest.mark.parametrize(("method", "dtype"), [("nearest", "uint8"), ("bilinear", "float32"), ("area", "float32")])
def test_only_nearest_keeps_the_dtype_of_integers(method: str, dtype: str) -> None:
    x = pb.zeros([2, 3, 1], pb.uint8)
    assert pb.image.resize(x, [4, 4], method).dtype == dtype


def test_bicubic_weights_are_those_of_keys() -> None:
    x = np.zeros((1, 8, 1, 1))
    x[0, 3] = 1
    y = _run(pb.image.resize(x, [16, 1], "bicubic"))[0, :, 0, 0]
    quarter = [-0.0234375, -0.0703125, 0.2265625, 0.8671875]
    np.testing.assert_allclose(y, [0, 0, 0, *quarter, *quarter[::-1], 0, 0, 0, 0, 0], atol=1e-12)


@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_a_box_has_third_derivatives(engine: str) -> None:
    """A crop is bilinear in the row and the column of its one pixel, so that the loss y**2 is not constant in them."""
    image = pb.constant(np.random.default_rng(0).normal(size=(1, 4, 5, 1)))
    at = pb.constant([0.37, 0.61], pb.float64)
    box = pb.reshape(pb.concat([at, at], 0), [1, 4])
    y = pb.reduce_sum(pb.square(pb.image.crop_and_resize(image, box, [0], [1, 1])))
    first = pb.gradients(y, at)[0]
    second = pb.gradients(first[0], at)[0]
    third = pb.gradients(second[1], at)[0]

    def second_at(v: float) -> float:
        return float(pb.Session(engine=engine).run(second, {at: [v, 0.61]})[1])

    h = 1e-3
    assert pb.Session(engine=engine).run(third)[0] == pytest.approx((second_at(0.37 + h) - second_at(0.37 - h)) / 2 / h)


def test_resizing_and_its_derivative_are_one_operation_each() -> None:
    x = pb.placeholder(pb.float32, [2, 4, 4, 3])
    y = pb.image.resize(x, [8, 8])
    before = len(pb.get_default_graph().operations)
    pb.gradients(y, x, grad_ys=y)
    made = [op.type for op in pb.get_default_graph().operations[before:] if op.type not in ("Const", "Identity")]
    assert made == ["ResizeGrad"]


@pytest.mark.parametrize("shape", [None, [None, None, 3], [None, None, None, 3]])
def test_a_frame_says_how_large_its_images_are(shape: Any) -> None:
    x = pb.placeholder(pb.float32, shape)
    lead, channels = ([None] if shape and len(shape) == 4 else []), (3 if shape else None)
    framed = {
        (4, 7): pb.image.resize_with_crop_or_pad(x, 4, 7),
        (6, 9): pb.image.pad_to_bounding_box(x, 0, 1, 6, 9),
        (2, 3): pb.image.crop_to_bounding_box(x, 1, 0, 2, 3),
        (8, 4): pb.image.resize_with_pad(x, 8, 4),
    }
    image = np.random.default_rng(0).random([*[1] * len(lead), 5, 6, 3], np.float32)
    for size, y in framed.items():
        assert y.shape.as_list() == [*lead, *size, channels]
        assert pb.Session(engine="numpy").run(y, {x: image}).shape == (*[1] * len(lead), *size, 3)


def test_old_resizing_keeps_a_ratio_and_what_has_the_size() -> None:
    x = pb.placeholder(pb.uint8, [2, 4, 8, 3])
    assert pb.image.resize_images(x, [4, 4], preserve_aspect_ratio=True).shape == [2, 2, 4, 3]
    assert pb.image.resize_images(x, [9, 8], preserve_aspect_ratio=True) is x
    assert [pb.image.resize_images(x, size, "bilinear").dtype for size in ([4, 8], [4, 9])] == [pb.uint8, pb.float32]


def test_one_colour_is_an_image_too() -> None:
    one = [0.2, 0.5, 0.7]
    functions = (pb.image.rgb_to_grayscale, pb.image.rgb_to_yiq, pb.image.yuv_to_rgb, pb.image.rgb_to_hsv)
    found = pb.Session(engine="numpy").run([(f(one), f([one])[0]) for f in functions])
    for alone, in_a_row in found:
        np.testing.assert_allclose(alone, in_a_row, rtol=1e-6)


@pytest.mark.parametrize(
    ("what", "function"),
    [
        ("resize_bilinear", lambda x: pb.image.resize_bilinear(x, [3, 3])),
        ("resize_area", lambda x: pb.image.resize_area(x, [3, 3])),
        ("resize", lambda x: pb.image.resize(x, [3, 3], "lanczos3")),
        ("crop_and_resize", lambda x: pb.image.crop_and_resize(x, [[0.0, 0.0, 1.0, 1.0]], [0], [2, 2])),
        ("scale_and_translate", lambda x: pb.image.scale_and_translate(x[0], [3, 3], [1.0, 1.0], [0.0, 0.0])),
        ("projective_transform", lambda x: pb.image.projective_transform(x, [[1.0, 0, 0, 0, 1, 0, 0, 0]])),
    ],
)
def test_complex_images_are_refused_where_they_would_lose_their_imaginary_part(what: str, function: Any) -> None:
    x = pb.zeros([1, 2, 2, 1], pb.complex64)
    text = (
        rf"^{what}: takes real numbers, not complex64\[.*\] '.*'; give it pb\.real\(x\) and pb\.imag\(x\) one by one$"
    )
    with pytest.raises(TypeError, match=text):
        function(x)


@pytest.mark.parametrize("function", [pb.image.transpose, pb.image.rot90])
def test_an_image_of_unknown_rank_is_one_or_several(function: Any) -> None:
    x = pb.placeholder(pb.float32)
    y, session = function(x), pb.Session(engine="numpy")
    image = np.arange(6, dtype="f").reshape(2, 3, 1)
    turned = session.run(y, {x: image})
    assert turned.shape == (3, 2, 1)
    assert (session.run(y, {x: image[None]}) == turned[None]).all()
    with pytest.raises(pb.errors.InvalidArgumentError, match=r"must have a rank of \[3, 4\]"):
        session.run(y, {x: np.zeros((1, 1, 2, 3, 1), "f")})
