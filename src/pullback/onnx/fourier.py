"""Fourier transforms in ONNX's operators: what `numpy.fft` has, along axes of known length.

Short ones are products with a matrix: exact to rounding, and as fast as onnxruntime's DFT; long ones are that operator.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .namespace import Namespace
from .tracing import Traced, TracedComplex, as_traced, is_complex

_LONGEST = 512
"""The longest axis that is multiplied with a matrix."""


class Fourier:
    """The functions of `numpy.fft` that kernels ask for."""

    def __init__(self, xp: Namespace) -> None:
        self.xp = xp

    def fftn(self, x: Any, s: Any = None, axes: Any = None, norm: str | None = None) -> Any:
        del s
        for axis in range(x.ndim) if axes is None else axes:
            x = self._along(x, axis, False, norm)
        return x

    def ifftn(self, x: Any, s: Any = None, axes: Any = None, norm: str | None = None) -> Any:
        del s
        for axis in range(x.ndim) if axes is None else axes:
            x = self._along(x, axis, True, norm)
        return x

    def fft(self, x: Any, n: int | None = None, axis: int = -1, norm: str | None = None) -> Any:
        return self._along(_fitted(self.xp, x, n, axis), axis, False, norm)

    def ifft(self, x: Any, n: int | None = None, axis: int = -1, norm: str | None = None) -> Any:
        return self._along(_fitted(self.xp, x, n, axis), axis, True, norm)

    def rfft(self, x: Any, n: int | None = None, axis: int = -1, norm: str | None = None) -> Any:
        x = _fitted(self.xp, x, n, axis)
        length = x.shape[axis]
        place = axis % x.ndim
        if length > _LONGEST:
            index = (slice(None),) * place + (slice(0, length // 2 + 1),)
            return self._along(x, place, False, norm)[index]
        angles = _angles(length)[:, : length // 2 + 1]
        matrix = np.concatenate([np.cos(angles), -np.sin(angles)], 1) * _factor(length, False, norm)
        both = self._product(x, matrix, place)
        return _halves(both, place)

    def irfft(self, x: Any, n: int | None = None, axis: int = -1, norm: str | None = None) -> Any:
        place = axis % x.ndim
        length = 2 * (x.shape[place] - 1) if n is None else n
        bins = length // 2 + 1
        x = _fitted(self.xp, as_traced(self.xp.w, x, np.result_type(x.dtype, np.complex64)), bins, place)
        numbers = np.arange(bins)
        weights = np.where((numbers == 0) | (2 * numbers == length), 1.0, 2.0)[:, None]
        angles = _angles(length)[:bins]
        parts = np.concatenate([weights * np.cos(angles), -weights * np.sin(angles)])
        joined = self.xp.concatenate([x.re, x.im], place)
        return self._product(joined, parts * _factor(length, True, norm), place)

    def fftshift(self, x: Any, axes: Any = None) -> Any:
        given = range(x.ndim) if axes is None else (axes,) if isinstance(axes, int) else axes
        return self.xp.roll(x, [x.shape[a] // 2 for a in given], tuple(given))

    def ifftshift(self, x: Any, axes: Any = None) -> Any:
        given = range(x.ndim) if axes is None else (axes,) if isinstance(axes, int) else axes
        return self.xp.roll(x, [-(x.shape[a] // 2) for a in given], tuple(given))

    def _along(self, x: Any, axis: int, inverse: bool, norm: str | None) -> TracedComplex:
        place = axis % x.ndim
        n = x.shape[place]
        sign = 1.0 if inverse else -1.0
        if n > _LONGEST:
            return self._by_operator(x, place, inverse, norm)
        c, s = np.cos(_angles(n)), sign * np.sin(_angles(n))
        if is_complex(x):
            matrix = np.concatenate([np.concatenate([c, s], 1), np.concatenate([-s, c], 1)])
            x = self.xp.concatenate([x.re, x.im], place)
        else:
            matrix = np.concatenate([c, s], 1)
        return _halves(self._product(x, matrix * _factor(n, inverse, norm), place), place)

    def _product(self, x: Any, matrix: Any, place: int) -> Any:
        """`x` times the matrix along an axis."""
        moved = self.xp.moveaxis(x, place, -1)
        product = self.xp.matmul(moved, matrix.astype(x.dtype))
        return self.xp.moveaxis(product, -1, place)

    def _by_operator(self, x: Any, place: int, inverse: bool, norm: str | None) -> TracedComplex:
        w, n = self.xp.w, x.shape[place]
        parts = [x.re, x.im] if is_complex(x) else [x]
        stacked = self.xp.stack(parts, -1)
        shape = (*x.shape, 2)
        attributes: dict[str, Any] = {"inverse": int(inverse)}
        inputs = [stacked.value]
        if w.model.opset >= 20:
            inputs += [w.constant(np.asarray(n, np.int64)), w.constant(np.asarray(place, np.int64))]
        else:
            attributes["axis"] = place
        made = Traced(w, w.node("DFT", *inputs, shape=shape, **attributes))
        factor = _factor(n, inverse, norm) * (n if inverse else 1)
        made = made if factor == 1 else made * factor
        return TracedComplex(made[..., 0], made[..., 1])


def _angles(n: int) -> Any:
    """2 pi j k / n, from exact remainders."""
    return np.outer(np.arange(n), np.arange(n)) % n * (2 * np.pi / n)


def _factor(n: int, inverse: bool, norm: str | None) -> float:
    if norm == "ortho":
        return float(n**-0.5)
    divided = (norm == "forward") != inverse
    return 1 / n if divided else 1.0


def _halves(x: Traced, place: int) -> TracedComplex:
    half = x.shape[place] // 2
    lead = (slice(None),) * place
    return TracedComplex(x[(*lead, slice(0, half))], x[(*lead, slice(half, 2 * half))])


def _fitted(xp: Namespace, x: Any, n: int | None, axis: int) -> Any:
    """`x` cut or filled with zeros to length `n` along an axis."""
    place = axis % x.ndim
    if n is None or n == x.shape[place]:
        return x
    if n < x.shape[place]:
        return x[(slice(None),) * place + (slice(0, n),)]
    widths = [(0, 0)] * x.ndim
    widths[place] = (0, n - x.shape[place])
    return xp.pad(x, widths)
