"""TensorFlow's graphs: `import_graph_def` and `load` read what TensorFlow wrote, without TensorFlow."""

from __future__ import annotations

from .importing import import_graph_def, load
from .nodes import Node, reader

__all__ = ["Node", "import_graph_def", "load", "reader"]
