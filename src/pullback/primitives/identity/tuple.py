"""Tensor groups (`tuple`): tensors that are there only when all of several are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.contexts import in_graph_of_inputs
from ...core.graph import Graph, get_default_graph
from ...core.operation import Operation, Tensor
from ...core.slices import IndexedSlices
from ..creation.constant import convert_to_tensor
from .identity import group_operations, identity


@in_graph_of_inputs
def tuple_(tensors: Sequence[Any], control_inputs: Sequence[Any] | None = None, name: str | None = None) -> list[Any]:
    """Tensors equal to `tensors`, each of which is there only after all of them and `control_inputs` have run.

    IndexedSlices stay slices, None stays None.

    Raises:
        ValueError: all are None.

    >>> import pullback as pb
    >>> pb.Session().run(pb.tuple([1.0, 2.0]))
    [np.float32(1.0), np.float32(2.0)]
    """
    given = [x if x is None or isinstance(x, IndexedSlices | Operation) else convert_to_tensor(x) for x in tensors]
    needed = [x.values if isinstance(x, IndexedSlices) else x for x in given if x is not None]
    if not needed:
        raise ValueError(f"tuple: must have at least one tensor: {tensors}")
    graph = getattr(needed[0], "graph", get_default_graph())
    with graph.within(name or "tuple"):
        gate = group_operations(*needed, *(control_inputs or ()), name="group_deps")
        with graph.control_dependencies([gate]):
            return [x if x is None else gate if isinstance(x, Operation) else _beside(graph, x) for x in given]


def _beside(graph: Graph, x: Tensor | IndexedSlices) -> Tensor | IndexedSlices:
    """`x` once more, where it is."""
    with graph.colocate_with(x.values if isinstance(x, IndexedSlices) else x):
        return identity(x, name="control_dependency")
