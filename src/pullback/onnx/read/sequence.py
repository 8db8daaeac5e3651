"""ONNX import of sequences and optional values.

How many tensors a sequence has is mostly known while reading; where only a run knows it, it is packed.
"""

from __future__ import annotations

from collections.abc import Sequence as Series
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...control_flow.conditional import cond
from ...core.dtypes import DType, float32, int64
from ...core.dtypes import bool as bool_
from ...core.limits import reading
from ...core.operation import Tensor
from ...primitives.casting.cast import cast
from ...primitives.creation.constant import constant, convert_to_tensor
from ...primitives.creation.ranges import range_
from ...primitives.elementwise.maximum import minimum
from ...primitives.indexing.where import where
from ...primitives.logic.comparison import equal, less
from ...primitives.shape.reshape import reshape
from ...primitives.shape.squeeze import squeeze
from ...primitives.shape.stacking import concat, split, stack
from ..element_types import dtype_of
from ..reading import Node, reader
from .lengths import length, rank_of
from .operands import axis_of, integers, scalar
from .packed import PackedSequence, split_up


@dataclass(frozen=True, eq=False)
class Sequence:
    """A sequence of tensors of one dtype."""

    tensors: tuple[Tensor, ...]
    dtype: DType

    is_sequence = True

    def arrays(self, *found: Any) -> list[Any]:
        """The arrays of a run, of what it gave for `tensors`."""
        return [np.asarray(y) for y in found]

    def feeds(self, arrays: Series[Any]) -> dict[Tensor, Any]:
        """What to feed for these arrays."""
        return dict(zip(self.tensors, arrays, strict=True))


class IsReadError(Exception):
    """A loop reads of a sequence to which it was only to add: its state has to be laid out otherwise."""

    def __init__(self, layout: Any) -> None:
        super().__init__()
        self.layout = layout


@dataclass(frozen=True, eq=False)
class Growing:
    """A sequence in the body of a loop that puts tensors behind it; what else is asked of it is an `IsReadError`."""

    layout: Any
    """How it stands in its loop."""
    dtype: DType
    added: tuple[Tensor, ...] = ()

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """Not to be had."""
        raise IsReadError(self.layout)


@dataclass(frozen=True, eq=False)
class Optional:
    """A tensor or a sequence, or nothing."""

    value: Tensor | Sequence | PackedSequence | None
    there: Tensor | None = None
    """Whether there is a value, where a run decides that; the value is then packed."""
    of_sequence: bool = True
    """Whether a packed value stands for a sequence, and not for a tensor."""

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """The tensors of the value, and then whether it is there if a run decides that."""
        if self.value is None:
            return ()
        own = (self.value,) if isinstance(self.value, Tensor) else self.value.tensors
        return own if self.there is None else (*own, self.there)

    def arrays(self, *found: Any) -> Any:
        """The array, or list of them, of what a run gave for `tensors`; None if there is none."""
        if self.value is None or (self.there is not None and not found[-1]):
            return None
        if isinstance(self.value, Tensor):
            return np.asarray(found[0])
        own = self.value.arrays(*found[: len(self.value.tensors)])
        return own if self.is_sequence else own[0]

    def feeds(self, arrays: Any) -> dict[Tensor, Any]:
        """What to feed for an array, for a list of them, or for None."""
        if self.value is None:
            return {}
        if isinstance(self.value, Tensor):
            return {self.value: arrays}
        given = [] if arrays is None else arrays if self.is_sequence else [arrays]
        there = {} if self.there is None else {self.there: arrays is not None}
        return {**self.value.feeds(given), **there}

    @property
    def is_sequence(self) -> bool:
        """Whether the value is a sequence."""
        return self.of_sequence and isinstance(self.value, Sequence | PackedSequence)


@reader("SequenceConstruct")
def sequence_construct(node: Node, *xs: Tensor) -> Sequence:
    del node
    return Sequence(tuple(xs), xs[0].dtype)


@reader("SequenceEmpty")
def sequence_empty(node: Node) -> Sequence:
    wanted = node.attribute("dtype", None)
    return Sequence((), float32 if wanted is None else dtype_of(wanted))


@reader("SequenceLength")
def sequence_length(node: Node, xs: Sequence | PackedSequence) -> Tensor:
    del node
    return convert_to_tensor(xs.count if isinstance(xs, PackedSequence) else len(xs.tensors), int64)


