"""Deserialization of graphs: the dict form, which may come from a stranger, read by its schema.

Each attribute must be of the type that its primitive declares. Nothing that a dict says is called or executed.
"""

from __future__ import annotations

import base64
import binascii
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from .dtypes import TokenType, as_dtype, string
from .errors import DataLossError
from .function import Function, Parameter
from .graph import Graph, Operation, Tensor
from .lengths import Dimension, Length, apply, is_name, named, symbol
from .limits import Reading, limited, reading
from .memory import Memory
from .naming import check_operation_name
from .primitive import Primitive, primitive_class
from .python_function import PythonFunction, missing_function
from .schema import RAISED, declared, expect, field, fits, shown, texts
from .scopes import NOTHING
from .serialize import FORMAT, VERSION
from .shape import TensorShape
from .types import TensorType

_ATTRS: Mapping[str, Any] = {"_class": list, "_gradient_op_type": bytes}
"""The types of the attributes beyond a primitive's that are read here."""
_LARGEST = 2**63
PythonFunctions = Mapping[str, Callable[..., Any]]


def graph_from_dict(data: Mapping[str, Any], python_functions: PythonFunctions | None = None) -> Graph:
    """The graph that `graph_to_dict` was given: the same operations, names, devices and attributes.

    Raises:
        DataLossError: not such a dict, of a later version, or with operation types or attributes unknown here.
        ResourceExhaustedError: it is beyond a limit of `pb.config.Limits`.
    """
    with limited("Graph.from_dict") as reading:
        entry = expect(data, dict, "a graph")
        if entry.get("format") != FORMAT:
            raise DataLossError(f"this is no graph: its format is {shown(entry.get('format'))}, not {FORMAT!r}")
        if entry.get("version") != VERSION:
            raise DataLossError(
                f"this graph is of version {shown(entry.get('version'))}; this release reads version {VERSION}"
            )
        return _Decoder(reading, python_functions or {}).graph(entry)


def primitive_from_dict(entry: Mapping[str, Any], where: str) -> Primitive:
    """The primitive whose type and attributes an entry gives, as `attribute_to_dict` makes one of it.

    Raises:
        DataLossError: there is none of that type, or with these attributes.
    """
    return _Decoder(reading(), {})._inner(dict(entry), where)


def attribute_from_dict(value: Any, where: str) -> Any:
    """The attribute that `attribute_to_dict` was given."""
    return _Decoder(reading(), {})._value(value, where)


