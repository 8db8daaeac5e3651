"""Discrete Fourier transforms of any number of axes, of complex and of real numbers.

A transform is linear, and its adjoint is the opposite one with the other scaling: the derivative of each is one
operation. Of real numbers only half of the bins are kept; the adjoint counts the others too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.dtypes import COMPLEX, INTEGER, complex64, complex128, float32, float64, int8, real_dtype
from ...core.lengths import Dimension
from ...core.operation import Operation, Tensor
from ...core.primitive import Primitive, same_type
from ...core.shape import Lengths, TensorShape, same_length
from ...core.traits import MOVES, ZEROS, Links, all_axes_but, linear
from ...core.types import TensorType
from ..base.axes import is_computed, static_integers
from ..creation.constant import convert_to_tensor
from ..creation.fill import zeros
from ..elementwise.division import floordiv
from ..shape.stacking import unstack

_REAL = frozenset([float32, float64])
_ADJOINT = {"backward": "forward", "forward": "backward", "ortho": "ortho"}
Axes = tuple[int, ...]


class Fft(Primitive):
    """The transform along `axes`, negative ones; `norm` says which of the two directions divides by the length."""

    type = "FFTND"
    traits = (linear(0),)

    axes: Axes
    inverse: bool = False
    norm: str = "backward"

    infer = same_type

    def links(self, i: int, x: TensorType) -> Links | None:
        del i
        return all_axes_but(x.shape.rank, *self.axes)

    def kernel(self, xp: Any, x: Any) -> Any:
        return _transformed(xp, x, self.axes, self.inverse, self.norm)

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        del op
        return (lambda: Fft(self.axes, not self.inverse, _ADJOINT[self.norm])(dy),)


def _transformed(xp: Any, x: Any, axes: Axes, inverse: bool, norm: str) -> Any:
    if not x.size:
        return x
    transform = xp.fft.ifftn if inverse else xp.fft.fftn
    for i in range(0, len(axes), 3):
        x = transform(x, axes=axes[i : i + 3], norm=norm)
    return x


class RealFft(Primitive):
    """The transform of real numbers: along the last of `axes` only the bins up to the middle.

    With `doubled` the bins that stand for two count twice.
    """

    type = "RFFTND"
    traits = (linear(0),)

    axes: Axes
    norm: str = "backward"
    doubled: bool = False

    def infer(self, x: TensorType) -> tuple[TensorType, ...]:
        dtype = complex64 if x.dtype == float32 else complex128
        dims = x.shape.lengths
        if dims is None:
            return (TensorType(dtype, TensorShape.UNKNOWN),)
        n = dims[self.axes[-1]]
        return (TensorType(dtype, _with_length(dims, self.axes[-1], None if n is None else n // 2 + 1)),)

    def links(self, i: int, x: TensorType) -> Links | None:
        del i
        return all_axes_but(x.shape.rank, *self.axes)

    def kernel(self, xp: Any, x: Any) -> Any:
        axis, n = self.axes[-1], x.shape[self.axes[-1]]
        if not x.size:
            return xp.zeros(_with_length(x.shape, axis, n // 2 + 1).known, np.result_type(x.dtype, np.complex64))
        y = xp.fft.rfft(x, axis=axis, norm=self.norm)
        y = y * _counts(n, axis, x.dtype) if self.doubled else y
        return _transformed(xp, y, self.axes[:-1], False, self.norm)

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        x = op.inputs[0]
        n = None if x.shape.sizes is None else x.shape.sizes[self.axes[-1]]
        back = InverseRealFft(self.axes, n, _ADJOINT[self.norm], not self.doubled)
        return (lambda: back(dy) if n is not None else back(dy, x),)


class InverseRealFft(Primitive):
    """Real numbers from the bins up to the middle along the last of `axes`; their number is `length`.

    A second input has the length there where it is None, and without one it is even. With `halved` the bins that stand
    for two count half.
    """

    type = "IRFFTND"
    traits = (linear(0),)

    axes: Axes
    length: int | None = None
    norm: str = "backward"
    halved: bool = False

    def infer(self, x: TensorType, like: TensorType | None = None) -> tuple[TensorType, ...]:
        dims = x.shape.lengths
        n: Dimension | None = self.length
        if dims is None:
            return (TensorType(real_dtype(x.dtype), TensorShape.UNKNOWN),)
        bins = dims[self.axes[-1]]
        if n is None and like is None and bins is not None:
            n = 2 * (bins - 1)
        elif n is None and like is not None and like.shape.lengths is not None:
            n = like.shape.lengths[self.axes[-1]]
        return (TensorType(real_dtype(x.dtype), _with_length(dims, self.axes[-1], n)),)

    def links(self, i: int, x: TensorType, length: TensorType | None = None) -> Links | None:
        del length
        return None if i else all_axes_but(x.shape.rank, *self.axes)

    def kernel(self, xp: Any, x: Any, like: Any = None) -> Any:
        axis, dtype = self.axes[-1], real_dtype(x.dtype)
        n = self.length if self.length is not None else 2 * (x.shape[axis] - 1) if like is None else like.shape[axis]
        shape = _with_length(x.shape, axis, n).known
        if 0 in shape or not x.size:
            return xp.zeros(shape, dtype)
        x = _transformed(xp, x, self.axes[:-1], True, self.norm)
        x = x / _counts(n, axis, dtype) if self.halved else x
        return xp.fft.irfft(x, n=n, axis=axis, norm=self.norm)

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        back = RealFft(self.axes, _ADJOINT[self.norm], not self.halved)
        return (lambda: back(dy), None)[: len(op.inputs)]


def _with_length(dims: Lengths, axis: int, n: Dimension | None) -> TensorShape:
    return TensorShape([*dims[: len(dims) + axis], n, *dims[len(dims) + axis + 1 :]])


def _counts(n: int, axis: int, dtype: Any) -> np.ndarray[Any, Any]:
    """For how many bins of a transform of `n` real numbers each of those that are kept stands."""
    counts = np.full(n // 2 + 1, 2, dtype)
    counts[0] = 1
    if n % 2 == 0:
        counts[-1] = 1
    return counts.reshape([-1] + [1] * (-1 - axis))


class FitLengths(Primitive):
    """The first elements along the axes, followed by zeros where there are fewer than `lengths`.

    A second input has the lengths of all axes where `lengths` is None.
    """

    traits = (MOVES, ZEROS)

    axes: Axes
    lengths: tuple[int, ...] | None = None

    def infer(self, x: TensorType, like: TensorType | None = None) -> tuple[TensorType, ...]:
        dims = x.shape.lengths
        if dims is None:
            return (TensorType(x.dtype, TensorShape.UNKNOWN),)
        lengths = self.lengths
        if lengths is None and (like is None or like.shape.lengths is None):
            return (TensorType(x.dtype, TensorShape([None] * len(dims))),)
        found = list(dims)
        for i, axis in enumerate(self.axes):
            found[axis] = like.shape.lengths[axis] if lengths is None and like is not None else lengths[i]  # type: ignore[index]
        return (TensorType(x.dtype, TensorShape(found)),)

    def kernel(self, xp: Any, x: Any, like: Any = None) -> Any:
        lengths = [like.shape[axis] for axis in self.axes] if self.lengths is None else self.lengths
        widths, kept = [(0, 0)] * x.ndim, [slice(None)] * x.ndim
        for axis, n in zip(self.axes, lengths, strict=True):
            kept[axis] = slice(n)
            widths[axis] = (0, max(n - x.shape[axis], 0))
        return xp.pad(x[tuple(kept)], widths) if any(after for _, after in widths) else x[tuple(kept)]

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        return (lambda: fit_like(dy, op.inputs[0], self.axes), None)[: len(op.inputs)]


def fit(x: Tensor, axes: Axes, lengths: Sequence[int]) -> Tensor:
    """`x` cut or padded with zeros at its end along `axes`; `x` itself where that changes nothing."""
    if x.shape.sizes is not None and all(x.shape.sizes[a] == n for a, n in zip(axes, lengths, strict=True)):
        return x
    return FitLengths(axes, tuple(lengths))(x)


def fit_like(x: Tensor, like: Tensor, axes: Axes) -> Tensor:
    """`x` cut or padded with zeros at its end along `axes` to the lengths of `like`."""
    if all(same_length(x.shape.length(axis), like.shape.length(axis)) for axis in axes):
        return x
    known = None if like.shape.sizes is None else [like.shape.sizes[axis] for axis in axes]
    lengths = [] if known is None else [n for n in known if n is not None]
    if known is not None and len(lengths) == len(known):
        return fit(x, axes, lengths)
    return FitLengths(axes)(x, like)


def complex_transform(
    what: str, input: Any, axes: Axes, inverse: bool, name: str | None, lengths: Any = None, norm: Any = None
) -> Tensor:
    """The user's complex transform `what`, checked."""
    x = _checked(what, input, len(axes), complex_input=True)
    with x.graph.within(name or what):
        x = x if lengths is None else _fitted(what, x, axes, lengths)
        return Fft(axes, inverse, _norm(what, norm))(x)


