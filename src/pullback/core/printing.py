"""The one text form of a graph: a line an operation, in the order they were made."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from .graph import Operation, Tensor
from .primitive import Primitive


def graph_text(operations: Iterable[Operation]) -> str:
    """One line for each operation.

    `name: types = Type[attributes](inputs) ^control inputs @device`; an output number of 0 is left out.

    >>> import pullback as pb
    >>> a, b = pb.unstack(pb.constant([1, 2], name="x"), name="parts")
    >>> y = pb.add(a, b, name="y")
    >>> print(graph_text(y.graph.operations))
    x: int32[2] = Const[value=[1, 2]]()
    parts: int32[], int32[] = Unpack[num=2, axis=0](x)
    y: int32[] = AddV2(parts, parts:1)
    """
    return "\n".join(operation_text(op) for op in operations)


def operation_text(op: Operation) -> str:
    """The line of one operation.

    >>> import pullback as pb
    >>> print(operation_text(pb.constant(2.0, name="x").op))
    x: float32[] = Const[value=2.0]()
    """
    types = ", ".join(str(y.type) for y in op.outputs)
    inputs = ", ".join(_reference(x) for x in op.inputs)
    control = "".join(f" ^{c.name}" for c in op.control_inputs)
    device = f" @{op.device}" if op.device else ""
    return f"{op.name}: {types or '()'} = {primitive_text(op.primitive)}({inputs}){control}{device}"


def primitive_text(primitive: Primitive) -> str:
    """The op type with its attributes, those that are False, None or empty left out: `MatMul[transpose_a]`."""
    shown = [
        name if value is True else f"{name}={value_text(value)}"
        for name, value in primitive.attributes.items()
        if not (value is None or value is False or (isinstance(value, str | tuple) and not value))
    ]
    return f"{primitive.type}[{', '.join(shown)}]" if shown else primitive.type


def value_text(value: Any) -> str:
    """An attribute as it prints: short arrays whole, long ones by their type."""
    if isinstance(value, np.dtype):
        return value.name
    if isinstance(value, np.ndarray):
        if value.size > 8:
            return f"{value.dtype.name}[{','.join(map(str, value.shape))}]"
        return str(value.tolist())
    return str(value)


def _reference(x: Tensor) -> str:
    return x.op.name if x.value_index == 0 else x.name
