"""Reference variables: those of TensorFlow 1, of which a fetch gives the value at the end of the run.

TensorFlow fetches the memory of such a variable, into which optimizers and assignments write. A fetch of a resource
variable is the read that was made with it, before all of them.
"""

from __future__ import annotations

from typing import Any

from ...core.graph import Graph, Tensor

_KEY: Any = ("references",)
"""The collection of a graph that has the first reads of its reference variables."""


def be_reference(first_read: Tensor) -> None:
    """Let fetches of the variable be made at the end of a run."""
    first_read.graph.get_collection_ref(_KEY).append(first_read)


def be_resource(first_read: Tensor) -> None:
    """Let fetches of the variable be its first read, as they are unless said otherwise."""
    kept = first_read.graph.get_collection_ref(_KEY)
    kept[:] = [x for x in kept if x is not first_read]


def is_reference(first_read: Tensor) -> bool:
    """Whether the variable is fetched at the end of a run."""
    return any(x is first_read for x in first_reads(first_read.graph))


def first_reads(graph: Graph) -> list[Tensor]:
    """The first reads of the reference variables of a graph; also while another thread builds it."""
    return list(graph.collections.get(_KEY, ()))
