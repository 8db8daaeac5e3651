"""Spectrograms and mel-frequency cepstral coefficients of TensorFlow's `gen_audio_ops`."""

from __future__ import annotations

import numpy as np

import pullback as pb

from ...core.contexts import in_graph_of_inputs
from ...core.typing import TensorLike

_LEAST = 1e-12
"""What a band has at least, so that it has a logarithm."""


@in_graph_of_inputs
def audio_spectrogram(
    input: TensorLike, window_size: int, stride: int, magnitude_squared: bool = False, name: str | None = None
) -> pb.Tensor:
    """The magnitudes of the frequencies in windows of sound [samples, channels]: float32 [channels, windows, bins].

    Windows of `window_size` samples, a Hann window each, begin every `stride` samples; the Fourier transform has the
    next power of two samples.

    Raises:
        ValueError: the input has not two axes; a window of fewer than 2 samples, a stride of none.

    >>> import pullback.compat.v1 as tf
    >>> from pullback.compat.v1.audio_features import audio_spectrogram
    >>> tf.Session(engine="numpy").run(audio_spectrogram([[1.0], [2.0], [3.0], [4.0]], 2, 2))
    array([[[2., 2.],
            [4., 4.]]], dtype=float32)
    """
    samples = pb.convert_to_tensor(input, pb.float32)
    if samples.shape.rank not in (2, None):
        raise ValueError(f"audio_spectrogram: the input must be [samples, channels], not {samples}")
    if window_size < 2 or stride < 1:
        raise ValueError(
            f"audio_spectrogram: window_size must be 2 or more and stride 1 or more, not {window_size} and {stride}"
        )
    with pb.name_scope(name or "AudioSpectrogram"):
        length = 1 << (window_size - 1).bit_length()
        window = 0.5 - 0.5 * np.cos(2.0 * np.pi / window_size * np.arange(window_size))
        waves = pb.signal.stft(
            pb.transpose(samples), window_size, stride, length, lambda _, dtype: pb.constant(window, dtype)
        )
        squares = pb.square(pb.real(waves)) + pb.square(pb.imag(waves))
        return squares if magnitude_squared else pb.sqrt(squares)


@in_graph_of_inputs
def mfcc(
    spectrogram: TensorLike,
    sample_rate: TensorLike,
    upper_frequency_limit: float = 4000,
    lower_frequency_limit: float = 20,
    filterbank_channel_count: int = 40,
    dct_coefficient_count: int = 13,
    name: str | None = None,
) -> pb.Tensor:
    """The cosine transform of the logarithms of mel bands: float32 [channels, windows, coefficients].

    `spectrogram` has squares of magnitudes, as of `audio_spectrogram` with `magnitude_squared`.

    Raises:
        ValueError: the spectrogram has not three axes, or the limits are no range.

    >>> import pullback.compat.v1 as tf
    >>> from pullback.compat.v1.audio_features import mfcc
    >>> mfcc(tf.zeros([1, 5, 257]), 16000).shape.as_list()
    [1, 5, 13]
    """
    squares = pb.convert_to_tensor(spectrogram, pb.float32)
    if squares.shape.rank not in (3, None):
        raise ValueError(f"mfcc: the spectrogram must be [channels, windows, bins], not {squares}")
    if not 0 <= lower_frequency_limit < upper_frequency_limit:
        raise ValueError(
            f"mfcc: the limits of frequencies must be a range from 0 up, not {lower_frequency_limit} to "
            f"{upper_frequency_limit}"
        )
    with pb.name_scope(name or "Mfcc"):
        lowest, highest = _mel([lower_frequency_limit, upper_frequency_limit])
        edges = np.linspace(lowest, highest, filterbank_channel_count + 2)
        bands = _bands(pb.shape(squares)[2], sample_rate, lower_frequency_limit, upper_frequency_limit, edges)
        heard = pb.matmul(pb.sqrt(pb.cast(squares, pb.float64)), bands)
        numbers = np.arange(filterbank_channel_count) + 0.5
        waves = np.cos(np.pi / filterbank_channel_count * np.outer(numbers, np.arange(dct_coefficient_count)))
        found = pb.matmul(pb.log(pb.maximum(heard, _LEAST)), np.sqrt(2 / filterbank_channel_count) * waves)
        return pb.cast(found, pb.float32)


def _mel(frequencies: list[float]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Frequencies in Hertz on the mel scale."""
    return 1127.0 * np.log1p(np.array(frequencies) / 700.0)


def _bands(
    count: pb.Tensor,
    sample_rate: TensorLike,
    lower: float,
    upper: float,
    edges: np.ndarray[tuple[int], np.dtype[np.float64]],
) -> pb.Tensor:
    """How much of each of `count` frequencies is in each band, which is a triangle over three of the `edges`."""
    step = pb.cast(sample_rate, pb.float64) / (2.0 * pb.cast(count - 1, pb.float64))
    numbers = pb.cast(pb.range(count), pb.float64)
    mel = 1127.0 * pb.log1p(numbers * step / 700.0)[:, None]
    rising = (mel - edges[:-2]) / (edges[1:-1] - edges[:-2])
    falling = (edges[2:] - mel) / (edges[2:] - edges[1:-1])
    inside = pb.logical_and(numbers >= pb.floor(1.5 + lower / step), numbers <= pb.floor(upper / step))
    return pb.maximum(pb.minimum(rising, falling), 0.0) * pb.cast(inside, pb.float64)[:, None]
