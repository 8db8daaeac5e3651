"""Where the elements of an integer vector come from: numbers that are known, and lengths of tensors."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...core.dtypes import INTEGER
from ...core.operation import Operation, Tensor
from ...core.traits import CONVERTS, JOINS, MOVES, SHAPES
from ...primitives.creation.constant import constant_value
from ..reading import Node


class Length(NamedTuple):
    """The length of a tensor along an axis, which a run gives."""

    tensor: Tensor
    axis: int


def sources(vector: Tensor, count: int) -> list[int | Length | None]:
    """For each of `count` elements of a vector its value, the length that it is, or None where neither shows."""
    found: dict[Operation, Any] = {}
    pending = [vector.op]
    while pending:
        op = pending[-1]
        missing = [x.op for x in _followed(op) if x.op not in found]
        if missing:
            pending.extend(missing)
            continue
        pending.pop()
        found[op] = _elements(op, found)
    elements = found[vector.op]
    return [None] * count if elements is None else list(elements.reshape(-1))


def _followed(op: Operation) -> tuple[Tensor, ...]:
    traits = op.primitive.traits
    if JOINS in traits:
        return op.inputs
    return op.inputs[:1] if MOVES in traits or CONVERTS in traits else ()


def _elements(op: Operation, found: dict[Operation, Any]) -> Any:
    """The first output's elements as an array of objects; None where nothing shows."""
    y = op.outputs[0]
    known = constant_value(y) if y.dtype in INTEGER else None
    if known is not None:
        return _of_objects([int(n) for n in known.reshape(-1)]).reshape(known.shape)
    if SHAPES in op.primitive.traits:
        dims = op.inputs[0].shape.dims
        x = op.inputs[0]
        return None if dims is None else _of_objects([Length(x, i) if n is None else n for i, n in enumerate(dims)])
    followed = [found[x.op] for x in _followed(op)]
    rest = [constant_value(x) for x in op.inputs[len(followed) :]]
    if not followed or any(x is None for x in [*followed, *rest]) or any(x.value_index for x in _followed(op)):
        size = y.shape.num_elements()
        return None if size is None or y.dtype not in INTEGER else _of_objects([None] * size).reshape(y.shape.known)
    return followed[0] if CONVERTS in op.primitive.traits else _as_array(op.primitive.kernel(np, *followed, *rest))


def _as_array(found: Any) -> Any:
    """NumPy gives an element, and not an array, where an index picks one."""
    return found if isinstance(found, np.ndarray) else _of_objects([found]).reshape([])


def _of_objects(elements: list[Any]) -> Any:
    array = np.empty(len(elements), object)
    for i, element in enumerate(elements):
        array[i] = element
    return array


def is_length_of(node: Node, source: Any, x: Tensor, axis: int) -> bool:
    """Whether `source` is the length of `x` along `axis`, be it by the name that the model gives to both."""
    if not isinstance(source, Length):
        return source is not None and source == x.shape[axis]
    if source.tensor is x:
        return source.axis == axis
    names = [_dim_name(node, tensor, i) for tensor, i in ((source.tensor, source.axis), (x, axis))]
    return names[0] is not None and names[0] == names[1]


def _dim_name(node: Node, x: Tensor, axis: int) -> str | None:
    """The name of a length in the model."""
    name = node.graph.name_of(x)
    main = node.graph.model.graph
    for entry in [*main.input, *main.value_info, *main.output]:
        if entry.name == name and axis < len(entry.type.tensor_type.shape.dim):
            return entry.type.tensor_type.shape.dim[axis].dim_param or None
    return None
