"""Datasets of tables and of examples in files, in batches by name: `CsvDataset`, `make_csv_dataset` and its like.

>>> import tempfile
>>> import pullback.compat.v1 as tf
>>> with tempfile.NamedTemporaryFile("w") as file, tf.Session() as session:
...     print("age,city", "30,Rome", "40,Oslo", sep=chr(10), file=file, flush=True)
...     rows = tf.data.experimental.CsvDataset(file.name, [tf.int32, tf.string], header=True)
...     print(session.run(rows.make_one_shot_iterator().get_next()))
...     batches = tf.data.experimental.make_csv_dataset(file.name, 2, label_name="city", shuffle=False)
...     features, label = session.run(batches.make_one_shot_iterator().get_next())
...     print(features["age"], label)
(np.int32(30), b'Rome')
[30 40] [b'Rome' b'Oslo']
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from glob import glob
from itertools import islice
from typing import Any

import numpy as np

import pullback as pb

from ....records.files import read_lines
from ....records.parsing import parse_example
from ..io.decoding import decode_csv
from .dataset import Dataset
from .files import TFRecordDataset, of_files

_KINDS: tuple[tuple[Any, Callable[[str], Any]], ...] = (
    (pb.int32, np.int32),
    (pb.int64, np.int64),
    (pb.float32, float),
)


def CsvDataset(
    filenames: Any,
    record_defaults: Sequence[Any],
    compression_type: str | None = None,
    buffer_size: int | None = None,
    header: bool = False,
    field_delim: str = ",",
    use_quote_delim: bool = True,
    na_value: str = "",
    select_cols: Sequence[int] | None = None,
    exclude_cols: Sequence[int] | None = None,
) -> Dataset:
    """The dataset of the rows of tables in files: a tuple of the fields of each, as `tf.decode_csv` reads them.

    The first line of each file is left out if it is a `header`. A field ends with its line at the latest. Fields are
    those of `select_cols`, or all but `exclude_cols`.

    Raises:
        ValueError: another compression, `select_cols` and `exclude_cols` at once, or not as many as `record_defaults`.
    """
    del buffer_size
    if select_cols is not None and exclude_cols is not None:
        raise ValueError("CsvDataset: select_cols and exclude_cols are both given; give one of them")
    if exclude_cols is not None:
        select_cols = [i for i in range(len(record_defaults) + len(exclude_cols)) if i not in exclude_cols]
    compression = compression_type or ""
    lines = of_files(filenames, lambda name: islice(read_lines(name, compression), int(header), None), compression)
    return lines.map(
        lambda line: tuple(decode_csv(line, record_defaults, field_delim, use_quote_delim, None, na_value, select_cols))
    )


def make_csv_dataset(
    file_pattern: str | Sequence[str],
    batch_size: int,
    column_names: Sequence[str] | None = None,
    column_defaults: Sequence[Any] | None = None,
    label_name: str | None = None,
    select_columns: Sequence[int | str] | None = None,
    field_delim: str = ",",
    use_quote_delim: bool = True,
    na_value: str = "",
    header: bool = True,
    num_epochs: int | None = None,
    shuffle: bool = True,
    shuffle_buffer_size: int = 10000,
    shuffle_seed: int | None = None,
    prefetch_buffer_size: int | None = None,
    num_parallel_reads: int | None = None,
    sloppy: bool = False,
    num_rows_for_inference: int | None = 100,
    compression_type: str | None = None,
    ignore_errors: bool = False,
) -> Dataset:
    """Batches of the columns of tables in files, by name; with `label_name` pairs of these and of that column.

    Names are those of the first line unless `column_names` are given; without `column_defaults` the first rows say
    which columns are int32, int64, float32 or texts. `num_epochs` passes are made, without end if None.

    Raises:
        ValueError: no file matches, there are no names, or a column is none of them.
    """
    del prefetch_buffer_size, num_parallel_reads, sloppy
    files = _matching("make_csv_dataset", file_pattern)
    reading = _Reading(files[0], compression_type or "", field_delim, use_quote_delim)
    names = list(column_names) if column_names is not None else reading.names(header)
    chosen = _chosen(names, select_columns)
    picked = [names[i] for i in chosen]
    if label_name is not None and label_name not in picked:
        raise ValueError(f"`label_name` provided must be one of the columns: {picked}. Received: {label_name}.")
    defaults = column_defaults or reading.defaults(chosen, header, num_rows_for_inference, na_value)
    rows = CsvDataset(files, defaults, compression_type, None, header, field_delim, use_quote_delim, na_value, chosen)
    if ignore_errors:
        rows = rows.ignore_errors()
    batches = _batched(rows, batch_size, num_epochs, shuffle, shuffle_buffer_size, shuffle_seed, False)

    def by_name(*columns: Any) -> Any:
        return _with_label(dict(zip(picked, columns, strict=True)), label_name)

    return batches.map(by_name)


def make_batched_features_dataset(
    file_pattern: str | Sequence[str],
    batch_size: int,
    features: Mapping[str, Any],
    reader: Callable[..., Dataset] = TFRecordDataset,
    label_key: str | None = None,
    reader_args: Sequence[Any] | None = None,
    num_epochs: int | None = None,
    shuffle: bool = True,
    shuffle_buffer_size: int = 10000,
    shuffle_seed: int | None = None,
    prefetch_buffer_size: int | None = None,
    reader_num_threads: int | None = None,
    parser_num_threads: int | None = None,
    sloppy_ordering: bool = False,
    drop_final_batch: bool = False,
) -> Dataset:
    """Batches of what `tf.parse_example` finds in files of examples; with `label_key` pairs of these and of that.

    Raises:
        ValueError: no file matches, or `label_key` is none of `features`.
    """
    del prefetch_buffer_size, reader_num_threads, parser_num_threads, sloppy_ordering
    if label_key is not None and label_key not in features:
        raise ValueError(f"`label_key` ({label_key}) must be one of `features`: {sorted(features)}")
    files = _matching("make_batched_features_dataset", file_pattern)
    examples = reader(files, *(reader_args or ()))
    batches = _batched(examples, batch_size, num_epochs, shuffle, shuffle_buffer_size, shuffle_seed, drop_final_batch)
    return batches.map(lambda texts: _with_label(dict(parse_example(texts, features)), label_key))


class _Reading:
    """What the first file of a table says about all of them."""

    def __init__(self, path: str, compression: str, delimiter: str, quotes: bool) -> None:
        self._path, self._compression, self._delimiter = path, compression, delimiter
        self._quoting: Any = csv.QUOTE_MINIMAL if quotes else csv.QUOTE_NONE

    def rows(self, start: int, count: int | None) -> list[list[str]]:
        """Rows of fields."""
        lines = islice(read_lines(self._path, self._compression), start, None if count is None else start + count)
        return list(csv.reader((x.decode() for x in lines), delimiter=self._delimiter, quoting=self._quoting))

    def names(self, header: bool) -> list[str]:
        """The fields of the first line."""
        if not header:
            raise ValueError("make_csv_dataset: the files have no header; give column_names=")
        return self.rows(0, 1)[0]

    def defaults(self, columns: Sequence[int], header: bool, count: int | None, na_value: str) -> list[Any]:
        """A value for each column where its field is empty, of the dtype that its fields have."""
        rows = self.rows(int(header), count)
        return [_default([row[i] for row in rows if row[i] not in ("", na_value)]) for i in columns]


def _default(fields: Sequence[str]) -> Any:
    for dtype, number in _KINDS:
        try:
            for field in fields:
                number(field)  # type: ignore[arg-type, unused-ignore]
        except (ValueError, OverflowError):
            continue
        return pb.constant([0], dtype)
    return [""]


def _chosen(names: Sequence[str], wanted: Sequence[int | str] | None) -> list[int]:
    """The numbers of columns that are named, or numbered, in order."""
    if wanted is None:
        return list(range(len(names)))
    for column in wanted:
        if column not in names and not (isinstance(column, int) and 0 <= column < len(names)):
            raise ValueError(f"make_csv_dataset: select_columns has {column!r}, which is none of {list(names)}")
    return sorted(c if isinstance(c, int) else names.index(c) for c in wanted)


def _matching(what: str, patterns: str | Sequence[str]) -> list[str]:
    several = [patterns] if isinstance(patterns, str) else list(patterns)
    found = sorted({path for pattern in several for path in glob(pattern)})
    if not found:
        raise ValueError(f"{what}: no files match {', '.join(several)}")
    return found


def _batched(
    rows: Dataset, size: int, epochs: int | None, shuffle: bool, buffer_size: int, seed: int | None, drop: bool
) -> Dataset:
    """Batches of all passes; without an end they are all of one size."""
    ordered = rows.shuffle(buffer_size, seed) if shuffle else rows
    return ordered.repeat(epochs).batch(size, drop_remainder=drop or epochs is None)


def _with_label(columns: dict[str, Any], label: str | None) -> Any:
    if label is None:
        return columns
    found = columns.pop(label)
    return columns, found
