"""Image files in graphs: PNG, JPEG, GIF and BMP, read and written by Pillow.

>>> import pullback.compat.v1 as tf
>>> image = tf.image
>>> pixels = tf.cast(tf.reshape(tf.range(48), [4, 4, 3]), tf.uint8)
>>> png, jpeg = image.encode_png(pixels), image.encode_jpeg(pixels)
>>> session = tf.Session()
>>> same = session.run(tf.reduce_all(tf.equal(image.decode_image(png), pixels)))
>>> bool(same), session.run([image.is_jpeg(jpeg), image.is_jpeg(png), image.extract_jpeg_shape(jpeg)])
(True, [np.True_, np.False_, array([4, 4, 3], dtype=int32)])
>>> session.run(image.decode_jpeg(jpeg)).shape, session.run(image.decode_and_crop_jpeg(jpeg, [1, 1, 2, 3])).shape
((4, 4, 3), (2, 3, 3))
>>> image.decode_bmp(tf.constant(b""), channels=3).shape, image.decode_gif(tf.constant(b"")).shape
(TensorShape([None, None, 3]), TensorShape([None, None, None, 3]))
"""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...control_flow.py_function import numpy_function
from ...control_flow.signature import TensorSpec
from ...core.contexts import in_graph_of_inputs
from ...core.dtypes import FLOATING, as_dtype, dtype_name, int32, string, uint8, uint16
from ...core.dtypes import bool as bool_
from ...core.errors import InvalidArgumentError
from ...core.graph import Tensor
from ...core.limits import reading
from ...core.shape import TensorShape
from ...core.typing import DTypeLike, TensorLike
from ...primitives.creation.constant import as_array, convert_to_tensor

Array = np.ndarray[Any, Any]
_MODES = {1: "L", 2: "LA", 3: "RGB", 4: "RGBA"}
_FORMATS = ("PNG", "JPEG", "GIF", "BMP")


def decode_png(contents: TensorLike, channels: int = 0, dtype: DTypeLike = uint8, name: str | None = None) -> Tensor:
    """The image in a PNG file, [height, width, channels].

    `channels` are 1 (grey), 3, 4 (with alpha), or 0 for those that the file has. Dtypes: uint8 or uint16; files of 16
    bits a colour are read in full where they are grey.

    Raises:
        ValueError: other channels, or another dtype. ImportError: Pillow is not installed.
        InvalidArgumentError: from a run, for what is no such file.
        ResourceExhaustedError: from a run, for an image larger than `pb.config.Limits` allows.

    >>> import pullback.compat.v1 as tf
    >>> file = tf.image.encode_png(tf.constant([[[255], [7]]], tf.uint8))
    >>> tf.Session().run(tf.image.decode_png(file)).tolist()
    [[[255], [7]]]
    """
    return _decoded("decode_png", ("PNG", "JPEG", "GIF", "BMP"), contents, channels, as_dtype(dtype), name)


def decode_jpeg(
    contents: TensorLike,
    channels: int = 0,
    ratio: int = 1,
    fancy_upscaling: bool = True,
    try_recover_truncated: bool = False,
    acceptable_fraction: float = 1,
    dct_method: str = "",
    name: str | None = None,
) -> Tensor:
    """The image in a JPEG file, uint8 [height, width, channels], smaller by `ratio`: 1, 2, 4 or 8; see `decode_png`."""
    del fancy_upscaling, try_recover_truncated, acceptable_fraction, dct_method
    if ratio not in (1, 2, 4, 8):
        raise ValueError(f"decode_jpeg: ratio must be 1, 2, 4 or 8, not {ratio}")
    return _decoded("decode_jpeg", ("JPEG", "PNG", "GIF", "BMP"), contents, channels, uint8, name, ratio)


@in_graph_of_inputs
def decode_and_crop_jpeg(
    contents: TensorLike,
    crop_window: TensorLike,
    channels: int = 0,
    ratio: int = 1,
    fancy_upscaling: bool = True,
    try_recover_truncated: bool = False,
    acceptable_fraction: float = 1,
    dct_method: str = "",
    name: str | None = None,
) -> Tensor:
    """The part of the image in a JPEG file that `crop_window` says: its first row and column, its height and width."""
    whole = decode_jpeg(
        contents, channels, ratio, fancy_upscaling, try_recover_truncated, acceptable_fraction, dct_method
    )
    top, left, height, width = [convert_to_tensor(crop_window)[i] for i in range(4)]
    part: Tensor = whole[top : top + height, left : left + width]
    return part


