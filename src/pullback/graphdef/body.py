"""GraphDef nodes of a graph or function that is being written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import numpy as np

from ..core.data_types import NUMBERS
from ..core.dtypes import DType, TokenType, dtype_name, float32, int32, int64, resource, string, variant
from ..core.dtypes import bool as bool_
from ..core.errors import UnimplementedError
from ..core.graph import Operation, Tensor, site_of
from ..core.shape import TensorShape
from .provenance import HINT, hint
from .signatures import SIGNATURES

if TYPE_CHECKING:
    from .exporting import Export


_FIXED = {dtype_name(dtype): dtype for dtype in (bool_, float32, int32, int64, resource, string, variant)}
"""The dtypes that signatures say of outputs."""


class Ref(NamedTuple):
    """An output of a node that was written, or, where `output` is empty, the argument of a function."""

    node: str
    output: str
    number: int
    """Among the values of the output of that name."""
    place: int
    """Among all values of the node."""
    dtype: DType


class FunctionRef(NamedTuple):
    """A function of the library."""

    name: str


class Body:
    """The nodes of a graph, or of a function, in which outputs have names."""

    def __init__(self, export: Export, nodes: Any, operations: Sequence[Operation], in_function: bool) -> None:
        self.export = export
        self.nodes = nodes
        self.in_function = in_function
        self.refs: dict[Tensor, Ref] = {}
        self.read = {x for op in operations for x in op.inputs}
        """What is an input of something."""
        self.op: Operation
        """The one that is being written."""
        self._names = {op.name for op in operations}
        self._controls: list[str] = []

    def write(self, op: Operation) -> None:
        """Writes the nodes of an operation; one of them has its name and its outputs."""
        self.op = op
        self._controls = [f"^{control.name}" for control in op.controls]
        inputs, before = [self.refs[x] for x in op.inputs], len(self.nodes)
        made = self.export.nodes_of(self, op, inputs)
        refs = [made] if isinstance(made, Ref) else list(made)
        if refs and any(ref.node != op.name or ref.place != i for i, ref in enumerate(refs)):
            named = self.main("IdentityN" if len(refs) > 1 else "Identity", refs if len(refs) > 1 else refs[0])
            refs = [named] if isinstance(named, Ref) else list(named)
        self.refs.update((y, ref._replace(dtype=y.dtype)) for y, ref in zip(op.outputs, refs, strict=False))
        self._tell(op, self.nodes[before:], inputs)
        self._keep_attributes(op, self.nodes[before:])

    def _keep_attributes(self, op: Operation, nodes: Sequence[Any]) -> None:
        """Give the node that has the name of an operation the attributes that operations of all types may have.

        The name of a rule is one, by which whoever reads the graph differentiates; and colocation, with nodes that
        are there.
        """
        kept = {key: value for key, value in op.attrs.items() if _is_writable(value)}
        if "_class" in kept:
            groups = [group for group in kept.pop("_class") if group.decode().removeprefix("loc:@") in self._names]
            kept |= {"_class": groups} if groups and not self.in_function else {}
        for node in nodes if kept else ():
            if node.name == op.name:
                for key, value in kept.items():
                    set_attribute(node.attr[key], value)

    def _tell(self, op: Operation, nodes: Sequence[Any], inputs: Sequence[Ref]) -> None:
        """Say of the node that has the name of an operation what all its nodes stand for."""
        said = hint(op, nodes, [self.reference(x) for x in inputs])
        for node in nodes if said else ():
            if node.name == op.name:
                set_attribute(node.attr[HINT], said)

    def main(self, op_type: str, *inputs: Any, **attributes: Any) -> Any:
        """The output of a new node that has the name of the operation, or the tuple of its outputs."""
        refs, outputs = self._node(self.op.name, op_type, inputs, attributes), SIGNATURES[op_type][1]
        return refs[0] if len(outputs) == 1 and "*" not in outputs[0][1] and "[]" not in outputs[0][1] else refs

    def node(self, op_type: str, *inputs: Any, **attributes: Any) -> Ref:
        """The output of a new node. A list of inputs is one input of the op type."""
        return self.outputs(op_type, *inputs, **attributes)[0]

    def outputs(self, op_type: str, *inputs: Any, **attributes: Any) -> tuple[Ref, ...]:
        """The outputs of a new node."""
        return self._node(self._free_name(f"{self.op.name}/{op_type}"), op_type, inputs, attributes)

    def constant(self, value: Any, dtype: Any = None) -> Ref:
        """A constant."""
        array = np.asarray(value, dtype)
        return self.node("Const", value=array, dtype=array.dtype)

    def integers(self, numbers: Any) -> Ref:
        """A constant of int32, of int64 where a number needs that."""
        array = np.asarray(numbers, np.int64)
        fits = not array.size or (abs(array) < 2**31).all()
        return self.constant(array, np.int32 if fits else np.int64)

    def cast(self, x: Ref, dtype: DType) -> Ref:
        """`x` in another dtype."""
        return x if x.dtype == dtype else self.node("Cast", x, DstT=dtype)

    def shape_of(self, x: Ref) -> Ref:
        """The shape of `x`, as int32."""
        return self.node("Shape", x, out_type=np.dtype(np.int32))

    def known_rank(self, i: int) -> int:
        """The rank of input `i`, which must be known."""
        rank = self.op.inputs[i].shape.rank
        return self.refuse("the rank of its input must be known") if rank is None else rank

    def refuse(self, text: str) -> NoReturn:
        """Raise the error that says what of the operation cannot be written."""
        raise UnimplementedError(
            f"graphdef.export: operation '{self.op.name}' ({self.op.type}, made at {site_of(self.op)}): {text}"
        )

    def reference(self, ref: Ref) -> str:
        """A value as inputs of nodes name it."""
        if self.in_function:
            return f"{ref.node}:{ref.output}:{ref.number}" if ref.output else ref.node
        return ref.node if ref.place == 0 else f"{ref.node}:{ref.place}"

    def _node(self, name: str, op_type: str, inputs: Sequence[Any], attributes: Mapping[str, Any]) -> tuple[Ref, ...]:
        node = self.nodes.add(name=name, op=op_type)
        kinds, outputs = SIGNATURES[op_type]
        known = dict(attributes)
        for kind, given in zip(kinds, inputs, strict=True):
            refs = given if isinstance(given, list) else [given]
            node.input.extend(map(self.reference, refs))
            known = _types_of(kind, refs) | known
        node.input.extend(self._controls)
        for key, value in known.items():
            set_attribute(node.attr[key], value)
        node.device = self.op.device
        return tuple(_outputs(name, outputs, known))

    def _free_name(self, wanted: str) -> str:
        name, number = wanted, 0
        while name in self._names:
            number += 1
            name = f"{wanted}_{number}"
        self._names.add(name)
        return name


def _types_of(kind: str, refs: Sequence[Ref]) -> dict[str, Any]:
    """The attributes that the inputs of a kind set."""
    count, star, inner = kind.rpartition("*")
    found: dict[str, Any] = {count: len(refs)} if star else {}
    if inner.endswith("[]"):
        found[inner[:-2]] = [ref.dtype for ref in refs]
    elif inner != "-" and refs:
        found[inner] = refs[0].dtype
    return found


def _outputs(node: str, outputs: Sequence[tuple[str, str]], known: Mapping[str, Any]) -> Any:
    """The values of a node."""
    place = 0
    for name, kind in outputs:
        count, star, inner = kind.rpartition("*")
        one = known.get(inner, _FIXED.get(inner))
        dtypes = known[inner[:-2]] if inner.endswith("[]") else [one] * (known[count] if star else 1)
        for number, dtype in enumerate(dtypes):
            yield Ref(node, name, number, place, dtype)
            place += 1


def set_attribute(attribute: Any, value: Any) -> None:
    """Gives an AttrValue a value of Python's."""
    if isinstance(value, bool):
        attribute.b = value
    elif isinstance(value, int):
        attribute.i = value
    elif isinstance(value, float):
        attribute.f = value
    elif isinstance(value, str | bytes):
        attribute.s = value.encode() if isinstance(value, str) else value
    elif isinstance(value, np.dtype | TokenType):
        attribute.type = NUMBERS[value]
    elif isinstance(value, TensorShape):
        set_shape(attribute.shape, value)
    elif isinstance(value, np.ndarray):
        set_tensor(attribute.tensor, value)
    elif isinstance(value, FunctionRef):
        attribute.func.name = value.name
    else:
        _set_list(attribute.list, value)


