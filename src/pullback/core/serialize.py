"""Serialization of graphs: the dict form, ready for JSON, all that is needed to make the same graph again."""

from __future__ import annotations

import base64
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .dtypes import TokenType, as_dtype
from .errors import DataLossError
from .function import Function
from .graph import Graph, Operation, Tensor
from .lengths import Dimension, Length, apply, named
from .memory import Memory
from .primitive import Primitive, primitive_class
from .printing import functions_in
from .python_function import PythonFunction, python_function
from .scopes import NOTHING
from .shape import TensorShape
from .types import TensorType

FORMAT = "pullback.graph"
VERSION = 1


def graph_to_dict(graph: Graph) -> dict[str, Any]:
    """The operations of `graph`, and the tensors and operations in its collections.

    Variables need no place of their own: the operation that makes a variable's handle says all about it.
    """
    functions = functions_in(graph.operations)[::-1]
    numbers = {function: i for i, function in enumerate(functions)}
    return {
        "format": FORMAT,
        "version": VERSION,
        "seed": graph.seed,
        "functions": [_function_to_dict(f, numbers) for f in functions],
        "operations": [_operation_to_dict(op, numbers) for op in graph.operations],
        "collections": {
            name: [x.name for x in values if isinstance(x, Tensor | Operation)]
            for name, values in graph.collections.items()
        },
    }


def graph_from_dict(data: Mapping[str, Any]) -> Graph:
    """The graph that `graph_to_dict` was given: the same operations, names, devices and attributes.

    Raises:
        DataLossError: not such a dict, of a later version, or with operation types or attributes unknown here.
    """
    if data.get("format") != FORMAT:
        raise DataLossError(f"this is no graph: its format is {data.get('format')!r}, not {FORMAT!r}")
    if data.get("version") != VERSION:
        raise DataLossError(f"this graph is of version {data.get('version')!r}; this release reads version {VERSION}")
    functions: list[Function] = []
    for entry in data.get("functions", ()):
        functions.append(_function_from_dict(entry, functions))
    graph = Graph()
    graph.seed = data["seed"]
    made = _operations_from_dicts(graph, data["operations"], functions)
    for name, elements in data.get("collections", {}).items():
        for element in elements:
            graph.add_to_collection(name, _tensor(made, element) if ":" in element else made[element])
    return graph


def _function_to_dict(function: Function, numbers: Mapping[Function, int]) -> dict[str, Any]:
    parameters = [x.op for x in function.parameters]
    return {
        "name": function.name,
        "parameters": [op.name for op in parameters],
        "results": [y.name for y in function.results],
        "operations": [_operation_to_dict(op, numbers) for op in (*parameters, *function.operations)],
    }


def _function_from_dict(entry: Mapping[str, Any], functions: Sequence[Function]) -> Function:
    graph = Graph(name=entry["name"])
    made = _operations_from_dicts(graph, entry["operations"], functions)
    graph.finalize()
    parameters = tuple([made[name].outputs[0] for name in entry["parameters"]])
    return Function(graph, parameters, tuple([_tensor(made, y) for y in entry["results"]]), entry["name"])


def _operations_from_dicts(
    graph: Graph, entries: Sequence[Mapping[str, Any]], functions: Sequence[Function]
) -> dict[str, Operation]:
    made: dict[str, Operation] = {}
    for entry in entries:
        op = _operation_from_dict(graph, entry, made, functions)
        made[op.name] = op
    return made


def _operation_to_dict(op: Operation, numbers: Mapping[Function, int]) -> dict[str, Any]:
    attributes = op.primitive.attributes
    entry: dict[str, Any] = {"name": op.name, "type": op.type, "inputs": [x.name for x in op.inputs]}
    if attributes:
        entry["attributes"] = {key: encode(value, numbers) for key, value in attributes.items()}
    if op.control_inputs:
        entry["control_inputs"] = [c.name for c in op.control_inputs]
    if op.device:
        entry["device"] = op.device
    if op.attrs:
        entry["attrs"] = {key: encode(value) for key, value in op.attrs.items()}
    if op.original_op is not None:
        entry["original_op"] = op.original_op.name
    return entry


