"""Summaries of TensorFlow 1: `tf.summary`, `pullback.summary` and the messages, one of which is what a run gives.

>>> import tempfile
>>> import pullback.compat.v1 as tf
>>> message = tf.Summary.FromString(tf.Session().run(tf.summary.scalar("loss", 2.0)))
>>> [(value.tag, value.simple_value) for value in message.value]
[('loss', 2.0)]
>>> with tempfile.TemporaryDirectory() as folder:
...     tf.summary.FileWriterCache.get(folder) is tf.summary.FileWriterCache.get(folder)
True
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import cache, wraps
from importlib.util import find_spec
from typing import Any

import pullback as pb

from ... import summary as today
from ...engines.fetches import Rebuild, register_session_run_conversion_functions
from ...interop.tensorboard import Summary, serialized
from .messages import message


class MessageSummary(Summary):
    """A summary of which a run gives the message, in bytes, where the package tensorboard is installed."""


def _fetched(summary: MessageSummary) -> tuple[Sequence[Any], Rebuild]:
    tags = list(summary)

    def rebuild(values: list[Any]) -> Any:
        found = dict(zip(tags, values, strict=True))
        return found if find_spec("tensorboard") is None else serialized(found)

    return list(summary.values()), rebuild


register_session_run_conversion_functions(MessageSummary, _fetched)


def _with_message(function: Callable[..., Summary | None]) -> Callable[..., Any]:
    @wraps(function)
    def made(*args: Any, **options: Any) -> Any:
        found = function(*args, **options)
        return None if found is None else MessageSummary(found, found.name)

    return made


audio, histogram, image = _with_message(today.audio), _with_message(today.histogram), _with_message(today.image)
scalar, text = _with_message(today.scalar), _with_message(today.text)
tensor_summary = _with_message(today.tensor_summary)
merge, merge_all = _with_message(today.merge), _with_message(today.merge_all)


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
