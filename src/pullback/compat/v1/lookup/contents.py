"""Contents of lookup tables: keys and values of the graph, or of the lines of a file."""

from __future__ import annotations

from functools import cache
from itertools import islice
from typing import Any

import numpy as np

import pullback as pb

from ....core.dtypes import dtype_name
from ....core.typing import DTypeLike, TensorLike
from ....primitives.creation.constant import as_array
from ....records.files import read_lines

Array = np.ndarray[Any, Any]


class TextFileIndex:
    """What of a line is a key or a value, where it is not a column."""

    WHOLE_LINE = -2
    LINE_NUMBER = -1


class KeyValueTensorInitializer:
    """The contents of a table: `values[i]` for `keys[i]`."""

    def __init__(
        self,
        keys: TensorLike,
        values: TensorLike,
        key_dtype: DTypeLike | None = None,
        value_dtype: DTypeLike | None = None,
        name: str | None = None,
    ) -> None:
        del name
        self.keys = pb.convert_to_tensor(keys, key_dtype)
        self.values = pb.convert_to_tensor(values, value_dtype)
        self.key_dtype, self.value_dtype = self.keys.type.dtype, self.values.type.dtype


class TextFileInitializer:
    """The contents of a table: a column, the whole, or the number of each line of a file, for another one of these.

    The file is read when the table is first used, and once.

    Raises:
        InvalidArgumentError: from a run, if there is no such file, a line has too few columns, or one is no number.
    """

    def __init__(
        self,
        filename: TensorLike,
        key_dtype: DTypeLike,
        key_index: int,
        value_dtype: DTypeLike,
        value_index: int,
        vocab_size: int | None = None,
        delimiter: str = "\t",
        name: str | None = None,
        value_index_offset: int = 0,
    ) -> None:
        self.key_dtype, self.value_dtype = pb.as_dtype(key_dtype), pb.as_dtype(value_dtype)

        @cache
        def read(path: str | bytes) -> list[Array]:
            lines = islice(read_lines(path), vocab_size)
            rows = [(n, line, line.split(delimiter.encode())) for n, line in enumerate(lines)]
            if vocab_size is not None and len(rows) < vocab_size:
                raise pb.errors.InvalidArgumentError(f"{path!r} has {len(rows)} lines, and vocab_size is {vocab_size}")
            keys = [_part(row, key_index, 0) for row in rows]
            values = [_part(row, value_index, value_index_offset) for row in rows]
            return [of_dtype(keys, self.key_dtype), of_dtype(values, self.value_dtype)]

        specs = [pb.TensorSpec([None], self.key_dtype), pb.TensorSpec([None], self.value_dtype)]
        found = pb.numpy_function(
            lambda path: read(path.item()), [filename], specs, stateful=False, name=name or "TextFile"
        )
        self.keys, self.values = found


class TextFileIdTableInitializer(TextFileInitializer):
    """From lines, or a column of them, to their numbers."""

    def __init__(
        self,
        filename: TensorLike,
        key_column_index: int = TextFileIndex.WHOLE_LINE,
        value_column_index: int = TextFileIndex.LINE_NUMBER,
        vocab_size: int | None = None,
        delimiter: str = "\t",
        name: str = "text_file_id_table_init",
        key_dtype: DTypeLike = pb.string,
    ) -> None:
        super().__init__(
            filename, key_dtype, key_column_index, pb.int64, value_column_index, vocab_size, delimiter, name
        )


class TextFileStringTableInitializer(TextFileInitializer):
    """From the numbers of lines to them, or to a column of them."""

    def __init__(
        self,
        filename: TensorLike,
        key_column_index: int = TextFileIndex.LINE_NUMBER,
        value_column_index: int = TextFileIndex.WHOLE_LINE,
        vocab_size: int | None = None,
        delimiter: str = "\t",
        name: str = "text_file_string_table_init",
    ) -> None:
        super().__init__(
            filename, pb.int64, key_column_index, pb.string, value_column_index, vocab_size, delimiter, name
        )


def _part(row: tuple[int, bytes, list[bytes]], index: int, offset: int) -> Any:
    """What an index means of a line: its number, the whole, or a column."""
    number, line, columns = row
    if index == TextFileIndex.LINE_NUMBER:
        return number + offset
    if index == TextFileIndex.WHOLE_LINE:
        return line
    if index >= len(columns):
        raise pb.errors.InvalidArgumentError(
            f"Invalid number of columns in line {number} ({line!r}): column {index} is asked for"
        )
    return columns[index]


def of_dtype(values: list[Any], dtype: Any) -> Array:
    """Values as a vector; InvalidArgumentError where a text of a file is no number."""
    if dtype == pb.string:
        return as_array([value if isinstance(value, bytes) else str(value) for value in values], pb.string)
    try:
        numbers = [float(value) if dtype.kind == "f" else int(value) for value in values]
        return np.array(numbers, dtype)
    except (ValueError, OverflowError) as error:
        raise pb.errors.InvalidArgumentError(
            f"a table of {dtype_name(dtype)} cannot hold what its file says: {error}"
        ) from None
