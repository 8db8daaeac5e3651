"""TensorFlow's graphs: `import_graph_def` and `load` read what TensorFlow wrote, `export` writes it."""

from __future__ import annotations

from .exporting import export, write_graph
from .importing import import_graph_def, load
from .nodes import Node, reader

__all__ = ["Node", "export", "import_graph_def", "load", "reader", "write_graph"]
