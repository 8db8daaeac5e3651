"""ONNX model assembly: protobufs of what writers made, without unread nodes, every value with a name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
from onnx import (
    AttributeProto,
    GraphProto,
    NodeProto,
    TensorProto,
    TypeProto,
    ValueInfoProto,
    defs,
    helper,
    numpy_helper,
)

from ..core.dtypes import DType
from ..core.errors import NestingError
from ..core.lengths import Dimension, Length, symbol
from ..core.shape import Lengths
from .element_types import element_type_of
from .hints import HINT
from .records import Body, Model, Record, SequenceOf

_DEEPEST = 31
"""How many bodies may lie in each other: protobuf reads messages up to 100 deep, and each body is three."""
_OPTIONAL_OUTPUTS = frozenset(["BatchNormalization", "Dropout", "LayerNormalization", "MaxPool"])
"""The operators whose outputs after the first may be left out."""


class Assembly:
    """Turns records into protos, for one model."""

    def __init__(self, model: Model, names: dict[str, str], lengths: Mapping[Length, str]) -> None:
        self.model = model
        self.names = names
        """The name of each value in the model; one that has none gets it when it is met."""
        self.used: set[str] = set(names.values())
        self.node_names: set[str] = set()
        self.bodies: list[str] = []
        """The names of those that are being written, the outermost first."""
        self._types: dict[Any, TypeProto] = {}
        """The protos of types, by the types themselves too: most values share theirs with others."""
        self._lengths: dict[Length, Length] = {}
        """For each symbol one that has a name, which no other has."""
        self._length_names: set[str] = set()
        for n, name in lengths.items():
            self._name_length(n, name)

    def name(self, value: str) -> str:
        """The name that a value has in the model."""
        if not value:
            return ""
        known = self.names.get(value)
        if known is None:
            wanted = self.model.wanted.get(value) or ("constant" if value in self.model.arrays else "value")
            known = self.names[value] = _unique(wanted, self.used)
        return known

    def add_nodes(self, graph: GraphProto, records: list[Record]) -> None:
        """Add the protos of nodes to a graph; each record is given back when its proto is there."""
        records.reverse()
        while records:
            self._fill(graph.node.add(), records.pop())

    def _fill(self, node: NodeProto, record: Record) -> None:
        if record.proto is not None:
            self._again(node, record, record.proto)
            return
        node.op_type, node.name = record.op_type, _unique(record.name or record.op_type, self.node_names)
        names = self.names
        node.input.extend([names.get(x) or self.name(x) for x in record.inputs])
        for key, value in record.attributes.items():
            node.attribute.append(self._attribute(key, value))
        node.output.extend([names.get(y) or self.name(y) for y in record.outputs])
        if record.provenance:
            node.metadata_props.add(key=HINT, value=record.provenance)

    def _again(self, node: NodeProto, record: Record, proto: NodeProto) -> None:
        """The node of a loaded model, whose names are those of the values that now stand for them."""
        node.CopyFrom(proto)
        names = self.names
        inputs = [names.get(x) or self.name(x) for x in record.inputs]
        outputs = [names.get(y) or self.name(y) for y in record.outputs]
        if node.input != inputs or node.output != outputs:
            del node.input[:], node.output[:]
            node.input.extend(inputs)
            node.output.extend(outputs)
        if record.captured:
            renamed = {old: self.name(new) for old, new in record.captured.items() if self.name(new) != old}
            for attribute in node.attribute if renamed else ():
                if attribute.HasField("g"):
                    _rename(attribute.g, renamed)
        if node.name:
            node.name = _unique(node.name, self.node_names)

    def _attribute(self, key: str, value: Any) -> AttributeProto:
        if isinstance(value, Body):
            return helper.make_attribute(key, self._graph(value))
        if isinstance(value, np.ndarray):
            return helper.make_attribute(key, numpy_helper.from_array(value))
        if isinstance(value, np.dtype):
            return helper.make_attribute(key, element_type_of(value))
        if isinstance(value, list | tuple) and not value:
            return helper.make_attribute(key, [], attr_type=AttributeProto.INTS)
        return helper.make_attribute(key, value)

    def _graph(self, body: Body) -> GraphProto:
        graph = GraphProto(name=body.name)
        if len(self.bodies) == _DEEPEST:
            raise NestingError(
                f"onnx.export: more than {_DEEPEST} branches and loops lie in each other in '{self.bodies[0]}', which "
                "no ONNX file can hold. Use a loop where branches lie deep in each other, or export parts."
            )
        for x in body.inputs:
            self.fill_info(graph.input.add(), x.name)
        self.bodies.append(body.name)
        self.add_nodes(graph, body.records)
        self.bodies.pop()
        for y in body.outputs:
            self.fill_info(graph.output.add(), y.name)
        return graph

    def fill_info(self, info: ValueInfoProto, value: str) -> None:
        """Say in `info` what is known of a value: its name and type, lengths as numbers or by name."""
        type = self.model.types[value]
        info.name = self.name(value)
        if isinstance(type.dtype, SequenceOf):
            info.type.sequence_type.elem_type.tensor_type.elem_type = element_type_of(type.dtype.element)
            return
        made = self._types.get(id(type))
        if made is None:
            key = type.dtype, type.shape.lengths
            if key not in self._types:
                self._types[key] = _tensor_type(type.dtype, self._dims(info.name, type.shape.lengths))
            made = self._types[id(type)] = self._types[key]
        info.type.CopyFrom(made)

    def _dims(self, value: str, lengths: Lengths | None) -> Sequence[Dimension] | None:
        """Lengths with names: those of their symbols, or else of the first value whose they are."""
        if lengths is None:
            return None
        for axis, n in enumerate(lengths):
            for part in sorted(n.symbols, key=str) if isinstance(n, Length) else ():
                if part not in self._lengths:
                    self._name_length(part, part.name or f"{value}_{axis}")
        found = [n.substitute(self._lengths) if isinstance(n, Length) else n for n in lengths]
        return [n for n in found if n is not None]

    def _name_length(self, n: Length, name: str) -> None:
        self._lengths[n] = symbol(_unique(name, self._length_names))


def _tensor_type(dtype: DType, dims: Sequence[Dimension] | None) -> TypeProto:
    made = TypeProto()
    tensor = made.tensor_type
    tensor.elem_type = element_type_of(dtype)
    if dims == []:
        tensor.shape.SetInParent()
    for n in dims or ():
        dim = tensor.shape.dim.add()
        if isinstance(n, int):
            dim.dim_value = n
        else:
            dim.dim_param = str(n)
    return made


def tensor_proto(name: str, array: np.ndarray[Any, Any]) -> TensorProto:
    """The proto of a constant."""
    proto: TensorProto = numpy_helper.from_array(np.asarray(array), name)
    return proto


def is_tensor_dtype(dtype: DType) -> bool:
    """Whether ONNX has tensors of this dtype."""
    return isinstance(dtype, np.dtype)


def read_nodes(records: Sequence[Record], wanted: Iterable[str]) -> tuple[list[Record], set[str]]:
    """Those of `records` that the values `wanted` need, and all the values that these read."""
    read = set(wanted)
    kept = []
    for record in reversed(records):
        if read.isdisjoint(record.outputs):
            continue
        kept.append(record)
        read.update(record.inputs)
        if record.captured:
            read.update(record.captured.values())
        for value in record.attributes.values():
            if isinstance(value, Body):
                value.records, inner = read_nodes(value.records, [y.name for y in value.outputs])
                read |= inner
    for record in kept:
        if record.proto is None and record.op_type in _OPTIONAL_OUTPUTS:
            while len(record.outputs) > _fewest(record.op_type) and record.outputs[-1] not in read:
                record.outputs = record.outputs[:-1]
    kept.reverse()
    return kept, read


@cache
def _fewest(op_type: str) -> int:
    """How many outputs nodes of an operator have at least."""
    return max(int(defs.get_schema(op_type).min_output), 1)


def _rename(graph: GraphProto, names: Mapping[str, str]) -> None:
    """Give what the nodes of a graph read from outside it other names."""
    own = {entry.name for entry in (*graph.input, *graph.initializer)}
    for node in graph.node:
        for i, name in enumerate(node.input):
            if name in names and name not in own:
                node.input[i] = names[name]
        for attribute in node.attribute:
            if attribute.HasField("g"):
                _rename(attribute.g, {old: new for old, new in names.items() if old not in own})
        own.update(node.output)
    for entry in graph.output:
        if entry.name in names and entry.name not in own:
            entry.name = names[entry.name]


def _unique(name: str, used: set[str]) -> str:
    """`name`, or it with a number, not among `used`; and then it is."""
    if name in used:
        i = 1
        while f"{name}_{i}" in used:
            i += 1
        name = f"{name}_{i}"
    used.add(name)
    return name
