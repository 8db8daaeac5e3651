"""Protocol messages of TensorFlow 1, `tf.Summary` and its like: those that the package tensorboard ships."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import Any

FILES = {
    "AttrValue": "attr_value",
    "Event": "event",
    "GraphDef": "graph",
    "HistogramProto": "histogram",
    "LogMessage": "event",
    "MetaGraphDef": "meta_graph",
    "NameAttrList": "attr_value",
    "NodeDef": "node_def",
    "SaverDef": "saver",
    "SessionLog": "event",
    "Summary": "summary",
    "SummaryMetadata": "summary",
    "TaggedRunMetadata": "event",
    "TensorProto": "tensor",
    "TensorShapeProto": "tensor_shape",
    "TensorInfo": "meta_graph",
    "VariableDef": "variable",
}
"""The file that declares each message."""


def message(name: str) -> Any:
    """The class of the messages of that name; AttributeError for others.

    Raises:
        ImportError: the package tensorboard is not installed.
    """
    if name not in FILES:
        raise AttributeError(name)
    return getattr(declared(f"{FILES[name]}_pb2"), name)


def declared(file: str) -> ModuleType:
    """The module with the messages of a file, `summary_pb2`.

    Raises:
        ImportError: the package tensorboard is not installed; ModuleNotFoundError: it does not have the file.
    """
    try:
        package = import_module("tensorboard.compat.proto")
    except ModuleNotFoundError as error:
        raise ImportError(
            f"{file}: messages of TensorFlow need the package tensorboard: pip install 'pullback[tensorboard]'"
        ) from error
    return import_module(f"{package.__name__}.{file}")
