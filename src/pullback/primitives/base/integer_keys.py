"""Numbers as integers in their order, which are compared and sorted several times as fast.

Between floats NaN and zeros of either sign are minded; a sort of numbers and places calls a function for each
comparison, on XLA, or merges. So a number of up to 32 bits and its place are one integer, and numbers of 64 bits are
sorted by their lower halves first. The places of a million floats: on XLA 41 ms (260), with NumPy 13 (103).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.dtypes import FLOATING
from .precision import widened

_HALF = 32
_LOWER = (1 << _HALF) - 1
_MOST = 1 << (_HALF - 1)
_MANY = 2048


def keys_of(xp: Any, x: Any, *, has_one_zero: bool = True) -> Any:
    """Real numbers as signed integers in their order, NaN above all; zeros of either sign are one, or -0 below 0."""
    if x.dtype not in FLOATING:
        return _signed(x)
    wide, whole = (x, np.int64) if x.dtype.itemsize == 8 else (x.astype(np.float32), np.int32)
    bits = xp.where(wide == wide, wide, np.asarray(np.nan, wide.dtype)).view(whole)
    return _ordered(xp, xp.where(bits == np.iinfo(whole).min, np.asarray(0, whole), bits) if has_one_zero else bits)


def floats_of(xp: Any, keys: Any) -> Any:
    """The floats, of 32 or 64 bits, of which these are the keys."""
    return _ordered(xp, keys).view(np.dtype(f"float{8 * keys.dtype.itemsize}"))


def _signed(x: Any) -> Any:
    if x.dtype.kind == "i":
        return x
    if x.dtype.itemsize < 4:
        return x.astype(np.int32)
    bits = 8 * x.dtype.itemsize
    return (x ^ np.asarray(1 << (bits - 1), x.dtype)).view(np.dtype(f"int{bits}"))


def _ordered(xp: Any, bits: Any) -> Any:
    """The bits of floats as integers in their order, and such integers as bits again."""
    return xp.where(bits < 0, bits ^ np.asarray(np.iinfo(bits.dtype).max, bits.dtype), bits)


def stable_order(xp: Any, x: Any, axis: int = -1) -> Any:
    """The places of the elements along an axis in ascending order, NaN last; equals in their order."""
    if xp is np and x.size >= _MANY and has_order_of_keys(x, axis):
        return order_of_keys(xp, x, axis)
    return xp.argsort(widened(x), axis=axis, stable=True)


def has_order_of_keys(x: Any, axis: int) -> bool:
    """Whether the elements are numbers that have keys, and their places along an axis have less than 32 bits."""
    if not x.ndim:
        return False
    length = x.shape[axis]
    return (x.dtype in FLOATING or x.dtype.kind in "iub") and isinstance(length, int) and length < _MOST


def order_of_keys(xp: Any, x: Any, axis: int) -> Any:
    """`stable_order` by the keys: of the upper halves, those in the order of the lower."""
    keys = xp.moveaxis(keys_of(xp, x), axis, -1)
    if keys.dtype.itemsize <= 4:
        order = _order_of_halves(xp, keys)
    else:
        first = _order_of_halves(xp, (keys & _LOWER) - _MOST)
        then = _order_of_halves(xp, xp.take_along_axis(keys >> _HALF, first, axis=-1))
        order = xp.take_along_axis(first, then, axis=-1)
    return xp.moveaxis(order, -1, axis)


def _order_of_halves(xp: Any, keys: Any) -> Any:
    packed = xp.sort((keys.astype(np.int64) << _HALF) | xp.arange(keys.shape[-1], dtype=np.int64), axis=-1)
    return (packed & _LOWER).astype(np.int32)