@reader("SequenceAt")
def sequence_at(node: Node, xs: Sequence | PackedSequence, position: Tensor) -> Tensor:
    if isinstance(xs, PackedSequence):
        return xs.at(xs.from_front(cast(scalar(position), int64)))
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
def sequence_insert(
    node: Node, xs: Sequence | PackedSequence | Growing, x: Tensor, position: Tensor | None = None
) -> Sequence | PackedSequence | Growing:
    if isinstance(xs, Growing) and position is None:
        return replace(xs, added=(*xs.added, x))
    if isinstance(xs, PackedSequence):
        rank_of(node, x)
        return xs.with_inserted(x, None if position is None else xs.from_front(cast(scalar(position), int64)))
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
def sequence_erase(
    node: Node, xs: Sequence | PackedSequence, position: Tensor | None = None
) -> Sequence | PackedSequence:
    if isinstance(xs, PackedSequence):
        last = constant(np.int64(-1)) if position is None else cast(scalar(position), int64)
        return xs.without(xs.from_front(last))
    count = len(xs.tensors)
    place = count - 1 if position is None else _static_place(node, position, count)
    if place is not None:
        return Sequence((*xs.tensors[:place], *xs.tensors[place + 1 :]), xs.dtype)
    assert position is not None
    at = _from_front(position, count)
    kept = [_either(less(constant(np.int64(j)), at), xs.tensors[j], xs.tensors[j + 1]) for j in range(count - 1)]
    return Sequence(tuple(kept), xs.dtype)


@reader("SplitToSequence")
def split_to_sequence(node: Node, x: Tensor, parts: Tensor | None = None) -> Sequence | PackedSequence:
    axis = axis_of(node, node.attribute("axis", 0), x)
    n = length(x, axis)
    known = node.static(parts)
    drops = parts is None and not node.attribute("keepdims", 1)
    if parts is None or parts.shape.rank == 0:
        size = int(known) if known is not None else 1 if parts is None else cast(parts, int64)
        if isinstance(size, int) and size < 1:
            node.reject(f"parts have at least 1 element, not {size}")
        if not (isinstance(n, int) and isinstance(size, int)):
            found = split_up(node, x, axis, _equal_parts(n, size))
            return found.squeezed(axis) if drops else found
        reading().expects_nodes(-(-n // size))
        sizes: Any = [min(size, n - i) for i in range(0, n, size)]
    elif known is not None:
        sizes = [int(m) for m in known]
    elif parts.shape.rank is None or parts.shape.size(0) is None:
        return split_up(node, x, axis, cast(reshape(parts, [-1]), int64))
    else:
        return Sequence(tuple(split(x, parts, axis, parts.shape.size(0))), x.dtype)
    pieces = split(x, sizes, axis)
    return Sequence(tuple([squeeze(piece, [axis]) for piece in pieces] if drops else pieces), x.dtype)


def _equal_parts(n: Any, size: Any) -> Tensor:
    """The lengths of parts of `size` elements, and of what is left in the last."""
    whole, size = [convert_to_tensor(k, int64) for k in (n, size)]
    starts = range_(constant(np.int64(0)), whole, size)
    return minimum(whole - starts, size)


@reader("ConcatFromSequence")
def concat_from_sequence(node: Node, xs: Sequence | PackedSequence) -> Tensor:
    axis, is_new = node.attribute("axis"), node.attribute("new_axis", 0)
    if not isinstance(xs, PackedSequence):
        return stack(xs.tensors, axis) if is_new else concat(list(xs.tensors), axis)
    if xs.shape is None or xs.shape.rank is None:
        node.refuse("the number of axes of the tensors in the sequence must be known, and the same")
    return xs.stacked(axis) if is_new else xs.concatenated(axis)


@reader("Optional")
def optional(node: Node, x: Any = None) -> Optional:
    del node
    return x if isinstance(x, Optional) else Optional(x)


@reader("OptionalHasElement")
def optional_has_element(node: Node, x: Any = None) -> Tensor:
    del node
    if isinstance(x, Optional) and x.there is not None:
        return x.there
    there = x.value is not None if isinstance(x, Optional) else x is not None
    return constant(np.array(there, bool_))


@reader("OptionalGetElement")
def optional_get_element(node: Node, x: Any) -> Any:
    value = x.value if isinstance(x, Optional) else x
    if value is None:
        node.refuse("there is no element to get")
    if isinstance(value, PackedSequence) and not x.is_sequence:
        return value.at(constant(np.int64(0)))
    return value
