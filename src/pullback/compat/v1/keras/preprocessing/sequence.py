"""Padding of sequences of different lengths, as arrays of NumPy: `tf.keras.preprocessing.sequence`."""

from __future__ import annotations

from collections.abc import Sequence, Sized
from typing import Any

import numpy as np

_ENDS = ("pre", "post")


def pad_sequences(
    sequences: Sequence[Any],
    maxlen: int | None = None,
    dtype: Any = "int32",
    padding: str = "pre",
    truncating: str = "pre",
    value: Any = 0.0,
) -> np.ndarray[Any, Any]:
    """An array of all sequences [n, maxlen, ...]: shorter ones are filled up with `value`, longer ones cut, at one end.

    Raises:
        ValueError: `padding` or `truncating` is neither "pre" nor "post"; a sequence has no length, or its elements
            another shape; texts are to be filled up with no text.

    >>> import pullback.compat.v1 as tf
    >>> tf.keras.preprocessing.sequence.pad_sequences([[1, 2, 3], [4]], maxlen=2).tolist()
    [[2, 3], [0, 4]]
    """
    if padding not in _ENDS or truncating not in _ENDS:
        raise ValueError(f"pad_sequences: padding={padding!r} and truncating={truncating!r} must be 'pre' or 'post'")
    for x in sequences:
        if not isinstance(x, Sized):
            raise ValueError(f"pad_sequences: each of `sequences` must have a length, not {x!r}")
    longest = max((len(x) for x in sequences), default=0) if maxlen is None else maxlen
    filled = [np.asarray(x) for x in sequences if len(x)]
    inner = filled[0].shape[1:] if filled else ()
    if isinstance(value, str) and np.dtype(dtype).kind not in "OU":
        raise ValueError(f"pad_sequences: {np.dtype(dtype)} cannot hold {value!r}; pass dtype=object")
    padded = np.full((len(sequences), longest, *inner), value, dtype)
    for row, x in zip(padded, sequences, strict=True):
        kept = np.asarray(x[-longest:] if truncating == "pre" else x[:longest], dtype) if len(x) and longest else None
        if kept is None:
            continue
        if kept.shape[1:] != inner:
            raise ValueError(f"pad_sequences: elements of one sequence have shape {kept.shape[1:]}, not {inner}")
        row[slice(-len(kept), None) if padding == "pre" else slice(len(kept))] = kept
    return padded
