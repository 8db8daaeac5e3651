"""Protocol messages of TensorFlow: read from bytes, text or files; the classes come with the package tensorboard."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Any

from google.protobuf import text_format
from google.protobuf.message import DecodeError
from tensorboard.compat.proto.graph_pb2 import GraphDef
from tensorboard.compat.proto.meta_graph_pb2 import MetaGraphDef

from ..core.errors import DataLossError, NotFoundError

TEXT_SUFFIXES = (".pbtxt", ".prototxt")


def read_file(path: str | PathLike[str]) -> bytes:
    """What a file holds; NotFoundError where there is none."""
    try:
        return Path(path).read_bytes()
    except (FileNotFoundError, IsADirectoryError, NotADirectoryError) as error:
        raise NotFoundError(f"graphdef.load: there is no file {path}") from error


def parsed(message: Any, data: bytes, what: str, *, text: bool = False) -> Any:
    """`message` with the content that `data` says; DataLossError where it is no such message."""
    try:
        if text:
            return text_format.Parse(data.decode(), message)
        message.ParseFromString(data)
    except (DecodeError, text_format.ParseError, UnicodeDecodeError) as error:
        raise DataLossError(f"graphdef.load: {what} is torn, or no {type(message).__name__}: {error}") from error
    return message


def as_graph_def(value: Any, what: str) -> GraphDef:
    """A GraphDef of ours, for one of ours, of TensorFlow's, or its bytes.

    Raises:
        TypeError: it is none.
    """
    return _as_message(GraphDef, value, what)


def as_meta_graph_def(value: Any, what: str) -> MetaGraphDef:
    """A MetaGraphDef of ours, for one of ours, of TensorFlow's, or its bytes; TypeError where it is none."""
    return _as_message(MetaGraphDef, value, what)


def _as_message(cls: Any, value: Any, what: str) -> Any:
    if isinstance(value, cls):
        return value
    descriptor = getattr(value, "DESCRIPTOR", None)
    if descriptor is not None and descriptor.name == cls.__name__:
        value = value.SerializeToString()
    if not isinstance(value, bytes):
        raise TypeError(f"{what} must be a {cls.__name__} proto, or its bytes, not {type(value).__name__}")
    return parsed(cls(), value, what)
