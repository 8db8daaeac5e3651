"""ONNX external data: where constants of a written model are kept, in it, beside it, or where they were."""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np
from onnx import ModelProto, TensorProto

from ..core.errors import InvalidArgumentError
from ..core.files import keep_names, place_of, written_beside
from .assembly import tensor_proto
from .element_types import element_type_of
from .weights import External

_LARGEST_MODEL = (1 << 31) - (1 << 26)
"""Bytes of a proto, of which there cannot be 2 GB, and a reserve."""
_SMALL = 1024
_ALIGNMENT = 4096


class Arrays:
    """The constants of a model, in the order of its initializers."""

    def __init__(self) -> None:
        self.pending: list[tuple[TensorProto, np.ndarray[Any, Any], External | None]] = []

    def add(self, graph: Any, name: str, array: np.ndarray[Any, Any], where: External | None) -> None:
        """Add an initializer whose elements are put somewhere later, small ones at once."""
        if array.nbytes <= _SMALL:
            graph.initializer.append(tensor_proto(name, array))
            return
        proto = graph.initializer.add()
        proto.name, proto.data_type = name, element_type_of(array.dtype)
        proto.dims.extend(array.shape)
        self.pending.append((proto, array, where))

    def embed(self, model: ModelProto) -> None:
        """Put all elements into the model."""
        if sum(array.nbytes for _, array, _ in self.pending) > _LARGEST_MODEL:
            raise InvalidArgumentError(
                "onnx.export: a model of more than 2 GB needs a path: its constants are put beside it"
            )
        for proto, array, _ in self.pending:
            proto.raw_data = _bytes(array)
        del model


def _bytes(array: np.ndarray[Any, Any]) -> bytes:
    little = array.dtype.newbyteorder("<")
    return np.ascontiguousarray(array.astype(little, copy=False)).tobytes()


def save(model: ModelProto, path: Path, arrays: Arrays, accept: Callable[[Path], object]) -> None:
    """Write the model and its constants in one step; what was there stays where that fails.

    A link stays a link: the file that it names is written. Before the model takes its name `accept` is called with the
    one that it has until then; what it raises ends all.

    Raises:
        InvalidArgumentError: there is something at `path` that is no file, such as a device.
    """
    path = place_of(path)
    folder, used, rest = path.parent, set(), []
    for proto, array, where in arrays.pending:
        if where is not None and where.path.parent == folder.resolve() and where.path.is_file():
            used.add(where.path.name)
            _refer(proto, where.path.name, where.offset, where.length)
        else:
            rest.append((proto, array))
    written: list[Path] = []
    try:
        if sum(array.nbytes for _, array in rest) > _LARGEST_MODEL:
            data = _place_of_data(path)
            beside = written_beside(path, lambda file: _write_data(file, rest, data.name))
            written.append(beside)
            os.replace(beside, data)
            written[-1] = data
            used.add(data.name)
        else:
            for proto, array in rest:
                proto.raw_data = _bytes(array)
        written.append(written_beside(path, lambda file: file.write(model.SerializeToString())))
        accept(written[-1])
        os.replace(written[-1], path)
    except BaseException:
        for file in written:
            file.unlink(missing_ok=True)
        raise
    keep_names(folder)
    for old in _places_of_data(path):
        if old.name not in used:
            old.unlink(missing_ok=True)


def _place_of_data(path: Path) -> Path:
    """Where the data of a new model go: a name that no file had before, for models read earlier may map theirs."""
    return path.with_name(f"{path.name}.{secrets.token_hex(4)}.data")


def _places_of_data(path: Path) -> list[Path]:
    """The files that data of models of this name were put into."""
    name = re.compile(re.escape(path.name) + r"\.[0-9a-f]{8}\.data")
    return [file for file in path.parent.iterdir() if name.fullmatch(file.name)]


def _write_data(file: IO[bytes], rest: Sequence[tuple[TensorProto, np.ndarray[Any, Any]]], name: str) -> None:
    for proto, array in rest:
        file.seek((file.tell() + _ALIGNMENT - 1) // _ALIGNMENT * _ALIGNMENT)
        _refer(proto, name, file.tell(), array.nbytes)
        np.ascontiguousarray(array).tofile(file)


def _refer(proto: TensorProto, location: str, offset: int, length: int) -> None:
    proto.data_location = TensorProto.EXTERNAL
    for key, value in (("location", location), ("offset", offset), ("length", length)):
        proto.external_data.add(key=key, value=str(value))
