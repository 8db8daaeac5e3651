"""Counter-based random numbers: Threefry-2x32 with 20 rounds, and the distributions made of its words.

J. Salmon, M. Moraes, R. Dror, D. Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011. A word depends on a key,
on the number of the element, and on the number of the draw: nothing is carried from element to element, and every array
namespace gives the same words. Uniform numbers agree bit for bit, the others to rounding.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...core.dtypes import bfloat16, float16, float32, float64, int32, uint32, uint64

_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
_PARITY = np.uint32(0x1BD11BDA)
_BITS = {float16: 11, bfloat16: 8, float32: 24}
"""As many bits as the significand has: each sum of such bits is a number of the dtype."""
_BLOCK = 1 << 15
_SMALLEST_TAIL = 0.022750131948179195
"""The probability beyond two standard deviations, on one side."""


def threefry(key: tuple[Any, Any], first: Any, second: Any) -> tuple[Any, Any]:
    """Two words for each pair of words (first, second), all of dtype uint32."""
    schedule = (key[0], key[1], key[0] ^ key[1] ^ _PARITY)
    first, second = first + schedule[0], second + schedule[1]
    for group in range(5):
        for distance in _ROTATIONS[group % 2]:
            first = first + second
            second = (second << np.uint32(distance)) | (second >> np.uint32(32 - distance))
            second = second ^ first
        first = first + schedule[(group + 1) % 3]
        second = second + (schedule[(group + 2) % 3] + np.uint32(group + 1))
    return first, second


def derived_key(xp: Any, seeds: Any) -> tuple[Any, Any]:
    """A key from two integer seeds, as a vector of dtype int32, int64 or uint64."""
    unsigned = seeds.astype(uint64)
    low = (unsigned & np.uint64(0xFFFFFFFF)).astype(uint32)
    high = (unsigned >> np.uint64(32)).astype(uint32)
    first, second = threefry((low[0:1], low[1:2]), high[0:1], high[1:2])
    return first[0], second[0]


def words(xp: Any, key: tuple[Any, Any], draw: Any, shape: tuple[int, ...]) -> tuple[Any, Any]:
    """Two words for each element of an array of `shape`, of the draw number `draw`."""
    size = math.prod(shape)
    if xp is np and size > _BLOCK:
        first, second = _words_by_block(key, np.asarray(draw, uint32), size)
    else:
        first, second = threefry(key, xp.arange(size, dtype=uint32), xp.broadcast_to(xp.asarray(draw, uint32), (size,)))
    return first.reshape(shape), second.reshape(shape)


def _words_by_block(key: tuple[Any, Any], draw: Any, size: int) -> tuple[Any, Any]:
    """With NumPy, in blocks that stay in the cache."""
    first, second = np.empty(size, uint32), np.empty(size, uint32)
    for start in range(0, size, _BLOCK):
        end = min(start + _BLOCK, size)
        numbers = np.arange(start, end, dtype=uint32)
        first[start:end], second[start:end] = threefry(key, numbers, np.broadcast_to(draw, numbers.shape))
    return first, second


def uniform(xp: Any, pair: tuple[Any, Any], dtype: Any) -> Any:
    """Multiples of 2^-b in [0, 1), where b is the length of the significand of `dtype`."""
    del xp
    first, second = pair
    if dtype == float64:
        upper = (first >> np.uint32(5)).astype(float64) * 67108864.0
        return (upper + (second >> np.uint32(6)).astype(float64)) * 2.0**-53
    bits = _BITS[dtype]
    whole = (first >> np.uint32(32 - bits)).astype(int32).astype(float32)
    return (whole * float32.type(2.0**-bits)).astype(dtype)


def normal(xp: Any, pair: tuple[Any, Any], dtype: Any) -> Any:
    """Standard normal numbers, by inversion."""
    magnitude, sign = _magnitude_and_sign(pair, dtype)
    tail = magnitude * magnitude.dtype.type(0.5)
    return (sign * -lower_quantile(xp, tail)).astype(dtype)


def truncated_normal(xp: Any, pair: tuple[Any, Any], dtype: Any) -> Any:
    """Standard normal numbers, given that they lie within two standard deviations, by inversion."""
    magnitude, sign = _magnitude_and_sign(pair, dtype)
    scalar = magnitude.dtype.type
    tail = scalar(_SMALLEST_TAIL) + magnitude * scalar(0.5 - _SMALLEST_TAIL)
    return (sign * -lower_quantile(xp, tail)).astype(dtype)


def integers(xp: Any, pair: tuple[Any, Any], low: Any, high: Any, dtype: Any) -> Any:
    """Integers of [low, high); the remainder of a word, and so biased by less than (high - low) / 2^32, or 2^64."""
    wide = uint64 if dtype.itemsize == 8 else uint32
    word = pair[0]
    if wide == uint64:
        word = (pair[0].astype(uint64) << np.uint64(32)) | pair[1].astype(uint64)
    start, end = xp.asarray(low).astype(wide), xp.asarray(high).astype(wide)
    return (start + word % (end - start)).astype(dtype)


def categories(xp: Any, pair: tuple[Any, Any], logits: Any, dtype: Any) -> Any:
    """The numbers of the largest of `logits` [b, k] plus Gumbel noise [b, n, k]."""
    narrow = float64 if logits.dtype == float64 else float32
    magnitude, _ = _magnitude_and_sign(pair, narrow)
    noise = -xp.log(-xp.log(magnitude))
    return xp.argmax(logits[:, None, :].astype(narrow) + noise, axis=-1).astype(dtype)


def _magnitude_and_sign(pair: tuple[Any, Any], dtype: Any) -> tuple[Any, Any]:
    """Numbers strictly between 0 and 1, and signs: float32, or float64 for that."""
    first, second = pair
    if dtype == float64:
        upper = (first >> np.uint32(5)).astype(float64) * 33554432.0
        magnitude = (upper + (second >> np.uint32(7)).astype(float64) + 0.5) * 2.0**-52
        return magnitude, 1.0 - 2.0 * (first & np.uint32(1)).astype(float64)
    whole = (first >> np.uint32(9)).astype(int32).astype(float32)
    magnitude = (whole + float32.type(0.5)) * float32.type(2.0**-23)
    return magnitude, float32.type(1) - float32.type(2) * (first & np.uint32(1)).astype(int32).astype(float32)


_CENTRE = (
    (3.3871328727963666080e0, 1.3314166789178437745e2, 1.9715909503065514427e3, 1.3731693765509461125e4,
     4.5921953931549871457e4, 6.7265770927008700853e4, 3.3430575583588128105e4, 2.5090809287301226727e3),
    (1.0, 4.2313330701600911252e1, 6.8718700749205790830e2, 5.3941960214247511077e3,
     2.1213794301586595867e4, 3.9307895800092710610e4, 2.8729085735721942674e4, 5.2264952788528545610e3),
)  # fmt: skip
_TAIL = (
    (1.42343711074968357734e0, 4.63033784615654529590e0, 5.76949722146069140550e0, 3.64784832476320460504e0,
     1.27045825245236838258e0, 2.41780725177450611770e-1, 2.27238449892691845833e-2, 7.74545014278341407640e-4),
    (1.0, 2.05319162663775882187e0, 1.67638483018380384940e0, 6.89767334985100004550e-1,
     1.48103976427480074590e-1, 1.51986665636164571966e-2, 5.47593808499534494600e-4, 1.05075007164441684324e-9),
)  # fmt: skip
_FAR_TAIL = (
    (6.65790464350110377720e0, 5.46378491116411436990e0, 1.78482653991729133580e0, 2.96560571828504891230e-1,
     2.65321895265761230930e-2, 1.24266094738807843860e-3, 2.71155556874348757815e-5, 2.01033439929228813265e-7),
    (1.0, 5.99832206555887937690e-1, 1.36929880922735805310e-1, 1.48753612908506148525e-2,
     7.86869131145613259100e-4, 1.84631831751005468180e-5, 1.42151175831644588870e-7, 2.04426310338993978564e-15),
)  # fmt: skip


def lower_quantile(xp: Any, tail: Any) -> Any:
    """The x <= 0 below which a standard normal number lies with probability `tail`, in (0, 1/2].

    Algorithm AS 241, PPND16: M. Wichura, "The percentage points of the normal distribution", Applied Statistics 37,
    1988. Relative error about 1e-16 in float64.
    """
    scalar = tail.dtype.type
    q = tail - scalar(0.5)
    centre = q * _ratio(_CENTRE, scalar(0.180625) - q * q, scalar)
    r = xp.sqrt(-xp.log(tail))
    outside = -_ratio(_TAIL, r - scalar(1.6), scalar)
    if tail.dtype == float64:
        outside = xp.where(r <= 5.0, outside, -_ratio(_FAR_TAIL, r - 5.0, scalar))
    return xp.where(q >= scalar(-0.425), centre, outside)


def _ratio(coefficients: tuple[tuple[float, ...], tuple[float, ...]], x: Any, scalar: Any) -> Any:
    above, below = coefficients
    return _polynomial(above, x, scalar) / _polynomial(below, x, scalar)


def _polynomial(coefficients: tuple[float, ...], x: Any, scalar: Any) -> Any:
    """By Horner's rule; the constant term comes first."""
    total = scalar(coefficients[-1])
    for c in coefficients[-2::-1]:
        total = total * x + scalar(c)
    return total
