"""NumPy aliases that are gone since TensorFlow 1: `np.float`, `np.int`, `np.Inf` and their like."""

from __future__ import annotations

import inspect
from functools import wraps
from typing import Any

import numpy as np

_REMOVED = {
    "Inf": np.inf,
    "NaN": np.nan,
    "alltrue": np.all,
    "bool": bool,
    "complex": complex,
    "complex_": np.complex128,
    "cumproduct": np.cumprod,
    "float": float,
    "float_": np.float64,
    "infty": np.inf,
    "int": int,
    "long": int,
    "object": object,
    "product": np.prod,
    "sometrue": np.any,
    "str": str,
    "string_": np.bytes_,
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
