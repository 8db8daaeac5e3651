"""Saved tensor slices: TensorFlow's checkpoints of version 1.

Each file is a sorted table: for the key "" the names, types and parts of all tensors that it has, for each part a
message with its elements. After TensorFlow, `core/util/saved_tensor_slice.proto`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..core.dtypes import DType, bool, complex64, float16, float32, float64, int64, string
from ..core.errors import DataLossError
from ..core.limits import limited
from ..core.types import TensorType
from .messages import messages, parsed
from .ordered_code import Extent, key_of_part
from .parts import check_readable, extents_of, extents_within, joined, type_of_entry
from .sorted_table import is_table, read_table

Array = np.ndarray[Any, Any]
_OF_SHARDS = re.compile(r"-(\?{5}|\d{5})-of-(\?{5}|\d{5})$")
_FIELDS: dict[DType, str] = {
    float32: "float_val",
    float64: "double_val",
    int64: "int64_val",
    bool: "bool_val",
    complex64: "scomplex_val",
    float16: "half_val",
    string: "string_val",
}
"""Where a TensorProto has elements; those of other dtypes are in `int_val`."""


@dataclass(frozen=True)
class TensorSlices:
    """The tables of a checkpoint, and what they say they have."""

    path: Path
    tables: Mapping[bytes, bytes]
    types: Mapping[str, TensorType]
    extents: Mapping[str, list[tuple[Extent, ...]]]

    def read(self, name: str) -> Array:
        """The array `name`, of all its parts."""
        tensor = self.types[name]
        check_readable(self.path, name, tensor)
        with limited("load_checkpoint") as reading:
            parts = []
            for extents in self.extents[name]:
                reading.takes_nodes()
                indices = extents_within(self.path, name, extents, tensor)
                parts.append((indices, self._part(name, tensor, extents, indices)))
            return joined(self.path, name, tensor, parts, reading)

    def _part(self, name: str, tensor: TensorType, extents: tuple[Extent, ...], indices: tuple[slice, ...]) -> Array:
        data = self.tables.get(key_of_part(name, extents))
        if data is None:
            raise DataLossError(f"{self.path} is not a whole checkpoint: '{name}' lacks its part {list(extents)}")
        saved = parsed(self.path, name, messages().SavedTensorSlices, data).data
        values = _elements(saved.data, tensor.dtype)
        shape = [s.stop - s.start for s in indices]
        if values.size != np.prod(shape, dtype=object):
            raise DataLossError(f"{self.path} is damaged: a part of '{name}', {shape}, has {values.size} elements")
        return values.reshape(shape)


def files_of_slices(path: Path) -> list[Path]:
    """The files of the checkpoint `path`: that file, or `path-00000-of-00002` and the like."""
    if path.suffix != ".index" and is_table(path):
        return [path]
    base = _OF_SHARDS.sub("", path.name)
    if not path.parent.is_dir():
        return []
    beside = [p for p in path.parent.iterdir() if _OF_SHARDS.sub("", p.name) == base and p.name != base]
    return sorted([p for p in beside if is_table(p)])


def open_slices(path: Path) -> TensorSlices:
    """The checkpoint of version 1 at `path`, which is there.

    Raises:
        DataLossError: it is torn or was changed. ResourceExhaustedError: it is beyond a limit of `pb.config.Limits`.
    """
    known = messages()
    tables: dict[bytes, bytes] = {}
    types: dict[str, TensorType] = {}
    extents: dict[str, list[tuple[Extent, ...]]] = {}
    with limited("load_checkpoint") as reading:
        for file in files_of_slices(path):
            table = read_table(file, reading)
            for saved in parsed(file, "the list", known.SavedTensorSlices, table.pop(b"", b"")).meta.tensor:
                if isinstance(saved.name, bytes):
                    raise DataLossError(f"{file} is damaged: {saved.name!r} is no name")
                types[saved.name] = type_of_entry(file, saved.name, saved.type, saved.shape)
                extents.setdefault(saved.name, []).extend(map(extents_of, saved.slice))
            tables |= table
    return TensorSlices(path, tables, types, extents)


def _elements(tensor: Any, dtype: Any) -> Array:
    """The elements that a TensorProto lists, in its order."""
    values = getattr(tensor, _FIELDS.get(dtype, "int_val"))
    if dtype == string:
        texts = np.empty(len(values), string)
        texts[:] = list(values)
        return texts
    if dtype == float16:
        return np.fromiter(values, np.int64, len(values)).astype(np.uint16).view(dtype)
    if dtype == complex64:
        return np.fromiter(values, np.float32, len(values))[: len(values) // 2 * 2].view(dtype)
    return np.fromiter(values, np.int64 if dtype.kind in "iu" else dtype, len(values)).astype(dtype, copy=False)
