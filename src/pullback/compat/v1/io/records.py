"""Record files of TensorFlow 1: writers, iterators and how files are compressed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ....records.files import PathLike, RecordWriter, read_records


class TFRecordCompressionType:
    """The compressions by number."""

    NONE = 0
    ZLIB = 1
    GZIP = 2


_NAMES = {
    TFRecordCompressionType.NONE: "",
    TFRecordCompressionType.ZLIB: "ZLIB",
    TFRecordCompressionType.GZIP: "GZIP",
}


class TFRecordOptions:
    """How a file of records is compressed: "", "ZLIB" or "GZIP", or one of `TFRecordCompressionType`."""

    def __init__(
        self,
        compression_type: Any = None,
        flush_mode: int | None = None,
        input_buffer_size: int | None = None,
        output_buffer_size: int | None = None,
        window_bits: int | None = None,
        compression_level: int | None = None,
        compression_method: int | None = None,
        mem_level: int | None = None,
        compression_strategy: int | None = None,
    ) -> None:
        del flush_mode, input_buffer_size, output_buffer_size, window_bits
        del compression_method, mem_level, compression_strategy
        self.compression_type = compression_type
        self.compression_level = compression_level

    @classmethod
    def get_compression_type_string(cls, options: Any) -> str:
        """The name of a compression: of options, of one of `TFRecordCompressionType`, of None, or itself."""
        found = options.compression_type if isinstance(options, TFRecordOptions) else options
        return "" if found is None else _NAMES.get(found, found)


class TFRecordWriter(RecordWriter):
    """Writes a file of records.

    >>> import tempfile
    >>> import pullback.compat.v1 as tf
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with tf.python_io.TFRecordWriter(folder + "/data.tfrecords") as writer:
    ...         writer.write(b"one")
    ...         writer.write(b"two")
    ...     list(tf.python_io.tf_record_iterator(folder + "/data.tfrecords"))
    [b'one', b'two']
    """

    def __init__(self, path: PathLike, options: Any = None) -> None:
        level = options.compression_level if isinstance(options, TFRecordOptions) else None
        super().__init__(path, TFRecordOptions.get_compression_type_string(options), level)


def tf_record_iterator(path: PathLike, options: Any = None) -> Iterator[bytes]:
    """The records of a file.

    Raises:
        NotFoundError: there is no such file. DataLossError: it is torn or was changed.
    """
    return read_records(path, TFRecordOptions.get_compression_type_string(options))
