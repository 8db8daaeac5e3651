"""ONNX round trip: the nodes of a loaded model are written again as they were."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from onnx import ModelProto, NodeProto, helper

from ..core.graph import Graph
from ..core.needs import needed
from ..core.operation import Tensor
from ..core.scopes import NOTHING
from ..core.shape import TensorShape
from ..core.types import TensorType
from ..primitives.creation.constant import Const
from ..primitives.creation.placeholders import Placeholder, PlaceholderWithDefault
from . import reading
from .inference import Node, inferred
from .lean import note_normalised
from .model import Dims, OnnxGraph
from .reading import attribute_value
from .records import Record, Value, node_key
from .runnable import is_runnable
from .writing import Writer


class Again:
    """A node that may be written as it was."""

    __slots__ = ("inner", "inputs", "is_runnable", "needs", "node", "outputs", "place")

    def __init__(self, node: reading.Node, values: Mapping[str, Any]) -> None:
        self.node = node
        self.inputs = [values.get(name) for name in node.inputs]
        """The values of the names that it reads, tensors or not; None where there is none."""
        self.outputs = [values.get(name) for name in node.outputs]
        """The values of the names that it gives."""
        self.place = 0
        """The number of the first operation that stands for one of its outputs."""
        self.inner = _read_inside(node)
        """The names that its bodies read; None where it has none."""
        self.needs: tuple[Any, ...] = ()
        """What it reads: tensors, and nodes that make what is no tensor."""
        self.is_runnable: bool | None = None
        """Whether onnxruntime runs it, and what makes the sequences that it reads, once somebody has asked; never where
        operations that are written anyway give what it gives."""


class Origins:
    """What is known of a loaded model; nothing of any other graph."""

    def __init__(self, graph: Graph, opset: int) -> None:
        self.graph = graph if isinstance(graph, OnnxGraph) else None
        self.fixed: dict[str, str] = {}
        """The values that are written with names of the loaded model."""
        self.dims: Mapping[str, Dims] = {} if self.graph is None else self.graph.dims
        self._values: Mapping[str, Any] = {} if self.graph is None else self.graph.successors.all_values
        """What nodes read and give by name: values of the loaded model, and what passes made of them."""
        self._origin: Mapping[Tensor, reading.Node] = {} if self.graph is None else self.graph.successors.all_origins
        self._names: dict[Tensor, str] = {}
        self._nodes: dict[reading.Node, Again] = {}
        self._sources: dict[Tensor, Again | None] = {}
        """What `of` said of a tensor."""
        self._random: dict[Tensor, bool] = {}
        self._producers: dict[str, reading.Node] = {}
        """The nodes that make what is no tensor, by the names of that."""
        self._without_tensor: dict[str, Value] = {}
        """The values that are no tensors, by name."""
        self._external: dict[int, Any] = {}
        if self.graph is None:
            return
        self._opsets = self.graph.opsets.get("", opset), opset
        for name, value in self.graph.values.items():
            if isinstance(value, Tensor):
                self._names.setdefault(value, name)
        made = [(name, node) for node in self.graph.nodes for name in node.outputs if not self._is_tensor(name)]
        self._producers = {name: node for name, node in made if name}
        self._external = {
            id(x.op.primitive.value): where
            for x, where in self.graph.external.items()
            if isinstance(x.op.primitive, Const)
        }
        self._draws = any(
            op.primitive.stateful and not isinstance(op.primitive, Placeholder | PlaceholderWithDefault)
            for op in self.graph.operations
        )

    def forget(self) -> None:
        """Give back what only the writing of nodes needs."""
        for table in (self.fixed, self._names, self._nodes, self._sources, self._random):
            table.clear()

    def name_of(self, x: Tensor) -> str | None:
        """The name of `x` in the loaded model."""
        return self._names.get(x)

    def value_of(self, name: str) -> Any:
        """What has that name in the loaded model."""
        return self._values.get(name)

    def of(self, x: Tensor) -> Again | None:
        """The node that `x` came from, where that is to be written again."""
        if x not in self._sources:
            self._sources[x] = self._source(x)
        return self._sources[x]

    def _source(self, x: Tensor) -> Again | None:
        node = self._origin.get(x)
        if node is None or isinstance(x.op.primitive, Const):
            return None
        again = self._again(node)
        return again if self._can_be_again(again) and not (self._draws and self._is_random(x)) else None

    def _can_be_again(self, again: Again) -> bool:
        if again.is_runnable is None:
            types = [x.type if isinstance(x, Tensor) else None for x in (*again.inputs, *again.outputs)]
            runs = is_runnable(again.node, *self._opsets, types)
            again.is_runnable = runs and all(self._can_be_again(x) for x in again.needs if isinstance(x, Again))
        return again.is_runnable

    def _is_tensor(self, name: str) -> bool:
        assert self.graph is not None
        return isinstance(self._values.get(name), Tensor)

    def _again(self, node: reading.Node) -> Again:
        known = self._nodes.get(node)
        if known is None:
            known = self._nodes[node] = Again(node, self._values)
            self._look_up(known)
            # What a LayerNormalization knows is read by operations that stand for it.
            if node.op_type != "LayerNormalization":
                places = [y.op.index for y in known.outputs if isinstance(y, Tensor)]
                known.place = max(known.place, min(places, default=0))
        return known

    def _look_up(self, again: Again) -> None:
        """Look up what a node reads; its place is behind all of that."""
        found = []
        read = [*zip(again.node.inputs, again.inputs, strict=True)]
        read += [(name, self._values.get(name)) for name in again.inner or ()]
        for name, x in read:
            if not name:
                continue
            if isinstance(x, Tensor):
                place = x.op.index
            elif name in self._producers:
                x = self._again(self._producers[name])
                place = x.place
            else:
                again.is_runnable = False
                continue
            found.append(x)
            if place > again.place:
                again.place = place
        again.needs = tuple(found)

    def _is_random(self, x: Tensor) -> bool:
        """Whether an operation between the node's inputs and `x` would not give the same a second time."""
        if x not in self._random:
            between = needed(
                [x.op], lambda op: [y.op for y in op.inputs if y not in self._names and y not in self._origin]
            )
            inputs = Placeholder | PlaceholderWithDefault
            self._random[x] = any(op.primitive.stateful and not isinstance(op.primitive, inputs) for op in between)
        return self._random[x]

    def yield_to(self, operations: Iterable[Any]) -> bool:
        """Let `operations` give what they give of nodes that they stand for; whether there are any."""
        stand_ins = {} if self.graph is None else self.graph.stand_ins
        nodes = [self._again(stand_ins[op]) for op in operations if op in stand_ins]
        for again in nodes:
            again.is_runnable = False
        self._sources.clear()
        return bool(nodes)

    def makes(self, again: Again) -> list[Tensor]:
        """The tensors that are taken from a node."""
        return [y for y in again.outputs if isinstance(y, Tensor) and self.of(y) is again]

    def write(self, w: Writer, again: Again) -> None:
        """Write a node as it was."""
        node = again.node
        inputs = [self._value(w, name, x) for name, x in zip(node.inputs, again.inputs, strict=True)]
        captured = None if again.inner is None else self._captured(w, again.inner)
        names = tuple(["" if x is None else x.name for x in inputs])
        plain = again.inner is None and all(node.outputs)
        is_known = plain and node.domain == ""
        stated = node.attributes if is_known else NOTHING
        attributes = {key: attribute_value(a) for key, a in stated.items()} if stated else NOTHING
        made = Node(w.model, node.op_type if is_known else "", inputs, attributes)
        outputs = tuple(
            [
                self._output(w, name, y, made._replace(number=i) if i else made)
                for i, (name, y) in enumerate(zip(node.outputs, again.outputs, strict=True))
            ]
        )
        key = node_key(node.op_type, names, attributes, w.model.opset) if is_known else None
        record = Record(node.op_type, names, outputs, attributes, node.name, node.proto, captured)
        w.add_record(record, key)
        if node.op_type == "LayerNormalization" and plain:
            note_normalised(w, record, inputs)

    def _captured(self, w: Writer, names: Iterable[str]) -> dict[str, str] | None:
        """For each of these names that is known the value that stands for it."""
        there = [name for name in names if name in self._without_tensor or self._is_tensor(name)]
        found = [(name, self._value(w, name, self._values.get(name))) for name in there]
        return {name: x.name for name, x in found if x is not None} or None

    def _value(self, w: Writer, name: str, x: Any) -> Value | None:
        """What stands in the model for a value of the loaded one; None for one left out."""
        if isinstance(x, Tensor):
            found: Value = w.values[x]
            return found
        return self._without_tensor[name] if name else None

    def _output(self, w: Writer, name: str, tensor: Any, node: Node) -> str:
        """The name of an output in the model."""
        if not name:
            return ""
        assert self.graph is not None
        if not isinstance(tensor, Tensor):
            made = self._without_tensor[name] = w.model.new(TensorType(_NO_TENSOR, TensorShape.UNKNOWN))
        elif tensor in w.values:
            # It was given as an input: the node's own result has no name.
            return w.model.new(tensor.type).name
        else:
            made = w.values[tensor] = self._made(w, tensor, node)
        if name in self.graph.values:
            self.fixed[made.name] = name
        else:
            w.model.wanted[made.name] = name
        return made.name

    @staticmethod
    def _made(w: Writer, tensor: Tensor, node: Node) -> Value:
        """The value of a tensor that a node gives, with what is known of it."""
        if tensor.shape.is_fully_defined():
            made = w.model.new(tensor.type)
        else:
            shape = inferred(node)
            known = shape if shape.is_compatible_with(tensor.shape) else TensorShape.UNKNOWN
            made = w.told(tensor, w.model.new(TensorType(tensor.dtype, known)))
            w.note_shape(made)
        elements = w.elements(node, tensor.dtype)
        if elements is not None:
            w.note_elements(made, elements)
        return made

    def opset_imports(self, opset: int) -> Any:
        """The operator sets of the model."""
        return [helper.make_opsetid("", opset)]

    def add_metadata(self, model: ModelProto) -> None:
        """Give a model what the loaded one says of itself."""
        if self.graph is None:
            return
        source = self.graph.model
        model.metadata_props.extend(source.metadata_props)
        model.doc_string, model.domain = source.doc_string, source.domain
        model.model_version = source.model_version
        model.graph.doc_string = source.graph.doc_string
        model.graph.name = source.graph.name or model.graph.name

    def external_of(self, array: Any) -> Any:
        """Where the elements of a constant are, if in a file."""
        return self._external.get(id(array))


def _read_inside(node: reading.Node) -> list[str] | None:
    """The names that the bodies of a node read from outside them; None where it has no body."""
    bodies = [a.g for a in node.attributes.values() if a.HasField("g")]
    return [name for body in bodies for name in _free(body)] if bodies else None


def _read(proto: NodeProto) -> list[str]:
    """The names that a node reads, its subgraphs included."""
    names = [name for name in proto.input if name]
    for attribute in proto.attribute:
        if attribute.HasField("g"):
            names.extend(_free(attribute.g))
    return names


def _free(graph: Any) -> Iterable[str]:
    """The names that a graph reads from outside it."""
    own = {entry.name for entry in (*graph.input, *graph.initializer)}
    found = []
    for node in graph.node:
        found.extend([name for name in _read(node) if name not in own])
        own.update(node.output)
    return [*found, *[entry.name for entry in graph.output if entry.name not in own]]


class _NoTensor:
    """The dtype of a sequence or an optional value."""

    name = "sequence"
    kind = "-"


_NO_TENSOR: Any = _NoTensor()
