"""Fourier transforms under their public names: of one, two, three and any axes, and shifts of their bins."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.contexts import in_graph_of_inputs
from ...core.operation import Operation, Tensor
from ...core.primitive import Primitive, same_type
from ...core.traits import MOVES
from ...core.typing import AxisLike, TensorLike
from ..creation.constant import convert_to_tensor
from .fourier import complex_transform, inverse_real_transform, negative_axes, real_transform


def fft(input: TensorLike, name: str | None = None) -> Tensor:
    """`y[k] = sum(x[n] * exp(-2j * pi * k * n / N))` along the last axis.

    Shapes: any of at least 1 axis. Dtypes: complex64, complex128.

    Derivative: dx = the unscaled inverse transform of dy, N * ifft(dy).

    Raises:
        TypeError: another dtype. ValueError: fewer axes.

    >>> import pullback as pb
    >>> pb.signal.fft(pb.cast([1.0, 0.0], pb.complex64))
    <Tensor 'fft/FFTND:0' complex64[2]>
    """
    return complex_transform("fft", input, (-1,), False, name)


def ifft(input: TensorLike, name: str | None = None) -> Tensor:
    """`y[n] = sum(x[k] * exp(2j * pi * k * n / N)) / N` along the last axis: the inverse of `fft`.

    Shapes: any of at least 1 axis. Dtypes: complex64, complex128.

    Derivative: dx = fft(dy) / N.

    Raises:
        TypeError: another dtype. ValueError: fewer axes.

    >>> import pullback as pb
    >>> pb.signal.ifft(pb.cast([1.0, 0.0], pb.complex64))
    <Tensor 'ifft/FFTND:0' complex64[2]>
    """
    return complex_transform("ifft", input, (-1,), True, name)


def fft2d(input: TensorLike, name: str | None = None) -> Tensor:
    """The discrete Fourier transform along the last two axes.

    Shapes: any of at least 2 axes. Dtypes: complex64, complex128.

    Derivative: dx = the unscaled inverse transform of dy, N * ifft(dy).

    Raises:
        TypeError: another dtype. ValueError: fewer axes.

    >>> import pullback as pb
    >>> pb.signal.fft2d(pb.cast([[1.0, 0.0], [0.0, 0.0]], pb.complex64))
    <Tensor 'fft2d/FFTND:0' complex64[2,2]>
    """
    return complex_transform("fft2d", input, (-2, -1), False, name)


def ifft2d(input: TensorLike, name: str | None = None) -> Tensor:
    """The inverse discrete Fourier transform along the last two axes.

    Shapes: any of at least 2 axes. Dtypes: complex64, complex128.

    Derivative: dx = fft(dy) / N.

    Raises:
        TypeError: another dtype. ValueError: fewer axes.

    >>> import pullback as pb
    >>> pb.signal.ifft2d(pb.cast([[1.0, 0.0], [0.0, 0.0]], pb.complex64))
    <Tensor 'ifft2d/FFTND:0' complex64[2,2]>
    """
    return complex_transform("ifft2d", input, (-2, -1), True, name)


def fft3d(input: TensorLike, name: str | None = None) -> Tensor:
    """The discrete Fourier transform along the last three axes.

    Shapes: any of at least 3 axes. Dtypes: complex64, complex128.

    Derivative: dx = the unscaled inverse transform of dy, N * ifft(dy).

    Raises:
        TypeError: another dtype. ValueError: fewer axes.

    >>> import pullback as pb
    >>> pb.signal.fft3d(pb.cast([[[1.0, 0.0]]], pb.complex64))
    <Tensor 'fft3d/FFTND:0' complex64[1,1,2]>
    """
    return complex_transform("fft3d", input, (-3, -2, -1), False, name)


def ifft3d(input: TensorLike, name: str | None = None) -> Tensor:
    """The inverse discrete Fourier transform along the last three axes.

    Shapes: any of at least 3 axes. Dtypes: complex64, complex128.

    Derivative: dx = fft(dy) / N.

    Raises:
        TypeError: another dtype. ValueError: fewer axes.

    >>> import pullback as pb
    >>> pb.signal.ifft3d(pb.cast([[[1.0, 0.0]]], pb.complex64))
    <Tensor 'ifft3d/FFTND:0' complex64[1,1,2]>
    """
    return complex_transform("ifft3d", input, (-3, -2, -1), True, name)


@in_graph_of_inputs
def rfft(input_tensor: TensorLike, fft_length: TensorLike | None = None, name: str | None = None) -> Tensor:
    """The transform `fft` of real numbers, along the last axis only up to the middle: the rest mirrors it.

    The input is cut or padded with zeros to `fft_length`, 1 integer.

    Shapes: [..., n] gives [..., n // 2 + 1]. Dtypes: float32 gives complex64, float64 complex128.

    Derivative: dx = the real part of the unscaled inverse transform of dy, padded with zeros.

    Raises:
        TypeError: another dtype. ValueError: fewer axes, or wrong lengths.

    >>> import pullback as pb
    >>> pb.signal.rfft(pb.zeros([8])).shape
    TensorShape([5])
    """
    return real_transform("rfft", input_tensor, (-1,), name, fft_length)


@in_graph_of_inputs
def rfft2d(input_tensor: TensorLike, fft_length: TensorLike | None = None, name: str | None = None) -> Tensor:
    """The transform `fft2d` of real numbers, along the last axis only up to the middle: the rest mirrors it.

    The input is cut or padded with zeros to `fft_length`, 2 integers.

    Shapes: [..., n] gives [..., n // 2 + 1]. Dtypes: float32 gives complex64, float64 complex128.

    Derivative: dx = the real part of the unscaled inverse transform of dy, padded with zeros.

    Raises:
        TypeError: another dtype. ValueError: fewer axes, or wrong lengths.

    >>> import pullback as pb
    >>> pb.signal.rfft2d(pb.zeros([8, 8])).shape
    TensorShape([8, 5])
    """
    return real_transform("rfft2d", input_tensor, (-2, -1), name, fft_length)


@in_graph_of_inputs
def rfft3d(input_tensor: TensorLike, fft_length: TensorLike | None = None, name: str | None = None) -> Tensor:
    """The transform `fft3d` of real numbers, along the last axis only up to the middle: the rest mirrors it.

    The input is cut or padded with zeros to `fft_length`, 3 integers.

    Shapes: [..., n] gives [..., n // 2 + 1]. Dtypes: float32 gives complex64, float64 complex128.

    Derivative: dx = the real part of the unscaled inverse transform of dy, padded with zeros.

    Raises:
        TypeError: another dtype. ValueError: fewer axes, or wrong lengths.

    >>> import pullback as pb
    >>> pb.signal.rfft3d(pb.zeros([8, 8, 8])).shape
    TensorShape([8, 8, 5])
    """
    return real_transform("rfft3d", input_tensor, (-3, -2, -1), name, fft_length)


@in_graph_of_inputs
def irfft(input_tensor: TensorLike, fft_length: TensorLike | None = None, name: str | None = None) -> Tensor:
    """The inverse of `rfft`: real numbers from the bins up to the middle.

    The input is cut or padded with zeros to what `fft_length`, 1 integer, needs.
    Without it the length along the last axis is even.

    Shapes: [..., k] gives [..., 2 * (k - 1)], or `fft_length`. Dtypes: complex64 gives float32, complex128 float64.

    Derivative: dx = rfft(dy) / N, twice that for the bins that are mirrored.

    Raises:
        TypeError: another dtype. ValueError: fewer axes, or wrong lengths.

    >>> import pullback as pb
    >>> pb.signal.irfft(pb.zeros([5], pb.complex64)).shape
    TensorShape([8])
    """
    return inverse_real_transform("irfft", input_tensor, (-1,), name, fft_length)


@in_graph_of_inputs
def irfft2d(input_tensor: TensorLike, fft_length: TensorLike | None = None, name: str | None = None) -> Tensor:
    """The inverse of `rfft2d`: real numbers from the bins up to the middle.

    The input is cut or padded with zeros to what `fft_length`, 2 integers, needs.
    Without it the length along the last axis is even.

    Shapes: [..., k] gives [..., 2 * (k - 1)], or `fft_length`. Dtypes: complex64 gives float32, complex128 float64.

    Derivative: dx = rfft(dy) / N, twice that for the bins that are mirrored.

    Raises:
        TypeError: another dtype. ValueError: fewer axes, or wrong lengths.

    >>> import pullback as pb
    >>> pb.signal.irfft2d(pb.zeros([8, 5], pb.complex64)).shape
    TensorShape([8, 8])
    """
    return inverse_real_transform("irfft2d", input_tensor, (-2, -1), name, fft_length)


@in_graph_of_inputs
def irfft3d(input_tensor: TensorLike, fft_length: TensorLike | None = None, name: str | None = None) -> Tensor:
    """The inverse of `rfft3d`: real numbers from the bins up to the middle.

    The input is cut or padded with zeros to what `fft_length`, 3 integers, needs.
    Without it the length along the last axis is even.

    Shapes: [..., k] gives [..., 2 * (k - 1)], or `fft_length`. Dtypes: complex64 gives float32, complex128 float64.

    Derivative: dx = rfft(dy) / N, twice that for the bins that are mirrored.

    Raises:
        TypeError: another dtype. ValueError: fewer axes, or wrong lengths.

    >>> import pullback as pb
    >>> pb.signal.irfft3d(pb.zeros([8, 8, 5], pb.complex64)).shape
    TensorShape([8, 8, 8])
    """
    return inverse_real_transform("irfft3d", input_tensor, (-3, -2, -1), name, fft_length)


@in_graph_of_inputs
def fftnd(
    input_tensor: TensorLike,
    fft_length: TensorLike | None = None,
    axes: AxisLike | None = None,
    norm: str | None = None,
    name: str | None = None,
) -> Tensor:
    """The discrete Fourier transform along `axes`, all unless given.

    The input is cut or padded with zeros to `fft_length`, one integer for each axis. `norm` says what divides by the
    number of elements: "backward" (or None) the inverse, "forward" the other, "ortho" both by its root.

    Shapes: any. Dtypes: complex64, complex128.

    Derivative: dx = the unscaled inverse transform of dy, N * ifft(dy).

    Raises:
        TypeError: another dtype. ValueError: wrong axes or lengths, or another `norm`.

    >>> import pullback as pb
    >>> pb.signal.fftnd(pb.zeros([4, 4], pb.complex64), axes=[0, 1]).shape
    TensorShape([4, 4])
    """
    return complex_transform(
        "fftnd", input_tensor, negative_axes("fftnd", input_tensor, axes), False, name, fft_length, norm
    )


@in_graph_of_inputs
def ifftnd(
    input_tensor: TensorLike,
    fft_length: TensorLike | None = None,
    axes: AxisLike | None = None,
    norm: str | None = None,
    name: str | None = None,
) -> Tensor:
    """The inverse of `fftnd`.

    The input is cut or padded with zeros to `fft_length`, one integer for each axis. `norm` says what divides by the
    number of elements: "backward" (or None) the inverse, "forward" the other, "ortho" both by its root.

    Shapes: any. Dtypes: complex64, complex128.

    Derivative: dx = fft(dy) / N.

    Raises:
        TypeError: another dtype. ValueError: wrong axes or lengths, or another `norm`.

    >>> import pullback as pb
    >>> pb.signal.ifftnd(pb.zeros([4, 4], pb.complex64), axes=[0, 1]).shape
    TensorShape([4, 4])
    """
    return complex_transform(
        "ifftnd", input_tensor, negative_axes("ifftnd", input_tensor, axes), True, name, fft_length, norm
    )


@in_graph_of_inputs
def rfftnd(
    input_tensor: TensorLike,
    fft_length: TensorLike | None = None,
    axes: AxisLike | None = None,
    norm: str | None = None,
    name: str | None = None,
) -> Tensor:
    """The transform `fftnd` of real numbers, along the last of `axes` only up to the middle.

    The input is cut or padded with zeros to `fft_length`, one integer for each axis. `norm` says what divides by the
    number of elements: "backward" (or None) the inverse, "forward" the other, "ortho" both by its root.

    Shapes: any. Dtypes: float32 gives complex64, float64 complex128.

    Derivative: dx = the real part of the unscaled inverse transform of dy, padded with zeros.

    Raises:
        TypeError: another dtype. ValueError: wrong axes or lengths, or another `norm`.

    >>> import pullback as pb
    >>> pb.signal.rfftnd(pb.zeros([4, 4], pb.float32), axes=[0, 1]).shape
    TensorShape([4, 3])
    """
    along = negative_axes("rfftnd", input_tensor, axes)
    return real_transform("rfftnd", input_tensor, along, name, fft_length, norm)


@in_graph_of_inputs
def irfftnd(
    input_tensor: TensorLike,
    fft_length: TensorLike | None = None,
    axes: AxisLike | None = None,
    norm: str | None = None,
    name: str | None = None,
) -> Tensor:
    """The inverse of `rfftnd`: real numbers from the bins up to the middle along the last of `axes`.

    The input is cut or padded with zeros to `fft_length`, one integer for each axis. `norm` says what divides by the
    number of elements: "backward" (or None) the inverse, "forward" the other, "ortho" both by its root.

    Shapes: any. Dtypes: complex64 gives float32, complex128 float64.

    Derivative: dx = rfft(dy) / N, twice that for the bins that are mirrored.

    Raises:
        TypeError: another dtype. ValueError: wrong axes or lengths, or another `norm`.

    >>> import pullback as pb
    >>> pb.signal.irfftnd(pb.zeros([4, 4], pb.complex64), axes=[0, 1]).shape
    TensorShape([4, 6])
    """
    return inverse_real_transform(
        "irfftnd", input_tensor, negative_axes("irfftnd", input_tensor, axes), name, fft_length, norm
    )


@in_graph_of_inputs
def fftshift(x: TensorLike, axes: AxisLike | None = None, name: str | None = None) -> Tensor:
    """`x` rolled along `axes`, all unless given, by half their lengths: the bin of frequency 0 comes to the middle.

    Shapes: any. Dtypes: any.

    Derivative: dx = ifftshift(dy).

    Raises:
        ValueError: an axis is out of range or stands twice.

    >>> import pullback as pb
    >>> pb.Session().run(pb.signal.fftshift([0, 1, 2, -2, -1]))
    array([-2, -1,  0,  1,  2], dtype=int32)
    """
    return FftShift(_shifted("fftshift", x, axes))(convert_to_tensor(x), name=name)


@in_graph_of_inputs
def ifftshift(x: TensorLike, axes: AxisLike | None = None, name: str | None = None) -> Tensor:
    """The inverse of `fftshift`.

    Shapes: any. Dtypes: any.

    Derivative: dx = fftshift(dy).

    Raises:
        ValueError: an axis is out of range or stands twice.

    >>> import pullback as pb
    >>> pb.Session().run(pb.signal.ifftshift([-2, -1, 0, 1, 2]))
    array([ 0,  1,  2, -2, -1], dtype=int32)
    """
    return FftShift(_shifted("ifftshift", x, axes), True)(convert_to_tensor(x), name=name)


def _shifted(what: str, x: Any, axes: Any) -> tuple[int, ...] | None:
    return None if axes is None else negative_axes(what, x, axes)


class FftShift(Primitive):
    traits = (MOVES,)

    axes: tuple[int, ...] | None
    inverse: bool = False

    infer = same_type

    def kernel(self, xp: Any, x: Any) -> Any:
        return (xp.fft.ifftshift if self.inverse else xp.fft.fftshift)(x, self.axes)

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        del op
        return (lambda: FftShift(self.axes, not self.inverse)(dy),)
