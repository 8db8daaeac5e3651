"""Window functions of signals: constants, but for the shape of Kaiser's, which can be differentiated."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.contexts import in_graph_of_inputs
from ...core.dtypes import FLOATING, as_dtype, float32
from ...core.operation import Tensor
from ...core.typing import DTypeLike, TensorLike
from ..base.axes import static_integers
from ..creation.constant import convert_to_tensor
from ..cumulative.cumsum import cumsum
from ..elementwise.exponential import exp
from ..elementwise.powers import sqrt
from ..shape.reverse import reverse
from ..shape.stacking import concat
from ..special.bessel import bessel_i0e


def hann_window(
    window_length: TensorLike, periodic: bool = True, dtype: DTypeLike = float32, name: str | None = None
) -> Tensor:
    """`0.5 - 0.5 * cos(2 * pi * k / n)`, for an even and `periodic` window with n = `window_length`, else one less.

    Shapes: [window_length]. Dtypes: floats.

    Raises:
        ValueError: the length is negative or not known while the graph is built. TypeError: no float.

    >>> import pullback as pb
    >>> pb.Session().run(pb.signal.hann_window(4))
    array([0. , 0.5, 1. , 0.5], dtype=float32)
    """
    return _raised_cosine("hann_window", window_length, periodic, dtype, 0.5, name)


def hamming_window(
    window_length: TensorLike, periodic: bool = True, dtype: DTypeLike = float32, name: str | None = None
) -> Tensor:
    """`0.54 - 0.46 * cos(2 * pi * k / n)`, for an even and `periodic` window with n = `window_length`, else one less.

    Shapes: [window_length]. Dtypes: floats.

    Raises:
        ValueError: the length is negative or not known while the graph is built. TypeError: no float.

    >>> import pullback as pb
    >>> pb.Session().run(pb.signal.hamming_window(2))
    array([0.08, 1.  ], dtype=float32)
    """
    return _raised_cosine("hamming_window", window_length, periodic, dtype, 0.54, name)


def _raised_cosine(what: str, length: Any, periodic: bool, dtype: Any, middle: float, name: str | None) -> Tensor:
    n = _length(what, length)
    wanted = _floating(what, dtype)
    if n == 1:
        return convert_to_tensor(np.ones(1), wanted, name=name or what)
    period = n if periodic and n % 2 == 0 else n - 1
    window = middle - (1 - middle) * np.cos(2 * np.pi * np.arange(n) / period)
    return convert_to_tensor(window, wanted, name=name or what)


def vorbis_window(window_length: TensorLike, dtype: DTypeLike = float32, name: str | None = None) -> Tensor:
    """`sin(pi / 2 * sin(pi * (k + 0.5) / window_length) ** 2)` (Vorbis I specification).

    Shapes: [window_length]. Dtypes: floats.

    Raises:
        ValueError: the length is negative or not known while the graph is built. TypeError: no float.

    >>> import pullback as pb
    >>> pb.signal.vorbis_window(8).shape
    TensorShape([8])
    """
    n = _length("vorbis_window", window_length)
    window = np.sin(np.pi / 2 * np.sin(np.pi * (np.arange(n) + 0.5) / max(n, 1)) ** 2)
    return convert_to_tensor(window, _floating("vorbis_window", dtype), name=name or "vorbis_window")


@in_graph_of_inputs
def kaiser_window(
    window_length: TensorLike, beta: TensorLike = 12.0, dtype: DTypeLike = float32, name: str | None = None
) -> Tensor:
    """`i0(beta * sqrt(1 - t**2)) / i0(beta)` for t from -1 to 1 (Kaiser 1966); `beta` can be differentiated by.

    Shapes: [window_length]; `beta` is a scalar. Dtypes: floats.

    Derivative: dbeta = sum(dy * y * (r * I1(beta * r) / I0(beta * r) - I1(beta) / I0(beta))) with r = sqrt(1 - t^2).

    Raises:
        ValueError: the length is negative or not known while the graph is built. TypeError: no float.

    >>> import pullback as pb
    >>> pb.Session().run(pb.signal.kaiser_window(3, beta=0.0))
    array([1., 1., 1.], dtype=float32)
    """
    n = _length("kaiser_window", window_length)
    wanted = _floating("kaiser_window", dtype)
    t = np.linspace(-1.0, 1.0, n) if n > 1 else np.zeros(n)
    strength = convert_to_tensor(beta, wanted)
    with strength.graph.within(name or "kaiser_window"):
        argument = strength * convert_to_tensor(np.sqrt(np.maximum(1 - t * t, 0)), wanted)
        return exp(argument - strength) * bessel_i0e(argument) / bessel_i0e(strength)


@in_graph_of_inputs
def kaiser_bessel_derived_window(
    window_length: TensorLike, beta: TensorLike = 12.0, dtype: DTypeLike = float32, name: str | None = None
) -> Tensor:
    """The window of half-overlapping transforms whose square is the running sum of Kaiser's.

    Shapes: [window_length], an even length; `beta` is a scalar, by which it can be differentiated. Dtypes: floats.

    Derivative: the chain of kaiser_window, running sums and a square root.

    Raises:
        ValueError: the length is negative or not known while the graph is built. TypeError: no float.

    >>> import pullback as pb
    >>> pb.signal.kaiser_bessel_derived_window(8).shape
    TensorShape([8])
    """
    n = _length("kaiser_bessel_derived_window", window_length)
    strength = convert_to_tensor(beta, _floating("kaiser_bessel_derived_window", dtype))
    with strength.graph.within(name or "kaiser_bessel_derived_window"):
        sums = cumsum(kaiser_window(n // 2 + 1, strength, dtype))
        half = sqrt(sums[:-1] / sums[-1])
        return concat([half, reverse(half, [0])], axis=0)


def _length(what: str, value: Any) -> int:
    (n, *more) = static_integers(value, f"{what}: window_length")
    if more or n < 0:
        raise ValueError(f"{what}: window_length must be one integer that is not negative, not {value!r}")
    return n


def _floating(what: str, dtype: Any) -> Any:
    wanted = as_dtype(dtype)
    if wanted not in FLOATING:
        raise TypeError(f"{what}: dtype must be a float, not {wanted!r}")
    return wanted
