"""ONNX reader registry: `@reader` says which function reads an operator, `Node` is what it is told of a node."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from functools import lru_cache
from sys import intern
from types import MappingProxyType
from typing import Any, NoReturn

import numpy as np
from onnx import AttributeProto, GraphProto, NodeProto

from ..control_flow.loop import Loop
from ..core.errors import InvalidArgumentError, PullbackError, UnimplementedError
from ..core.graph import Graph, Tensor, get_default_graph
from ..core.limits import reading
from ..core.scopes import NOTHING
from ..core.shape import Dims, TensorShape
from ..core.sites import Place
from ..primitives.creation.constant import constant_in, constant_value
from ..primitives.identity.identity import ensure_shape, identity
from .model import OnnxGraph, domain_of
from .validity import kind_of, require_operands
from .weights import array_of

_readers: dict[tuple[str, str], Callable[..., Any]] = {}
_REQUIRED: Any = object()
_MOST_AXES = 32
_MOST_ELEMENTS = 2**58
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_.\-/]+")


def reader(*names: str, domain: str = "") -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A decorator: the function reads the operators `names` of `domain`.

    It is called with a `Node` and a value for each of the node's inputs, None for one left out, and returns the value
    of the output, or a tuple of them. It builds them with the library's ordinary functions.
    """

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        for name in names:
            _readers[domain_of(domain), name] = function
        return function

    return register


def calling(function: Callable[..., Any], **attributes: Any) -> Callable[..., Any]:
    """A reader: the function of the inputs and of the attributes of these names, each with its default."""
    return lambda node, *xs: function(*xs, *[node.attribute(name, default) for name, default in attributes.items()])


def is_read(domain: str, op_type: str) -> bool:
    """Whether there is a reader of this operator."""
    return (domain_of(domain), op_type) in _readers


class Names:
    """The values that the nodes of a graph may name: its own, and those of the graphs around it."""

    def __init__(
        self,
        graph: OnnxGraph,
        values: dict[str, Any],
        outer: Names | None = None,
        moves: Mapping[str, Tensor] = MappingProxyType({}),
    ) -> None:
        self.graph = graph
        self.values = values
        self.outer = outer
        self.moves = moves
        """What is added to values of these names."""
        self._made: dict[str, tuple[NodeProto, int]] = {}

    def add(self, name: str, value: Any) -> None:
        """Give a name to a value."""
        move = self.moves.get(name)
        self.values[name] = value if move is None else value + move

    def note(self, node: NodeProto) -> None:
        """Remember which node gives which values."""
        self._made.update({y: (node, i) for i, y in enumerate(node.output)})

    def made(self, name: str) -> tuple[NodeProto, int]:
        """The node that gives a value, and which of its outputs that is; KeyError where none does."""
        names: Names | None = self
        while names is not None:
            if name in names._made:
                return names._made[name]
            names = names.outer
        raise KeyError(name)

    def __getitem__(self, name: str) -> Any:
        names: Names | None = self
        while names is not None:
            if name in names.values:
                return names.values[name]
            names = names.outer
        raise InvalidArgumentError(f"onnx.load: nothing of the name '{name}' comes before its use")


