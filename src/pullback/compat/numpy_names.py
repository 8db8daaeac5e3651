"""NumPy aliases that are gone since TensorFlow 1: `np.float`, `np.int`, `np.Inf` and their like."""

from __future__ import annotations

import inspect
from functools import wraps
from typing import Any

import numpy as np


def _asfarray(a: Any, dtype: Any = np.float64) -> Any:
    """`a` as an array of floats."""
    return np.asarray(a, dtype if np.issubdtype(dtype, np.inexact) else np.float64)


def _in1d(ar1: Any, ar2: Any, assume_unique: bool = False, invert: bool = False) -> Any:
    """For each element of `ar1`, in one row, whether `ar2` has it."""
    return np.isin(np.ravel(ar1), ar2, assume_unique=assume_unique, invert=invert)


def _msort(a: Any) -> Any:
    """`a`, sorted along its first axis."""
    return np.sort(a, axis=0)


_REMOVED = {
    "Inf": np.inf,
    "Infinity": np.inf,
    "NAN": np.nan,
    "NINF": -np.inf,
    "NZERO": -0.0,
    "NaN": np.nan,
    "PINF": np.inf,
    "PZERO": 0.0,
    "alltrue": np.all,
    "asfarray": _asfarray,
    "asscalar": np.ndarray.item,
    "bool": bool,
    "bool8": np.bool_,
    "cfloat": np.complex128,
    "complex": complex,
    "complex_": np.complex128,
    "cumproduct": np.cumprod,
    "float": float,
    "float_": np.float64,
    "in1d": _in1d,
    "infty": np.inf,
    "int": int,
    "int0": np.intp,
    "long": int,
    "longfloat": np.longdouble,
    "mat": np.asmatrix,
    "msort": _msort,
    "object": object,
    "product": np.prod,
    "rank": np.ndim,
    "round_": np.round,
    "row_stack": np.vstack,
    "singlecomplex": np.complex64,
    "sometrue": np.any,
    "str": str,
    "string_": np.bytes_,
    "trapz": np.trapezoid,
    "uint0": np.uintp,
    "unicode": str,
    "unicode_": np.str_,
}


def restore() -> None:
    """Let NumPy have them in this process, as long as it has no others of that name."""
    for name, value in _REMOVED.items():
        if name not in vars(np):
            setattr(np, name, value)
    if "newshape" not in inspect.signature(np.reshape).parameters:
        np.reshape = _reshape


_reshape_today = np.reshape


@wraps(_reshape_today)
def _reshape(a: Any, *args: Any, newshape: Any = None, **kwargs: Any) -> Any:
    """`np.reshape`, whose second parameter was `newshape`."""
    if newshape is not None:
        kwargs["shape"] = newshape
    return _reshape_today(a, *args, **kwargs)
