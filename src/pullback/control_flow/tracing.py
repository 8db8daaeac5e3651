"""Tracing of user functions: several that capture the same tensors; what they may be given and return."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from ..core import nest
from ..core.composite import AbstractComposite
from ..core.function import Function, Parameter, add_parameter, body, capture_as_parameter
from ..core.graph import Graph, Operation, Tensor, get_default_graph
from ..core.needs import needed
from ..core.seen import seen
from ..core.shape import TensorShape
from ..core.slices import IndexedSlices
from ..core.types import TensorType
from ..primitives.creation.constant import convert_to_tensor

Build = Callable[..., Sequence[Tensor]]


class Together(NamedTuple):
    """Functions whose last parameters stand for the same captured tensors, and operations that must run before."""

    functions: list[Function]
    captured: tuple[Tensor, ...]
    controls: tuple[Operation, ...]


class Part(NamedTuple):
    """One function to trace: what makes its results, from a tensor for each parameter."""

    name: str
    build: Build
    parameters: Sequence[Parameter] = ()
    names: Sequence[str] = ()


def trace_together(parts: Sequence[Part]) -> Together:
    """A function for each of `parts`; each is built once."""
    on_demand = seen.on_demand and get_default_graph().on_demand
    graphs: list[Graph] = []
    made: list[tuple[list[Tensor], list[Tensor]]] = []
    for part in parts:
        with body(part.name, finalize=False) as graph:
            graph.on_demand = on_demand
            given = [add_parameter(graph, p, n) for p, n in zip(part.parameters, part.names, strict=True)]
            made.append((given, [graph.capture(y) for y in part.build(*given)]))
        graphs.append(graph)
    captured = tuple(
        dict.fromkeys(x for graph, (_, results) in zip(graphs, made, strict=True) for x in _read(graph, results))
    )
    functions = []
    for graph, (given, results) in zip(graphs, made, strict=True):
        parameters = (*given, *[capture_as_parameter(graph, x) for x in captured])
        graph.finalize()
        functions.append(_function(graph, parameters, results))
    controls = dict.fromkeys(op for f in functions for op in f.outer_controls)
    return Together(functions, captured, tuple(controls))


def _read(graph: Graph, results: Sequence[Tensor]) -> list[Tensor]:
    """What a body captured and what its results or its effects need: nothing that only other operations read."""
    if not graph.captures:
        return []
    read = _function(graph, tuple(graph.captures.values()), results).read
    return [x for x, inner in graph.captures.items() if inner in read]


def _function(graph: Graph, parameters: tuple[Tensor, ...], results: Sequence[Tensor]) -> Function:
    """The function of a body; one that has no results is run for its effects."""
    return Function(graph, parameters, tuple(results), graph.name, on_demand=graph.on_demand and bool(results))


@dataclass(frozen=True, eq=False)
class Leaf:
    """How one leaf of a structure is made of tensors again."""

    kind: str
    count: int
    rebuild: Callable[[Sequence[Tensor]], Any]
    types: tuple[TensorType, ...] = ()
    """What stays true of their types in a loop; empty: all of it."""
    ran: bool = False
    """Whether it was an operation, which has no tensors."""


def take_apart(structure: Any) -> tuple[Any, list[Tensor]]:
    """`structure` with a `Leaf` for each leaf, and the tensors that its leaves are made of, in order.

    Numbers and arrays become constants, variables are read; None and operations have no value and become None.
    """
    tensors: list[Tensor] = []

    def leaf_of(value: Any) -> Leaf:
        leaf, parts = _leaf(value)
        tensors.extend(parts)
        return leaf

    return nest.map_structure(leaf_of, structure), tensors


def put_together(template: Any, tensors: Sequence[Tensor]) -> Any:
    """The structure that `take_apart` took apart, with other tensors in their places."""
    rest = iter(tensors)
    return nest.map_structure(lambda leaf: leaf.rebuild([next(rest) for _ in range(leaf.count)]), template)


def lasting_types(template: Any, tensors: Sequence[Tensor]) -> list[TensorType]:
    """The types that the tensors of a structure keep in a loop."""
    leaves = [(leaf, k) for leaf in nest.flatten(template) for k in range(leaf.count)]
    return [leaf.types[k] if leaf.types else x.type for (leaf, k), x in zip(leaves, tensors, strict=True)]


def kinds(template: Any) -> Any:
    """The structure of `template` with the kind of each leaf: what two of them must have in common."""
    return nest.map_structure(lambda leaf: leaf.kind, template)


def _leaf(value: Any) -> tuple[Leaf, list[Tensor]]:
    if isinstance(value, Operation):
        _wait_for(value)
        return Leaf("None", 0, lambda parts: None, ran=True), []
    if value is None:
        return Leaf("None", 0, lambda parts: None), []
    if isinstance(value, AbstractComposite):
        return _composite_leaf(value), list(value.tensors)
    if isinstance(value, IndexedSlices):
        parts, static = value.tensors, value.static_shape
        return Leaf("IndexedSlices", len(parts), lambda given: _slices(given, static)), parts
    return Leaf("Tensor", 1, lambda parts: parts[0]), [convert_to_tensor(value)]


def _wait_for(op: Operation) -> None:
    """Have the body that returns `op` run after what of graphs around that is, or waits for."""
    graph = get_default_graph().acting
    around = [op]
    if op.graph is graph:
        first = needed([op], lambda o: [*[x.op for x in o.inputs], *o.controls]) if graph.outer_controls else set()
        around = [other for other, block in graph.outer_controls if not block.inside.isdisjoint(first)]
    with graph.control_dependencies(around):
        pass


def _composite_leaf(value: AbstractComposite) -> Leaf:
    return Leaf(type(value).__name__, len(value.tensors), value.with_tensors, value.lasting_types)


def _slices(parts: Sequence[Tensor], static: TensorShape) -> IndexedSlices:
    return IndexedSlices(parts[0], parts[1], parts[2] if len(parts) > 2 else None, static)
