"""Image files: what is decoded and encoded, and what is refused. Pillow made the files."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest
from PIL import Image

import pullback as pb
import pullback.compat.v1 as tf
from pullback.core.errors import InvalidArgumentError, ResourceExhaustedError

RGB = np.random.default_rng(0).integers(0, 256, (6, 5, 3)).astype(np.uint8)
SMOOTH = np.add.outer(np.arange(16), np.arange(24) * 2)[..., None].repeat(3, 2).astype(np.uint8) * 3


def run(fetches: Any) -> Any:
    return tf.Session(engine="numpy").run(fetches)


def file_of(image: Any, kind: str, **options: Any) -> bytes:
    made = io.BytesIO()
    (image if isinstance(image, Image.Image) else Image.fromarray(image)).save(made, kind, **options)
    return made.getvalue()


FILES = {
    "grey": (file_of(RGB[..., 0], "PNG"), RGB[..., :1]),
    "colours": (file_of(RGB, "PNG"), RGB),
    "alpha": (file_of(np.dstack([RGB, RGB[..., 0]]), "PNG"), np.dstack([RGB, RGB[..., 0]])),
    "palette": (file_of(Image.fromarray(RGB // 128 * 255).quantize(8), "PNG"), RGB // 128 * 255),
    "16 bits": (file_of(RGB[..., 0].astype(np.uint16) * 256 + 7, "PNG"), RGB[..., :1]),
    "BMP": (file_of(RGB, "BMP"), RGB),
}


@pytest.mark.parametrize("name", FILES)
def test_a_file_has_the_channels_that_it_has(name: str) -> None:
    data, pixels = FILES[name]
    assert (run(tf.image.decode_image(data)) == pixels).all()
    assert run(tf.image.decode_image(data, channels=3)).shape == (6, 5, 3)
    assert run(tf.image.decode_image(data, channels=1)).shape == (6, 5, 1)


def test_channels_are_known_before_a_run() -> None:
    text = tf.placeholder(tf.string, [])
    assert tf.image.decode_png(text, channels=4).shape.as_list() == [None, None, 4]
    assert tf.image.decode_jpeg(text).shape.as_list() == [None, None, None]
    assert tf.image.decode_image(text).shape.rank is None


def test_sixteen_bits_are_read_in_full() -> None:
    deep = RGB[..., 0].astype(np.uint16) * 256 + 7
    assert (run(tf.image.decode_png(file_of(deep, "PNG"), dtype=tf.uint16))[..., 0] == deep).all()
    assert (run(tf.image.decode_png(FILES["colours"][0], dtype=tf.uint16)) == RGB.astype(int) * 257).all()


def test_floats_are_between_0_and_1() -> None:
    found = run(tf.image.decode_image(FILES["colours"][0], dtype=tf.float32))
    np.testing.assert_allclose(found, RGB / 255.0, rtol=1e-6)


def test_an_animation_has_frames() -> None:
    frames = [Image.fromarray(x) for x in (SMOOTH, 255 - SMOOTH)]
    data = file_of(frames[0], "GIF", save_all=True, append_images=frames[1:])
    assert run(tf.image.decode_gif(data)).shape == (2, 16, 24, 3)
    assert run(tf.image.decode_image(data)).shape == (2, 16, 24, 3)
    assert run(tf.image.decode_image(data, expand_animations=False)).shape == (16, 24, 3)


def test_an_image_becomes_a_file_and_an_image_again() -> None:
    for pixels in (RGB, RGB[..., :1]):
        assert (run(tf.image.decode_png(tf.image.encode_png(pixels))) == pixels).all()
    jpeg = tf.image.encode_jpeg(SMOOTH)
    assert abs(run(tf.image.decode_jpeg(jpeg)).astype(int) - SMOOTH).max() < 8
    assert run([tf.image.is_jpeg(jpeg), tf.image.is_jpeg("x")]) == [True, False]
    assert run(tf.image.extract_jpeg_shape(jpeg)).tolist() == [16, 24, 3]
    assert run(tf.image.decode_jpeg(jpeg, ratio=2)).shape == (8, 12, 3)
    assert run(tf.image.decode_and_crop_jpeg(jpeg, [1, 2, 3, 4])).shape == (3, 4, 3)


def test_a_decoded_image_goes_on_in_a_compiled_program() -> None:
    image = tf.cast(tf.image.decode_png(FILES["colours"][0], channels=3), tf.float32)
    assert tf.Session(engine="xla").run(tf.reduce_sum(image)) == RGB.sum()


def test_what_is_no_image_is_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="decode_bmp: these 9 bytes are no image of BMP"):
        run(tf.image.decode_bmp(b"no image."))
    whole = FILES["colours"][0]
    for i in range(0, len(whole) // 2, 7):
        with pytest.raises(InvalidArgumentError):
            run(tf.image.decode_png(whole[:i]))


def test_a_small_file_of_a_large_image_is_refused() -> None:
    data = file_of(Image.new("L", (2000, 2000)), "PNG")
    with pb.config.Limits(bytes=10**6), pytest.raises(ResourceExhaustedError, match="more than 1,000,000 bytes"):
        run(tf.image.decode_png(data))


def test_what_there_is_not_is_refused_when_the_graph_is_built() -> None:
    for error, call, text in (
        (ValueError, lambda: tf.image.decode_png("", channels=2), "decode_png: channels must be 0, 1, 3 or 4, not 2"),
        (
            ValueError,
            lambda: tf.image.decode_png("", dtype=tf.float32),
            "decode_png: dtype must be uint8 or uint16, not float32",
        ),
        (ValueError, lambda: tf.image.decode_jpeg("", ratio=3), "decode_jpeg: ratio must be 1, 2, 4 or 8, not 3"),
        (
            TypeError,
            lambda: tf.image.encode_png(np.zeros([2, 2, 1], np.float32)),
            "encode_png: the image must be uint8, not float32[2,2,1]",
        ),
    ):
        with pytest.raises(error) as caught:
            call()
        assert str(caught.value).startswith(text)
