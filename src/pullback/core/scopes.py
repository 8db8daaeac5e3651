"""Scopes: what surrounds the making of an operation, name prefix, device, colocation, control inputs, attributes."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from .devices import merge_devices
from .sites import Place, Site

if TYPE_CHECKING:
    from .graph import Graph
    from .operation import Operation, Tensor
    from .primitive import Primitive

NOTHING: Mapping[str, Any] = MappingProxyType({})
DeviceFunction = Callable[["Operation"], str | None]

Guard = Callable[["Primitive", "Sequence[Tensor]"], "tuple[Primitive, Sequence[Tensor]]"]
"""What is made in place of a primitive applied to inputs."""


class Controller:
    """One `control_dependencies` block: what must run first, and what was made inside so far."""

    __slots__ = ("inputs", "inside")

    def __init__(self, inputs: tuple[Operation, ...]) -> None:
        self.inputs = inputs
        self.inside: set[Operation] = set()


class Scope(NamedTuple):
    """All scopes of one thread on one graph, as one value: entering a scope means replacing it."""

    prefix: str = ""
    devices: tuple[str | DeviceFunction, ...] = ()
    colocation: tuple[Operation, ...] = ()
    controllers: tuple[Controller, ...] = ()
    attrs: Mapping[str, Any] = NOTHING
    gradient_types: Mapping[str, str] = NOTHING
    original_op: Operation | None = None
    site: Site | Place | None = None
    guard: Guard | None = None

    def within(self, prefix: str, op: Operation) -> Scope:
        """This scope with another prefix and originator: a `_replace` made quick, once an operation."""
        _, devices, colocation, controllers, attrs, gradient_types, _, site, guard = self
        return Scope(prefix, devices, colocation, controllers, attrs, gradient_types, op, site, guard)

    def at(self, prefix: str, site: Site | Place) -> Scope:
        """This scope with another prefix and place: a `_replace` made quick, once a node that is read."""
        _, devices, colocation, controllers, attrs, gradient_types, original_op, _, guard = self
        return Scope(prefix, devices, colocation, controllers, attrs, gradient_types, original_op, site, guard)

    def apply(self, op: Operation) -> None:
        """Give a new operation the attributes, the device and the control inputs of these scopes."""
        op.attrs = self.attrs_of(op)
        op.device = self.device_of(op)
        op.controls = self.control_inputs_of(op)
        for controller in self.controllers:
            controller.inside.add(op)

    def device_of(self, op: Operation) -> str:
        """The device string of a new operation: that of what it is colocated with, else the merged device scopes."""
        for anchor in self.colocation:
            if anchor.device:
                return anchor.device
        device = ""
        for inner in () if self.colocation else self.devices:
            text = inner if isinstance(inner, str) else inner(op)
            device = merge_devices(device, text) if text else device
        return device

    def attrs_of(self, op: Operation) -> Mapping[str, Any]:
        """The attributes beyond its primitive's that a new operation gets."""
        attrs = {n: v(op) if callable(v) else v for n, v in self.attrs.items() if v is not None}
        if op.type in self.gradient_types:
            attrs["_gradient_op_type"] = self.gradient_types[op.type].encode()
        if self.colocation:
            groups = {group for anchor in self.colocation for group in anchor.colocation_groups()}
            attrs["_class"] = sorted(groups)
        return MappingProxyType(attrs) if attrs else NOTHING

    def control_inputs_of(self, op: Operation) -> tuple[Operation, ...]:
        """What must run before a new operation: each block's inputs, unless an input came from inside it."""
        sources = {x.op for x in op.inputs}
        needed: dict[Operation, None] = {}
        for controller in self.controllers:
            if not sources & controller.inside:
                needed.update(dict.fromkeys(first for first in controller.inputs if first not in sources))
        return tuple(needed)


class CurrentScope(threading.local):
    """The scopes of each thread on one graph, and the blocks that it is in."""

    def __init__(self) -> None:
        self.scope = Scope()
        self.blocks: list[ScopeBlock] = []

    def block(self, scope: Scope) -> ScopeBlock:
        """A block in which the scopes are others."""
        return ScopeBlock(self, scope)


class ScopeBlock(AbstractContextManager[Scope]):
    """A block of other scopes; one that an interrupt has ended changes nothing when Python comes to its end later."""

    __slots__ = ("_current", "_outer", "_scope")

    def __init__(self, current: CurrentScope, scope: Scope) -> None:
        self._current, self._scope = current, scope

    def __enter__(self) -> Scope:
        current = self._current
        current.blocks.append(self)
        self._outer, current.scope = current.scope, self._scope
        return self._scope

    def __exit__(self, *error: object) -> None:
        blocks = self._current.blocks
        if self in blocks:
            del blocks[blocks.index(self) :]
            self._current.scope = self._outer


class DefaultGraphs(threading.local):
    """The graphs whose `as_default` blocks each thread is in, the innermost last."""

    def __init__(self) -> None:
        self.stack: list[Graph] = []

    def block(self, graph: Graph) -> DefaultBlock:
        """A block in which `graph` is the default one of its thread."""
        return DefaultBlock(self, graph)


class DefaultBlock(AbstractContextManager["Graph"]):
    """A block in which a graph is the default one."""

    __slots__ = ("_defaults", "_graph")

    def __init__(self, defaults: DefaultGraphs, graph: Graph) -> None:
        self._defaults, self._graph = defaults, graph

    def __enter__(self) -> Graph:
        self._defaults.stack.append(self._graph)
        return self._graph

    def __exit__(self, *error: object) -> None:
        stack, graph = self._defaults.stack, self._graph
        if graph in stack:
            del stack[len(stack) - 1 - stack[::-1].index(graph)]
