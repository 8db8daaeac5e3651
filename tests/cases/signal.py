"""Rows: Fourier and cosine transforms, frames, windows."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import pullback as pb

from .case import Case, normal

LENGTH = "the inverse needs the last length"
RANK = "the rank is needed to count axes from the end"


def _complex(*shape: int, seed: int = 0) -> np.ndarray:
    return normal(*shape, seed=seed) + 1j * normal(*shape, seed=seed + 1)


_AXES = {"": (-1,), "2d": (-2, -1), "3d": (-3, -2, -1)}
_SHAPES = {"": (2, 5), "2d": (2, 3, 4), "3d": (2, 3, 2)}


def _named(rank: str, axes: tuple[int, ...], name: str, x: np.ndarray) -> Case:
    numpy = getattr(np.fft, f"{name}n")
    return Case(f"{name}{rank}", getattr(pb.signal, f"{name}{rank}"), [x], expected=lambda x: numpy(x, axes=axes))


def _of_every_rank() -> list[Case]:
    cases = []
    for rank, axes in _AXES.items():
        x, z = normal(*_SHAPES[rank]), _complex(*_SHAPES[rank])
        named = partial(_named, rank, axes)
        cases += [named("fft", z), named("ifft", z), named("rfft", x), named("irfft", z)]
    return cases


def _with_lengths(name: str, transform: Callable[..., Any], x: np.ndarray, lengths: list[int], numpy: Any) -> Case:
    return Case(
        f"{name}_of_{'x'.join(map(str, lengths))}",
        lambda x: transform(x, lengths),
        [x],
        expected=lambda x: numpy(x, lengths, axes=tuple(range(-len(lengths), 0))),
    )


def _dct_matrix(kind: int, n: int) -> np.ndarray:
    """From the formulas of the definition."""
    k, m = np.arange(n)[:, None], np.arange(n)
    if kind == 1:
        ends = (m == 0) | (m == n - 1)
        return np.where(ends, 1.0, 2.0) * np.cos(np.pi * k * m / (n - 1))
    if kind == 2:
        return 2 * np.cos(np.pi * k * (2 * m + 1) / (2 * n))
    if kind == 3:
        return np.where(m == 0, 1.0, 2.0) * np.cos(np.pi * (2 * k + 1) * m / (2 * n))
    return 2 * np.cos(np.pi * (2 * k + 1) * (2 * m + 1) / (4 * n))


def _cosine() -> list[Case]:
    cases = []
    for kind in (1, 2, 3, 4):
        matrix = _dct_matrix(kind, 5)
        cases += [
            Case(
                f"dct_{kind}",
                lambda x, kind=kind: pb.signal.dct(x, type=kind),
                [normal(2, 5)],
                expected=lambda x, matrix=matrix: x @ matrix.T,
            ),
            Case(
                f"idct_{kind}",
                lambda x, kind=kind: pb.signal.idct(x, type=kind),
                [normal(2, 5)],
                expected=lambda x, matrix=matrix, scale=8 if kind == 1 else 10: scale * np.linalg.solve(matrix, x.T).T,
            ),
        ]
        if kind == 1:
            continue
        cases += [
            Case(
                f"dct_{kind}_ortho_and_back",
                lambda x, kind=kind: pb.signal.idct(pb.signal.dct(x, type=kind, norm="ortho"), type=kind, norm="ortho"),
                [normal(2, 4)],
                expected=lambda x: x,
            ),
            Case(f"dct_{kind}_ortho", lambda x, kind=kind: pb.signal.dct(x, kind, norm="ortho"), [normal(2, 4)]),
        ]
    return cases


CASES = [
    *_of_every_rank(),
    Case("rfft_of_odd_length", pb.signal.rfft, [normal(2, 5)], expected=np.fft.rfft),
    Case("rfft_of_even_length", pb.signal.rfft, [normal(2, 6)], expected=np.fft.rfft),
    Case("rfft_of_one", pb.signal.rfft, [normal(2, 1)], expected=np.fft.rfft),
    Case("rfft_of_no_signals", pb.signal.rfft, [normal(0, 4)], expected=np.zeros((0, 3))),
    Case("fft_of_no_elements", pb.signal.fft, [_complex(2, 0)], expected=np.zeros((2, 0))),
    Case("irfft_of_no_signals", pb.signal.irfft, [_complex(0, 4)], expected=np.zeros((0, 6))),
    Case("rfft_of_irfft", lambda x: pb.signal.rfft(pb.signal.irfft(x, [5]), [5]), [_complex(2, 3)], third_order=True),
    _with_lengths("rfft", pb.signal.rfft, normal(2, 5), [3], np.fft.rfftn),
    _with_lengths("rfft", pb.signal.rfft, normal(2, 5), [8], np.fft.rfftn),
    _with_lengths("rfft2d", pb.signal.rfft2d, normal(3, 5), [4, 3], np.fft.rfftn),
    _with_lengths("irfft", pb.signal.irfft, _complex(2, 4), [5], np.fft.irfftn),
    _with_lengths("irfft", pb.signal.irfft, _complex(2, 4), [10], np.fft.irfftn),
    Case(
        "rfft2d_of_lengths_fed",
        pb.signal.rfft2d,
        [normal(3, 5), np.array([4, 3])],
        expected=np.fft.rfft2,
    ),
    Case(
        "irfft_of_lengths_fed",
        pb.signal.irfft,
        [_complex(2, 4), np.array([9])],
        expected=lambda x, n: np.fft.irfft(x, n[0]),
    ),
    _with_lengths("irfft3d", pb.signal.irfft3d, _complex(2, 3, 2), [3, 2, 4], np.fft.irfftn),
    Case(
        "fftnd",
        lambda x: pb.signal.fftnd(x, [4, 3], axes=[0, 2], norm="ortho"),
        [_complex(3, 2, 4)],
        expected=lambda x: np.fft.fftn(x, [4, 3], axes=[0, 2], norm="ortho"),
        not_erased_rank=RANK,
    ),
    Case(
        "ifftnd_of_four_axes",
        lambda x: pb.signal.ifftnd(x, norm="forward"),
        [_complex(2, 3, 2, 2)],
        expected=lambda x: np.fft.ifftn(x, norm="forward"),
        not_erased_rank=RANK,
    ),
    Case(
        "rfftnd_of_four_axes",
        lambda x: pb.signal.rfftnd(x, norm="ortho"),
        [normal(2, 2, 3, 3)],
        expected=lambda x: np.fft.rfftn(x, norm="ortho"),
        not_erased_rank=RANK,
    ),
    Case(
        "irfftnd",
        lambda x: pb.signal.irfftnd(x, [3, 5], axes=[-1, 0], norm="forward"),
        [_complex(3, 2, 3)],
        expected=lambda x: np.fft.irfftn(x, [3, 5], axes=[-1, 0], norm="forward"),
        not_erased_rank=RANK,
    ),
    Case("fftshift", pb.signal.fftshift, [normal(3, 4)], expected=np.fft.fftshift),
    Case(
        "ifftshift",
        lambda x: pb.signal.ifftshift(x, [-1]),
        [_complex(2, 5)],
        expected=lambda x: np.fft.ifftshift(x, -1),
    ),
    *_cosine(),
    Case("dct_of_fewer", lambda x: pb.signal.dct(x, n=3), [normal(2, 4)]),
    Case("mdct", lambda x: pb.signal.mdct(x, 8), [normal(2, 16)]),
    Case("mdct_ortho", lambda x: pb.signal.mdct(x, 4, norm="ortho", window_fn=None), [normal(8)]),
    Case(
        "mdct_and_back",
        lambda x: pb.signal.inverse_mdct(pb.signal.mdct(x, 8))[4:-4],
        [normal(24)],
        expected=lambda x: x[4:-4],
        not_erased=LENGTH,
    ),
    Case(
        "mdct_ortho_and_back",
        lambda x: pb.signal.inverse_mdct(x, norm="ortho", window_fn=None),
        [normal(2, 4)],
        not_erased="it needs the last length",
    ),
    Case("frame", lambda x: pb.signal.frame(x, 3, 2), [normal(2, 8)]),
    Case("frame_of_too_few", lambda x: pb.signal.frame(x, 3, 2), [normal(2, 2)], expected=np.zeros((2, 0, 3))),
    Case("frame_with_gaps", lambda x: pb.signal.frame(x, 2, 3), [normal(9)]),
    Case("frame_padded", lambda x: pb.signal.frame(x, 3, 2, pad_end=True, pad_value=7), [normal(6)]),
    Case("frame_of_first_axis", lambda x: pb.signal.frame(x, 3, 1, axis=0), [normal(5, 2)], not_erased_rank=RANK),
    Case(
        "frame_of_integers",
        lambda x: pb.signal.frame(x, 1, 1),
        [np.array([1, 2, 3])],
        expected=np.array([[1], [2], [3]]),
    ),
    Case("overlap_and_add", lambda x: pb.signal.overlap_and_add(x, 2), [normal(2, 3, 5)]),
    Case(
        "overlap_and_add_of_unknown_lengths",
        lambda x: pb.signal.overlap_and_add(pb.placeholder_with_default(x, [None, None]), 2),
        [normal(3, 4)],
        not_erased_rank="the default must be known to fit",
    ),
    Case("overlap_and_add_complex", lambda x: pb.signal.overlap_and_add(x, 3), [_complex(3, 2)]),
    Case("stft", lambda x: pb.signal.stft(x, 6, 2), [normal(2, 12)]),
    Case("stft_without_window", lambda x: pb.signal.stft(x, 4, 4, 5, None, pad_end=True), [normal(10)]),
    Case(
        "stft_and_back",
        lambda x: pb.signal.inverse_stft(pb.signal.stft(x, 8, 2), 8, 2, window_fn=pb.signal.inverse_stft_window_fn(2))[
            6:-6
        ],
        [normal(24)],
        expected=lambda x: x[6:-6],
    ),
    Case("inverse_stft", lambda x: pb.signal.inverse_stft(x, 6, 4, 4), [_complex(2, 3, 3)]),
    Case(
        "kaiser_window",
        lambda b: pb.signal.kaiser_window(5, b, b.dtype),
        [np.array(3.0)],
        expected=lambda b: np.kaiser(5, b),
    ),
    Case(
        "kaiser_bessel_derived_window",
        lambda b: pb.signal.kaiser_bessel_derived_window(6, b, b.dtype),
        [np.array(3.0)],
    ),
    Case("hann_window", lambda: pb.signal.hann_window(5, dtype=pb.float64), [], expected=np.hanning(5)),
    Case("hamming_window", lambda: pb.signal.hamming_window(6, False, pb.float64), [], expected=np.hamming(6)),
    Case("vorbis_window", lambda: pb.signal.vorbis_window(1, pb.float64), [], expected=np.ones(1)),
    Case(
        "mel_and_cepstrum",
        lambda x: pb.signal.mfccs_from_log_mel_spectrograms(
            pb.matmul(x, pb.signal.linear_to_mel_weight_matrix(4, 9, dtype=x.dtype))
        ),
        [normal(2, 9)],
        not_erased_rank="the number of bins is needed",
    ),
]
