"""Transforms of signals: messages and sizes of gradient graphs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import pullback as pb


def message_of(error: type[Exception], build: Callable[[], Any]) -> str:
    with pytest.raises(error) as caught:
        build()
    return str(caught.value)


def zeros(*shape: int | None, dtype: Any = pb.float32) -> pb.Tensor:
    return pb.placeholder(dtype, shape)


def test_fft_of_real_numbers() -> None:
    text = message_of(TypeError, lambda: pb.signal.fft(zeros(4)))
    assert text.startswith("fft: takes no float32: float32[4]; it takes complex128, complex64")


def test_rfft_of_complex_numbers() -> None:
    text = message_of(TypeError, lambda: pb.signal.rfft(zeros(4, dtype=pb.complex64)))
    assert text.startswith("rfft: takes no complex64: complex64[4]; it takes float32, float64")


def test_fft2d_of_a_vector() -> None:
    text = message_of(ValueError, lambda: pb.signal.fft2d(zeros(4, dtype=pb.complex64)))
    assert text.startswith("fft2d: at least 2 axes are needed, not complex64[4]")


def test_rfft2d_of_one_length() -> None:
    text = message_of(ValueError, lambda: pb.signal.rfft2d(zeros(4, 4), [4]))
    assert text.startswith("rfft2d: fft_length must be 2 lengths, one for each axis, not [4]")


def test_fftnd_of_an_axis_that_stands_twice() -> None:
    text = message_of(ValueError, lambda: pb.signal.fftnd(zeros(4, 4, dtype=pb.complex64), axes=[0, -2]))
    assert text.startswith("fftnd: the axes [0, -2] of complex64[4,4] must differ and be in [-2, 2)")


def test_fftnd_of_another_norm() -> None:
    text = message_of(ValueError, lambda: pb.signal.fftnd(zeros(4, dtype=pb.complex64), norm="unit"))
    assert text.startswith("fftnd: norm must be 'backward', 'forward', 'ortho' or None, not 'unit'")


def test_dct_of_another_type() -> None:
    text = message_of(ValueError, lambda: pb.signal.dct(zeros(4), type=5))
    assert text.startswith("dct: type must be 1, 2, 3 or 4, not 5")


def test_dct_of_type_1_is_not_orthogonal() -> None:
    text = message_of(ValueError, lambda: pb.signal.dct(zeros(4), type=1, norm="ortho"))
    assert text.startswith("dct: norm must be None for type 1, not 'ortho'")


def test_dct_of_another_axis() -> None:
    text = message_of(NotImplementedError, lambda: pb.signal.dct(zeros(4, 4), axis=0))
    assert text.startswith("dct: the last axis is transformed, axis=-1; not axis=0. Use pb.transpose.")


def test_mdct_of_frames_that_have_no_quarters() -> None:
    text = message_of(ValueError, lambda: pb.signal.mdct(zeros(16), 6))
    assert text.startswith("mdct: frame_length must be divisible by 4, not 6")


def test_frames_need_a_step() -> None:
    text = message_of(ValueError, lambda: pb.signal.frame(zeros(16), 4, 0))
    assert text.startswith("frame: frame_step must be one positive integer, not 0")


@pytest.mark.parametrize(
    ("transform", "dtype", "back"),
    [
        (pb.signal.fft, pb.complex64, "FFTND"),
        (pb.signal.ifft2d, pb.complex64, "FFTND"),
        (pb.signal.rfft, pb.float32, "IRFFTND"),
        (pb.signal.irfft3d, pb.complex64, "RFFTND"),
        (pb.signal.dct, pb.float32, "Dct"),
    ],
)
def test_the_gradient_of_a_transform_is_one_operation(
    transform: Callable[[Any], pb.Tensor], dtype: Any, back: str
) -> None:
    x = zeros(4, 4, 4, dtype=dtype)
    y = transform(x)
    dy = pb.placeholder(y.dtype, y.shape)
    before = len(x.graph.operations)
    pb.gradients(y, x, grad_ys=[dy])
    assert [op.type for op in x.graph.operations[before:]][1:] == [back]


def test_no_frames_of_no_elements_have_derivatives() -> None:
    x = zeros(0, 0, dtype=pb.float64)
    y = pb.signal.overlap_and_add(x, 4)
    assert pb.gradients(y, x)[0].shape == [0, 0]