def decode_bmp(contents: TensorLike, channels: int = 0, name: str | None = None) -> Tensor:
    """The image in a BMP file, uint8 [height, width, channels]; see `decode_png`."""
    return _decoded("decode_bmp", ("BMP",), contents, channels, uint8, name)


def decode_gif(contents: TensorLike, name: str | None = None) -> Tensor:
    """The images in a GIF file, uint8 [n, height, width, 3]; see `decode_png`."""

    def decode(data: Array) -> Array:
        return _frames(_opened("decode_gif", data.item(), ("GIF",)))

    return _called(decode, contents, TensorSpec([None, None, None, 3], uint8), name or "DecodeGif")


def decode_image(
    contents: TensorLike,
    channels: int | None = None,
    dtype: DTypeLike = uint8,
    name: str | None = None,
    expand_animations: bool = True,
) -> Tensor:
    """The image in a file of any kind, [height, width, channels]; of a GIF, all images, [n, height, width, 3].

    Floats are between 0 and 1. Without `expand_animations` only the first image of a GIF; see `decode_png`.
    """
    kind: Any = as_dtype(dtype)
    _check("decode_image", channels or 0, uint8 if kind in FLOATING else kind)

    def decode(data: Array) -> Array:
        image = _opened("decode_image", data.item(), _FORMATS)
        frames = image.format == "GIF" and expand_animations
        pixels = _frames(image) if frames else _pixels(image, channels or 0, uint16 if kind == uint16 else uint8)
        return (pixels / np.float32(255)).astype(kind) if kind in FLOATING else pixels

    shape = TensorShape(None if expand_animations else [None, None, channels or None])
    return _called(decode, contents, TensorSpec(shape, kind), name or "decode_image")


def encode_png(image: TensorLike, compression: int = -1, name: str | None = None) -> Tensor:
    """A PNG file of `image` [height, width, 1, 3 or 4]; `compression` is that of zlib, 0 to 9.

    Raises:
        TypeError: it is not uint8. ImportError: Pillow is not installed.
    """
    return _encoded("encode_png", image, name, format="PNG", compress_level=6 if compression < 0 else compression)


def encode_jpeg(
    image: TensorLike,
    format: str = "",
    quality: int = 95,
    progressive: bool = False,
    optimize_size: bool = False,
    chroma_downsampling: bool = True,
    density_unit: str = "in",
    x_density: int = 300,
    y_density: int = 300,
    xmp_metadata: str = "",
    name: str | None = None,
) -> Tensor:
    """A JPEG file of `image` [height, width, 1 or 3]; a `quality` of 0 to 100.

    Raises:
        TypeError: it is not uint8. ImportError: Pillow is not installed.
    """
    del format, density_unit, xmp_metadata
    options = {"quality": quality, "progressive": progressive, "optimize": optimize_size}
    sampling = {} if chroma_downsampling else {"subsampling": 0}
    return _encoded("encode_jpeg", image, name, format="JPEG", dpi=(x_density, y_density), **options, **sampling)


def extract_jpeg_shape(contents: TensorLike, output_type: DTypeLike = int32, name: str | None = None) -> Tensor:
    """Height, width and channels of the image in a JPEG file, which is not decoded."""
    kind: Any = as_dtype(output_type)

    def shape(data: Array) -> Array:
        image = _opened("extract_jpeg_shape", data.item(), ("JPEG",))
        return np.array([image.height, image.width, len(image.getbands())], kind)

    return _called(shape, contents, TensorSpec([3], kind), name or "ExtractJpegShape")


def is_jpeg(contents: TensorLike, name: str | None = None) -> Tensor:
    """Whether a text begins as a JPEG file does."""
    return _called(
        lambda data: np.array(data.item().startswith(b"\xff\xd8\xff")),
        contents,
        TensorSpec([], bool_),
        name or "is_jpeg",
    )