def _is_writable(value: Any) -> bool:
    """Whether an attribute of an operation is one of Python's values, or a list of them."""
    values = value if isinstance(value, list | tuple) else [value]
    return all(isinstance(each, bool | int | float | str | bytes) for each in values)


def _set_list(values: Any, given: Sequence[Any]) -> None:
    values.SetInParent()
    for value in given:
        if isinstance(value, int):
            values.i.append(value)
        elif isinstance(value, float):
            values.f.append(value)
        elif isinstance(value, str | bytes):
            values.s.append(value.encode() if isinstance(value, str) else value)
        elif isinstance(value, FunctionRef):
            values.func.add().name = value.name
        elif isinstance(value, TensorShape):
            set_shape(values.shape.add(), value)
        else:
            values.type.append(NUMBERS[value])


def set_shape(proto: Any, shape: TensorShape) -> None:
    """Gives a TensorShapeProto the lengths of `shape`, -1 for those that only a run knows."""
    proto.SetInParent()
    proto.unknown_rank = shape.rank is None
    for length in shape.as_list() if shape.rank is not None else ():
        proto.dim.add().size = -1 if length is None else length


def set_tensor(proto: Any, array: np.ndarray[Any, Any]) -> None:
    """Gives a TensorProto the elements of `array`."""
    proto.dtype = NUMBERS[array.dtype]
    set_shape(proto.tensor_shape, TensorShape(array.shape))
    if array.dtype == string:
        proto.string_val.extend(array.ravel().tolist())
    else:
        proto.tensor_content = np.ascontiguousarray(array).tobytes()
