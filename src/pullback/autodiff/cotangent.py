"""Cotangent accumulation: the sum of what reaches one tensor, be it dense, row-sparse or on several devices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.dtypes import int64
from ..core.graph import Graph, Operation, Tensor, site_of
from ..core.slices import IndexedSlices
from ..primitives.base.densify import densify
from ..primitives.casting.cast import cast
from ..primitives.elementwise.add_n import AddN
from ..primitives.indexing.gather import gather
from ..primitives.indexing.tiles import tiles_joined
from ..primitives.shape.stacking import concat
from .choices import chosen_aggregation


class AggregationMethod:
    """How `gradients` adds up the terms of one tensor.

    DEFAULT and ADD_N: one operation adds all of them. EXPERIMENTAL_TREE and EXPERIMENTAL_ACCUMULATE_N: two at a time.
    In place of a member a function of the terms and the operation, whose output they are the cotangents of, may be
    given: what it returns stands for the sum.

    >>> import pullback as pb
    >>> x = pb.constant(2.0)
    >>> dx, = pb.gradients(x + x + x, x, aggregation_method=pb.AggregationMethod.EXPERIMENTAL_TREE)
    >>> print(pb.operation_text(dx.op))
    gradients/Const_gradient_sum/AddN_1: float32[] = AddN(gradients/Const_gradient_sum/AddN, gradients/grad_ys_0)
    """

    ADD_N = 0
    DEFAULT = ADD_N
    EXPERIMENTAL_TREE = 1
    EXPERIMENTAL_ACCUMULATE_N = 2


METHODS = (AggregationMethod.ADD_N, AggregationMethod.EXPERIMENTAL_TREE, AggregationMethod.EXPERIMENTAL_ACCUMULATE_N)
Term = Any
"""A Tensor or an IndexedSlices."""


def aggregate(terms: Sequence[Term], op: Operation, method: int) -> Term:
    """The sum of the cotangents `terms` of an output of `op`: slices where all are slices, else a tensor.

    Raises:
        TypeError, ValueError: the function that was chosen gives something else than the terms are.
    """
    if len(terms) == 1:
        return terms[0]
    chosen = chosen_aggregation()
    if chosen is not None:
        return _checked(chosen(list(terms), op), terms, op)
    sparse = [isinstance(term, IndexedSlices) for term in terms]
    if all(sparse):
        return join_slices(terms)
    if any(sparse):
        return _add_mixed(terms)
    if method == AggregationMethod.ADD_N:
        return _add_by_device(terms)
    return _add_in_pairs(terms, op)


def _checked(total: Any, terms: Sequence[Term], op: Operation) -> Term:
    """`total`, what a user's function made of `terms`, if it can stand for their sum."""
    wanted = terms[0]
    where = f"for '{op.name}' (op type: {op.type}, made at {site_of(op)})"
    if not isinstance(total, Tensor | IndexedSlices):
        raise TypeError(f"aggregation_method returned {total!r} {where}; return a Tensor or IndexedSlices")
    if total.dtype != wanted.dtype or not total.shape.is_compatible_with(wanted.shape):
        raise ValueError(f"aggregation_method returned {_text(total)} {where}, whose terms are {_text(wanted)}")
    return total


def _text(term: Term) -> str:
    return str(term) if isinstance(term, Tensor) else f"IndexedSlices of {term.values}"


def join_slices(terms: Sequence[IndexedSlices]) -> IndexedSlices:
    """One IndexedSlices with the rows of all `terms`; int32 and int64 indices together become int64."""
    flat = [flatten_slices(term) for term in terms]
    indices = [term.indices for term in flat]
    if len({x.dtype for x in indices}) > 1:
        indices = [cast(x, int64) for x in indices]
    values = concat([term.values for term in flat], 0)
    return IndexedSlices(values, concat(indices, 0), flat[0].dense_shape, flat[0].static_shape)


def flatten_slices(term: IndexedSlices) -> IndexedSlices:
    """`term` with plain values: where the values are slices themselves, the indices are looked up through theirs."""
    while isinstance(term.values, IndexedSlices):
        inner = term.values
        term = IndexedSlices(inner.values, gather(term.indices, inner.indices), term.dense_shape, term.static_shape)
    return term


def _add_mixed(terms: Sequence[Term]) -> Tensor:
    with _graph_of(terms[0]).acting.within("AddN") as scope:
        dense = [
            densify(flatten_slices(term), name=f"inputs_{i}") if isinstance(term, IndexedSlices) else term
            for i, term in enumerate(terms)
        ]
    return _add_at_first(dense, scope)


def _add_by_device(terms: Sequence[Tensor]) -> Tensor:
    devices = sorted({term.op.device for term in terms})
    if len(devices) == 1:
        return _add_at_first(terms, None)
    partial_sums = []
    for device in devices:
        group = [term for term in terms if term.op.device == device]
        partial_sums.append(group[0] if len(group) == 1 else _add_at_first(group, None))
    return AddN()(*partial_sums)


def _add_at_first(terms: Sequence[Tensor], name: str | None) -> Tensor:
    """The sum of `terms`, colocated with the operation of the first."""
    graph = terms[0].op.graph.acting
    outer = graph.scope
    graph.scope = outer._replace(colocation=(terms[0].op,))
    try:
        return _added(terms, name)
    finally:
        graph.scope = outer


def _added(terms: Sequence[Tensor], name: str | None) -> Tensor:
    parts = tiles_joined(terms)
    return parts[0] if len(parts) == 1 else AddN()(*parts, name=name)


def _add_in_pairs(terms: Sequence[Tensor], op: Operation) -> Tensor:
    with op.graph.acting.within(op.name + "_gradient_sum"):
        total = terms[0]
        for term in terms[1:]:
            total = _added([total, term], None)
    return total


def _graph_of(term: Term) -> Graph:
    graph: Graph = term.graph
    return graph


def dense(term: Term) -> Tensor:
    """A derivative as a tensor."""
    return densify(term) if isinstance(term, IndexedSlices) else term
