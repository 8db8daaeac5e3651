"""Values of summaries: how TensorBoard is told numbers, histograms, images, sounds, texts and arrays."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..core.dtypes import DType, bfloat16, string

_NAMES = {"float32": "FLOAT", "float64": "DOUBLE", "float16": "HALF", "bool": "BOOL", "object": "STRING"}
_BUCKETS = 30


class Tag(NamedTuple):
    """The name of a summary, and what TensorBoard is to show."""

    name: str
    kind: str
    most: int = 0
    """How many images, or sounds."""
    rate: float = 0.0
    """Of sounds: frames a second."""


def array_of(value: Any) -> np.ndarray[Any, Any]:
    """What a session returned, as an array; one text comes as `bytes`."""
    return np.array(value, string) if isinstance(value, bytes) else np.asarray(value)


def fill_values(summary: Any, tag: Tag, array: np.ndarray[Any, Any]) -> None:
    """Adds to a message what an array is shown as."""
    if tag.kind == "scalar":
        summary.value.add(tag=tag.name, simple_value=array.item())
    elif tag.kind == "histogram":
        _fill_histogram(summary.value.add(tag=tag.name).histo, array.astype(np.float64).ravel())
    elif tag.kind == "audio":
        for i, frames in enumerate(array[: tag.most]):
            _fill_audio(summary.value.add(tag=_numbered(tag, i)).audio, frames, tag.rate)
    elif tag.kind in ("text", "tensor"):
        value = summary.value.add(tag=tag.name)
        value.metadata.plugin_data.plugin_name = "text" if tag.kind == "text" else ""
        _fill_tensor(value.tensor, array)
    else:
        for i, pixels in enumerate(array[: tag.most]):
            value = summary.value.add(tag=_numbered(tag, i))
            value.image.height, value.image.width, value.image.colorspace = pixels.shape
            value.image.encoded_image_string = _png(_bytes_of(pixels))


def _numbered(tag: Tag, i: int) -> str:
    """The name of one of several images or sounds."""
    return f"{tag.name}/{tag.kind}" if tag.most == 1 else f"{tag.name}/{tag.kind}/{i}"


def _fill_audio(audio: Any, frames: np.ndarray[Any, Any], rate: float) -> None:
    """A sound as a file of 16 bits a sample (WAV)."""
    import io
    import wave

    samples = frames if frames.ndim == 2 else frames[:, None]
    file = io.BytesIO()
    with wave.open(file, "wb") as sound:
        sound.setnchannels(samples.shape[1])
        sound.setsampwidth(2)
        sound.setframerate(round(rate))
        sound.writeframes((np.clip(samples, -1.0, 1.0) * 32767).astype("<i2").tobytes())
    audio.sample_rate, audio.length_frames, audio.num_channels = rate, len(samples), samples.shape[1]
    audio.encoded_audio_string, audio.content_type = file.getvalue(), "audio/wav"


def _fill_tensor(tensor: Any, array: np.ndarray[Any, Any]) -> None:
    tensor.dtype = type_number(array.dtype)
    for n in array.shape:
        tensor.tensor_shape.dim.add(size=n)
    if array.dtype == string:
        tensor.string_val.extend(array.ravel().tolist())
    else:
        tensor.tensor_content = np.ascontiguousarray(array).tobytes()


def _fill_histogram(histo: Any, x: np.ndarray[Any, Any]) -> None:
    x = x[np.isfinite(x)]
    counts, edges = np.histogram(x, bins=_BUCKETS) if x.size else (np.zeros(1), np.zeros(2))
    histo.min, histo.max, histo.num = x.min(initial=np.inf), x.max(initial=-np.inf), x.size
    histo.sum, histo.sum_squares = x.sum(), np.square(x).sum()
    histo.bucket_limit.extend(edges[1:].tolist())
    histo.bucket.extend(counts.tolist())


def _bytes_of(pixels: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    if pixels.dtype == np.uint8:
        return pixels
    x = np.nan_to_num(pixels.astype(np.float64))
    largest = np.abs(x).max(initial=1e-12)
    scaled = x * (255 / largest) if x.min(initial=0) >= 0 else 127 + x * (127 / largest)
    return np.asarray(scaled, np.uint8)


def _png(pixels: np.ndarray[Any, Any]) -> bytes:
    """An image file: W3C, Portable Network Graphics, second edition, 2003."""
    import struct
    import zlib

    height, width, channels = pixels.shape

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, {1: 0, 3: 2, 4: 6}[channels], 0, 0, 0)
    rows = b"".join(b"\0" + row.tobytes() for row in pixels)
    parts = [chunk(b"IHDR", header), chunk(b"IDAT", zlib.compress(rows)), chunk(b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


def type_number(dtype: DType) -> int:
    """The number that messages have for a dtype."""
    from tensorboard.compat.proto import types_pb2

    name = "BFLOAT16" if dtype == bfloat16 else _NAMES.get(dtype.name, dtype.name.upper())
    return int(getattr(types_pb2, f"DT_{name}"))
