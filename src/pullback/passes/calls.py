"""Inlining: the operations of called functions in the place of the calls, as compilers have them."""

from __future__ import annotations

from collections import Counter
from typing import Any

from ..control_flow.call import Call
from ..core.function import inline
from ..core.graph import Operation, Tensor, get_default_graph
from .fold import folded
from .merge import merged
from .rebuilding import restored
from .view import View, view_of

FEW = 64
"""The calls of one function that compiled programs have operations for; of more, calls of one."""


def has_few_calls(view: View) -> bool:
    """Whether a view calls functions, none of them often."""
    counts = Counter(op.primitive.function for op in view.operations if isinstance(op.primitive, Call))
    return bool(counts) and max(counts.values()) < FEW


def inlined(view: View) -> View:
    """The same, of operations that are added to the graph that acts; equal ones are one."""
    while has_few_calls(view):
        view = merged(folded(_once(view)))
    return view


def _once(view: View) -> View:
    graph = get_default_graph().acting
    values: dict[Tensor, Tensor] = {}
    copies: dict[Operation, Operation] = {}
    for op in view.operations:
        read = view.inputs(op)
        inputs = [values.get(x, x) for x in read]
        if isinstance(op.primitive, Call):
            values.update(zip(op.outputs, inline(op.primitive.function, inputs), strict=True))
        elif any(x is not y for x, y in zip(read, inputs, strict=True)):
            controls = tuple([copies.get(c, c) for c in view.controls(op)])
            copies[op] = copy = restored(graph, op, op.primitive, inputs, copies, controls)
            values.update(zip(op.outputs, copy.outputs, strict=True))
    results: list[Any] = [values.get(y, y) for y in map(view.stand_in, view.results)]
    return view_of(results, [copies.get(op, op) for op in view.targets], frozenset(view.given))
