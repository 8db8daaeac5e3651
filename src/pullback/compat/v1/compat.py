"""Texts and paths of TensorFlow 1: `tf.compat`."""

from __future__ import annotations

import os
from types import ModuleType
from typing import Any

import numpy as np

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


def __getattr__(name: str) -> ModuleType:
    if name == "v1":
        from .. import v1

        return v1
    raise AttributeError(f"module 'tensorflow.compat' has no attribute '{name}'")
