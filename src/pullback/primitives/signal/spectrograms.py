"""Short-time Fourier transforms, and features of sound made of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.contexts import in_graph_of_inputs
from ...core.dtypes import as_dtype, float32
from ...core.operation import Tensor
from ...core.typing import DTypeLike, TensorLike
from ..base.axes import static_integers
from ..creation.constant import convert_to_tensor
from ..elementwise.powers import square
from ..reduction.reduce import reduce_sum
from ..shape.reshape import reshape
from ..shape.tile import tile
from .dct import dct
from .fft import irfft, rfft
from .fourier import fit
from .frames import frame, overlap_and_add
from .windows import hann_window

Window = Callable[..., Tensor]


@in_graph_of_inputs
def stft(
    signals: TensorLike,
    frame_length: TensorLike,
    frame_step: TensorLike,
    fft_length: TensorLike | None = None,
    window_fn: Window | None = hann_window,
    pad_end: bool = False,
    name: str | None = None,
) -> Tensor:
    """The transforms of real numbers, `rfft`, of windows of `frame_length` elements, one every `frame_step` elements.

    `fft_length` is the power of 2 that holds a frame unless given.

    Shapes: [..., n] gives [..., frames, fft_length // 2 + 1]. Dtypes: float32 gives complex64, float64 complex128.

    Derivative: dx = D^H dy: transformed, windowed, overlapped and added.

    Raises:
        ValueError: lengths below 1, or not known while the graph is built. TypeError: another dtype.

    >>> import pullback as pb
    >>> pb.signal.stft(pb.zeros([16]), 6, 2).shape
    TensorShape([6, 5])
    """
    x = convert_to_tensor(signals)
    length, points = _lengths("stft", frame_length, fft_length)
    with x.graph.within(name or "stft"):
        frames = frame(x, length, frame_step, pad_end)
        windowed = frames if window_fn is None else frames * window_fn(length, dtype=x.dtype)
        return rfft(windowed, [points])


@in_graph_of_inputs
def inverse_stft(
    stfts: TensorLike,
    frame_length: TensorLike,
    frame_step: TensorLike,
    fft_length: TensorLike | None = None,
    window_fn: Window | None = hann_window,
    name: str | None = None,
) -> Tensor:
    """The sum of the frames whose transforms are `stfts`, each times a window.

    With `window_fn=inverse_stft_window_fn(frame_step, window)` it is the inverse of `stft` with that window, but for
    elements at the ends that too few frames overlap.

    Shapes: [..., frames, fft_length // 2 + 1] gives [..., (frames - 1) * frame_step + frame_length]. Dtypes: complex64
    gives float32, complex128 float64.

    Derivative: dx = D^H dy: frames of dy, windowed, transformed.

    Raises:
        ValueError: lengths below 1, or not known while the graph is built. TypeError: another dtype.

    >>> import pullback as pb
    >>> pb.signal.inverse_stft(pb.zeros([6, 5], pb.complex64), 6, 2).shape
    TensorShape([16])
    """
    x = convert_to_tensor(stfts)
    length, points = _lengths("inverse_stft", frame_length, fft_length)
    with x.graph.within(name or "inverse_stft"):
        frames = fit(irfft(x, [points]), (-1,), [length])
        windowed = frames if window_fn is None else frames * window_fn(length, dtype=frames.dtype)
        return overlap_and_add(windowed, frame_step)


def _lengths(what: str, frame_length: Any, fft_length: Any) -> tuple[int, int]:
    (length,) = static_integers(frame_length, f"{what}: frame_length")
    if length < 1:
        raise ValueError(f"{what}: frame_length must be one positive integer, not {frame_length!r}")
    if fft_length is None:
        return length, 1 << (length - 1).bit_length()
    (points,) = static_integers(fft_length, f"{what}: fft_length")
    return length, points


def inverse_stft_window_fn(
    frame_step: TensorLike, forward_window_fn: Window = hann_window, name: str | None = None
) -> Callable[..., Tensor]:
    """The function that makes windows with which `inverse_stft` undoes `stft` (Griffin and Lim 1984).

    >>> import pullback as pb
    >>> window = pb.signal.inverse_stft_window_fn(2)
    >>> pb.Session().run(window(4))
    array([0., 1., 1., 1.], dtype=float32)
    """
    (step,) = static_integers(frame_step, "inverse_stft_window_fn: frame_step")

    def inverse_window(frame_length: Any, dtype: Any = float32) -> Tensor:
        (length,) = static_integers(frame_length, "inverse_stft_window_fn: frame_length")
        overlaps = -(-length // step)
        window = forward_window_fn(length, dtype=dtype)
        with window.graph.within(name or "inverse_stft_window_fn"):
            rows = reshape(fit(square(window), (-1,), [overlaps * step]), [overlaps, step])
            total = reshape(tile(reduce_sum(rows, 0, keepdims=True), [overlaps, 1]), [overlaps * step])
            return window / total[:length]

    return inverse_window


def linear_to_mel_weight_matrix(
    num_mel_bins: int = 20,
    num_spectrogram_bins: int = 129,
    sample_rate: float = 8000,
    lower_edge_hertz: float = 125.0,
    upper_edge_hertz: float = 3800.0,
    dtype: DTypeLike = float32,
    name: str | None = None,
) -> Tensor:
    """A constant matrix by which spectrograms are multiplied to warp their bins to the mel scale.

    Triangles of height 1, evenly spaced on the scale `1127 * log(1 + hertz / 700)` (O'Shaughnessy 1987, in HTK's form).

    Shapes: [num_spectrogram_bins, num_mel_bins]. Dtypes: floats.

    Raises:
        ValueError: the numbers are not positive, or the edges are not ordered or above half the sample rate.

    >>> import pullback as pb
    >>> pb.signal.linear_to_mel_weight_matrix(4, 33).shape
    TensorShape([33, 4])
    """
    rate = float(sample_rate)
    if num_mel_bins < 1 or num_spectrogram_bins < 2 or rate <= 0:
        raise ValueError("linear_to_mel_weight_matrix: the numbers of bins and the sample rate must be positive")
    if not 0 <= lower_edge_hertz < upper_edge_hertz <= rate / 2:
        raise ValueError(
            "linear_to_mel_weight_matrix: 0 <= lower_edge_hertz < upper_edge_hertz <= sample_rate / 2 is needed, not "
            f"{lower_edge_hertz} and {upper_edge_hertz} for {rate}"
        )
    bins = _mel(np.linspace(0.0, rate / 2, num_spectrogram_bins)[1:])[:, None]
    edges = np.linspace(_mel(lower_edge_hertz), _mel(upper_edge_hertz), num_mel_bins + 2)
    low, middle, high = edges[:-2], edges[1:-1], edges[2:]
    weights = np.maximum(0, np.minimum((bins - low) / (middle - low), (high - bins) / (high - middle)))
    constant = np.concatenate([np.zeros((1, num_mel_bins)), weights])
    return convert_to_tensor(constant, as_dtype(dtype), name=name or "linear_to_mel_weight_matrix")


def _mel(hertz: Any) -> Any:
    return 1127.0 * np.log1p(np.asarray(hertz) / 700.0)


def mfccs_from_log_mel_spectrograms(log_mel_spectrograms: TensorLike, name: str | None = None) -> Tensor:
    """Mel-frequency cepstral coefficients: cosine transforms of type II, times `sqrt(0.5 / bins)`, as HTK has them.

    Shapes: [..., bins], a known number of them. Dtypes: float32, float64.

    Derivative: dx = D^T dy for the matrix D of the cosine transform.

    Raises:
        ValueError: the number of bins is unknown or 0. TypeError: another dtype.

    >>> import pullback as pb
    >>> pb.signal.mfccs_from_log_mel_spectrograms(pb.zeros([3, 8])).shape
    TensorShape([3, 8])
    """
    x = convert_to_tensor(log_mel_spectrograms)
    bins = None if not x.shape.sizes else x.shape.sizes[-1]
    if not bins:
        raise ValueError(f"mfccs_from_log_mel_spectrograms: the number of bins of {x.type} must be known, and not 0")
    with x.graph.within(name or "mfccs_from_log_mel_spectrograms"):
        return dct(x) * float((0.5 / bins) ** 0.5)
