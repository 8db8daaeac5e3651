"""ONNX external data: where constants of a written model are kept, in it, beside it, or where they were."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import IO, Any

import numpy as np
from onnx import ModelProto, TensorProto

from ..core.errors import InvalidArgumentError
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


def save(model: ModelProto, path: Path, arrays: Arrays) -> None:
    """Write the model and its constants; nothing is left behind where that fails.

    A link stays a link: the file that it names is written.

    Raises:
        InvalidArgumentError: there is something at `path` that is no file, such as a device.
    """
    path = Path(os.path.realpath(path))
    if path.exists() and not path.is_file():
        raise InvalidArgumentError(f"onnx.export: {path} is no file, and is not replaced by one; give another path")
    folder = path.parent
    rest = []
    for proto, array, where in arrays.pending:
        if where is not None and where.path.parent == folder.resolve():
            _refer(proto, where.path.name, where.offset, where.length)
        else:
            rest.append((proto, array))
    aside = sum(array.nbytes for _, array in rest) > _LARGEST_MODEL
    written: list[tuple[str, Path]] = []
    try:
        if aside:
            written.append((_data_file(rest, path), path.with_name(path.name + ".data")))
        else:
            for proto, array in rest:
                proto.raw_data = _bytes(array)
        written.append((_write(model, folder), path))
        for temporary, final in written:
            os.replace(temporary, final)
        _keep(folder)
    except BaseException:
        for temporary, _ in written:
            Path(temporary).unlink(missing_ok=True)
        raise


def _write(model: ModelProto, folder: Path) -> str:
    handle, name = tempfile.mkstemp(dir=folder, suffix=".onnx.part")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(model.SerializeToString())
            _flush(file)
        os.chmod(name, 0o644)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    return name


def _flush(file: IO[bytes]) -> None:
    """Wait until what was written is on the disk: a file that replaces another must be whole, even after a crash."""
    file.flush()
    os.fsync(file.fileno())


def _keep(folder: Path) -> None:
    """Wait until the names of the files of a folder are on the disk, where the system can say so."""
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _data_file(rest: list[tuple[TensorProto, np.ndarray[Any, Any]]], path: Path) -> str:
    handle, name = tempfile.mkstemp(dir=path.parent, suffix=".data.part")
    try:
        with os.fdopen(handle, "wb") as file:
            for proto, array in rest:
                file.seek((file.tell() + _ALIGNMENT - 1) // _ALIGNMENT * _ALIGNMENT)
                _refer(proto, path.name + ".data", file.tell(), array.nbytes)
                np.ascontiguousarray(array).tofile(file)
            _flush(file)
        os.chmod(name, 0o644)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    return name


def _refer(proto: TensorProto, location: str, offset: int, length: int) -> None:
    proto.data_location = TensorProto.EXTERNAL
    for key, value in (("location", location), ("offset", offset), ("length", length)):
        proto.external_data.add(key=key, value=str(value))
