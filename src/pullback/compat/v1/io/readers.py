"""Readers of TensorFlow 1: operations that take the name of a file from a queue, and hand out what is in it bit by bit.

A session has a place of its own in the files.

>>> import os, tempfile
>>> import pullback.compat.v1 as tf
>>> with tempfile.TemporaryDirectory() as folder, tf.Session() as session:
...     name = os.path.join(folder, "lines")
...     with tf.gfile.GFile(name, "w") as file:
...         _ = file.write("ab\\ncd\\n")
...     files = tf.train.string_input_producer([name], num_epochs=1)
...     texts = {}
...     for reader in (tf.TextLineReader(), tf.WholeFileReader(), tf.FixedLengthRecordReader(3), tf.IdentityReader()):
...         queue = tf.FIFOQueue(1, tf.string, [[]])
...         session.run(queue.enqueue(name))
...         texts[type(reader).__name__] = session.run(reader.read(queue)[1])
>>> texts["TextLineReader"], texts["WholeFileReader"], texts["FixedLengthRecordReader"]
(b'ab', b'ab\\ncd\\n', b'ab\\n')
>>> tf.TFRecordReader().read(queue)[1].dtype
dtype('O')
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

import pullback as pb

from ....control_flow.host_call import host_call
from ....core.types import tensor_type
from ....records.files import FRAME, read_lines, read_pieces, read_records, read_whole
from ..queues import QueueBase
from .records import TFRecordOptions

Array = np.ndarray[Any, Any]
Pairs = Iterator[tuple[bytes, bytes]]


class _Place:
    """Where a session is: the rest of the file that it reads, and what it has read."""

    def __init__(self) -> None:
        self.rest: Pairs = iter(())
        self.records = 0
        self.files = 0
        self.lock = threading.Lock()


class ReaderBase:
    """What all readers can do; `pairs` gives the keys and values in a file of that name.

    >>> import tempfile
    >>> import pullback.compat.v1 as tf
    >>> with tempfile.NamedTemporaryFile("w") as file, tf.Session() as session:
    ...     print("one\\ntwo", file=file, flush=True)
    ...     names = tf.FIFOQueue(1, tf.string, [[]])
    ...     key, value = tf.TextLineReader().read(names)
    ...     session.run(names.enqueue(file.name))
    ...     session.run(value), session.run(value)
    (b'one', b'two')
    """

    def __init__(self, pairs: Callable[[bytes], Pairs]) -> None:
        self._pairs = pairs
        self._places: WeakKeyDictionary[Any, _Place] = WeakKeyDictionary()

    def read(self, queue: QueueBase, name: str | None = None) -> tuple[pb.Tensor, pb.Tensor]:
        """The next key and value.

        Raises:
            OutOfRangeError: from a run, if the file is at its end and the queue is closed and empty.
        """

        def read(session: Any) -> Sequence[Array]:
            place = self._place(session)
            with place.lock:
                return [np.array(text, object) for text in self._next(place, session, queue)]

        text = tensor_type(pb.string, [])
        key, value = host_call(read, (), [text, text], name or "ReaderRead").outputs
        return key, value

    def read_up_to(self, queue: QueueBase, num_records: Any, name: str | None = None) -> tuple[pb.Tensor, pb.Tensor]:
        """The next `num_records` keys and values; fewer where a file ends before."""

        def read(session: Any, count: Array) -> Sequence[Array]:
            place = self._place(session)
            with place.lock:
                found = [self._next(place, session, queue)]
                for pair in itertools.islice(place.rest, max(int(count) - 1, 0)):
                    place.records += 1
                    found.append(pair)
            return [np.array(column, object) for column in zip(*found, strict=True)]

        texts = tensor_type(pb.string, [None])
        call = host_call(read, [pb.convert_to_tensor(num_records, pb.int64)], [texts, texts], name or "ReaderReadUpTo")
        keys, values = call.outputs
        return keys, values

    def num_records_produced(self, name: str | None = None) -> pb.Tensor:
        """How many values were handed out."""
        return self._number(lambda place: place.records, name or "ReaderNumRecordsProduced")

    def num_work_units_completed(self, name: str | None = None) -> pb.Tensor:
        """How many files were read to their end."""
        return self._number(lambda place: place.files, name or "ReaderNumWorkUnitsCompleted")

    def reset(self, name: str | None = None) -> pb.Operation:
        """The operation that makes it begin anew, with the next file."""

        def reset(session: Any) -> Sequence[Array]:
            self._places[session] = _Place()
            return ()

        return host_call(reset, (), (), name or "ReaderReset")

    def _place(self, session: Any) -> _Place:
        return self._places.setdefault(session, _Place())

    def _next(self, place: _Place, session: Any, queue: QueueBase) -> tuple[bytes, bytes]:
        while True:
            for pair in place.rest:
                place.records += 1
                return pair
            (name,) = queue.contents(session).take(1, False)[0]
            place.rest = self._counted(place, np.array(name, object).item())

    def _counted(self, place: _Place, name: bytes) -> Pairs:
        yield from self._pairs(name)
        place.files += 1

    def _number(self, number: Callable[[_Place], int], name: str) -> pb.Tensor:
        def call(session: Any) -> Sequence[Array]:
            return [np.array(number(self._place(session)), np.int64)]

        return host_call(call, (), [tensor_type(pb.int64, [])], name).outputs[0]


class TFRecordReader(ReaderBase):
    """The records of files; a key is the name of the file and the byte at which the record begins."""

    def __init__(self, name: str | None = None, options: TFRecordOptions | None = None) -> None:
        del name
        compression = TFRecordOptions.get_compression_type_string(options)
        super().__init__(lambda file: _placed(file, read_records(file, compression)))


class TextLineReader(ReaderBase):
    """The lines of files; a key is the name of the file and the number of the line, from 1 on."""

    def __init__(self, skip_header_lines: int | None = None, name: str | None = None) -> None:
        del name
        first = skip_header_lines or 0
        super().__init__(lambda file: itertools.islice(_numbered(file, read_lines(file), 1), first, None))


class FixedLengthRecordReader(ReaderBase):
    """Pieces of `record_bytes` bytes, one each `hop_bytes`, between a header and a footer."""

    def __init__(
        self,
        record_bytes: int,
        header_bytes: int | None = None,
        footer_bytes: int | None = None,
        hop_bytes: int | None = None,
        name: str | None = None,
        encoding: str | None = None,
    ) -> None:
        del name
        bounds = (header_bytes or 0, footer_bytes or 0, hop_bytes or record_bytes)
        super().__init__(lambda file: _numbered(file, read_pieces(file, record_bytes, *bounds, encoding or ""), 0))


class WholeFileReader(ReaderBase):
    """Files: the key is the name, the value what is in it."""

    def __init__(self, name: str | None = None) -> None:
        del name
        super().__init__(_whole)


class IdentityReader(ReaderBase):
    """The names themselves, as keys and as values."""

    def __init__(self, name: str | None = None) -> None:
        del name
        super().__init__(lambda file: iter([(file, file)]))


def _numbered(file: bytes, values: Iterator[bytes], first: int) -> Pairs:
    return ((file + b":%d" % i, value) for i, value in enumerate(values, first))


def _placed(file: bytes, records: Iterator[bytes]) -> Pairs:
    place = 0
    for record in records:
        yield file + b":%d" % place, record
        place += len(record) + FRAME


def _whole(name: bytes) -> Pairs:
    yield name, read_whole(name)
