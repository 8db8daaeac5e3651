"""Numbers as users have them: arrays of another byte order, arrays of objects, extended precision, texts of numbers."""

from __future__ import annotations

from decimal import Decimal
from numbers import Number, Real
from typing import Any

import numpy as np

from ...core.dtypes import COMPLEX, FLOATING, INTEGER, DType

_EXTENDED = {np.dtype(np.longdouble): FLOATING | COMPLEX, np.dtype(np.clongdouble): COMPLEX}
"""The dtypes that arrays of extended precision are rounded to, where one of these is asked for."""


def read(value: Any, dtype: DType | None) -> np.ndarray[Any, Any]:
    """The array that NumPy makes of `value`, in this machine's byte order.

    With a `dtype` asked for, objects that are numbers are what NumPy makes of a list of them, as in a column of a table
    that has texts in others, and numbers of extended precision are rounded.

    Raises:
        ValueError: `value` is not rectangular.
    """
    array = np.asarray(value)
    if not array.dtype.isnative:
        return array.astype(array.dtype.newbyteorder("="))
    if array.dtype == object and dtype is not None:
        return _of_objects(array)
    if isinstance(dtype, np.dtype) and dtype in _EXTENDED.get(array.dtype, ()):
        return array.astype(dtype)
    return array


def _of_objects(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Numbers of a dtype in place of objects, where all of them are numbers."""
    if not all(isinstance(x, Number | np.bool_) for x in array.flat):
        return array
    found = np.array(array.tolist())
    if found.dtype == object and all(isinstance(x, Real | Decimal) for x in array.flat):
        return array.astype(np.float64)
    return found


def knows_its_dtype(value: Any) -> bool:
    """Whether `value` is an array, NumPy's or one that NumPy reads without a look at each number."""
    if isinstance(value, np.ndarray | np.generic) or hasattr(value, "__array__"):
        return True
    try:
        memoryview(value)
    except TypeError:
        return False
    return True


def without_fractions(value: Any, dtype: Any) -> Any:
    """Floats that are given where whole numbers are taken, without their fractions if they fit; all else as it is."""
    if isinstance(value, int) or dtype not in INTEGER:
        return value
    try:
        array = read(value, dtype)
    except ValueError:
        return value
    if array.dtype.kind != "f":
        return value
    limits, whole = np.iinfo(dtype), np.trunc(array.astype(np.float64))
    fits = (whole >= float(limits.min)) & (whole < float(limits.max) + 1)
    return whole.astype(dtype) if fits.all() else value


def is_text(value: Any) -> bool:
    """Whether the first element of `value` is a text."""
    if isinstance(value, np.ndarray) and value.dtype.kind in "OSU":
        value = next(value.flat, b"")
    while isinstance(value, list | tuple) and value:
        value = value[0]
    return isinstance(value, str | bytes)


def parsed(value: Any, dtype: Any) -> Any:
    """Texts that are numbers, where these are taken, as numbers; all else as it is."""
    if not is_text(value) or dtype not in INTEGER | FLOATING:
        return value
    try:
        return np.asarray(value).astype(dtype if dtype in INTEGER else np.float64)
    except ValueError:
        return value