class Node:
    """A node of a model: what it says of itself, each field read from its proto once."""

    __slots__ = ("attributes", "domain", "inputs", "loose", "name", "names", "number", "op_type", "outputs", "proto")

    def __init__(self, proto: NodeProto, names: Names, number: int) -> None:
        self.proto = proto
        self.names = names
        self.number = number
        """Its place among the nodes of its graph."""
        self.op_type = intern(proto.op_type)
        self.domain = domain_of(proto.domain)
        """Empty for the default one."""
        self.name = proto.name
        """The node's own; empty where it has none."""
        self.inputs = tuple(proto.input)
        """The names of the inputs; empty for one left out."""
        self.outputs = tuple(proto.output)
        """The names of the outputs; empty for one that nobody reads."""
        self.attributes: Mapping[str, AttributeProto] = {a.name: a for a in proto.attribute} or NOTHING
        """What the node states."""
        self.loose = False
        """Whether a runtime takes it only where it does not know the shapes: then it is not written as it was."""

    def of(self, inputs: Sequence[str], outputs: Sequence[str]) -> Node:
        """The same node of other values."""
        made = copy(self)
        made.inputs, made.outputs = tuple(inputs), tuple(outputs)
        return made

    @property
    def has_bodies(self) -> bool:
        """Whether it holds graphs."""
        return any(a.HasField("g") for a in self.attributes.values())

    @property
    def graph(self) -> OnnxGraph:
        """The graph that is being made."""
        return self.names.graph

    @property
    def opset(self) -> int:
        """The version of the operator's set; 0 where the model does not say."""
        return self.graph.opsets.get(self.domain, 0)

    def attribute(self, name: str, default: Any = _REQUIRED) -> Any:
        """The value of an attribute: a number, a string, an array, a graph, or a tuple; `default` if not stated."""
        found = self.attributes.get(name)
        if found is not None:
            return attribute_value(found)
        if default is _REQUIRED:
            self.refuse(f"the attribute '{name}' is missing")
        return default

    def wants(self, i: int) -> bool:
        """Whether output `i` has a name."""
        return i < len(self.outputs) and bool(self.outputs[i])

    @staticmethod
    def static(x: Tensor | None) -> np.ndarray[Any, Any] | None:
        """The value of `x` where it is known while the model is read."""
        return None if x is None else constant_value(x)

    def read_body(
        self,
        graph: GraphProto,
        arguments: Sequence[Any],
        seen: Sequence[str] = (),
        moves: Mapping[str, Tensor] = MappingProxyType({}),
    ) -> list[Any]:
        """The outputs of a graph that the node holds, for these inputs, and then its values of the names `seen`.

        `moves` are added to the values of these names before anything reads them.
        """
        if len(graph.input) != len(arguments):
            self.reject(f"its body '{graph.name}' has {len(graph.input)} inputs, but is given {len(arguments)}")
        names = Names(self.graph, {}, self.names, moves)
        for entry, value in zip(graph.input, arguments, strict=True):
            names.add(entry.name, value)
        with reading().inside():
            read_initializers(graph, names)
            read_nodes(graph.node, names)
        results = [*[names[entry.name] for entry in graph.output], *[names[name] for name in seen]]
        # The places of operations hold their nodes, and these the names: sequences that grow would all be kept.
        names.values.clear()
        return results

    def reject(self, text: str) -> NoReturn:
        """Raise the error that says what is wrong with this node."""
        raise InvalidArgumentError(f"onnx.load: {self}: {text}")

    def refuse(self, text: str) -> NoReturn:
        """Raise the error that says what of this node cannot be read."""
        raise UnimplementedError(f"onnx.load: {self}: {text}")

    def __str__(self) -> str:
        domain = f"{self.domain}::" if self.domain else ""
        return f"node '{self.name or first_name(self.outputs)}' ({domain}{self.op_type}, opset {self.opset})"


def first_name(names: Sequence[str]) -> str:
    """The first that is not empty."""
    return next((name for name in names if name), "")


def attribute_value(attribute: AttributeProto) -> Any:
    """The value as Python has it; tensors as arrays."""
    kind = attribute.type
    if kind == AttributeProto.FLOAT:
        return attribute.f
    if kind == AttributeProto.INT:
        return attribute.i
    if kind == AttributeProto.STRING:
        return attribute.s.decode()
    if kind == AttributeProto.TENSOR:
        return array_of(attribute.t)
    if kind == AttributeProto.GRAPH:
        return attribute.g
    if kind == AttributeProto.FLOATS:
        return tuple(attribute.floats)
    if kind == AttributeProto.INTS:
        return tuple(attribute.ints)
    if kind == AttributeProto.STRINGS:
        return tuple([s.decode() for s in attribute.strings])
    if kind == AttributeProto.TYPE_PROTO:
        return attribute.tp
    if kind == AttributeProto.SPARSE_TENSOR:
        return attribute.sparse_tensor
    raise UnimplementedError(f"onnx.load: the attribute '{attribute.name}' is of a kind that is not read")


def read_initializers(graph: GraphProto, names: Names) -> None:
    """Constants for the initializers of a graph."""
    acting = get_default_graph().acting
    for tensor in graph.initializer:
        names.values[tensor.name] = constant_in(acting, array_of(tensor), valid_name(tensor.name) or "Const")


