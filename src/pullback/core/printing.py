"""Text form of a graph: a line an operation, in the order they were made."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from .dtypes import dtype_name
from .function import AbstractFunctional, Function
from .graph import Operation, Tensor
from .primitive import Primitive
from .shape import TensorShape
from .text import printable


def graph_text(operations: Iterable[Operation]) -> str:
    """One line for each operation, then the functions that they hold.

    `name: types = Type[attributes](inputs) ^control inputs @device`; an output number of 0 is left out.

    >>> import pullback as pb
    >>> a, b = pb.unstack(pb.constant([1, 2], name="x"), name="parts")
    >>> y = pb.add(a, b, name="y")
    >>> print(graph_text(y.graph.operations))
    x: int32[2] = Const[value=[1, 2]]()
    parts: int32[], int32[] = Unpack[num=2, axis=0](x)
    y: int32[] = AddV2(parts, parts:1)
    """
    operations = list(operations)
    lines = [operation_text(op) for op in operations]
    return "\n".join([*lines, *[f"\n{function_text(f)}" for f in functions_in(operations)]])


def functions_in(operations: Iterable[Operation]) -> list[Function]:
    """The functions that `operations` hold, and those that these hold, each once."""
    found: dict[Function, None] = {}
    pending = list(operations)
    for op in pending:
        for function in op.primitive.functions:
            if function not in found:
                found[function] = None
                pending.extend(function.operations)
    return list(found)


def function_text(function: Function) -> str:
    """A line with name, parameters and results, then one for each operation that they need.

    >>> import pullback as pb
    >>> from pullback.core.function import trace
    >>> print(function_text(trace(lambda x: [x + x], [pb.constant(1.0).type], "twice", ["x"]).function))
    twice(x: float32[]) -> (add)
      add: float32[] = AddV2(x, x)
    """
    parameters = ", ".join(f"{x.op.name}: {x.type}" for x in function.parameters)
    results = ", ".join(_reference(y) for y in function.results)
    lines = [f"  {operation_text(op)}" for op in function.operations]
    return "\n".join([printable(f"{function.name}({parameters}) -> ({results})"), *lines])


def operation_text(op: Operation) -> str:
    """The line of one operation.

    >>> import pullback as pb
    >>> print(operation_text(pb.constant(2.0, name="x").op))
    x: float32[] = Const[value=2.0]()
    """
    types = ", ".join(str(y.type) for y in op.outputs)
    inputs = ", ".join(_reference(x) for x in op.inputs)
    control = "".join(f" ^{c.name}" for c in op.controls)
    device = f" @{op.device}" if op.device else ""
    line = printable(f"{op.name}: {types or '()'} = {primitive_text(op.primitive)}({inputs}){control}{device}")
    return line.replace("\n", "\\n")


def primitive_text(primitive: Primitive) -> str:
    """The op type with its attributes, those that are False, None or empty left out: `MatMul[transpose_a]`.

    Of calls, branches and loops those are left out that are what they are unless given.
    """
    usual = type(primitive).__dict__ if isinstance(primitive, AbstractFunctional) else {}
    shown = [
        name if value is True else f"{name}={value_text(value)}"
        for name, value in primitive.attributes.items()
        if not (value is None or value is False or (isinstance(value, str | tuple) and not value))
        if name not in usual or usual[name] != value
    ]
    return f"{primitive.type}[{', '.join(shown)}]" if shown else primitive.type


def value_text(value: Any) -> str:
    """An attribute as it prints: short arrays whole, long ones by their type."""
    if isinstance(value, np.dtype):
        return dtype_name(value)
    if isinstance(value, Function):
        return value.name
    if isinstance(value, tuple) and any(isinstance(v, Function) for v in value):
        return f"({', '.join(value_text(v) for v in value)})"
    if isinstance(value, np.ndarray):
        if value.size > 8:
            return f"{dtype_name(value.dtype)}[{','.join(map(str, value.shape))}]"
        return str(value.tolist())
    if isinstance(value, TensorShape) and value.sizes is not None:
        return str(value.sizes)
    return str(value)


def _reference(x: Tensor) -> str:
    return x.op.name if x.value_index == 0 else x.name