def _operation_from_dict(
    graph: Graph, entry: Mapping[str, Any], made: Mapping[str, Operation], functions: Sequence[Function]
) -> Operation:
    name, type_name = entry["name"], entry["type"]
    cls = primitive_class(type_name)
    if cls is None:
        raise DataLossError(f"operation '{name}' has the type {type_name!r}, which no primitive here defines")
    attributes = {key: decode(value, functions) for key, value in entry.get("attributes", {}).items()}
    try:
        primitive = cls(**attributes)
        inputs = [_tensor(made, x) for x in entry["inputs"]]
        original = entry.get("original_op")
        return graph.restore(
            primitive,
            inputs,
            name,
            control_inputs=tuple([made[c] for c in entry.get("control_inputs", ())]),
            device=entry.get("device", ""),
            attrs={key: decode(value) for key, value in entry.get("attrs", {}).items()} or NOTHING,
            original_op=made.get(str(original)),
        )
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise DataLossError(f"operation '{name}' (type {type_name}) cannot be made again: {error}") from error


def _tensor(made: Mapping[str, Operation], name: str) -> Tensor:
    op_name, _, number = name.rpartition(":")
    return made[op_name].outputs[int(number)]


def encode(value: Any, functions: Mapping[Function, int] = {}) -> Any:
    """An attribute as JSON values; a function, or a primitive, as its number or its type and attributes."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return {"float": value.hex()}
    if isinstance(value, bytes):
        return {"bytes": value.decode()}
    if isinstance(value, np.dtype | TokenType):
        return {"dtype": value.name}
    if isinstance(value, TensorShape):
        return {"shape": None if value.lengths is None else [_length_to_dict(n) for n in value.lengths]}
    if isinstance(value, TensorType):
        return {"type": [encode(value.dtype), encode(value.shape)]}
    if isinstance(value, np.ndarray | np.generic):
        array = np.ascontiguousarray(value)
        data = base64.b64encode(array.tobytes()).decode()
        return {"array": data, "dtype": array.dtype.name, "shape": list(np.shape(value))}
    if isinstance(value, Function):
        return {"function": functions[value]}
    if isinstance(value, Primitive):
        return {"primitive": value.type, "attributes": {k: encode(v, functions) for k, v in value.attributes.items()}}
    if isinstance(value, Memory):
        return {"memory": [value.every, value.budget, value.intermediates]}
    if isinstance(value, PythonFunction):
        return {"python": [value.name, value.number]}
    if isinstance(value, Exception):
        return {"error": f"{type(value).__name__}: {value}"}
    if isinstance(value, tuple | list):
        kind = "tuple" if isinstance(value, tuple) else "list"
        return {kind: [encode(v, functions) for v in value]}
    raise TypeError(f"an attribute of type {type(value).__name__} has no dict form: {value!r}")


def _length_to_dict(length: Dimension | None) -> Any:
    """A number, a name, or the operation that gives a length; None where a symbol of it has no name."""
    if not isinstance(length, Length):
        return length
    if any(named(s.name) is not s if s.name else True for s in length.symbols):
        return None
    if length.is_symbol:
        return length.name
    if length.function:
        return {length.function: [_length_to_dict(n) for n in length.operands]}
    return {"+": [[n, [_length_to_dict(a) for a in atoms]] for atoms, n in length.terms.items()]}


def _length_from_dict(value: Any) -> Dimension | None:
    if not isinstance(value, dict):
        return named(value) if isinstance(value, str) else value
    ((function, operands),) = value.items()
    if function == "+":
        return sum(n * math.prod([_length_from_dict(a) for a in atoms]) for n, atoms in operands)  # type: ignore[misc]
    return apply(function, [_length_from_dict(n) for n in operands])  # type: ignore[misc]


def decode(value: Any, functions: Sequence[Function] = ()) -> Any:
    """The attribute that `encode` was given."""
    if not isinstance(value, dict):
        return value
    if "array" in value:
        array = np.frombuffer(base64.b64decode(value["array"]), as_dtype(value["dtype"]))  # type: ignore[arg-type]
        return array.reshape(value["shape"])
    if "primitive" in value:
        cls = primitive_class(value["primitive"])
        if cls is None:
            raise DataLossError(f"an attribute has the op type {value['primitive']!r}, which no primitive here defines")
        return cls(**{key: decode(v, functions) for key, v in value["attributes"].items()})
    (kind, inner), *_ = value.items()
    if kind == "type":
        dtype, shape = inner
        return TensorType(decode(dtype), decode(shape))
    decoders: dict[str, Any] = {
        "float": float.fromhex,
        "bytes": str.encode,
        "dtype": as_dtype,
        "shape": lambda dims: TensorShape(None if dims is None else [_length_from_dict(n) for n in dims]),
        "tuple": lambda items: tuple([decode(v, functions) for v in items]),
        "list": lambda items: [decode(v, functions) for v in items],
        "function": lambda number: functions[number],
        "memory": lambda fields: Memory(*fields),
        "python": lambda names: python_function(*names),
        "error": lambda text: LookupError(f"the gradient function failed before the graph was saved: {text}"),
    }
    return decoders[kind](inner)
