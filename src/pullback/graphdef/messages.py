"""Protocol messages of TensorFlow: read from bytes, text or files; the classes come with the package tensorboard."""

from __future__ import annotations

from functools import cache
from os import PathLike
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from ..core.errors import DataLossError, MissingFileError
from ..core.protocol import described

TEXT_SUFFIXES = (".pbtxt", ".prototxt")


@cache
def messages() -> Any:
    """The classes of the messages, and the names of the dtypes by their numbers.

    Raises:
        ImportError: the package tensorboard is not installed.
    """
    try:
        from tensorboard.compat.proto import graph_pb2, meta_graph_pb2, saver_pb2, types_pb2, variable_pb2
    except ModuleNotFoundError as error:
        raise ImportError(
            f"TensorFlow's graphs need tensorboard, which has their messages ({error}): "
            "pip install 'pullback[tensorflow]'"
        ) from error
    fields = "1 saved_model_schema_version int64, 2 meta_graphs *.tensorboard.MetaGraphDef"
    file = meta_graph_pb2.DESCRIPTOR.name
    return SimpleNamespace(
        GraphDef=graph_pb2.GraphDef,
        MetaGraphDef=meta_graph_pb2.MetaGraphDef,
        SaverDef=saver_pb2.SaverDef,
        VariableDef=variable_pb2.VariableDef,
        SavedModel=described("pullback/saved_model.proto", "proto3", {"SavedModel": fields}, [file]).SavedModel,
        dtypes={number: name for name, number in types_pb2.DataType.items()},
    )


def read_file(path: str | PathLike[str], kind: str) -> Any:
    """The message of that kind which a file holds, in bytes, or as text by its suffix.

    Raises:
        NotFoundError: there is no such file. DataLossError: it is torn, or something else.
    """
    try:
        data = Path(path).read_bytes()
    except (FileNotFoundError, IsADirectoryError, NotADirectoryError) as error:
        raise MissingFileError(f"graphdef.load: there is no file {path}") from error
    return parsed(kind, data, str(path), text=str(path).endswith(TEXT_SUFFIXES))


def parsed(kind: str, data: bytes, what: str, *, text: bool = False) -> Any:
    """The message of that kind which `data` says; DataLossError where it says none."""
    message = getattr(messages(), kind)()
    from google.protobuf import text_format
    from google.protobuf.message import DecodeError

    try:
        if text:
            return text_format.Parse(data.decode(), message)
        message.ParseFromString(data)
    except (DecodeError, text_format.ParseError, UnicodeDecodeError) as error:
        raise DataLossError(f"graphdef.load: {what} is torn, or no {kind}: {error}") from error
    return message


def as_message(value: Any, kind: str, what: str) -> Any:
    """A message of ours, for one of ours, of TensorFlow's, or its bytes; TypeError where it is none."""
    if isinstance(value, getattr(messages(), kind)):
        return value
    descriptor = getattr(value, "DESCRIPTOR", None)
    if descriptor is not None and descriptor.name == kind:
        value = value.SerializeToString()
    if not isinstance(value, bytes):
        raise TypeError(f"{what} must be a {kind} proto, or its bytes, not {type(value).__name__}")
    return parsed(kind, value, what)
