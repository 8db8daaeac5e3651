"""Values that micro-batches compute on the way: a run of these takes them from there rather than compute them apart.

A loss that is fetched beside its derivatives within a budget would else take a whole forward pass, and its memory.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..core.graph import Operation, Tensor
from ..core.operation import index_of
from ..primitives.creation.placeholders import Placeholder
from .view import View, view_of

_KEY: Any = ("values of micro-batches",)
"""A collection of the graph: triples of a tensor, the one of the same value that follows from a loop, and the loop."""


def note_same_values(loop: Operation, found: Mapping[Any, Any]) -> None:
    """Note for tensors which others have the same values, where `loop` is run."""
    for y, z in found.items():
        if isinstance(y, Tensor) and z is not y:
            loop.graph.add_to_collection(_KEY, (y, z, loop))


def with_values_of_microbatches(view: View) -> View:
    """The view in which what its micro-batches compute is not computed apart.

    As it is where something is fed that a run computes: the micro-batches know nothing of it.
    """
    if not view.operations:
        return view
    noted = view.operations[-1].graph.collections.get(_KEY, ())
    if not noted or not all(isinstance(x.op.primitive, Placeholder) for x in view.given):
        return view
    there = set(view.operations)
    same: dict[Tensor, Tensor] = {}
    for y, z, loop in noted:
        readers = [op for op in view.operations if y in view.inputs(op)] if {y.op, loop} <= there else None
        if readers is not None and all(index_of(op) > index_of(z.op) for op in readers):
            same[y] = z
    if not same:
        return view
    return view_of(view.results, view.targets, view.given, view.reads, view.keep, view.apart, same)
