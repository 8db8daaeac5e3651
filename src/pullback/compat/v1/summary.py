"""Summaries of TensorFlow 1: `tf.summary`, `pullback.summary` and the messages.

>>> import tempfile
>>> import pullback.compat.v1 as tf
>>> with tempfile.TemporaryDirectory() as folder:
...     tf.summary.FileWriterCache.get(folder) is tf.summary.FileWriterCache.get(folder)
True
"""

from __future__ import annotations

import os
from functools import cache
from typing import Any

import pullback as pb

from ... import summary as today
from .messages import message


class FileWriterCache:
    """One writer for each folder, which all who ask share."""

    @staticmethod
    def get(logdir: str) -> pb.summary.FileWriter:
        """The writer of `logdir`, made the first time."""
        return _writer(os.path.abspath(logdir))

    @staticmethod
    def clear() -> None:
        """Close and forget all writers."""
        _writer.cache_clear()


@cache
def _writer(logdir: str) -> pb.summary.FileWriter:
    return pb.summary.FileWriter(logdir)


def __getattr__(name: str) -> Any:
    return getattr(today, name) if hasattr(today, name) else message(name)


def __dir__() -> list[str]:
    return dir(today)
