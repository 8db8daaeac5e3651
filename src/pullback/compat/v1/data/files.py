"""Datasets of files: the lines of texts, records, pieces of one length, names that match a pattern."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from glob import glob
from typing import Any
from weakref import ref

import numpy as np

import pullback as pb

from ....control_flow.host_call import host_call
from ....core.types import tensor_type
from ....core.typing import TensorLike
from ....primitives.creation.constant import as_array
from ....records.files import RecordWriter, read_lines, read_pieces, read_records, window_of
from .dataset import Dataset, Element, value_of
from .functions import Pass
from .structure import as_leaves, leaves


def TextLineDataset(
    filenames: Any,
    compression_type: str | None = None,
    buffer_size: Any = None,
    num_parallel_reads: Any = None,
    name: str | None = None,
) -> Dataset:
    """The dataset of the lines of files, as bytes, without their ends.

    The names are one text, several, or a dataset of them. `compression_type`: "", "ZLIB" or "GZIP".

    Raises:
        ValueError: another compression. From a run, see `read_lines`.
    """
    del buffer_size, num_parallel_reads, name
    return of_files(filenames, lambda name: read_lines(name, compression_type or ""), compression_type)


def TFRecordDataset(
    filenames: Any,
    compression_type: str | None = None,
    buffer_size: Any = None,
    num_parallel_reads: Any = None,
    name: str | None = None,
) -> Dataset:
    """The dataset of the records of files, as bytes; see `TextLineDataset`.

    >>> import tempfile
    >>> import pullback.compat.v1 as tf
    >>> with tempfile.TemporaryDirectory() as folder, tf.Session() as session:
    ...     with tf.python_io.TFRecordWriter(folder + "/x") as writer:
    ...         writer.write(b"one")
    ...     session.run(tf.data.TFRecordDataset(folder + "/x").make_one_shot_iterator().get_next())
    b'one'
    """
    del buffer_size, num_parallel_reads, name
    return of_files(filenames, lambda name: read_records(name, compression_type or ""), compression_type)


def FixedLengthRecordDataset(
    filenames: Any,
    record_bytes: int,
    header_bytes: int | None = None,
    footer_bytes: int | None = None,
    buffer_size: Any = None,
    compression_type: str | None = None,
    num_parallel_reads: Any = None,
    name: str | None = None,
) -> Dataset:
    """The dataset of the pieces of one length that files consist of, between a header and a footer."""
    del buffer_size, num_parallel_reads, name
    bounds = (record_bytes, header_bytes or 0, footer_bytes or 0, None, compression_type or "")
    return of_files(filenames, lambda name: read_pieces(name, *bounds), compression_type)


def list_files(file_pattern: Any, shuffle: bool | None = None, seed: int | None = None) -> Dataset:
    """The dataset of the names of files that match a pattern, or one of several, in another order each time.

    Raises:
        InvalidArgumentError: from a run, if no file matches.
    """
    leaf = as_leaves(file_pattern)

    def elements(p: Pass) -> Iterator[Element]:
        patterns = [os.fsdecode(text) for text in np.ravel(value_of(leaf, p))]
        found = sorted({path for pattern in patterns for path in glob(pattern)})
        if not found:
            raise pb.errors.InvalidArgumentError(f"Dataset.list_files: no files match {', '.join(patterns)}")
        return ([as_array(path, pb.string)] for path in found)

    names = Dataset(tensor_type(pb.string, []), [] if isinstance(leaf, np.ndarray) else [leaf], elements)
    return names if shuffle is False else names.shuffle(1 << 30, seed)


def of_files(filenames: Any, read: Callable[[Any], Iterator[bytes]], compression: str | None) -> Dataset:
    """The dataset of what `read` gives for each name."""
    window_of(compression or "")
    if isinstance(filenames, Dataset):
        return filenames.flat_map(lambda name: of_files(name, read, compression))
    leaf = as_leaves(filenames)

    def elements(p: Pass) -> Iterator[Element]:
        for name in np.ravel(value_of(leaf, p)):
            for text in read(os.fsdecode(name)):
                yield [np.array(text, object)]

    return Dataset(tensor_type(pb.string, []), [] if isinstance(leaf, np.ndarray) else [leaf], elements)


class TFRecordWriter:
    """Writes a dataset of texts into a file of records: `tf.data.experimental.TFRecordWriter`."""

    def __init__(self, filename: TensorLike, compression_type: str | None = None) -> None:
        window_of(compression_type or "")
        self._filename, self._compression = filename, compression_type or ""

    def write(self, dataset: Dataset) -> pb.Operation:
        """The operation that writes the elements of `dataset`, all of them.

        Raises:
            TypeError: the elements are no texts.

        >>> import tempfile
        >>> import pullback.compat.v1 as tf
        >>> with tempfile.NamedTemporaryFile() as file, tf.Session() as session:
        ...     texts = tf.data.Dataset.from_tensor_slices(["one", "two"])
        ...     session.run(tf.data.experimental.TFRecordWriter(file.name).write(texts))
        ...     list(tf.python_io.tf_record_iterator(file.name))
        [b'one', b'two']
        """
        if [kind.dtype for kind in leaves(dataset.element_spec)] != [pb.string]:
            raise TypeError(
                f"TFRecordWriter.write: the elements are {dataset.element_spec}; they must be one text each"
            )

        def write(session: Any, name: Any, *values: Any) -> tuple[()]:
            with RecordWriter(os.fsdecode(name.item()), self._compression) as writer:
                for (text,) in dataset.elements(Pass(ref(session), dict(zip(dataset.inputs, values, strict=True)))):
                    writer.write(np.array(text, object).item())
            return ()

        return host_call(write, [pb.convert_to_tensor(self._filename), *dataset.inputs], (), "DatasetToTFRecord")
