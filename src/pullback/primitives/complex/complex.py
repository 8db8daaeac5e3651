"""Complex numbers: parts, conjugates, and the numbers made of them.

Convention: for a real loss L the cotangent of a complex x is dL/d(real x) + i dL/d(imag x), the conjugate of the
holomorphic derivative (TensorFlow's); rules conjugate forward values.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.dtypes import COMPLEX, DType, complex64, complex128, float32, float64, real_dtype
from ...core.operation import Operation, Tensor
from ...core.primitive import Primitive
from ...core.traits import ELEMENTWISE, VIEWS, linear
from ...core.types import TensorType
from ...core.typing import TensorLike
from ..base.broadcasting import (
    AbstractElementwise,
    Entry,
    binary,
    infer_elementwise,
    unary,
    unary_kernel,
    undo_broadcast,
)
from ..casting.cast import cast
from ..creation.constant import convert_to_tensor
from ..creation.fill import zeros_like

_PARTS = frozenset([float32, float64])


def conj(x: TensorLike, name: str | None = None) -> Tensor:
    """The complex conjugate of each element; `x` itself where it is real.

    Shapes: any. Dtypes: any number.

    Derivative: dx = conj(dy).

    >>> import pullback as pb
    >>> pb.Session().run(pb.math.conj(1 + 2j))
    np.complex128(1-2j)
    """
    tensor = x if type(x) is Tensor else convert_to_tensor(x)
    if tensor.type.dtype not in COMPLEX:
        return tensor
    return Conj()(tensor, name=name)


class Conj(AbstractElementwise):
    traits = (ELEMENTWISE, linear(0))
    dtypes = COMPLEX
    kernel = unary_kernel("conj")

    def partials(self, dy: Tensor, y: Tensor, x: Tensor) -> Sequence[Entry]:
        del y, x
        return (lambda: conj(dy),)


def complex(real: TensorLike, imag: TensorLike, name: str | None = None) -> Tensor:
    """The complex numbers `real + 1j * imag`.

    Shapes: any that broadcast together. Dtypes: float32 gives complex64, float64 complex128; the same for both.

    Derivative: dreal = real(dy), dimag = imag(dy).

    Raises:
        TypeError: another dtype, or the dtypes differ. ValueError: the shapes do not broadcast.

    >>> import pullback as pb
    >>> pb.Session().run(pb.complex([1.0, 2.0], 3.0))
    array([1.+3.j, 2.+3.j], dtype=complex64)
    """
    return binary(Complex(), real, imag, name)


class Complex(Primitive):
    traits = (ELEMENTWISE, linear(0, 1))
    function = "complex"
    dtypes = _PARTS

    def infer(self, re: TensorType, im: TensorType) -> tuple[TensorType, ...]:
        parts = infer_elementwise(self, (re, im))
        return (TensorType(_complex_dtype(parts.dtype), parts.shape),)

    def kernel(self, xp: Any, re: Any, im: Any) -> Any:
        """For NumPy; `re + 1j * im` would make NaN of an infinite part."""
        z = xp.empty(xp.broadcast_shapes(re.shape, im.shape), _complex_dtype(re.dtype))
        z.real, z.imag = re, im
        return z

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Entry]:
        return undo_broadcast(lambda: real(dy), 0, op), undo_broadcast(lambda: imag(dy), 1, op)


def _complex_dtype(parts: DType) -> Any:
    return complex64 if parts == float32 else complex128


def real(input: TensorLike, name: str | None = None) -> Tensor:
    """The real part of each element; `input` itself where it is real.

    Shapes: any. Dtypes: any number; complex64 gives float32, complex128 float64.

    Derivative: dx = dy + 0j.

    >>> import pullback as pb
    >>> pb.Session().run(pb.math.real(1 + 2j))
    np.float64(1.0)
    """
    x = convert_to_tensor(input)
    return unary(Real(), x, name) if x.dtype in COMPLEX else x


class Real(Primitive):
    traits = (ELEMENTWISE, VIEWS, linear(0))

    def infer(self, x: TensorType) -> tuple[TensorType, ...]:
        return (TensorType(real_dtype(x.dtype), x.shape),)

    kernel = unary_kernel("real")

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Entry]:
        return (lambda: cast(dy, op.inputs[0].dtype),)


def imag(input: TensorLike, name: str | None = None) -> Tensor:
    """The imaginary part of each element; zeros where `input` is real.

    Shapes: any. Dtypes: any number; complex64 gives float32, complex128 float64.

    Derivative: dx = 1j * dy.

    >>> import pullback as pb
    >>> pb.Session().run(pb.math.imag(1 + 2j))
    np.float64(2.0)
    """
    x = convert_to_tensor(input)
    return unary(Imag(), x, name) if x.dtype in COMPLEX else zeros_like(x, name=name)


class Imag(Primitive):
    traits = (ELEMENTWISE, VIEWS, linear(0))

    def infer(self, x: TensorType) -> tuple[TensorType, ...]:
        return (TensorType(real_dtype(x.dtype), x.shape),)

    kernel = unary_kernel("imag")

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Entry]:
        del op
        return (lambda: complex(zeros_like(dy), dy),)