class _Decoder:
    """Makes operations of dicts; `where` is what a message calls the place."""

    def __init__(self, reading: Reading, python_functions: PythonFunctions) -> None:
        self._reading = reading
        self._python_functions = python_functions
        self._functions: list[Function] = []
        self._depths: dict[Function, int] = {}

    def graph(self, entry: dict[str, Any]) -> Graph:
        for i, function in enumerate(field(entry, "functions", list, "a graph", [])):
            self._function(expect(function, dict, f"function {i}"), f"function {i}")
        graph = Graph()
        graph.seed = None if entry.get("seed") is None else field(entry, "seed", int, "a graph")
        made = self._operations(graph, field(entry, "operations", list, "a graph"))
        for name, elements in field(entry, "collections", dict, "a graph", {}).items():
            where = f"the collection {shown(name)}"
            for element in texts(elements, where):
                found = _tensor(made, element, where) if ":" in element else _operation(made, element, where)
                graph.add_to_collection(expect(name, str, "the name of a collection"), found)
        return graph

    def _function(self, entry: dict[str, Any], where: str) -> None:
        name = field(entry, "name", str, where)
        graph = Graph(name=name)
        made = self._operations(graph, field(entry, "operations", list, where))
        graph.finalize()
        parameters = [_operation(made, x, where) for x in texts(entry.get("parameters"), f"{where}: 'parameters'")]
        for op in parameters:
            if not isinstance(op.primitive, Parameter):
                raise DataLossError(f"{where}: its parameter '{op.name}' is an operation of type {op.type}")
        results = [_tensor(made, y, where) for y in texts(entry.get("results"), f"{where}: 'results'")]
        function = Function(graph, tuple([op.outputs[0] for op in parameters]), tuple(results), name)
        inner = [self._depths[f] for op in graph.operations for f in op.primitive.functions]
        self._depths[function] = 1 + max(inner, default=0)
        self._reading.takes_depth(self._depths[function])
        self._functions.append(function)

    def _operations(self, graph: Graph, entries: Sequence[Any]) -> dict[str, Operation]:
        made: dict[str, Operation] = {}
        for i, entry in enumerate(entries):
            self._reading.takes_nodes()
            op = self._operation(graph, expect(entry, dict, f"operation {i}"), made, i)
            made[op.name] = op
        return made

    def _operation(self, graph: Graph, entry: dict[str, Any], made: Mapping[str, Operation], number: int) -> Operation:
        name = field(entry, "name", str, f"operation {number}")
        where = f"operation '{name}'"
        type_name = field(entry, "type", str, where)
        cls = primitive_class(type_name)
        if cls is None:
            raise DataLossError(f"{where} has the type {shown(type_name)}, which no primitive here defines")
        primitive = self._primitive(cls, field(entry, "attributes", dict, where, {}), where)
        inputs = [_tensor(made, x, where) for x in texts(entry.get("inputs"), f"{where}: 'inputs'")]
        controls = [
            _operation(made, c, where) for c in texts(entry.get("control_inputs", []), f"{where}: its controls")
        ]
        original = made.get(field(entry, "original_op", str, where)) if "original_op" in entry else None
        try:
            check_operation_name(name)
            op = graph.restore(
                primitive,
                inputs,
                name,
                control_inputs=tuple(controls),
                device=field(entry, "device", str, where, ""),
                attrs=self._attrs(field(entry, "attrs", dict, where, {}), where) or NOTHING,
                original_op=original,
            )
        except RAISED as error:
            raise DataLossError(f"{where} (type {type_name}) cannot be made again: {error}") from error
        for y in op.outputs:
            if not isinstance(y.dtype, np.dtype | TokenType) or not isinstance(y.shape, TensorShape):
                raise DataLossError(f"{where} (type {type_name}) cannot be made again: it would be {y.dtype} {y.shape}")
        return op

    def _primitive(self, cls: type[Primitive], entry: Mapping[str, Any], where: str) -> Primitive:
        attributes = {key: self._value(value, f"{where}: '{key}'") for key, value in entry.items()}
        kinds = declared(cls)  # type: ignore[arg-type]
        for key, value in attributes.items():
            if key not in kinds:
                raise DataLossError(f"{where} (type {cls.type}): there is no attribute {shown(key)}")
            if not fits(value, kinds[key]):
                raise DataLossError(f"{where} (type {cls.type}): its attribute '{key}' cannot be {shown(value)}")
        try:
            return cls(**attributes)
        except RAISED as error:
            raise DataLossError(f"{where} (type {cls.type}) cannot be made again: {error}") from error

    def _attrs(self, entry: Mapping[str, Any], where: str) -> dict[str, Any]:
        attrs = {key: self._value(value, f"{where}: '{key}'") for key, value in entry.items()}
        for key, kind in _ATTRS.items():
            if key in attrs and not isinstance(attrs[key], kind):
                raise DataLossError(f"{where}: its attribute '{key}' cannot be {shown(attrs[key])}")
        if not all(isinstance(group, bytes) for group in attrs.get("_class", ())):
            raise DataLossError(f"{where}: its attribute '_class' cannot be {shown(attrs['_class'])}")
        return attrs

    def _value(self, value: Any, where: str) -> Any:
        """The attribute that an encoder was given."""
        if value is None or isinstance(value, bool | int | str):
            return value
        entry = expect(value, dict, where)
        if "array" in entry:
            return _array(entry, where)
        if "texts" in entry:
            return _texts(entry, where)
        if "primitive" in entry:
            return self._inner(entry, where)
        if len(entry) != 1:
            raise DataLossError(f"{where}: a value has one kind, not {shown(list(entry))}")
        ((kind, inner),) = entry.items()
        if kind in ("tuple", "list"):
            with self._reading.inside():
                values = [self._value(v, where) for v in expect(inner, list, where)]
            return tuple(values) if kind == "tuple" else values
        if kind == "type":
            dtype, shape = _parts(inner, 2, where)
            return TensorType(self._of(dtype, np.dtype | TokenType, where), self._of(shape, TensorShape, where))
        if kind == "shape":
            return _shape(inner, self._reading, where)
        if kind == "function":
            return self._known_function(inner, where)
        if kind == "memory":
            return _memory(_parts(inner, 3, where), where)
        if kind == "python":
            return self._python_function(expect(inner, str, where))
        return _from_text(kind, expect(inner, str, where), where)

    def _of(self, value: Any, kind: Any, where: str) -> Any:
        decoded = self._value(value, where)
        if not isinstance(decoded, kind):
            raise DataLossError(f"{where}: {shown(value)} is not what belongs there")
        return decoded

    def _inner(self, entry: dict[str, Any], where: str) -> Primitive:
        type_name = field(entry, "primitive", str, where)
        cls = primitive_class(type_name)
        if cls is None:
            raise DataLossError(f"{where} has the op type {shown(type_name)}, which no primitive here defines")
        with self._reading.inside():
            return self._primitive(cls, field(entry, "attributes", dict, where), where)

    def _known_function(self, number: Any, where: str) -> Function:
        i, known = expect(number, int, where), len(self._functions)
        if not 0 <= i < known:
            raise DataLossError(f"{where}: there is no function {shown(i)} before it, only {known}")
        return self._functions[i]

    def _python_function(self, name: str) -> PythonFunction:
        call = self._python_functions.get(name)
        return missing_function(name) if call is None else PythonFunction(call, name)


