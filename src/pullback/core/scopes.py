"""Scopes: what surrounds the making of an operation, name prefix, device, colocation, control inputs, attributes."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
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
    """The scopes of each thread on one graph."""

    scope = Scope()


class DefaultGraphs(threading.local):
    """The graphs whose `as_default` blocks each thread is in, the innermost last."""

    def __init__(self) -> None:
        self.stack: list[Graph] = []