def image_of(data: bytes, channels: int) -> Array:
    """The elements of the image in a file of any kind, of that many channels or, for 0, of its own.

    Raises:
        InvalidArgumentError: it is no such file. ResourceExhaustedError: it is larger than the limits allow.
    """
    return _pixels(_opened("decode_image", data, _FORMATS), channels, uint8)


def _check(what: str, channels: int, dtype: Any) -> None:
    if channels not in (0, 1, 3, 4):
        raise ValueError(f"{what}: channels must be 0, 1, 3 or 4, not {channels}")
    if dtype not in (uint8, uint16):
        raise ValueError(f"{what}: dtype must be uint8 or uint16, not {dtype_name(dtype)}")


def _decoded(
    what: str, formats: Sequence[str], contents: TensorLike, channels: int, dtype: Any, name: str | None, ratio: int = 1
) -> Tensor:
    _check(what, channels, dtype)

    def decode(data: Array) -> Array:
        return _pixels(_opened(what, data.item(), formats, ratio), channels, dtype)

    parts = [part.capitalize() for part in what.split("_")]
    return _called(decode, contents, TensorSpec([None, None, channels or None], dtype), name or "".join(parts))


def _called(function: Callable[[Array], Array], contents: TensorLike, spec: TensorSpec, name: str) -> Tensor:
    _pillow(name)
    y: Tensor = numpy_function(function, [contents], spec, stateful=False, name=name)
    return y


def _pillow(what: str) -> Any:
    try:
        from PIL import Image
    except ModuleNotFoundError as error:
        raise ImportError(
            f"{what}: images in files need Pillow ({error}): pip install 'pullback[tensorflow]'"
        ) from error
    return Image


def _opened(what: str, data: bytes, formats: Sequence[str], ratio: int = 1) -> Any:
    """The image in a file, not decoded yet.

    Raises:
        InvalidArgumentError: it is no such file. ResourceExhaustedError: it is larger than the limits allow.
    """
    module = _pillow(what)
    try:
        image = module.open(io.BytesIO(data), formats=list(formats))
    except (OSError, SyntaxError, ValueError, module.DecompressionBombError) as error:
        raise InvalidArgumentError(f"{what}: these {len(data)} bytes are no image of {' or '.join(formats)}") from error
    reading().takes_bytes(math.prod(image.size) * len(image.getbands()) * getattr(image, "n_frames", 1))
    if ratio > 1:
        image.draft(None, (-(-image.width // ratio), -(-image.height // ratio)))
    return image


def _pixels(image: Any, channels: int, dtype: Any) -> Array:
    """The elements of an image, of that many channels or of its own."""
    if image.mode.startswith("I") and channels != 4:
        grey = np.repeat(np.asarray(image).astype(np.uint16)[..., None], channels or 1, -1)
        return grey if dtype == uint16 else (grey >> 8).astype(np.uint8)
    mode = _MODES[channels or _channels_of(image)]
    pixels = np.asarray(image if image.mode == mode else image.convert(mode))
    pixels = pixels[..., None] if pixels.ndim == 2 else pixels
    return pixels.astype(np.uint16) * np.uint16(257) if dtype == uint16 else pixels


def _channels_of(image: Any) -> int:
    """How many channels a file has, of a palette those of its colours."""
    if image.mode == "P":
        return 4 if "transparency" in image.info else 3
    return {"1": 1, "L": 1, "I": 1, "LA": 2, "RGBA": 4}.get(image.mode, 3)


def _frames(image: Any) -> Array:
    frames = []
    for i in range(image.n_frames):
        image.seek(i)
        frames.append(np.asarray(image.convert("RGB")))
    return np.stack(frames)


def _encoded(what: str, image: TensorLike, name: str | None, **options: Any) -> Tensor:
    x = convert_to_tensor(image)
    if x.dtype != uint8:
        raise TypeError(f"{what}: the image must be uint8, not {x}; see tf.image.convert_image_dtype")

    def encode(pixels: Array) -> Array:
        file = io.BytesIO()
        flat = pixels[..., 0] if pixels.shape[-1] == 1 else pixels
        _pillow(what).fromarray(flat).save(file, **options)
        return as_array(file.getvalue(), string)

    parts = [part.capitalize() for part in what.split("_")]
    return _called(encode, x, TensorSpec([], string), name or "".join(parts))
