"""ONNX import of sequences and optional values. How many tensors a sequence has is known while reading."""

from __future__ import annotations

from collections.abc import Sequence as Series
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...control_flow.conditional import cond
from ...core.dtypes import DType, float32, int64
from ...core.dtypes import bool as bool_
from ...core.limits import reading
from ...core.operation import Tensor
from ...primitives.casting.cast import cast
from ...primitives.creation.constant import constant
from ...primitives.identity.identity import identity
from ...primitives.indexing.where import where
from ...primitives.logic.comparison import equal, less
from ...primitives.shape.squeeze import squeeze
from ...primitives.shape.stacking import concat, split, stack
from ..element_types import dtype_of
from ..reading import Node, reader
from .lengths import length
from .operands import integers, scalar


@dataclass(frozen=True, eq=False)
class Sequence:
    """A sequence of tensors of one dtype."""

    tensors: tuple[Tensor, ...]
    dtype: DType

    is_sequence = True


@dataclass(frozen=True, eq=False)
class Optional:
    """A tensor or a sequence, or nothing."""

    value: Tensor | Sequence | None

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """The tensors of the value."""
        if self.value is None:
            return ()
        return (self.value,) if isinstance(self.value, Tensor) else self.value.tensors

    @property
    def is_sequence(self) -> bool:
        """Whether the value is a sequence."""
        return isinstance(self.value, Sequence)


@reader("SequenceConstruct")
def sequence_construct(node: Node, *xs: Tensor) -> Sequence:
    del node
    return Sequence(tuple(xs), xs[0].dtype)


@reader("SequenceEmpty")
def sequence_empty(node: Node) -> Sequence:
    wanted = node.attribute("dtype", None)
    return Sequence((), float32 if wanted is None else dtype_of(wanted))


@reader("SequenceLength")
def sequence_length(node: Node, xs: Sequence) -> Tensor:
    del node
    return constant(np.array(len(xs.tensors), np.int64))


@reader("SequenceAt")
def sequence_at(node: Node, xs: Sequence, position: Tensor) -> Tensor:
    place = _static_place(node, position, len(xs.tensors))
    if place is not None:
        return xs.tensors[place]
    return _chosen(_from_front(position, len(xs.tensors)), xs.tensors)


def _chosen(place: Tensor, xs: Series[Tensor]) -> Tensor:
    y = xs[-1]
    for i in reversed(range(len(xs) - 1)):
        y = _either(equal(place, constant(np.int64(i))), xs[i], y)
    return y


def _either(condition: Tensor, a: Tensor, b: Tensor) -> Tensor:
    """One of two tensors, whose shapes may differ."""
    if a.shape == b.shape and a.shape.is_fully_defined():
        return where(condition, a, b)
    y: Tensor = cond(condition, lambda: a, lambda: b)
    return y


def _static_place(node: Node, position: Tensor, count: int) -> int | None:
    known = integers(node, position)
    if known is None:
        return None
    if not -count <= known[0] < max(count, 1):
        node.refuse(f"position {known[0]} is outside a sequence of {count} tensors")
    return known[0] % count if count else known[0]


def _from_front(position: Tensor, count: int) -> Tensor:
    place = cast(scalar(position), int64)
    return where(place < 0, place + count, place)


@reader("SequenceInsert")
def sequence_insert(node: Node, xs: Sequence, x: Tensor, position: Tensor | None = None) -> Sequence:
    count = len(xs.tensors)
    known = [count] if position is None else integers(node, position)
    if known is not None:
        place = known[0] + count if known[0] < 0 else known[0]
        return Sequence((*xs.tensors[:place], x, *xs.tensors[place:]), xs.dtype)
    assert position is not None
    at = _from_front(position, count)
    if not count:
        return Sequence((x,), xs.dtype)
    made = []
    for j in range(count + 1):
        here, j64 = equal(at, constant(np.int64(j))), constant(np.int64(j))
        y = xs.tensors[min(j, count - 1)]
        if 0 < j < count:
            y = _either(less(at, j64), xs.tensors[j - 1], xs.tensors[j])
        elif j == count:
            y = xs.tensors[count - 1]
        made.append(_either(here, x, y))
    return Sequence(tuple(made), xs.dtype)


@reader("SequenceErase")
def sequence_erase(node: Node, xs: Sequence, position: Tensor | None = None) -> Sequence:
    count = len(xs.tensors)
    place = count - 1 if position is None else _static_place(node, position, count)
    if place is not None:
        return Sequence((*xs.tensors[:place], *xs.tensors[place + 1 :]), xs.dtype)
    assert position is not None
    at = _from_front(position, count)
    kept = [_either(less(constant(np.int64(j)), at), xs.tensors[j], xs.tensors[j + 1]) for j in range(count - 1)]
    return Sequence(tuple(kept), xs.dtype)


@reader("SplitToSequence")
def split_to_sequence(node: Node, x: Tensor, parts: Tensor | None = None) -> Sequence:
    axis = node.attribute("axis", 0)
    n = length(x, axis)
    known = node.static(parts)
    if parts is None or (known is not None and known.ndim == 0):
        if not isinstance(n, int):
            node.refuse(f"the length of axis {axis} of {x} must be known")
        size = 1 if known is None else int(known)
        if size < 1:
            node.reject(f"parts have at least 1 element, not {size}")
        reading().expects_nodes(-(-n // size))
        sizes: Any = [min(size, n - i) for i in range(0, n, size)]
    elif known is not None:
        sizes = [int(m) for m in known]
    else:
        if parts.shape.rank != 1 or parts.shape.size(0) is None:
            node.refuse(f"the number of parts, that of the elements of {parts}, must be known")
        return Sequence(tuple(split(x, parts, axis, parts.shape.size(0))), x.dtype)
    pieces = split(x, sizes, axis)
    if parts is None and not node.attribute("keepdims", 1):
        pieces = [squeeze(piece, [axis]) for piece in pieces]
    return Sequence(tuple(pieces), x.dtype)


@reader("ConcatFromSequence")
def concat_from_sequence(node: Node, xs: Sequence) -> Tensor:
    axis = node.attribute("axis")
    return stack(xs.tensors, axis) if node.attribute("new_axis", 0) else concat(list(xs.tensors), axis)


@reader("SequenceMap")
def sequence_map(node: Node, xs: Sequence, *more: Any) -> Any:
    """The body once for each element; other sequences go along, tensors are the same each time."""
    body = node.attribute("body")
    rows = []
    for i in range(len(xs.tensors)):
        rows.append(node.read_body(body, [v.tensors[i] if isinstance(v, Sequence) else v for v in (xs, *more)]))
    dtypes = [dtype_of(entry.type.tensor_type.elem_type) for entry in body.output]
    made = [Sequence(tuple([identity(row[k]) for row in rows]), dtype) for k, dtype in enumerate(dtypes)]
    return tuple(made)


@reader("Optional")
def optional(node: Node, x: Any = None) -> Optional:
    del node
    return Optional(x.value if isinstance(x, Optional) else x)


@reader("OptionalHasElement")
def optional_has_element(node: Node, x: Any = None) -> Tensor:
    del node
    there = x.value is not None if isinstance(x, Optional) else x is not None
    return constant(np.array(there, bool_))


@reader("OptionalGetElement")
def optional_get_element(node: Node, x: Any) -> Any:
    value = x.value if isinstance(x, Optional) else x
    if value is None:
        node.refuse("there is no element to get")
    return value