def _operation(made: Mapping[str, Operation], name: str, where: str) -> Operation:
    if name not in made:
        raise DataLossError(f"{where} names the operation {shown(name)}, which is not there before it")
    return made[name]


def _tensor(made: Mapping[str, Operation], name: str, where: str) -> Tensor:
    op_name, _, number = name.rpartition(":")
    outputs = _operation(made, op_name, where).outputs
    if not (number.isdecimal() and len(number) < 5 and int(number) < len(outputs)):
        raise DataLossError(f"{where} names the tensor {shown(name)}, but '{op_name}' has {len(outputs)} outputs")
    return outputs[int(number)]


def _parts(value: Any, count: int, where: str) -> list[Any]:
    parts = expect(value, list, where)
    if len(parts) != count:
        raise DataLossError(f"{where}: {count} parts belong there, not {len(parts)}")
    return parts


def _array(entry: dict[str, Any], where: str) -> np.ndarray[Any, Any]:
    shape = [expect(n, int, f"{where}: a length") for n in field(entry, "shape", list, where)]
    dtype = _from_text("dtype", field(entry, "dtype", str, where), where)
    try:
        data = base64.b64decode(field(entry, "array", str, where), validate=True)
    except (binascii.Error, ValueError) as error:
        raise DataLossError(f"{where}: the elements of an array cannot be read: {error}") from None
    if not isinstance(dtype, np.dtype) or any(n < 0 for n in shape):
        raise DataLossError(f"{where}: there is no array {dtype} of the shape {shown(shape)}")
    if len(data) != math.prod(shape) * dtype.itemsize:
        raise DataLossError(f"{where}: {len(data)} bytes do not fill an array {dtype} of the shape {shown(shape)}")
    try:
        return np.frombuffer(data, dtype).reshape(shape)
    except ValueError as error:  # Axes without number, or a length beyond what an array may have.
        raise DataLossError(f"{where}: there is no array {dtype} of the shape {shown(shape)}: {error}") from None


