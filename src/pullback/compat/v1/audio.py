"""Sound files in graphs of TensorFlow 1: WAV of 16 bits a sample, read and written.

>>> import pullback.compat.v1 as tf
>>> file = tf.audio.encode_wav([[0.5], [-0.25], [2.0]], sample_rate=8000)
>>> sound = tf.audio.decode_wav(file, desired_samples=4)
>>> audio, rate = tf.Session().run(sound)
>>> audio.tolist(), int(rate)
([[0.5], [-0.25], [0.999969482421875], [0.0]], 8000)
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

import pullback as pb

from ...core.contexts import in_graph_of_inputs
from ...core.errors import InvalidArgumentError
from ...core.limits import reading
from ...core.typing import TensorLike

Array = np.ndarray[Any, Any]
_FORMAT = "<HHIIHH"
_PCM = 1
"""The number of the format whose samples are integers."""
_SCALE = 1 << 15


class DecodeWav(NamedTuple):
    """The samples in a sound file, float32 [samples, channels] from -1 to 1, and how many there are a second."""

    audio: pb.Tensor
    sample_rate: pb.Tensor


@in_graph_of_inputs
def decode_wav(
    contents: TensorLike, desired_channels: int = -1, desired_samples: int = -1, name: str | None = None
) -> DecodeWav:
    """The samples in a WAV file, and their rate.

    The first `desired_channels` are taken, the last one again where there are fewer, and the first `desired_samples`,
    zeros behind where there are fewer; -1 stands for those that the file has.

    Raises:
        ValueError: a number below -1; contents that are no scalar.
        InvalidArgumentError: from a run, for what is no such file, or one of other than 16 bits a sample.
    """
    for what, count in (("channels", desired_channels), ("samples", desired_samples)):
        if count < -1:
            raise ValueError(f"decode_wav: {what} must be non-negative, got {count}; -1 takes what the file has")
    text = _scalar("decode_wav", "contents", contents, pb.string)
    lengths = [None if count < 0 else count for count in (desired_samples, desired_channels)]

    def decode(data: Array) -> list[Array]:
        rate, samples = _decoded(bytes(data.item()))
        return [_fitted(samples, *lengths), np.array(rate, np.int32)]

    types = [pb.TensorSpec(lengths, pb.float32), pb.TensorSpec([], pb.int32)]
    return DecodeWav(*pb.numpy_function(decode, [text], types, stateful=False, name=name or "DecodeWav"))


@in_graph_of_inputs
def encode_wav(audio: TensorLike, sample_rate: TensorLike, name: str | None = None) -> pb.Tensor:
    """The WAV file of the samples `audio`, float32 [samples, channels], of 16 bits each; what is beyond 1 is cut.

    Raises:
        ValueError: `audio` has not two axes, the rate is no scalar. InvalidArgumentError: from a run, for a rate that
        is not positive.
    """
    samples = pb.convert_to_tensor(audio, pb.float32)
    if samples.shape.rank not in (2, None):
        raise ValueError(f"encode_wav: Shape must be rank 2 but is rank {samples.shape.rank}, of audio {samples}")
    rate = _scalar("encode_wav", "sample_rate", sample_rate, pb.int32)
    made: pb.Tensor = pb.numpy_function(
        _encoded, [samples, rate], pb.TensorSpec([], pb.string), stateful=False, name=name or "EncodeWav"
    )
    return made


def _scalar(what: str, parameter: str, value: TensorLike, dtype: Any) -> pb.Tensor:
    x = pb.convert_to_tensor(value, dtype)
    if x.shape.rank not in (0, None):
        raise ValueError(f"{what}: Shape must be rank 0 but is rank {x.shape.rank}, of {parameter} {x}")
    return x


def _encoded(samples: Array, rate: Array) -> bytes:
    if rate <= 0:
        raise InvalidArgumentError(f"encode_wav: sample_rate must be positive, not {rate}")
    scaled = np.clip(samples.astype(np.float64) * _SCALE, -_SCALE, _SCALE - 1)
    data = np.trunc(scaled + np.copysign(0.5, scaled)).astype("<i2").tobytes()
    channels = samples.shape[1]
    kind = struct.pack(_FORMAT, _PCM, channels, int(rate), int(rate) * channels * 2, channels * 2, 16)
    body = b"WAVEfmt " + struct.pack("<I", len(kind)) + kind + b"data" + struct.pack("<I", len(data)) + data
    return b"RIFF" + struct.pack("<I", len(body)) + body


def _decoded(data: bytes) -> tuple[int, Array]:
    """The rate and the samples in a file.

    Raises:
        InvalidArgumentError: it is no WAV file of 16 bits a sample, or ends too early.
    """
    parts = dict(_chunks(data))
    if len(parts.get(b"fmt ", b"")) < struct.calcsize(_FORMAT) or b"data" not in parts:
        raise InvalidArgumentError(f"decode_wav: these {len(data)} bytes are no WAV file with a format and samples")
    kind, channels, rate, _, size, bits = struct.unpack_from(_FORMAT, parts[b"fmt "])
    if kind != _PCM or bits != 16 or not channels or size != 2 * channels:
        raise InvalidArgumentError(
            f"decode_wav: the file has samples of {bits} bits in format {kind}, {channels} channels in {size} bytes; "
            "only 16 bits of PCM, format 1, in one channel or more are read"
        )
    if len(parts[b"data"]) % size:
        raise InvalidArgumentError(f"decode_wav: {len(parts[b'data'])} bytes are no samples of {size} bytes each")
    return rate, np.frombuffer(parts[b"data"], "<i2").reshape(-1, channels).astype(np.float32) / np.float32(_SCALE)


def _chunks(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """The parts of a RIFF file with their names, up to the samples."""
    if data[:4] != b"RIFF" or data[8:12] != b"WAVE":
        raise InvalidArgumentError(f"decode_wav: these {len(data)} bytes do not begin as a WAV file does")
    start = 12
    while start + 8 <= len(data):
        name, size = data[start : start + 4], int.from_bytes(data[start + 4 : start + 8], "little")
        start += 8
        if start + size > len(data):
            raise InvalidArgumentError(f"decode_wav: the part {name!r} has {size} bytes, {len(data) - start} are there")
        yield name, data[start : start + size]
        if name == b"data":
            return
        start += size
        start += size % 2 and data[start : start + 1] == b"\0"  # Not all that write parts of odd lengths fill them up.


def _fitted(samples: Array, length: int | None, channels: int | None) -> Array:
    """Samples of that length and so many channels, where these are given."""
    wanted = [own if n is None else n for n, own in zip((length, channels), samples.shape, strict=True)]
    reading().takes_bytes(4 * wanted[0] * wanted[1])
    made = np.zeros(wanted, np.float32)
    numbers = np.minimum(np.arange(wanted[1]), samples.shape[1] - 1)
    made[: len(samples)] = samples[: wanted[0], numbers]
    return made
