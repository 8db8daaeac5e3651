"""Constant folding while a graph is built: what is known of the values of small integer tensors, lengths among them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .dtypes import INTEGER, TokenType, string
from .dtypes import bool as bool_
from .intervals import Interval, of_array
from .lengths import Length
from .operation import Operation, Tensor
from .primitive import Primitive, no_gradient
from .shape import Lengths
from .traits import CONSTANT, CONVERTS, COUNTS, GIVEN, SHAPES
from .types import TensorType, VectorType, type_of_array
from .untold import as_computed, to_compute_with

Array = np.ndarray[Any, Any]
_LARGEST_FOLDED = 4096
_LARGEST_RANK = 64


@dataclass(frozen=True, eq=False)
class Const(Primitive):
    traits = (CONSTANT, GIVEN)

    value: Array

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Const):
            return NotImplemented
        a, b = self.value, other.value
        return a is b or (a.dtype == b.dtype and a.shape == b.shape and _elements(a) == _elements(b))

    def __hash__(self) -> int:
        return hash((self.value.dtype, self.value.shape, _elements(self.value)))

    def infer(self) -> tuple[TensorType, ...]:
        return (type_of_array(self.value),)

    def kernel(self, xp: Any) -> Any:
        del xp
        return self.value

    gradient = no_gradient

    def bounds(self, *xs: Interval) -> Interval:
        return of_array(self.value)


def _elements(array: Array) -> bytes | tuple[bytes, ...]:
    """The elements of an array, to compare by: numbers as their bits."""
    return tuple(array.ravel().tolist()) if array.dtype == string else array.tobytes()


def constant_value(tensor: Tensor) -> Array | None:
    """The value of `tensor` where it can be told while the graph is built, else None.

    Constants, static shapes, and small integer arithmetic on them can be told.
    """
    primitive = tensor.op.primitive
    if isinstance(primitive, Const):
        return primitive.value
    value = _partial_value(tensor)
    return None if value is None or value.dtype == object else value


def length_values(tensor: Tensor) -> Lengths | None:
    """The elements of an integer vector as lengths, which a run may decide; None for each of which nothing is known.

    None where not even their number can be told.

    >>> import pullback as pb
    >>> x = pb.placeholder(pb.float32, ["batch", 3])
    >>> length_values(pb.stack([pb.shape(x)[0] * 2, pb.shape(x)[1]]))
    (2*batch, 3)
    """
    if tensor.dtype not in INTEGER:
        return None
    value = _partial_value(tensor)
    if value is None:
        return None
    return tuple([n if n is None or isinstance(n, Length) else int(n) for n in value.reshape(-1)])


def shape_value(tensor: Tensor) -> tuple[int | None, ...] | None:
    """The elements of an integer vector that can be told while the graph is built, None for each that cannot.

    None where not even their number can be told.

    >>> import pullback as pb
    >>> x = pb.placeholder(pb.float32, [None, 3])
    >>> shape_value(pb.stack([pb.shape(x)[0], pb.shape(x)[1] * 2]))
    (None, 6)
    """
    values = length_values(tensor)
    return None if values is None else tuple([n if isinstance(n, int) else None for n in values])


def _partial_value(tensor: Tensor) -> Array | None:
    """The value of `tensor`; an array of objects with None where an element cannot be told; None if nothing can."""
    values: dict[Operation, Any] = {}
    pending = [tensor.op]
    while pending:
        op = pending[-1]
        inputs = inputs_to_evaluate(op)
        missing = [x.op for x in inputs if x.op not in values]
        if missing and len(values) + len(pending) < _LARGEST_FOLDED:
            pending.extend(missing)
            continue
        pending.pop()
        values[op] = _unknown(op) if missing else evaluated(op, [values[x.op][x.value_index] for x in inputs])
    value: Array | None = values[tensor.op][tensor.value_index]
    return value


def inputs_to_evaluate(op: Operation) -> tuple[Tensor, ...]:
    """The inputs whose values say those of the outputs: none where shapes do, or where nobody asks for the values."""
    foldable = op.primitive.reads_values and not op.primitive.stateful
    small = all(y.dtype in INTEGER or y.dtype == bool_ for y in op.outputs)
    return op.inputs if foldable and small else ()


def evaluated(op: Operation, arrays: Sequence[Array | None]) -> tuple[Array | None, ...]:
    """What is known of the values of the outputs of `op`, of integers or truth values.

    `arrays` is what is known of `inputs_to_evaluate(op)`. An array of objects holds lengths, and None for elements
    that cannot be told; None stands for a tensor of which nothing is known.
    """
    if isinstance(op.primitive, Const):
        return (op.primitive.value,)
    traits = op.primitive.traits
    if COUNTS in traits and op.inputs[0].shape.elements is not None:
        return (_told(op.inputs[0].shape.elements, op.outputs[0]),)
    if SHAPES in traits:
        return tuple(
            [
                None if x.shape.lengths is None else _told(x.shape.lengths, y)
                for x, y in zip(op.inputs, op.outputs, strict=True)
            ]
        )
    given = _arrays_to_fold(op, arrays)
    if given is None or any((y.shape.num_elements() or 0) > _LARGEST_FOLDED for y in op.outputs):
        return _unknown(op)
    if CONVERTS in traits and given[0].dtype == object:
        return (given[0],)
    try:
        result = op.primitive.kernel(np, *map(to_compute_with, given))
    except (NotImplementedError, ValueError):
        return _unknown(op)  # What the kernel refuses it refuses again in a run that needs it.
    except (TypeError, AttributeError, IndexError, SystemError):  # NumPy goes on where a comparison has failed.
        if all(a.dtype != object for a in given):
            raise
        return _unknown(op)  # Lengths can be moved, added and multiplied, not more: they are no indices.
    results = result if isinstance(result, tuple) else (result,)
    return tuple([_told(as_computed(value), y) for value, y in zip(results, op.outputs, strict=True)])


def _arrays_to_fold(op: Operation, arrays: Sequence[Array | None]) -> list[Array] | None:
    """What to call the kernel with, or None where it cannot be called."""
    if op.primitive.stateful or not op.inputs or any(x.type.dtype is string for x in op.inputs):
        return None
    if not op.primitive.reads_values:
        if any(not x.shape.is_fully_defined() or isinstance(x.dtype, TokenType) for x in op.inputs):
            return None
        return [np.broadcast_to(np.zeros((), x.dtype), x.shape.known) for x in op.inputs]  # type: ignore[arg-type]
    given = [a for a in arrays if a is not None and a.size <= _LARGEST_FOLDED]
    if len(given) < len(op.inputs):
        return None
    return given


def _unknown(op: Operation) -> tuple[Array | None, ...]:
    """Elements that cannot be told, where at least their number is known and small."""
    return tuple([np.full(y.shape.known, None) if _is_short(y) else None for y in op.outputs])


def _is_short(y: Tensor) -> bool:
    size = y.shape.num_elements()
    return y.dtype in INTEGER and size is not None and size <= _LARGEST_RANK


def _told(value: Any, y: Tensor) -> Array:
    """`value` in the dtype of `y`, or of objects where some of it is None."""
    array = np.asarray(value, object) if isinstance(value, Length) else np.asarray(value)
    if array.dtype == object and any(n is None or isinstance(n, Length) for n in array.reshape(-1)):
        return array
    return array.astype(y.dtype, copy=False)  # type: ignore[arg-type]


def types_with_lengths(inputs: Sequence[Tensor], numbers: Sequence[int]) -> list[TensorType]:
    """The types of `inputs`, those of `numbers` with the lengths that are their elements, as far as they are known."""
    types = [x.type for x in inputs]
    for i in numbers:
        if i < len(inputs):
            elements = length_values(inputs[i])
            if elements is not None:
                vector = types[i] = VectorType(*types[i])
                vector.elements = elements
    return types
