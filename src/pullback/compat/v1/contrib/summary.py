"""Summaries that are written when they run: `tf.contrib.summary`.

A writer is made the default one, for the rest of the program or a block; a summary is then an operation that writes its
value, where it is to be recorded. `all_summary_ops` are those operations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

import pullback as pb

from ....core.contexts import in_graph_of_inputs
from ....core.typing import TensorLike
from ....interop.summary_values import Tag

_OPERATIONS = "_SUMMARY_V2"
_WRITERS = "_SUMMARY_WRITER_INIT_V2"
_writer: ContextVar[SummaryWriter | None] = ContextVar("writer", default=None)
_recorded: ContextVar[Any] = ContextVar("recorded", default=False)


class SummaryWriter:
    """A file of summaries, which is made when the first one is written, or its initializer runs."""

    def __init__(self, make: Callable[[], pb.summary.FileWriter]) -> None:
        self._make = make
        self._made: pb.summary.FileWriter | None = None

    def writer(self) -> pb.summary.FileWriter:
        """What writes."""
        if self._made is None:
            self._made = self._make()
        return self._made

    def set_as_default(self) -> None:
        """Let all summaries that follow be written here."""
        _writer.set(self)

    @contextmanager
    def as_default(self) -> Iterator[SummaryWriter]:
        """A block, whose summaries are written here."""
        token = _writer.set(self)
        try:
            yield self
        finally:
            _writer.reset(token)

    def init(self) -> pb.Operation:
        """An operation that makes the file."""
        return _acting(lambda: self.writer().flush(), "init")

    def flush(self) -> pb.Operation:
        """An operation that writes what is waiting."""
        return _acting(lambda: self.writer().flush(), "flush")

    def close(self) -> pb.Operation:
        """An operation that writes what is waiting, and closes the file."""
        return _acting(lambda: self.writer().close(), "close")


def create_file_writer(
    logdir: str | None,
    max_queue: int | None = None,
    flush_millis: int | None = None,
    filename_suffix: str | None = None,
    name: str | None = None,
) -> SummaryWriter | None:
    """A writer into the folder `logdir`; None for None.

    >>> import tempfile
    >>> import pullback.compat.v1 as tf
    >>> with tempfile.TemporaryDirectory() as folder, tf.Session() as session:
    ...     writer = tf.contrib.summary.create_file_writer(folder)
    ...     with writer.as_default(), tf.contrib.summary.always_record_summaries():
    ...         _ = tf.contrib.summary.scalar("loss", 2.0, step=1)
    ...     session.run(tf.contrib.summary.all_summary_ops())
    ...     session.run(writer.close())
    [None]
    """
    del name
    if logdir is None:
        return None
    seconds = 120 if flush_millis is None else max(1, flush_millis // 1000)
    made = SummaryWriter(
        lambda: pb.summary.FileWriter(logdir, None, max_queue or 10, seconds, filename_suffix=filename_suffix)
    )
    pb.get_default_graph().add_to_collection(_WRITERS, made)
    return made


create_summary_file_writer = create_file_writer


@in_graph_of_inputs
def scalar(name: str, tensor: TensorLike, family: str | None = None, step: TensorLike | None = None) -> pb.Operation:
    """An operation that writes one number."""
    return _summary("scalar", name, tensor, family, step)


@in_graph_of_inputs
def histogram(name: str, tensor: TensorLike, family: str | None = None, step: TensorLike | None = None) -> pb.Operation:
    """An operation that writes how elements are spread."""
    return _summary("histogram", name, tensor, family, step)


@in_graph_of_inputs
def image(
    name: str,
    tensor: TensorLike,
    bad_color: object = None,
    max_images: int = 3,
    family: str | None = None,
    step: TensorLike | None = None,
) -> pb.Operation:
    """An operation that writes the first `max_images` images."""
    del bad_color
    return _summary("image", name, tensor, family, step, max_images)


@in_graph_of_inputs
def audio(
    name: str,
    tensor: TensorLike,
    sample_rate: float,
    max_outputs: int,
    family: str | None = None,
    step: TensorLike | None = None,
) -> pb.Operation:
    """An operation that writes the first `max_outputs` sounds."""
    return _summary("audio", name, tensor, family, step, max_outputs, float(sample_rate))


@in_graph_of_inputs
def generic(
    name: str, tensor: TensorLike, metadata: object = None, family: str | None = None, step: TensorLike | None = None
) -> pb.Operation:
    """An operation that writes a tensor."""
    del metadata
    return _summary("tensor", name, tensor, family, step)


def always_record_summaries() -> AbstractContextManager[None]:
    """A block whose summaries are written."""
    return record_summaries_if(True)


def never_record_summaries() -> AbstractContextManager[None]:
    """A block whose summaries are not written."""
    return record_summaries_if(False)


def record_summaries_every_n_global_steps(n: int, global_step: Any = None) -> AbstractContextManager[None]:
    """A block whose summaries are written in each `n`th step."""
    step = pb.train.get_or_create_global_step() if global_step is None else global_step
    return record_summaries_if(pb.equal(pb.convert_to_tensor(step) % n, 0))


@contextmanager
def record_summaries_if(condition: Any) -> Iterator[None]:
    """A block whose summaries are written where the condition, a tensor or truth value, holds."""
    token = _recorded.set(condition)
    try:
        yield
    finally:
        _recorded.reset(token)


def should_record_summaries() -> Any:
    """Whether summaries are written here: a tensor, or a truth value."""
    return _recorded.get()


def all_summary_ops() -> list[pb.Operation]:
    """The operations of the graph that write summaries."""
    found: list[pb.Operation] = pb.get_default_graph().get_collection(_OPERATIONS)
    return found


def summary_writer_initializer_op() -> list[pb.Operation]:
    """The operations that make the files of all writers."""
    return [writer.init() for writer in pb.get_default_graph().get_collection(_WRITERS)]


def initialize(graph: object = None, session: Any = None) -> None:
    """Make the files of all writers."""
    del graph, session
    for writer in pb.get_default_graph().get_collection(_WRITERS):
        writer.writer()


def flush(writer: SummaryWriter | None = None, name: str | None = None) -> pb.Operation:
    """An operation that writes what is waiting, of the default writer unless one is given."""
    chosen = writer or _writer.get()
    return pb.group(name=name) if chosen is None else chosen.flush()


def _summary(
    kind: str, name: str, tensor: Any, family: str | None, step: Any, most: int = 0, rate: float = 0.0
) -> pb.Operation:
    """The operation that writes a value, nothing where there is no writer, or it is not to be recorded."""
    writer, recorded = _writer.get(), _recorded.get()
    if writer is None or recorded is False:
        return pb.group(name=f"{name}/nothing")
    tag = Tag(f"{family}/{name}" if family else name, kind, most, rate)

    def write(holds: Any, value: Any, number: Any) -> None:
        if holds:
            writer.writer().add_summary({tag: value.item() if value.dtype == object else value}, int(number))

    place = pb.train.get_or_create_global_step() if step is None else step
    inputs = [np.array(recorded) if isinstance(recorded, bool) else recorded, tensor, place]
    made: pb.Operation = pb.numpy_function(write, inputs, [], name=f"{name}/write")
    pb.get_default_graph().add_to_collection(_OPERATIONS, made)
    return made


def _acting(function: Callable[[], object], name: str) -> pb.Operation:
    def act() -> None:
        function()

    made: pb.Operation = pb.numpy_function(act, [], [], name=name)
    return made
