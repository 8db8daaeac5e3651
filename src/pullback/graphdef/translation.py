"""Translation of nodes to operations: regions hold what was made of the nodes of a graph, a call, a body, a branch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from ..control_flow.tensor_array import TensorArray
from ..core.dtypes import TokenType
from ..core.errors import InvalidArgumentError, PullbackError
from ..core.function import Parameter
from ..core.graph import Graph, Operation, Tensor, get_default_graph
from ..core.limits import reading
from ..core.schema import RAISED, shown
from ..core.sites import Place, Site
from ..primitives.creation.constant import convert_to_tensor
from ..primitives.identity.identity import identity, identity_n, no_op
from ..primitives.variables.operations import read_variable
from .attributes import attribute_of
from .flow import Flow
from .nodes import LeftOut, Node, Reader, reader_of
from .provenance import HINT, operation_of
from .section import Section, Source

_OF_A_CALL = ("PartitionedCall-", "StatefulPartitionedCall-", "CustomGradient-")
"""How names of gradients begin that were made for one process and are in no file."""


@dataclass(frozen=True)
class Reference:
    """A reference to a variable, as version 1 has it: what is not told otherwise reads the value."""

    handle: Tensor
    after: Operation | None = None
    """The assignment that it comes from, after which the value is meant."""

    def read(self, name: str | None = None) -> Tensor:
        """The value."""
        if self.after is None:
            return read_variable(self.handle, name=name)
        with get_default_graph().acting.control_dependencies([self.after]):
            return read_variable(self.handle, name=name)


class Made(NamedTuple):
    """What was made of a node: its outputs, and the operation that others wait for."""

    values: tuple[Any, ...]
    op: Operation | None


class Translation:
    """One import: the functions that nodes may call, and where it was asked for."""

    def __init__(
        self,
        library: Iterable[Any],
        read_at: Site | Place | None,
        variables: Mapping[str, Any],
        values: Mapping[str, np.ndarray[Any, Any]] = MappingProxyType({}),
    ) -> None:
        self.functions = {function.signature.name: function for function in library}
        self.read_at = read_at
        self.variables = variables
        """What is known of variables beyond their nodes, by name: whether they are trainable, their collections."""
        self.values = values
        """The values of variables that are to be constants, by name."""
        self.handles: dict[str, Tensor] = {}
        """The handle of each variable, by the name under which TensorFlow shares it."""
        self._flows: dict[str, Flow] = {}

    @cached_property
    def growing(self) -> frozenset[int]:
        """The element dtypes, by number, of the arrays that some function writes beyond their ends."""
        nodes = (node for function in self.functions.values() for node in function.node_def)
        writes = [node.attr for node in nodes if node.op == "TensorListSetItem"]
        grow = [a for a in writes if "resize_if_index_out_of_bounds" in a and a["resize_if_index_out_of_bounds"].b]
        return frozenset(a["element_dtype"].type for a in grow if "element_dtype" in a)

    def uses_files(self, name: str) -> bool:
        """Whether the function of that name writes or reads a checkpoint."""
        function = self.functions.get(name)
        return function is not None and any(node.op in ("SaveV2", "RestoreV2") for node in function.node_def)

    def flow_of(self, name: str) -> Flow:
        """The nodes of the function of that name, and the control flow among them."""
        if name not in self._flows:
            function = self.functions.get(name)
            if function is None:
                raise InvalidArgumentError(f"import_graph_def: there is no function '{name}' in the library")
            arguments = [arg.name for arg in function.signature.input_arg]
            reading().expects_nodes(len(function.node_def))
            self._flows[name] = Flow(Section(function.node_def, f"the function '{name}'", arguments))
        return self._flows[name]


class Region:
    """Nodes that are made in one graph: all of a GraphDef, of one call, or those in a loop's body or in a branch."""

    def __init__(
        self,
        translation: Translation,
        flow: Flow,
        prefix: str,
        outer: Region | None = None,
        given: Mapping[str, Any] = MappingProxyType({}),
    ) -> None:
        self.translation = translation
        self.flow = flow
        self.prefix = prefix
        self.outer = outer
        self.given = given
        """The attributes of the call."""
        self.made: dict[str, Made] = {}
        self.replaced: dict[Source, Any] = {}
        """What stands for outputs of nodes."""
        self.asked: set[Source] = set()
        """Outputs that are wanted though no node reads them."""

    def inside(self) -> Region:
        """A region for a body or a branch among the nodes of this one."""
        inner = Region(self.translation, self.flow, self.prefix, self, self.given)
        inner.replaced, inner.asked = self.replaced, self.asked
        return inner

    def find(self, name: str) -> Made | None:
        """What was made of the node of that name, here or around; None before that."""
        region: Region | None = self
        while region is not None:
            if name in region.made:
                return region.made[name]
            region = region.outer
        return None

    def value(self, source: Source) -> Any:
        """The value of an output: a tensor, an array, or what stands for it."""
        if source in self.replaced:
            return self.replaced[source]
        made = self.find(source.node)
        if made is None:
            raise InvalidArgumentError(
                f"import_graph_def: '{self.prefix}{source}' is read outside the loop or branch that it is in"
            )
        if len(made.values) == 1 and isinstance(made.values[0], LeftOut):
            return made.values[0]
        if source.number >= len(made.values):
            raise InvalidArgumentError(
                f"import_graph_def: '{self.prefix}{source}' is read, but that node has {len(made.values)} outputs"
            )
        return made.values[source.number]

    def wants(self, name: str, index: int) -> bool:
        """Whether something reads that output of the node."""
        return Source(name, index) in self.flow.wanted or Source(name, index) in self.asked

    def evaluate(self, targets: Iterable[str]) -> None:
        """Make `targets` and all that they need and that is not there yet, in an order that respects all edges."""
        pending, needed = list(targets), set()
        while pending:
            name = pending.pop()
            if name not in needed and self.find(name) is None:
                needed.add(name)
                pending.extend(x for x in self._needs(name) if x not in needed)
        names = get_default_graph().acting.names
        for name in needed:
            names.claim_exactly(self.prefix + name)
        for name in sorted(needed, key=self.flow.places.__getitem__):
            if name not in self.made:
                self.made.update(self._make(name))

    def _needs(self, name: str) -> list[str]:
        if not self.replaced:
            return self.flow.needs(name)
        read = {source.node for source in self.flow.section.reads[name] if source not in self.replaced}
        mapped = {source.node for source in self.replaced}
        return [x for x in self.flow.needs(name) if x in read or x not in mapped]

    def _make(self, name: str) -> Mapping[str, Made]:
        """What is made of the node, and of those that are made together with it."""
        loop, conditional = self.flow.loop_of_exit(name), self.flow.conditional_of(name)
        if loop is None and conditional is None:
            return {name: self._read(name)}
        from .regions import made_of_conditional, made_of_loop

        with reading().inside():
            if loop is not None:
                return made_of_loop(self, loop)
            assert conditional is not None
            return made_of_conditional(self, conditional)

    def _read(self, name: str) -> Made:
        proto = self.flow.section.protos[name]
        reading().takes_nodes()
        node = Node(proto, self.prefix + name, self, self.given)
        inputs = [self.value(source) for source in self.flow.section.reads[name]]
        if self.flow.only_hands_on(name):
            return Made((inputs[0], inputs[0]), None)
        found = reader_of(proto.op)
        if found is None:
            node.refuse("there is no reader of this op type")
        left = [x for x in inputs if isinstance(x, LeftOut) and not found.partly]
        missing = left[0] if left else self._waits_for(node)
        if missing is not None:
            return Made((missing,), None)
        told = operation_of(proto, self.flow.section, self) if HINT in proto.attr else None
        with self.scope_of(node):
            if told is not None:
                return self.finished(node, lambda: node.make(told[0], *told[1]))
            return self.finished(node, lambda: found.read(node, *_checked(node, inputs, found)))

    def _waits_for(self, node: Node) -> LeftOut | None:
        """What is left out that a node waits for, where it is left out for that: a derivative, or all of a NoOp's."""
        waited = [self.find(x) for x in self.flow.controls(node.proto.name)]
        left = [m.values[0] for m in waited if m is not None and m.values and isinstance(m.values[0], LeftOut)]
        all_of_it = bool(left) and node.op_type == "NoOp" and len(left) == len(waited)
        return next((x for x in left if x.derivative or all_of_it), None)

    @contextmanager
    def scope_of(self, node: Node) -> Iterator[None]:
        """A block in which operations have the name, the device and the control inputs of a node."""
        graph = get_default_graph().acting
        outer = graph.scope
        devices = (*outer.devices, node.proto.device) if node.proto.device else outer.devices
        waits = [made.op for x in self.flow.controls(node.proto.name) if (made := self._waited(x)) and made.op]
        with graph.entered(outer._replace(prefix=node.exactly, site=node.place, devices=devices)):
            if not waits:
                yield
                return
            with graph.control_dependencies(waits):
                yield

    def _waited(self, name: str) -> Made | None:
        replaced = self.replaced.get(Source(name, -1))
        return Made((), replaced) if replaced is not None else self.find(name)

    def finished(self, node: Node, build: Any) -> Made:
        """What `build` makes of a node, with an operation of the node's name."""
        graph = get_default_graph().acting
        before = len(graph.operations)
        with explained(node):
            found = build()
            values = found if isinstance(found, tuple) else () if found is None else (found,)
            values, op = self._named(node, values, graph, before)
            if op is not None and op.index >= before and node.proto.attr:
                made = [op for op in graph.operations[before:] if not isinstance(op.primitive, Parameter)]
                self._keep_attributes(node, op, single=len(made) == 1)
        return Made(values, op)

    @staticmethod
    def _named(
        node: Node, values: tuple[Any, ...], graph: Graph, before: int
    ) -> tuple[tuple[Any, ...], Operation | None]:
        """The values, of an operation that has the name of the node, and that operation."""
        tensors = [y for y in values if isinstance(y, Tensor) and not isinstance(y.dtype, TokenType)]
        new = graph.operations[before:]
        if not tensors:
            return values, new[-1] if new else None
        op = tensors[0].op
        if op.graph is graph and op.index >= before and op.name == node.name:
            return values, op
        if len(tensors) < len(values) or len(values) == 1:
            y = identity(tensors[0], name=node.exactly)
            return tuple([y if value is tensors[0] else value for value in values]), y.op
        named = tuple(identity_n(tensors, name=node.exactly))
        return named, named[0].op

    def _keep_attributes(self, node: Node, op: Operation, *, single: bool) -> None:
        """Give the operation of a node those attributes that all op types may have."""
        kept = {}
        for key, value in node.proto.attr.items():
            if key.startswith("_") and key != HINT and not value.placeholder:
                kept[key] = attribute_of(value)
        groups = kept.get("_class", ())
        if not isinstance(groups, tuple) or not all(isinstance(group, bytes) for group in groups):
            node.reject(f"the attribute '_class' cannot be {shown(groups)}")
        if groups:
            kept["_class"] = [_moved(group, self.prefix) for group in kept["_class"]]
        rule = node.text("_gradient_op_type")
        if rule.startswith(_OF_A_CALL):
            del kept["_gradient_op_type"]
        elif rule and not single:
            node.refuse(f"its derivative is '{rule}', but it is read as several operations")
        if kept:
            op.attrs = MappingProxyType(kept)

    def call(self, name: str, given: Mapping[str, Any], arguments: Sequence[Any], prefix: str) -> list[Any]:
        """What the function of that name returns: its nodes are made here, their names begin with `prefix`.

        What comes after it waits for its effects where it waits for the operation that is made last.
        """
        function = self.translation.functions.get(name)
        flow = self.translation.flow_of(name)
        assert function is not None
        parameters = [arg.name for arg in function.signature.input_arg]
        if len(parameters) != len(arguments):
            raise InvalidArgumentError(
                f"the function '{name}' has {len(parameters)} parameters, but is given {len(arguments)}"
            )
        region = Region(self.translation, flow, prefix, None, given)
        for parameter, value in zip(parameters, arguments, strict=True):
            region.made[parameter] = Made((value,), None)
        sources = [flow.section.source(function.ret[arg.name], name) for arg in function.signature.output_arg]
        region.asked.update(sources)
        effects = list(function.control_ret.values())
        with reading().inside():
            region.evaluate([*[s.node for s in sources], *effects])
        waits = [made.op for x in effects if (made := region.find(x)) is not None and made.op is not None]
        values = [region.value(source) for source in sources]
        if waits:
            graph = get_default_graph().acting
            with graph.control_dependencies(waits):
                tensors = [isinstance(y, Tensor) and not isinstance(y.dtype, TokenType) for y in values]
                values = [identity(y) if plain else y for y, plain in zip(values, tensors, strict=True)]
                if not any(tensors):
                    no_op()
        return values


