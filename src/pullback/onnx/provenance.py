"""Provenance of nodes, as it is read: the operations of ours that the nodes of a model stand for.

What a model says of that is a hint, not an order: the operation is written once more, and taken only where the nodes
are the same. So a model means what its nodes say, whoever has changed it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from onnx import AttributeProto, NodeProto

from ..core.deserialize import attribute_from_dict, primitive_from_dict
from ..core.function import bind_shape
from ..core.graph import Graph, get_default_graph
from ..core.operation import Operation, Tensor
from ..core.primitive import Primitive
from ..core.provenance import FAILURES, LONGEST, is_small, is_told
from ..primitives.creation.constant import Const, constant
from ..primitives.creation.placeholders import placeholder
from .assembly import Assembly
from .hints import HINT
from .records import Body, Model, Record, Value
from .writing import Writer

_OPSETS = range(18, 27)
_MOST_NODES = 5000
"""Formulas of more nodes are taken as they are."""


class Provenance:
    """The operations that the nodes of a model which is being read stand for."""

    def __init__(self) -> None:
        self._formulas: dict[Any, _Formula | None] = {}
        self._operations: dict[Any, Operation] = {}

    def operation(self, proto: NodeProto, names: Any) -> tuple[int, Tensor] | None:
        """Which output of a node is that of an operation of ours, and that; `names` are those that may be read."""
        said = next((entry.value for entry in proto.metadata_props if entry.key == HINT), "")
        if not 0 < len(said) <= LONGEST:
            return None
        try:
            entry = json.loads(said)
            operands = [self._operand(operand, proto, names) for operand in entry["inputs"]]
        except FAILURES:
            return None
        xs = [x for x, _ in operands]
        fixed = [isinstance(x.op.primitive, Const) for x in xs]
        # What is a constant now may have been the value of a variable when it was written.
        for constants in dict.fromkeys([tuple(fixed), tuple([not name for _, name in operands])]):
            formula = self._formula(said, entry, xs, constants)
            try:
                if formula is not None and formula.is_written([name for _, name in operands], proto, names):
                    return formula.places[1], self._made(formula, xs)
            except FAILURES:
                continue
        return None

    def _formula(
        self, said: str, entry: Mapping[str, Any], xs: Sequence[Tensor], constants: Sequence[bool]
    ) -> _Formula | None:
        """The operation that a hint tells of, written where some of its operands are `constants`; None if it cannot."""
        known = [x if fixed else (x.dtype, x.shape.lengths) for x, fixed in zip(xs, constants, strict=True)]
        key = (said, *known)
        if key not in self._formulas:
            try:
                self._formulas[key] = _formula(entry, xs, constants)
            except FAILURES:
                self._formulas[key] = None
        return self._formulas[key]

    def _made(self, formula: _Formula, xs: Sequence[Tensor]) -> Tensor:
        """The output; one operation gives all of them."""
        key = get_default_graph().acting, formula.primitive, *xs
        if key not in self._operations:
            self._operations[key] = formula.primitive.operation(*xs)
        return self._operations[key].outputs[formula.places[0]]

    @staticmethod
    def _operand(operand: Any, proto: NodeProto, names: Any) -> tuple[Tensor, str]:
        """An operand, and its name in the model; a constant that the nodes have taken into others has none."""
        if not isinstance(operand, list):
            return constant(attribute_from_dict(operand, HINT)), ""
        for step in operand[:-1]:
            proto = names.made(proto.input[step])[0] if step >= 0 else _body_of(proto)[-1 - step]
        name = proto.input[operand[-1]]
        x = names[name]
        if not isinstance(x, Tensor):
            raise TypeError
        return x, name


def _body_of(proto: NodeProto) -> Sequence[NodeProto]:
    """The nodes of the body of a loop."""
    return next(a.g.node for a in proto.attribute if a.name == "body")


class _Formula:
    """An operation as it is written."""

    def __init__(
        self, primitive: Primitive, places: Sequence[int], model: Model, inputs: Sequence[str], output: str
    ) -> None:
        self.primitive = primitive
        self.places = places
        """Which output it is of the operation, and which of the last node."""
        self.model = model
        self.inputs = inputs
        self.output = output
        self._assembly = Assembly(model, {}, {})

    def is_written(self, inputs: Sequence[str], last: NodeProto, names: Any) -> bool:
        """Whether the nodes up to `last` are these, for operands of the names `inputs`."""
        bound = {mine: theirs for mine, theirs in zip(self.inputs, inputs, strict=True) if theirs}
        end = last.output[self.places[1]]
        inner: dict[str, tuple[NodeProto, int]] = {end: (last, self.places[1])}

        def made(name: str) -> tuple[NodeProto, int]:
            found: tuple[NodeProto, int] = inner[name] if name in inner else names.made(name)
            return found

        pending = [(self.output, end)]
        while pending:
            mine, theirs = pending.pop()
            if mine in bound or not mine or not theirs:
                if bound.get(mine, "") != theirs:
                    return False
                continue
            bound[mine] = theirs
            array = self.model.arrays.get(mine)
            if array is not None:
                if not _is_constant(names[theirs], array):
                    return False
                continue
            record = self.model.producers[mine]
            more = self._same(record, mine, *made(theirs), bound, inner)
            if more is None:
                return False
            pending += more
        return True

    def _same(
        self,
        record: Record,
        output: str,
        node: NodeProto,
        number: int,
        bound: dict[str, str],
        inner: dict[str, tuple[NodeProto, int]],
    ) -> list[tuple[str, str]] | None:
        """The values that have to be the same where a node is to be; None where it is not."""
        alike = (record.op_type, record.outputs.index(output)) == (node.op_type, number) and not node.domain
        if not alike or len(record.inputs) != len(node.input) or len(record.attributes) != len(node.attribute):
            return None
        pairs = [*zip(record.inputs, node.input, strict=True)]
        for attribute in node.attribute:
            mine = record.attributes[attribute.name]
            if isinstance(mine, Body):
                pairs += _of_bodies(mine, attribute, bound, inner)
            elif self._assembly._attribute(attribute.name, mine) != attribute:
                return None
        return pairs


def _of_bodies(
    body: Body, attribute: AttributeProto, bound: dict[str, str], inner: dict[str, tuple[NodeProto, int]]
) -> list[tuple[str, str]]:
    """The outputs of two bodies whose inputs are the same from now on."""
    bound.update({x.name: entry.name for x, entry in zip(body.inputs, attribute.g.input, strict=True)})
    inner.update({y: (node, i) for node in attribute.g.node for i, y in enumerate(node.output)})
    return [(y.name, entry.name) for y, entry in zip(body.outputs, attribute.g.output, strict=True)]


def _is_constant(x: Any, array: np.ndarray[Any, Any]) -> bool:
    """Whether a value of the loaded model has these elements, to the bit."""
    if not isinstance(x, Tensor) or not isinstance(x.op.primitive, Const):
        return False
    theirs = x.op.primitive.value
    same = theirs.dtype == array.dtype and theirs.shape == array.shape
    return same and np.asarray(theirs).tobytes() == array.tobytes()


def _formula(entry: Mapping[str, Any], operands: Sequence[Tensor], constants: Sequence[bool]) -> _Formula | None:
    """The operation that a hint tells of, written for operands of these types, or of these values."""
    primitive = primitive_from_dict({"primitive": entry["type"], "attributes": entry.get("attributes", {})}, HINT)
    if not is_told(primitive) or not is_small(primitive) or entry["opset"] not in _OPSETS:
        return None
    model = Model(entry["opset"])
    model.strict = True
    w = Writer(model)
    with Graph().as_default():
        xs = [_again(w, x, fixed) for x, fixed in zip(operands, constants, strict=True)]
        op = primitive.operation(*xs)
        w.readers = set(op.outputs)
        w.operation(op)
    places = entry.get("output", (0, 0))
    found = w.values[op.outputs[places[0]]]
    if len(model.types) > _MOST_NODES or not isinstance(found, Value):
        return None
    return _Formula(primitive, places, model, [w.values[x].name for x in xs], found.name)


def _again(w: Writer, x: Tensor, fixed: bool) -> Tensor:
    """Something of the type of `x`, or the constant that it is, in the graph and in the model that are written."""
    if fixed and isinstance(x.op.primitive, Const):
        made = constant(x.op.primitive.value)
        w.values[made] = w.model.constant(x.op.primitive.value)
        return made
    made = placeholder(x.dtype, x.shape)
    value = w.values[made] = w.model.new(x.type)
    bind_shape(w.bound, made.shape, value.type.shape)
    w.note_shape(value)
    return made
