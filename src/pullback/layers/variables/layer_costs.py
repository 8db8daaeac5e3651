"""Regularization losses and updates of layers: what their calls add to the collections of the graph."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ...core.graph import get_default_graph
from ...primitives.variables.collections import GraphKeys

COLLECTED = {"losses": GraphKeys.REGULARIZATION_LOSSES, "updates": GraphKeys.UPDATE_OPS}
"""The collection of the graph for each list of a layer."""


@contextmanager
def noting_costs(layer: Any) -> Iterator[None]:
    """A block whose penalties and updates are added to `losses` and `updates` of the layer too."""
    graph = get_default_graph().acting
    starts = {name: len(graph.get_collection_ref(key)) for name, key in COLLECTED.items()}
    yield
    for name, key in COLLECTED.items():
        vars(layer).setdefault(name, []).extend(graph.get_collection_ref(key)[starts[name] :])