def _texts(entry: dict[str, Any], where: str) -> np.ndarray[Any, Any]:
    shape = [expect(n, int, f"{where}: a length") for n in field(entry, "shape", list, where)]
    try:
        elements = [bytes.fromhex(text) for text in texts(entry["texts"], f"{where}: 'texts'")]
        array = np.empty(len(elements), string)
        array[:] = elements
        return array.reshape(shape)
    except ValueError as error:
        raise DataLossError(f"{where}: there are no such texts of the shape {shown(shape)}: {error}") from None


def _shape(value: Any, reading: Reading, where: str) -> TensorShape:
    if value is None:
        return TensorShape.UNKNOWN
    return TensorShape([None if n is None else _length(n, reading, where) for n in expect(value, list, where)])


def _length(value: Any, reading: Reading, where: str) -> Dimension:
    """A length that may be one of a shape; what it is made of may be negative."""
    length = _part_of_length(value, reading, where)
    if isinstance(length, int) and length < 0:
        raise DataLossError(f"{where}: {shown(value)} is no length")
    return length


def _part_of_length(value: Any, reading: Reading, where: str) -> Dimension:
    if isinstance(value, str):
        return _named(value, where)
    if not isinstance(value, dict):
        if abs(expect(value, int, where)) < _LARGEST:
            return int(value)
        raise DataLossError(f"{where}: {shown(value)} is no length")
    if len(value) != 1:
        raise DataLossError(f"{where}: {shown(value)} is no length")
    ((function, operands),) = value.items()
    if function == "symbol":
        number, name = _parts(operands, 2, where)
        return _own_symbol(expect(number, int, where), expect(name, str, where), reading, where)
    with reading.inside():
        if function == "+":
            return sum(_term(term, reading, where) for term in expect(operands, list, where))
        inner = [_part_of_length(n, reading, where) for n in expect(operands, list, where)]
    try:
        return apply(function, inner)
    except (ArithmeticError, LookupError, TypeError, ValueError):
        raise DataLossError(f"{where}: {shown(value)} is no length") from None


def _term(term: Any, reading: Reading, where: str) -> Dimension:
    """A number times symbols, quotients, minima and maxima; a product of sums could be a sum without end."""
    coefficient, atoms = _parts(term, 2, where)
    factors = [_part_of_length(a, reading, where) for a in expect(atoms, list, where)]
    if not all(isinstance(a, Length) and a.is_atom for a in factors):
        raise DataLossError(f"{where}: {shown(term)} is no length")
    return math.prod(factors, start=expect(coefficient, int, where))


def _own_symbol(number: int, name: str, reading: Reading, where: str) -> Length:
    """The symbol of that number in what is read, which is not that of the same name elsewhere."""
    if name and not is_name(name):
        raise DataLossError(f"{where}: {shown(name)} is no name of a length")
    return reading.symbols.setdefault(number, symbol(name))


def _named(name: str, where: str) -> Length:
    try:
        return named(name)
    except ValueError as error:
        raise DataLossError(f"{where}: {error}") from None


def _memory(parts: list[Any], where: str) -> Memory:
    every, budget, intermediates = parts
    if not (fits(every, int | None) and fits(budget, int | None) and isinstance(intermediates, bool)):
        raise DataLossError(f"{where}: {shown(parts)} is no memory policy")
    try:
        return Memory(every, budget, intermediates)
    except ValueError as error:
        raise DataLossError(f"{where}: {error}") from None


def _from_text(kind: str, text: str, where: str) -> Any:
    """A value whose form is a text."""
    try:
        match kind:
            case "float":
                return float.fromhex(text)
            case "bytes":
                return text.encode()
            case "dtype":
                return as_dtype(text)
            case "error":
                return LookupError(f"the gradient function failed before the graph was saved: {text}")
    except (OverflowError, TypeError, ValueError) as error:
        raise DataLossError(f"{where}: {error}") from None
    raise DataLossError(f"{where}: there is no kind of value {shown(kind)}")
