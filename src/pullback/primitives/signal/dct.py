"""Discrete cosine transforms of types I to IV (Makhoul 1980), their inverses and adjoints, and the MDCT."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...core.contexts import in_graph_of_inputs
from ...core.dtypes import float32, float64
from ...core.operation import Operation, Tensor
from ...core.primitive import Primitive
from ...core.traits import linear, links_of_vectors
from ...core.types import TensorType
from ...core.typing import TensorLike
from ..base.axes import static_integers
from ..creation.constant import convert_to_tensor
from ..shape.reverse import reverse
from ..shape.stacking import concat, split
from .fourier import fit
from .frames import frame, overlap_and_add
from .windows import vorbis_window

_INVERSE = {1: 1, 2: 3, 3: 2, 4: 4}


@in_graph_of_inputs
def dct(
    input: TensorLike,
    type: int = 2,
    n: TensorLike | None = None,
    axis: int = -1,
    norm: str | None = None,
    name: str | None = None,
) -> Tensor:
    """The discrete cosine transform of the last axis, cut or padded with zeros to `n` elements.

    Of type II it is `2 * sum(x[m] * cos(pi * k * (2 * m + 1) / (2 * N)))`; `norm="ortho"` makes it orthogonal (not
    type I). Conventions are SciPy's.

    Shapes: any of at least one axis; type I needs two elements. Dtypes: float32, float64.

    Derivative: dx = D^T dy along the axis, for the matrix D of the transform.

    Raises:
        ValueError: another type or norm, no axis, or `n` below 1. TypeError: another dtype. NotImplementedError: not
        the last axis.

    >>> import pullback as pb
    >>> pb.Session().run(pb.signal.dct([1.0, 1.0]))
    array([4., 0.], dtype=float32)
    """
    x = _checked("dct", input, type, n, axis, norm)
    return Dct(type, norm is not None)(x, name=name or "dct")


@in_graph_of_inputs
def idct(
    input: TensorLike,
    type: int = 2,
    n: TensorLike | None = None,
    axis: int = -1,
    norm: str | None = None,
    name: str | None = None,
) -> Tensor:
    """The transform that undoes `dct` of that type, with which it shares arguments, shapes, dtypes and errors.

    With `norm="ortho"` it is the inverse. Without, it is 2 * N times the inverse (type I: 2 * N - 2), as in TensorFlow.

    Derivative: dx = D^T dy along the axis, for the matrix D of the transform.

    >>> import pullback as pb
    >>> pb.Session().run(pb.signal.idct([1.0, 0.0]))
    array([1., 1.], dtype=float32)
    """
    x = _checked("idct", input, type, n, axis, norm)
    return Dct(_INVERSE[type], norm is not None)(x, name=name or "idct")


def _checked(what: str, input: Any, kind: int, n: Any, axis: int, norm: str | None) -> Tensor:
    x = convert_to_tensor(input)
    if x.dtype not in (float32, float64):
        raise TypeError(f"{what}: takes no {x.dtype.name}: {x.type}; it takes float32, float64")
    if kind not in _INVERSE:
        raise ValueError(f"{what}: type must be 1, 2, 3 or 4, not {kind!r}")
    if norm not in (None, "ortho") or (norm == "ortho" and kind == 1):
        raise ValueError(
            f"{what}: norm must be None{' or ' + repr('ortho') if kind != 1 else ' for type 1'}, not {norm!r}"
        )
    if x.shape.rank == 0:
        raise ValueError(f"{what}: at least one axis is needed, not {x.type}")
    if axis != -1 and (x.shape.rank is None or axis != x.shape.rank - 1):
        raise NotImplementedError(
            f"{what}: the last axis is transformed, axis=-1; not axis={axis!r}. Use pb.transpose."
        )
    if n is None:
        return x
    (length,) = static_integers(n, f"{what}: n")
    if length < 1:
        raise ValueError(f"{what}: n must be positive, not {n!r}")
    return fit(x, (-1,), [length])


class Dct(Primitive):
    """The transform of a kind, or its transpose."""

    traits = (linear(0),)

    kind: int
    ortho: bool = False
    transposed: bool = False

    def infer(self, x: TensorType) -> tuple[TensorType, ...]:
        n = None if x.shape.sizes is None else x.shape.sizes[-1]
        if n is not None and n < (2 if self.kind == 1 else 1):
            raise ValueError(f"dct: type {self.kind} needs more elements than those of {x}")
        return (x,)

    links = links_of_vectors

    def kernel(self, xp: Any, x: Any) -> Any:
        n, dtype = x.shape[-1], x.dtype
        if not x.size:
            return x
        before, after = self._weights(n)
        if not self.transposed:
            y = _PLAIN[self.kind](xp, x * before.astype(dtype))
            return (y * after.astype(dtype)).astype(dtype)
        kind, first, last = _transpose_of(self.kind, n)
        y = _PLAIN[kind](xp, x * (after * first).astype(dtype))
        return (y * (before * last).astype(dtype)).astype(dtype)

    def _weights(self, n: int) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        """What elements are multiplied with before the plain transform, and after it."""
        ones = np.ones(n)
        if self.ortho:
            root = np.full(n, np.sqrt(0.5 / n))
            if self.kind == 2:
                root[0] = np.sqrt(0.25 / n)
            if self.kind == 3:
                root[0] = np.sqrt(1 / n)
            return (root, ones) if self.kind == 3 else (ones, root)
        return ones, ones

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        del op
        return (lambda: Dct(self.kind, self.ortho, not self.transposed)(dy),)


def _transpose_of(kind: int, n: int) -> tuple[int, np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """The kind whose plain transform is the transpose of that of `kind`, with weights before and after it."""
    ones, first = np.ones(n), np.ones(n)
    if kind == 1:
        inner = np.full(n, 2.0)
        inner[0] = inner[-1] = 1.0
        return 1, 1 / inner, inner
    first[0] = 2.0 if kind == 2 else 0.5
    if kind == 2:
        return 3, first, ones
    return (2, ones, first) if kind == 3 else (4, ones, ones)


def _first(xp: Any, x: Any) -> Any:
    return xp.fft.rfft(xp.concatenate([x, x[..., -2:0:-1]], axis=-1)).real


def _second(xp: Any, x: Any) -> Any:
    n = x.shape[-1]
    return (xp.fft.rfft(x, n=2 * n)[..., :n] * _turns(n, -0.5, 2.0, x.dtype)).real


def _third(xp: Any, x: Any) -> Any:
    n = x.shape[-1]
    return xp.fft.irfft(x * _turns(n, 0.5, 2.0 * n, x.dtype), n=2 * n)[..., :n]


def _fourth(xp: Any, x: Any) -> Any:
    n = x.shape[-1]
    z = x * _turns(n, -0.5, 1.0, x.dtype, 0.5)
    return (xp.fft.fft(z, n=2 * n)[..., :n] * _turns(n, -0.5, 2.0, x.dtype)).real


_PLAIN: dict[int, Callable[[Any, Any], Any]] = {1: _first, 2: _second, 3: _third, 4: _fourth}


def _turns(n: int, step: float, scale: float, dtype: Any, offset: float = 0.0) -> np.ndarray[Any, Any]:
    """`scale * exp(1j * pi * step * (k + offset) / n)` for all k."""
    turns: np.ndarray[Any, Any] = scale * np.exp(1j * np.pi * step * (np.arange(n) + offset) / n)
    return turns.astype(np.result_type(dtype, np.complex64))


@in_graph_of_inputs
def mdct(
    signals: TensorLike,
    frame_length: TensorLike,
    window_fn: Callable[..., Tensor] | None = vorbis_window,
    pad_end: bool = False,
    norm: str | None = None,
    name: str | None = None,
) -> Tensor:
    """The modified discrete cosine transform (Princen and Bradley 1986) of half-overlapping frames of `frame_length`.

    Shapes: [..., n] gives [..., frames, frame_length // 2]. Dtypes: float32, float64.

    Derivative: dx = D^T dy for the matrix D of the transform: transformed, windowed, overlapped and added.

    Raises:
        ValueError: `frame_length` is not divisible by 4. TypeError: another dtype.

    >>> import pullback as pb
    >>> pb.signal.mdct(pb.zeros([16]), 8).shape
    TensorShape([3, 4])
    """
    x = convert_to_tensor(signals)
    (length,) = static_integers(frame_length, "mdct: frame_length")
    if length < 4 or length % 4:
        raise ValueError(f"mdct: frame_length must be divisible by 4, not {frame_length!r}")
    with x.graph.within(name or "mdct"):
        frames = frame(x, length, length // 2, pad_end)
        frames = frames * (0.5**0.5 if window_fn is None else window_fn(length, dtype=x.dtype))
        a, b, c, d = split(frames, 4, axis=-1)
        folded = concat([-reverse(c, [-1]) - d, a - reverse(b, [-1])], axis=-1)
        return dct(folded, type=4, norm=norm)


@in_graph_of_inputs
def inverse_mdct(
    mdcts: TensorLike,
    window_fn: Callable[..., Tensor] | None = vorbis_window,
    norm: str | None = None,
    name: str | None = None,
) -> Tensor:
    """The signals whose `mdct` is `mdcts`, but for the first and the last half frame.

    Shapes: [..., frames, k] gives [..., (frames + 1) * k]; k must be known. Dtypes: float32, float64.

    Derivative: dx = D^T dy for the matrix D of the transform: frames of dy, windowed, transformed.

    Raises:
        ValueError: the last length is unknown. TypeError: another dtype.

    >>> import pullback as pb
    >>> pb.signal.inverse_mdct(pb.zeros([3, 4])).shape
    TensorShape([16])
    """
    x = convert_to_tensor(mdcts)
    half = None if x.shape.sizes is None else x.shape.sizes[-1]
    if half is None:
        raise ValueError(f"inverse_mdct: the last length of {x.type} must be known")
    with x.graph.within(name or "inverse_mdct"):
        folded = dct(x, type=4, norm=norm)
        first, last = split(folded if norm == "ortho" else folded * (0.5 / half), 2, axis=-1)
        frames = concat([last, -reverse(last, [-1]), -reverse(first, [-1]), -first], axis=-1)
        window = 0.5**0.5 if window_fn is None else window_fn(2 * half, dtype=x.dtype)
        return overlap_and_add(frames * window, half)
