"""Kernel tracing for ONNX export: a primitive is written by running its kernel on arrays that record.

A kernel may ask for lengths that only a run knows. Where that is the number of matrices, images or vectors in a stack,
of which each is treated by itself, its kernel is traced for one of them, in a loop over all.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.dtypes import COMPLEX, int64
from ..core.dtypes import bool as bool_
from ..core.errors import NotRecordedError
from ..core.operation import Operation
from ..core.shape import TensorShape
from ..core.traits import ELEMENTWISE, Link, is_of_stacks
from ..core.types import TensorType, tensor_type
from .pairs import Pair, grouped, parts, trace_kernel
from .records import Value
from .writing import Writer


def is_recorded(op: Operation) -> bool:
    """Whether an operation is written in this way where it has no writer."""
    return ELEMENTWISE in op.primitive.traits


def record_kernel(w: Writer, inputs: Sequence[Value]) -> Any:
    """The values of the outputs; NotRecordedError for a primitive that is not elementwise."""
    if not is_recorded(w.op) and not any(y.dtype in COMPLEX for y in (*w.op.inputs, *w.op.outputs)):
        raise NotRecordedError
    return trace_kernel(w, inputs)


def record_one_by_one(w: Writer, inputs: Sequence[Any]) -> list[Any]:
    """The values of the outputs, for one after the other along the first axis.

    Raises:
        NotRecordedError: they are not apart along that axis, or it is not the only one of unknown length.
    """
    op = w.op
    if not op.outputs or op.primitive.stateful or op.primitive.acts:
        raise NotRecordedError
    along = [i for i in range(len(inputs)) if _is_apart(op, i)]
    shapes = [x.type.shape.lengths for x in inputs]
    known = [n is not None and TensorShape(n[i in along :]).is_fully_defined() for i, n in enumerate(shapes)]
    if not along or not all(known):
        raise NotRecordedError
    rows: list[TensorType] = []

    def build(inner: Writer, number: Value, going: Value) -> list[Value]:
        given = [_one(inner, x, number) if i in along else x for i, x in enumerate(inputs)]
        made = [inner.squeeze(y, [0]) for y in parts(trace_kernel(inner, given))]
        rows.extend([y.type for y in made])
        return [going, *made]

    first = parts([inputs[along[0]]])[0]
    body = w.body(build, [tensor_type(int64, []), tensor_type(bool_, [])], ["step", "going"])
    count, length = w.reshape(w.lengths(first, [0]), []), TensorShape((first.type.shape.lengths or ())[:1])
    types = [TensorType(row.dtype, length.concatenate(row.shape)) for row in rows]
    return grouped(w.emit("Loop", [count, w.constant(True)], types, {"body": body}), [y.type for y in op.outputs])


def _is_apart(op: Operation, i: int) -> bool:
    """Whether what stands at a place of the first axis of the results is made of what stands there in input `i`."""
    p = op.primitive
    return is_of_stacks(type(p).links) and Link(0, 0) in (p.links(i, *[x.type for x in op.inputs]) or ())


def _one(w: Writer, x: Any, number: Value) -> Any:
    """A stack of one of those in `x`."""
    if isinstance(x, Pair):
        return Pair(_one(w, x.re, number), _one(w, x.im, number))
    return w.unsqueeze(w.gather(x, number), [0])
