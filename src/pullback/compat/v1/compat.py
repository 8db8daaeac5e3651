"""Texts and paths of TensorFlow 1: `tf.compat`."""

from __future__ import annotations

import os
from types import ModuleType
from typing import Any

import numpy as np

import pullback as pb

from ...core.dimensions import Dimension

integral_types = (int, np.integer)
real_types = (float, int, np.integer, np.floating)
complex_types = (complex, float, int, np.number)
bytes_or_text_types = (bytes, str)


def as_bytes(bytes_or_text: bytes | str, encoding: str = "utf-8") -> bytes:
    """A text as bytes; bytes as they are."""
    return bytes_or_text.encode(encoding) if isinstance(bytes_or_text, str) else bytes(bytes_or_text)


def as_text(bytes_or_text: bytes | str, encoding: str = "utf-8") -> str:
    """Bytes as a text; a text as it is."""
    return bytes_or_text if isinstance(bytes_or_text, str) else bytes(bytes_or_text).decode(encoding)


as_str = as_text


def as_str_any(value: Any) -> str:
    """Bytes as a text, all else as `str` shows it."""
    return as_text(value) if isinstance(value, bytes) else str(value)


def path_to_str(path: Any) -> Any:
    """A path as a text; all else as it is."""
    return os.fspath(path) if isinstance(path, os.PathLike) else path


def dimension_value(dimension: Any) -> int | None:
    """A length as a number, None where it is not known; of a number that number."""
    return None if dimension is None else Dimension(dimension).value


def dimension_at_index(shape: Any, index: int) -> Any:
    """The length of an axis, of which nothing is known where the rank of the shape is not."""
    known = pb.TensorShape(shape)
    return Dimension(None if known.rank is None else known.as_list()[index])


def forward_compatible(year: int, month: int, day: int) -> bool:
    """True: what was to change on a day has changed."""
    del year, month, day
    return True


def __getattr__(name: str) -> ModuleType:
    if name == "v1":
        from .. import v1

        return v1
    raise AttributeError(f"module 'tensorflow.compat' has no attribute '{name}'")
