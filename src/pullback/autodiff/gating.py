"""Gradient gating (`gate_gradients`): nobody uses one gradient of an operation before all of them are there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.graph import Tensor
from ..core.primitive import ZERO
from ..core.slices import IndexedSlices
from ..primitives.identity.identity import group_operations, identity
from .cotangent import Term


def gate(entries: Sequence[Term | None]) -> list[Term | None]:
    """`entries` behind a common gate, where there is more than one; IndexedSlices are gated through their values."""
    present = [e for e in entries if e is not None and e is not ZERO]
    if len(present) < 2:
        return list(entries)
    values = [e.values if isinstance(e, IndexedSlices) else e for e in present]
    graph = values[0].graph
    producers = sorted({v.op for v in values}, key=lambda op: op.index)
    outer = graph.scope
    bare = outer._replace(devices=(), colocation=(), controllers=())
    with graph.entered(bare), graph.within("tuple"):
        gated: dict[int, Any] = {}
        with graph.control_dependencies(producers):
            deps = group_operations(name="group_deps")
        with graph.control_dependencies([deps]):
            for i, value in enumerate(values):
                with graph.colocate_with(value.op):
                    gated[i] = identity(value, name="control_dependency")
    passed = iter([_rebuild(e, gated[i]) for i, e in enumerate(present)])
    return [e if e is None or e is ZERO else next(passed) for e in entries]


def _rebuild(entry: Term, value: Tensor) -> Term:
    if isinstance(entry, IndexedSlices):
        return IndexedSlices(value, entry.indices, entry.dense_shape, entry.static_shape)
    return value
