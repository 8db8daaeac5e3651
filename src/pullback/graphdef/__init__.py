"""TensorFlow's graphs: `import_graph_def` and `load` read what TensorFlow wrote, without TensorFlow."""

from __future__ import annotations

try:
    import tensorboard.compat.proto.graph_pb2 as _messages  # noqa: F401
except ModuleNotFoundError:
    raise ImportError(
        "pullback.graphdef needs the package tensorboard, which has TensorFlow's messages; install it with: "
        "pip install 'pullback[tensorflow]'"
    ) from None

from .importing import import_graph_def, load
from .nodes import Node, reader

__all__ = ["Node", "import_graph_def", "load", "reader"]