def real_transform(
    what: str, input: Any, axes: Axes, name: str | None, lengths: Any = None, norm: Any = None
) -> Tensor:
    """The user's transform `what` of real numbers, checked."""
    x = _checked(what, input, len(axes), complex_input=False)
    with x.graph.within(name or what):
        x = x if lengths is None else _fitted(what, x, axes, lengths)
        return RealFft(axes, _norm(what, norm))(x)


def inverse_real_transform(
    what: str, input: Any, axes: Axes, name: str | None, lengths: Any = None, norm: Any = None
) -> Tensor:
    """The user's transform `what` to real numbers, checked."""
    x = _checked(what, input, len(axes), complex_input=True)
    with x.graph.within(name or what):
        if lengths is None:
            return InverseRealFft(axes, None, _norm(what, norm))(x)
        if _are_computed(lengths):
            *others, n = _computed_lengths(what, lengths, len(axes))
            bins = fit_like(x, _like(axes, [*others, floordiv(n, 2) + 1]), axes)
            return InverseRealFft(axes, None, _norm(what, norm))(bins, _like(axes, [*others, n]))
        wanted = _lengths(what, lengths, len(axes))
        x = fit(x, axes, [*wanted[:-1], wanted[-1] // 2 + 1])
        return InverseRealFft(axes, wanted[-1], _norm(what, norm))(x)


def negative_axes(what: str, input: Any, axes: Any) -> Axes:
    """`axes` counted from the end; all of them where they are None."""
    x = convert_to_tensor(input)
    rank = x.shape.rank
    given = None if axes is None else static_integers(axes, f"{what}: axes")
    if given is not None and all(a < 0 for a in given) and rank is None:
        return given
    if rank is None:
        raise ValueError(f"{what}: the rank of {x.type} must be known, or negative axes given")
    counted = tuple([a if a < 0 else a - rank for a in (range(rank) if given is None else given)])
    if len(set(counted)) != len(counted) or any(not -rank <= a < 0 for a in counted):
        raise ValueError(f"{what}: the axes {list(given or [])} of {x.type} must differ and be in [{-rank}, {rank})")
    return counted


def _checked(what: str, input: Any, count: int, complex_input: bool) -> Tensor:
    x = convert_to_tensor(input)
    wanted = COMPLEX if complex_input else _REAL
    if x.dtype not in wanted:
        names = ", ".join(sorted(d.name for d in wanted))
        raise TypeError(f"{what}: takes no {x.dtype.name}: {x.type}; it takes {names}")
    if x.shape.rank is not None and x.shape.rank < count:
        raise ValueError(f"{what}: at least {count} axes are needed, not {x.type}")
    return x


def _lengths(what: str, lengths: Any, count: int) -> tuple[int, ...]:
    found = static_integers(lengths, f"{what}: fft_length")
    if len(found) != count or any(n < 0 for n in found):
        raise ValueError(f"{what}: fft_length must be {count} lengths, one for each axis, not {lengths!r}")
    return found


def _fitted(what: str, x: Tensor, axes: Axes, lengths: Any) -> Tensor:
    """`x` cut or padded with zeros at its end along `axes`, to lengths that a run may compute."""
    if _are_computed(lengths):
        return fit_like(x, _like(axes, _computed_lengths(what, lengths, len(axes))), axes)
    return fit(x, axes, _lengths(what, lengths, len(axes)))


def _are_computed(lengths: Any) -> bool:
    return any(is_computed(n) for n in (lengths if isinstance(lengths, list | tuple) else [lengths]))


def _computed_lengths(what: str, lengths: Any, count: int) -> list[Tensor]:
    given = convert_to_tensor(lengths)
    if given.dtype not in INTEGER or given.shape.sizes not in (None, (None,), (count,)):
        raise ValueError(f"{what}: fft_length must be {count} lengths, one for each axis, not {given}")
    return unstack(given, count)


def _like(axes: Axes, lengths: Sequence[Tensor]) -> Tensor:
    """A tensor, of which only the shape is of interest, that has `lengths` along `axes`."""
    dims: list[Any] = [1] * -min(axes)
    for axis, n in zip(axes, lengths, strict=True):
        dims[axis] = n
    return zeros(dims, int8)


def _norm(what: str, norm: Any) -> str:
    if norm is None:
        return "backward"
    if norm not in _ADJOINT:
        raise ValueError(f"{what}: norm must be {', '.join(map(repr, _ADJOINT))} or None, not {norm!r}")
    return str(norm)
