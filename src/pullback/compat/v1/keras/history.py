"""Keras history: which layer made a tensor, of what, and the phase and masks that its calls hand on.

A model between tensors calls the layers between them again, as Keras does: in training if it is, with the masks of what
it is given. Operations that no layer made are copied.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

import pullback as pb

from ....core import nest
from ....core.function import copy_operation
from ....core.needs import needed

_NOTES: Any = ("keras_notes",)
"""The collection of a graph that has its notes."""
_training: ContextVar[Any] = ContextVar("training phase of the layer that is being called", default=None)
_inside: ContextVar[bool] = ContextVar("whether a layer is being called", default=False)


@dataclass(eq=False, frozen=True, slots=True)
class Node:
    """A call of a layer, and what it gave."""

    layer: Any
    args: tuple[Any, ...]
    options: dict[str, Any]
    results: tuple[pb.Tensor, ...]
    connected: bool
    """Whether all that it was given comes from an `Input`, by layers."""

    @property
    def tensors(self) -> list[pb.Tensor]:
        """What it was given."""
        return [x for x in nest.flatten([self.args, self.options]) if isinstance(x, pb.Tensor)]


@dataclass(eq=False, frozen=True, slots=True)
class _Notes:
    masks: dict[pb.Tensor, Any] = field(default_factory=dict)
    nodes: dict[pb.Tensor, Node] = field(default_factory=dict)


def _notes(graph: pb.Graph) -> _Notes:
    kept = graph.outermost.get_collection_ref(_NOTES)
    if not kept:
        kept.append(_Notes())
    found: _Notes = kept[0]
    return found


def mask_of(x: Any) -> Any:
    """The steps of `x` [batch, steps, ...] that count, as truth values; None where all do."""
    return _notes(x.graph).masks.get(x) if isinstance(x, pb.Tensor) else None


def keep_mask(x: pb.Tensor, mask: Any) -> None:
    """Let `mask_of(x)` be that mask."""
    _notes(x.graph).masks[x] = mask


def keep_node(layer: Any, args: tuple[Any, ...], options: dict[str, Any], result: Any) -> None:
    """Note a call of a layer, unless another one makes it."""
    results = tuple([y for y in nest.flatten(result) if isinstance(y, pb.Tensor)])
    if not results or _inside.get():
        return
    nodes = _notes(results[0].graph).nodes
    given = [x for x in nest.flatten([args, options]) if isinstance(x, pb.Tensor)]
    node = Node(layer, args, options, results, all(x in nodes and nodes[x].connected for x in given))
    nodes.update((y, node) for y in results)
    if node.connected:
        layer.nodes.append(node)


def takes(layer: Any, name: str) -> bool:
    """Whether calls of the layer have a parameter of that name."""
    function: Callable[..., Any] = getattr(type(layer), "function", None) or getattr(layer, "call", layer)
    return name in inspect.signature(function).parameters


@contextmanager
def phase(layer: Any, options: dict[str, Any]) -> Iterator[None]:
    """A block in which layers that are not told their phase are in that of `layer`; so is that one in its caller's."""
    training = _training.get() if options.get("training") is None else options["training"]
    if training is not None and takes(layer, "training"):
        options["training"] = training
    tokens = _training.set(training), _inside.set(True)
    try:
        yield
    finally:
        _training.reset(tokens[0])
        _inside.reset(tokens[1])


def steps_between(inputs: Sequence[pb.Tensor], outputs: Sequence[pb.Tensor]) -> list[Node | pb.Operation]:
    """The calls of layers, and the operations that no layer made, that the outputs need, in the order of making."""
    nodes = _notes(outputs[0].graph).nodes
    given = set(inputs)

    def before(x: pb.Tensor) -> list[pb.Tensor]:
        if x in given:
            return []
        return nodes[x].tensors if x in nodes else list(x.op.inputs)

    found = needed(outputs, before) - given
    places: dict[Any, int] = {}
    for y in found:
        step = nodes.get(y, y.op)
        places[step] = max(places.get(step, 0), y.op.index)
    return sorted(places, key=places.__getitem__)


def again(steps: Sequence[Node | pb.Operation], values: dict[pb.Tensor, Any]) -> None:
    """Takes the steps that depend on the tensors in `values` with these values, and adds what they give."""
    copies: dict[pb.Operation, pb.Operation] = {}
    for step in steps:
        inputs = step.tensors if isinstance(step, Node) else step.inputs
        if not any(x in values for x in inputs):
            continue
        if isinstance(step, Node):
            args, options = nest.map_structure(lambda x: _value(x, values), [step.args, step.options])
            made = [y for y in nest.flatten(step.layer(*args, **options)) if isinstance(y, pb.Tensor)]
            values.update(zip(step.results, made, strict=True))
            continue
        given = {x: values.get(x, x) for x in inputs}
        copies[step] = copy_operation(step, given, copies)
        values.update((y, given[y]) for y in step.outputs)


def _value(x: Any, values: dict[pb.Tensor, Any]) -> Any:
    return values.get(x, x) if isinstance(x, pb.Tensor) else x