@contextmanager
def explained(node: Node) -> Iterator[None]:
    """A block whose errors say at which node they arose."""
    try:
        yield
    except PullbackError as error:
        if str(error).startswith("import_graph_def:"):
            raise
        raise type(error)(f"import_graph_def: {node}: {error}") from error
    except RAISED as error:
        said = f"there is no {error}" if isinstance(error, KeyError) else error
        raise InvalidArgumentError(f"import_graph_def: {node}: {said}") from error


def _checked(node: Node, inputs: Sequence[Any], found: Reader) -> list[Any]:
    """The inputs of a node as its reader takes them: values for references, an array in its place."""
    if found.anything:
        return list(inputs)
    values = [as_value(x) for x in inputs]
    array = None if found.array is None else found.array % max(len(values), 1)
    for i, x in enumerate(values):
        if i == array and not isinstance(x, TensorArray):
            node.reject(f"its input {i} is no array of tensors")
        elif i != array and not isinstance(x, Tensor) and (i or not array):
            node.reject(f"its input {i} is no tensor of numbers")
    return values


def as_value(x: Any) -> Any:
    """The value of a variable for a reference to it, a constant for known texts; anything else as it is."""
    if isinstance(x, np.ndarray):
        return convert_to_tensor(x)
    return x.read() if isinstance(x, Reference) else x


def _moved(group: Any, prefix: str) -> Any:
    """The name of a colocation group with the prefix of the import."""
    return b"loc:@" + prefix.encode() + group[5:] if group.startswith(b"loc:@") else group
