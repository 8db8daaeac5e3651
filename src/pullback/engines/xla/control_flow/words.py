"""Words: numbers of 64 bits as pairs of 32, which jax hands to Python functions as they are.

A program may call Python from a thread of XLA's own. There jax's switch for numbers of 64 bits is off, and it makes
float32 of float64, int32 of int64, without a word.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

_WORD = np.dtype(np.uint32)


def in_words(x: Any) -> Any:
    """An array of a program, with an axis of words at the end for each number of 64 bits or more."""
    if x.dtype.kind == "c":
        x = jnp.stack([jnp.real(x), jnp.imag(x)], -1)
    return lax.bitcast_convert_type(x, _WORD) if x.dtype.itemsize == 8 else x


def of_words(x: Any, dtype: np.dtype[Any]) -> Any:
    """The array of a program that `in_words` made `x` of."""
    if dtype.kind == "c":
        parts = of_words(x, np.empty(0, dtype).real.dtype)
        return lax.complex(parts[..., 0], parts[..., 1])
    return lax.bitcast_convert_type(x, dtype) if dtype.itemsize == 8 else x


def shape_in_words(x: Any) -> jax.ShapeDtypeStruct:
    """The shape and dtype of what `in_words` makes of an array like `x`."""
    found: jax.ShapeDtypeStruct = jax.eval_shape(in_words, x)
    return found


def host_in_words(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The same words of an array of NumPy's."""
    part = np.empty(0, x.dtype).real.dtype if x.dtype.kind == "c" else x.dtype
    shape = x.shape + (2,) * (x.dtype.kind == "c")
    flat = np.ascontiguousarray(x).reshape(-1).view(part)
    return flat.view(_WORD).reshape(*shape, 2) if part.itemsize == 8 else flat.reshape(shape)


def host_of_words(x: np.ndarray[Any, Any], dtype: np.dtype[Any], rank: int) -> np.ndarray[Any, Any]:
    """The array of NumPy's, of so many axes, that has these words."""
    return np.ascontiguousarray(x).reshape(-1).view(dtype).reshape(x.shape[:rank])
