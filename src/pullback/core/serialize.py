"""Serialization of graphs: the dict form, ready for JSON, all that is needed to make the same graph again."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from .dtypes import TokenType, dtype_name, string
from .function import Function
from .graph import Graph, Operation, Tensor
from .lengths import Dimension, Length, named
from .memory import Memory
from .primitive import Primitive
from .printing import functions_in
from .python_function import PythonFunction
from .shape import TensorShape
from .types import TensorType

FORMAT = "pullback.graph"
VERSION = 1


def graph_to_dict(graph: Graph) -> dict[str, Any]:
    """The operations of `graph`, and the tensors and operations in its collections.

    Variables need no place of their own: the operation that makes a variable's handle says all about it.
    """
    functions = _inner_first(functions_in(graph.operations))
    encoder = _Encoder({function: i for i, function in enumerate(functions)})
    return {
        "format": FORMAT,
        "version": VERSION,
        "seed": graph.seed,
        "functions": [encoder.function(f) for f in functions],
        "operations": [encoder.operation(op) for op in graph.operations],
        "collections": {
            name: [x.name for x in values if isinstance(x, Tensor | Operation)]
            for name, values in graph.collections.items()
            if isinstance(name, str)
        },
    }


def attribute_to_dict(value: Any) -> Any:
    """An attribute that holds no function, as JSON values."""
    return _Encoder({}).value(value)


def _inner_first(functions: list[Function]) -> list[Function]:
    """The same functions, each behind those that it holds."""
    ordered: dict[Function, None] = {}
    pending = functions[::-1]
    while pending:
        function = pending[-1]
        inside = [f for op in function.operations for f in op.primitive.functions if f not in ordered]
        if inside:
            pending.extend(inside)
        else:
            ordered[pending.pop()] = None
    return list(ordered)


class _Encoder:
    """Makes dicts of operations; functions are numbers in it, Python functions names."""

    def __init__(self, numbers: Mapping[Function, int]) -> None:
        self._numbers = numbers
        self._calls: dict[str, Callable[..., Any]] = {}
        self._symbols: dict[Length, int] = {}

    def function(self, function: Function) -> dict[str, Any]:
        parameters = [x.op for x in function.parameters]
        return {
            "name": function.name,
            "parameters": [op.name for op in parameters],
            "results": [y.name for y in function.results],
            "operations": [self.operation(op) for op in (*parameters, *function.operations)],
        }

    def operation(self, op: Operation) -> dict[str, Any]:
        attributes = op.primitive.attributes
        entry: dict[str, Any] = {"name": op.name, "type": op.type, "inputs": [x.name for x in op.inputs]}
        if attributes:
            entry["attributes"] = self._attributes(attributes)
        if op.controls:
            entry["control_inputs"] = [c.name for c in op.controls]
        if op.device:
            entry["device"] = op.device
        if op.attrs:
            entry["attrs"] = self._attributes(op.attrs)
        if op.original_op is not None:
            entry["original_op"] = op.original_op.name
        return entry

    def _attributes(self, attributes: Mapping[str, Any]) -> dict[str, Any]:
        return {key: self.value(value) for key, value in attributes.items()}

    def value(self, value: Any) -> Any:
        """An attribute as JSON values; a function, or a primitive, as its number or its type and attributes."""
        if value is None or isinstance(value, bool | int | str):
            return value
        if isinstance(value, float):
            return {"float": value.hex()}
        if isinstance(value, bytes):
            return {"bytes": value.decode()}
        if isinstance(value, np.dtype | TokenType):
            return {"dtype": dtype_name(value)}
        if isinstance(value, TensorShape):
            return {"shape": None if value.lengths is None else [self._length(n) for n in value.lengths]}
        if isinstance(value, TensorType):
            return {"type": [self.value(value.dtype), self.value(value.shape)]}
        if isinstance(value, np.ndarray | np.generic):
            array = np.ascontiguousarray(value)
            if array.dtype == string:
                return {"texts": [text.hex() for text in array.ravel().tolist()], "shape": list(np.shape(value))}
            data = base64.b64encode(array.tobytes()).decode()
            return {"array": data, "dtype": array.dtype.name, "shape": list(np.shape(value))}
        if isinstance(value, Function):
            return {"function": self._numbers[value]}
        if isinstance(value, Primitive):
            return {"primitive": value.type, "attributes": self._attributes(value.attributes)}
        if isinstance(value, Memory):
            return {"memory": [value.every, value.bytes, value.intermediates]}
        if isinstance(value, PythonFunction):
            return {"python": self._name(value)}
        if isinstance(value, Exception):
            return {"error": f"{type(value).__name__}: {value}"}
        if isinstance(value, tuple | list):
            kind = "tuple" if isinstance(value, tuple) else "list"
            return {kind: [self.value(v) for v in value]}
        raise TypeError(f"an attribute of type {type(value).__name__} has no dict form: {value!r}")

    def _name(self, function: PythonFunction) -> str:
        """The name of a Python function, with a number where another one has that name."""
        name, number = function.name, 0
        while self._calls.setdefault(name, function.call) is not function.call:
            number += 1
            name = f"{function.name}_{number}"
        return name

    def _length(self, length: Dimension | None) -> Any:
        """A number, a name, a symbol of a function's own as its number and name, or what gives a length."""
        if not isinstance(length, Length):
            return length
        if length.is_symbol:
            known = bool(length.name) and named(length.name) is length
            return (
                length.name
                if known
                else {"symbol": [self._symbols.setdefault(length, len(self._symbols)), length.name]}
            )
        if length.function:
            return {length.function: [self._length(n) for n in length.operands]}
        return {"+": [[n, [self._length(a) for a in atoms]] for atoms, n in length.terms.items()]}
