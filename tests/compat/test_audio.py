"""Sound files and features of sound, as TensorFlow has them."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
import pytest

import pullback as pb
import pullback.compat.v1 as tf

SOUND = np.array([[0.5, -0.5], [1.0, -1.0], [2.0, -2.0], [0.1, 2.0**-15], [1e-5, 0.999999]], np.float32)
SQUARES = [2.046113, 14.229892, 46.436508, 67.906235, 49.788559]
FEATURES = [[-22.514605, -9.816989, -21.521500, -15.662100], [-21.984940, -10.214601, -21.263222, -15.736647]]
READ = np.array([[16384, -16384], [32767, -32768], [32767, -32768], [3277, 1], [0, 32767]]) / 32768.0


def run(fetches: Any) -> Any:
    return tf.Session(engine="numpy").run(fetches)


def file_of(
    form: int = 1, channels: int = 1, bits: int = 16, data: bytes = b"\1\2\3\4", before: bytes = b"", size: int = -1
) -> bytes:
    frame = channels * bits // 8
    kind = struct.pack("<HHIIHH", form, channels, 8000, 8000 * frame, frame, bits)
    parts = b"fmt " + struct.pack("<I", len(kind)) + kind + before
    parts += b"data" + struct.pack("<I", len(data) if size < 0 else size) + data
    return b"RIFF" + struct.pack("<I", 4 + len(parts)) + b"WAVE" + parts


def test_what_was_written_is_read() -> None:
    file = tf.audio.encode_wav(SOUND, 44100)
    assert run(file)[:44] == b"RIFF8\0\0\0WAVEfmt \x10\0\0\0\1\0\2\0D\xac\0\0\x10\xb1\2\0\4\0\x10\0data\x14\0\0\0"
    audio, rate = run(tf.audio.decode_wav(file))
    assert (audio.tolist(), rate, audio.dtype, rate.dtype) == (READ.tolist(), 44100, np.float32, np.int32)


@pytest.mark.parametrize(("channels", "columns"), [(1, [0]), (2, [0, 1]), (3, [0, 1, 1]), (0, []), (-1, [0, 1])])
def test_channels_are_left_out_or_doubled(channels: int, columns: list[int]) -> None:
    audio = tf.audio.decode_wav(tf.audio.encode_wav(SOUND, 8000), channels).audio
    assert audio.shape.as_list() == [None, None if channels < 0 else channels]
    assert run(audio).tolist() == READ[:, columns].tolist()


@pytest.mark.parametrize("samples", [0, 2, 5, 7])
def test_samples_are_cut_or_filled_up_with_zeros(samples: int) -> None:
    audio = tf.audio.decode_wav(tf.audio.encode_wav(SOUND, 8000), desired_samples=samples).audio
    assert audio.shape.as_list() == [samples, None]
    assert run(audio).tolist() == np.vstack([READ, np.zeros((2, 2))])[:samples].tolist()


@pytest.mark.parametrize(
    "file",
    [
        file_of(),
        file_of(before=b"LIST\4\0\0\0abcd"),
        file_of(before=b"LIST\3\0\0\0abc"),
        file_of(before=b"LIST\3\0\0\0abc\0"),
        file_of() + b"more",
    ],
)
def test_parts_that_are_no_samples_are_passed_over(file: bytes) -> None:
    assert run(tf.audio.decode_wav(file).audio).tolist() == [[513 / 32768], [1027 / 32768]]


@pytest.mark.parametrize(
    ("file", "message"),
    [
        (b"", "these 0 bytes do not begin as a WAV file does"),
        (file_of()[:20], "the part b'fmt ' has 16 bytes, 0 are there"),
        (file_of(size=100), "the part b'data' has 100 bytes, 4 are there"),
        (file_of()[:36], "these 36 bytes are no WAV file with a format and samples"),
        (file_of(bits=8), "samples of 8 bits in format 1, 1 channels in 1 bytes; only 16 bits of PCM"),
        (file_of(form=3, bits=32), "samples of 32 bits in format 3"),
        (file_of(channels=0), "0 channels in 0 bytes"),
        (file_of(data=b"123"), "3 bytes are no samples of 2 bytes each"),
    ],
)
def test_what_is_no_such_file_is_refused(file: bytes, message: str) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        run(tf.audio.decode_wav(file))


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(ValueError, match="channels must be non-negative, got -2"):
        tf.audio.decode_wav(b"", -2)
    with pytest.raises(ValueError, match="Shape must be rank 0 but is rank 1, of contents"):
        tf.audio.decode_wav([b""])
    with pytest.raises(ValueError, match="Shape must be rank 2 but is rank 1, of audio"):
        tf.audio.encode_wav([1.0], 8000)
    with pytest.raises(tf.errors.InvalidArgumentError, match="sample_rate must be positive, not -3"):
        run(tf.audio.encode_wav(SOUND, -3))
    with pb.config.Limits(bytes=1000), pytest.raises(pb.errors.ResourceExhaustedError, match="1,000 bytes for one"):
        run(tf.audio.decode_wav(file_of(), desired_samples=10**6))


@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_features_of_a_tone(engine: str, installed: None) -> None:
    """Numbers of TensorFlow 2.21."""
    from tensorflow.contrib.framework.python.ops import audio_ops

    tone = np.sin(np.arange(800) * 0.3)[:, None].astype(np.float32)
    spectrogram = audio_ops.audio_spectrogram(tone, window_size=33, stride=400, magnitude_squared=True)
    features = audio_ops.mfcc(spectrogram, 16000, dct_coefficient_count=4, filterbank_channel_count=20)
    squares, found = tf.Session(engine=engine).run([spectrogram, features])
    assert squares.shape == (1, 2, 33)
    np.testing.assert_allclose(squares[0, 1, :5], SQUARES, rtol=1e-4)
    np.testing.assert_allclose(found[0], FEATURES, rtol=1e-4)


def test_features_of_what_is_no_sound_are_refused(installed: None) -> None:
    from tensorflow.python.ops import gen_audio_ops

    for call, message in [
        (lambda: gen_audio_ops.audio_spectrogram([1.0], 2, 2), "the input must be .samples, channels., not float32.1."),
        (lambda: gen_audio_ops.audio_spectrogram([[1.0]], 1, 2), "window_size must be 2 or more and stride 1 or more"),
        (lambda: gen_audio_ops.mfcc([1.0], 8000), "the spectrogram must be .channels, windows, bins., not float32.1."),
        (lambda: gen_audio_ops.mfcc(tf.zeros([1, 1, 9]), 8000, 20, 4000), "a range from 0 up, not 4000 to 20"),
    ]:
        with pytest.raises(ValueError, match=message):
            call()