def read_nodes(nodes: Sequence[NodeProto], names: Names) -> None:
    """Build what the nodes say, one after the other, and add their outputs to `names`."""
    main = names.graph if names.outer is None else None
    acting = get_default_graph().acting
    limits = reading()
    for number, proto in enumerate(nodes):
        limits.takes_nodes()
        node = Node(proto, names, number)
        inputs = [names[name] if name else None for name in node.inputs]
        before = len(acting.operations)
        found = _read(node, inputs)
        ys = found if isinstance(found, tuple) else (found,)
        for name, y in zip(node.outputs, ys, strict=False):
            if not name:
                continue
            if isinstance(y, Tensor):
                y = _apart(name, y, acting, before, main)
                if main is not None and not node.loose:
                    main.origin[y] = node
            names.add(name, y)
        names.note(proto)
        if main is not None:
            main.nodes.append(node)


def _apart(name: str, y: Tensor, acting: Graph, before: int, main: OnnxGraph | None) -> Tensor:
    """The tensor of a name: each has one of its own, for the derivative by one is not that by the other."""
    require_possible("value", name, y)
    if y.op.graph is not acting or y.op.index < before:
        y = identity(y)
    return _with_declared_rank(main, name, y) if main is not None and y.shape.rank is None else y


def _read(node: Node, inputs: Sequence[Any]) -> Any:
    """What the reader of the node returns."""
    read = _readers.get((node.domain, node.op_type))
    if read is None:
        node.refuse("there is no reader of this operator")
    graph = get_default_graph().acting
    outer = graph.scope
    prefix = graph.unique_name(valid_name(node.name) or node.op_type) + "/"
    graph.scope = outer.at(prefix, Place(node, node.names.graph.read_at))
    try:
        require_operands(node.domain, node.op_type, node.opset, tuple([_kind_of(x) for x in inputs]))
        found = read(node, *inputs)
        return found if not node.proto.metadata_props else _told(node, found)
    except PullbackError as error:
        if str(error).startswith("onnx.load:"):
            raise
        raise type(error)(f"onnx.load: {node}: {error}") from error
    except (ArithmeticError, ValueError, TypeError, LookupError, NotImplementedError) as error:
        said = f"there is no {error}" if isinstance(error, KeyError) else error
        raise InvalidArgumentError(f"onnx.load: {node}: {said}") from error
    finally:
        graph.scope = outer


def _told(node: Node, found: Any) -> Any:
    """What the reader of a node has returned, `found`, with the result of the operation that the node is the last of.

    The node is read all the same: what cannot be is refused, whatever is said of it.
    """
    told = node.names.graph.provenance.operation(node.proto, node.names)
    if told is None:
        return found
    i, y = told
    return y if isinstance(found, Tensor) else (*found[:i], y, *found[i + 1 :])


def _kind_of(x: Any) -> str | None:
    """What an operand is in the words of onnx's schemas; None for one left out."""
    if x is None:
        return None
    if isinstance(x, Tensor):
        return kind_of(x.type.dtype)
    return "optional" if hasattr(x, "value") else "seq"


def require_possible(kind: str, name: str, y: Tensor) -> None:
    """Raise where no array could have the static shape of `y`, the input or value of that name."""
    if not _is_possible(y.shape.sizes or ()):
        raise InvalidArgumentError(f"onnx.load: the {kind} '{name}' would be {y.type}, which no array can be")


@lru_cache(maxsize=4096)
def _is_possible(dims: Dims) -> bool:
    return len(dims) <= _MOST_AXES and math.prod([n for n in dims if n]) <= _MOST_ELEMENTS


def _with_declared_rank(graph: OnnxGraph, name: str, y: Tensor) -> Tensor:
    """`y` of the rank that the model, or onnx's inference, says it has."""
    rank = None if graph.rank_of is None else graph.rank_of(name)
    if rank == 0 and isinstance(y.op.primitive, Loop) and y.value_index in y.op.primitive.places.stacked:
        raise InvalidArgumentError(f"onnx.load: '{name}' is said to be a scalar, and has a row for each step of a loop")
    return y if rank is None else ensure_shape(y, TensorShape([None] * rank))


def valid_name(name: str) -> str:
    """`name` as an operation of ours may be called."""
    return _NOT_IN_NAMES.sub("_", name).strip("/").lstrip("_-")


def all_nodes(graph: GraphProto) -> Iterator[NodeProto]:
    """The nodes of a graph, and of the graphs that they hold."""
    pending = [graph]
    while pending:
        for node in pending.pop().node:
            yield node
            for attribute in node.attribute:
                if attribute.HasField("g"):
                    pending.append(attribute.g)
                pending.extend(attribute.graphs)
