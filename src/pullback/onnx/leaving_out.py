"""Reachability: what of a model depends on an operator that is not read is left out, if nobody needs it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from onnx import GraphProto, NodeProto

from .reading import all_nodes, is_read


def leave_out_unread(graph: GraphProto, of: Sequence[str]) -> tuple[str, ...]:
    """Take out of `graph` what cannot be read, and what depends on that; the outputs that go with it.

    Nothing is taken out where a value of `of` is among that: then all of it is to be said.
    """
    blocked: set[str] = set()
    kept = []
    for node in graph.node:
        if _is_blocked(node, blocked):
            blocked.update(node.output)
        else:
            kept.append(node)
    blocked.discard("")
    if not blocked.isdisjoint(of):
        return ()
    left_out = tuple([entry.name for entry in graph.output if entry.name in blocked])
    _keep(graph.node, kept)
    for entries in (graph.input, graph.output, graph.initializer, graph.value_info):
        _keep(entries, [entry for entry in entries if entry.name not in blocked])
    return left_out


def _is_blocked(node: NodeProto, blocked: set[str]) -> bool:
    """Whether a node, or one in a graph that it holds, is not read, or reads what is blocked."""
    inside = [inner for a in node.attribute for g in ([a.g] if a.HasField("g") else a.graphs) for inner in all_nodes(g)]
    return any(not is_read(n.domain, n.op_type) or not blocked.isdisjoint(n.input) for n in [node, *inside])


def _keep(entries: Any, kept: Sequence[Any]) -> None:
    """Leave only these in a list of a message."""
    copies = [type(entry)() for entry in kept]
    for copy, entry in zip(copies, kept, strict=True):
        copy.CopyFrom(entry)
    del entries[:]
    entries.extend(copies)
