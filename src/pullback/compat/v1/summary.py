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
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, wraps
from importlib.util import find_spec
from inspect import signature
from typing import Any

import pullback as pb

from ... import summary as today
from ...core.operation import AbstractTensorLike
from ...engines.default_session import evaluate
from ...engines.fetches import Rebuild, register_session_run_conversion_functions
from ...interop.tensorboard import Summary, serialized
from .messages import message


class MessageSummary(AbstractTensorLike):
    """A summary, which stands for a text: its message, in bytes, where the package tensorboard is installed.

    A run that fetches it fetches the numbers, and makes the message of them.
    """

    dtype = pb.string
    shape = pb.TensorShape.SCALAR

    def __init__(self, parts: Summary) -> None:
        self.parts = parts
        self.name = parts.name
        self._text: pb.Tensor | None = None

    def as_tensor(self) -> pb.Tensor:
        """The operation that makes the message."""
        if self._text is None:
            tags = list(self.parts)

            def text(*values: Any) -> bytes:
                return serialized(dict(zip(tags, values, strict=True)))

            with self.graph.as_default(), pb.name_scope(None):
                name = f"{self.name.partition(':')[0]}/message"
                self._text = pb.py_func(text, list(self.parts.values()), pb.string, name=name)
                self._text.set_shape([])
        return self._text

    graph_element = as_tensor

    @property
    def op(self) -> pb.Operation:
        """The operation that makes the message."""
        return self.as_tensor().op

    @property
    def graph(self) -> pb.Graph:
        """The graph of its tensors."""
        return self.parts.graph

    def eval(self, feed_dict: Mapping[Any, Any] | None = None, session: Any = None) -> Any:
        """What a run gives for it in `session`, or in the default session; see `FileWriter.add_summary`.

        Raises:
            ValueError: there is no session.
        """
        return evaluate(self, feed_dict, session, "eval")


def _fetched(summary: MessageSummary) -> tuple[Sequence[Any], Rebuild]:
    tags = list(summary.parts)

    def rebuild(values: list[Any]) -> Any:
        found = dict(zip(tags, values, strict=True))
        return found if find_spec("tensorboard") is None else serialized(found)

    return list(summary.parts.values()), rebuild


register_session_run_conversion_functions(MessageSummary, _fetched)


def _with_message(function: Callable[..., Summary]) -> Callable[..., Any]:
    parameters = signature(function)

    @wraps(function)
    def made(*args: Any, **options: Any) -> MessageSummary:
        given = parameters.bind(*args, **options)
        keys = given.arguments.get("collections")
        given.arguments["collections"] = []
        return _gathered(function(*given.args, **given.kwargs), [pb.GraphKeys.SUMMARIES] if keys is None else keys)

    return made


def _gathered(summary: Summary, keys: Iterable[str]) -> MessageSummary:
    made = MessageSummary(summary)
    for key in keys:
        made.graph.add_to_collection(key, made)
    return made


audio, histogram, image = _with_message(today.audio), _with_message(today.histogram), _with_message(today.image)
scalar, text = _with_message(today.scalar), _with_message(today.text)
tensor_summary = _with_message(today.tensor_summary)


@wraps(today.merge)
def merge(inputs: Iterable[Any], collections: Sequence[str] | None = None, name: str | None = None) -> MessageSummary:
    parts = [s.parts if isinstance(s, MessageSummary) else s for s in inputs]
    return _gathered(today.merge(parts, None, name), collections or ())


@wraps(today.merge_all)
def merge_all(
    key: str = pb.GraphKeys.SUMMARIES, scope: str | None = None, name: str | None = None
) -> MessageSummary | None:
    found = pb.get_default_graph().get_collection(key)
    chosen = [s for s in found if scope is None or re.match(scope, s.name)]
    return merge(chosen, None, name) if chosen else None


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
