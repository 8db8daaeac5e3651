"""Circulant matrices by Fourier transforms: `tf.linalg.LinearOperatorCirculant`, in one, two and three dimensions."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

import pullback as pb

from ... import linalg
from ...core.typing import DTypeLike, TensorLike
from .linear_operators import LinearOperator, of_rank

_FORWARD = {1: pb.signal.fft, 2: pb.signal.fft2d, 3: pb.signal.fft3d}
_BACKWARD = {1: pb.signal.ifft, 2: pb.signal.ifft2d, 3: pb.signal.ifft3d}


class AbstractCirculant(LinearOperator):
    """The matrix [..., n, n] that convolves: its eigenvalues are `spectrum` [..., b1, ...], n the product of these b.

    It is of `input_output_dtype`; of a real one only the real part of what comes out.

    Raises:
        ValueError: the spectrum has too few axes.
    """

    block_depth: ClassVar[int]
    """In how many dimensions it convolves."""

    def __init__(
        self, spectrum: TensorLike, input_output_dtype: DTypeLike = pb.complex64, *hints: Any, **named: Any
    ) -> None:
        dtype = pb.as_dtype(input_output_dtype)
        self._double = dtype in (pb.float64, pb.complex128)
        self.spectrum = of_rank(f"{type(self).__name__}: spectrum", spectrum, self.block_depth)
        self.block_shape = self.spectrum.shape[-self.block_depth :]
        n = self.block_shape.num_elements()
        form = self.spectrum.shape[: -self.block_depth].concatenate([n, n])
        if self.spectrum.dtype.kind != "c" and named.get("is_self_adjoint") is None and len(hints) < 2:
            named["is_self_adjoint"] = True
        named.setdefault("is_square", True)
        super().__init__(dtype, form, *hints, **named)

    def block_shape_tensor(self) -> pb.Tensor:
        """The lengths along which it convolves."""
        lengths: pb.Tensor = pb.shape(self.spectrum)[-self.block_depth :]
        return lengths

    def convolution_kernel(self, name: str | None = None) -> pb.Tensor:
        """What it convolves with: the first column, as a block."""
        return self._own(_BACKWARD[self.block_depth](self._complex(self.spectrum)), name)

    def assert_hermitian_spectrum(self, name: str | None = None) -> Any:
        """An operation that raises in a run where the matrix is not real."""
        kernel = _BACKWARD[self.block_depth](self._complex(self.spectrum))
        bound = float(np.finfo(np.float64 if self._double else np.float32).eps) * 200.0
        imaginary = pb.reduce_max(abs(pb.math.imag(kernel)))
        return pb.debugging.assert_less_equal(imaginary, pb.cast(bound, imaginary.dtype), name=name)

    def to_dense(self, name: str | None = None) -> pb.Tensor:
        """The matrix."""
        n = pb.reduce_prod(self.block_shape_tensor())
        matrix: pb.Tensor = pb.identity(self.matmul(pb.eye(n, dtype=self.dtype)), name)
        return matrix

    def _times(self, x: pb.Tensor, adjoint: bool) -> pb.Tensor:
        spectrum = self._complex(self.spectrum)
        return self._filtered(x, pb.conj(spectrum) if adjoint else spectrum)

    def _over(self, rhs: pb.Tensor, adjoint: bool) -> pb.Tensor:
        spectrum = self._complex(self.spectrum)
        return self._filtered(rhs, 1.0 / (pb.conj(spectrum) if adjoint else spectrum))

    def _filtered(self, x: pb.Tensor, factor: pb.Tensor) -> pb.Tensor:
        """The columns of `x` as blocks, their frequencies multiplied."""
        depth = self.block_depth
        rows = self._complex(linalg.matrix_transpose(x))
        blocks = pb.reshape(rows, pb.concat([pb.shape(rows)[:-1], self.block_shape_tensor()], 0))
        changed = _BACKWARD[depth](_FORWARD[depth](blocks) * pb.expand_dims(factor, -depth - 1))
        lengths = pb.concat([pb.shape(changed)[:-depth], [pb.reduce_prod(self.block_shape_tensor())]], 0)
        y = linalg.matrix_transpose(self._own(pb.reshape(changed, lengths)))
        before = [None] * (len(y.shape) - 2)
        return pb.ensure_shape(y, [*before, self.shape[-2], x.shape[-1]])

    def determinant(self, name: str | None = None) -> pb.Tensor:
        """The product of the spectrum."""
        return self._own(pb.reduce_prod(self._complex(self.spectrum), self._axes()), name)

    def log_abs_determinant(self, name: str | None = None) -> pb.Tensor:
        """The sum of the logarithms of the spectrum."""
        return pb.cast(pb.reduce_sum(pb.log(abs(self.spectrum)), self._axes()), self.dtype, name=name)

    def eigvals(self, name: str | None = None) -> pb.Tensor:
        """The spectrum, [..., n], in its order."""
        lengths = pb.concat([pb.shape(self.spectrum)[: -self.block_depth], [-1]], 0)
        return self._own(pb.reshape(self._complex(self.spectrum), lengths), name)

    def trace(self, name: str | None = None) -> pb.Tensor:
        """The sum of the spectrum."""
        return self._own(pb.reduce_sum(self._complex(self.spectrum), self._axes()), name)

    def _axes(self) -> list[int]:
        return list(range(-self.block_depth, 0))

    def _complex(self, x: pb.Tensor) -> pb.Tensor:
        return pb.cast(x, pb.complex128 if self._double else pb.complex64)

    def _own(self, x: pb.Tensor, name: str | None = None) -> pb.Tensor:
        return pb.cast(x if self.dtype.kind == "c" else pb.math.real(x), self.dtype, name=name)


class LinearOperatorCirculant(AbstractCirculant):
    """The circulant matrix of a spectrum [..., n]: each column is the one before it, one place further on.

    >>> import pullback.compat.v1 as tf
    >>> operator = tf.linalg.LinearOperatorCirculant([3.0, 1.0, 1.0], input_output_dtype=tf.float32)
    >>> tf.Session().run(operator.to_dense()).round(3)
    array([[1.667, 0.667, 0.667],
           [0.667, 1.667, 0.667],
           [0.667, 0.667, 1.667]], dtype=float32)
    """

    block_depth = 1


class LinearOperatorCirculant2D(AbstractCirculant):
    """The matrix that convolves images, of a spectrum [..., h, w].

    >>> import pullback.compat.v1 as tf
    >>> operator = tf.linalg.LinearOperatorCirculant2D([[4.0, 2.0], [2.0, 2.0]], input_output_dtype=tf.float32)
    >>> tf.Session().run(operator.convolution_kernel())
    array([[2.5, 0.5],
           [0.5, 0.5]], dtype=float32)
    """

    block_depth = 2


class LinearOperatorCirculant3D(AbstractCirculant):
    """The matrix that convolves volumes, of a spectrum [..., d, h, w].

    >>> import pullback.compat.v1 as tf
    >>> operator = tf.linalg.LinearOperatorCirculant3D(tf.fill([2, 1, 2], 3.0), input_output_dtype=tf.float32)
    >>> tf.Session().run(operator.matvec([1.0, 2.0, 3.0, 4.0]))
    array([ 3.,  6.,  9., 12.], dtype=float32)
    """

    block_depth = 3
