"""Arrays of tensors that are computed together: which row of which array a tensor is, and arrays of such rows."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Sequence

import numpy as np

from ..core.graph import Operation, Tensor
from ..core.primitive import Primitive
from ..core.shape import Lengths, TensorShape
from ..core.traits import COMMUTES
from ..core.types import TensorType
from ..primitives.creation.constant import constant
from ..primitives.indexing.gather import gather
from ..primitives.reduction.reduce import reduce_sum
from ..primitives.segment.sums import unsorted_segment_sum
from ..primitives.shape.reshape import reshape
from ..primitives.shape.stacking import concat, stack, unstack
from .slabs import Slab, slab_of, stacked
from .view import View


class Stacks:
    """The arrays in which results stand as rows. `tensor` gives what stands for a tensor in the graph.

    `apart` are tensors that are read one by one.
    """

    def __init__(self, view: View, tensor: Callable[[Tensor], Tensor], apart: Collection[Tensor]) -> None:
        self.view, self.tensor, self.apart = view, tensor, apart
        self.rows: dict[Tensor, Slab] = {}
        self.members: dict[Tensor, Sequence[Tensor]] = {}
        self.unstacked: set[Tensor] = set()
        """The arrays of which most rows are read one by one."""

    def add(self, rows: Sequence[Tensor], array: Tensor) -> None:
        """Note that `array`, of the graph, has the values of `rows`."""
        self.members[array] = rows
        if 2 * sum([x in self.apart for x in rows]) >= len(rows):
            self.unstacked.add(array)
        for i, x in enumerate(rows):
            self.rows.setdefault(x, Slab(array, 0, None, i))

    def equate(self, x: Tensor, row: Tensor) -> None:
        """Note that `x` has the value of `row`, which is one of an array."""
        self.rows[x] = self.rows[row]

    def row(self, x: Tensor) -> Tensor:
        """The row that `x` is, or is equal to."""
        slab = self.rows[x]
        return self.members[slab.array][slab.start]

    def read(self, x: Tensor) -> dict[Tensor, Tensor]:
        """The row `x` for itself; with others, where most of its array are read one by one."""
        array, _, _, number = self.rows[x]
        if array not in self.unstacked:
            return {x: array[number]}
        rows = self.members[array]
        return dict(zip(rows, unstack(array, len(rows)), strict=True))

    def whole(self, xs: Sequence[Tensor]) -> Tensor | None:
        """The array whose rows are `xs`, all of them in order."""
        first = self.rows.get(xs[0]) if xs else None
        if first is None or len(self.members[first.array]) != len(xs):
            return None
        is_whole = all(self.rows.get(x) == first._replace(start=i) for i, x in enumerate(xs))
        return first.array if is_whole else None

    def slab(self, x: Tensor) -> Slab | None:
        """Where `x` is one of the rows of an array, in the graph or before it was rewritten."""
        row = self.rows.get(x)
        if row is not None:
            return row
        slab = slab_of(self.view, x)
        if slab is None or slab.width is not None:
            return None
        assert slab.array.shape.lengths is not None
        return slab if isinstance(slab.array.shape.lengths[slab.axis], int) else None

    def array(self, xs: Sequence[Tensor]) -> Tensor:
        """`xs`, which have one shape, along a new first axis: rows of arrays, constants, and what is none of these."""
        sources: dict[Hashable, list[int]] = {}
        for i, x in enumerate(xs):
            sources.setdefault(self._source(x), []).append(i)
        if len(sources) == 1:
            return self._of_one_source(xs)
        parts, place, count = [], np.empty(len(xs), np.int32), 0
        for numbers in sources.values():
            found = self._distinct([xs[i] for i in numbers])
            parts.append(self._of_one_source(list(found)))
            place[numbers] = [count + found[xs[i]] for i in numbers]
            count += len(found)
        joined = concat(parts, 0)
        return joined if np.array_equal(place, np.arange(count)) else gather(joined, place)

    def _source(self, x: Tensor) -> Hashable:
        """What `x` is taken from: an axis of an array, constants, or an operation that has it alone."""
        if x in self.view.known:
            return "constants"
        slab = self.slab(x)
        return "alone" if slab is None else (slab.array, slab.axis)

    def operands(self, operations: Sequence[Operation]) -> list[Tensor] | None:
        """What one elementwise operation is given that computes `operations`, which are alike, along a first axis.

        What all of them read is handed on as it is, unless the result has the shape of just that operand. None where
        the primitive does not broadcast along the new axis.
        """
        first, inputs = operations[0], list(zip(*map(self._in_order, operations), strict=True))
        row = first.outputs[0].shape.known
        shared = [all(x is xs[0] for x in xs) for xs in inputs]
        for kept in (shared, [False] * len(shared)):
            shapes = [_aligned(xs[0], 0 if is_kept else len(xs), row) for xs, is_kept in zip(inputs, kept, strict=True)]
            types = [TensorType(xs[0].dtype, TensorShape(shape)) for xs, shape in zip(inputs, shapes, strict=True)]
            if _shape_of(first.primitive, types) == (len(operations), *row):
                return [
                    self.tensor(xs[0]) if is_kept else _reshaped(self.array(xs), shape)
                    for xs, is_kept, shape in zip(inputs, kept, shapes, strict=True)
                ]
        return None

    def key(self, op: Operation) -> Hashable:
        """What is equal for operations that are alike and compute the same."""
        return tuple([self._value(x) for x in self._in_order(op)])

    def _value(self, x: Tensor) -> Hashable:
        known = self.view.known.get(x)
        return known.tobytes() if known is not None else self.slab(x) or x

    def _in_order(self, op: Operation) -> Sequence[Tensor]:
        """The inputs of `op`; two that may change places in the order of the arrays that they are rows of."""
        inputs = self.view.inputs(op)
        if COMMUTES not in op.primitive.traits or inputs[0].shape.lengths != inputs[1].shape.lengths:
            return inputs
        return sorted(inputs, key=self.place)

    def place(self, x: Tensor) -> tuple[str, int]:
        """What tensors are sorted by: the name of the array that one is a row of, and the number of the row."""
        slab = self.slab(x)
        return (x.name, 0) if slab is None else (slab.array.name, slab.start)

    def sums(self, terms: Sequence[Sequence[Tensor]], signs: Sequence[Sequence[int]]) -> Tensor:
        """The sums of `terms`, each taken as often as its sign says, along a first axis."""
        counts = [len(own) for own in terms]
        array = self.array([x for own in terms for x in own])
        shape = array.shape.as_list()[1:]
        if any(sign < 0 for own in signs for sign in own):
            factors = np.concatenate(signs).reshape([-1, *[1] * len(shape)])
            array = array * constant(factors, array.dtype)
        if min(counts) == max(counts):
            return reduce_sum(reshape(array, [len(counts), counts[0], *shape]), 1)
        return unsorted_segment_sum(array, np.repeat(np.arange(len(counts), dtype=np.int32), counts), len(counts))

    def _distinct(self, xs: Sequence[Tensor]) -> dict[Tensor, int]:
        """Each of `xs` once, with its number; rows in the order of their array."""
        distinct = list(dict.fromkeys(xs))
        slabs = [self.slab(x) for x in distinct]
        starts = [-1 if slab is None else slab.start for slab in slabs]
        ordered = [distinct[i] for i in np.argsort(starts, kind="stable")]
        return {x: i for i, x in enumerate(ordered)}

    def _of_one_source(self, xs: Sequence[Tensor]) -> Tensor:
        if xs[0] in self.view.known:
            return constant(np.stack([self.view.known[x] for x in xs]))
        slabs = [slab for x in xs if (slab := self.slab(x)) is not None]
        if not slabs:
            return stack([self.tensor(x) for x in xs])
        array = slabs[0].array
        whole = self.whole(xs)
        return whole if whole is not None else stacked(slabs, array if array in self.members else self.tensor(array))


def _shape_of(primitive: Primitive, types: Sequence[TensorType]) -> Lengths | None:
    """The shape of what `primitive` gives; None where it refuses the types, as one does that does not broadcast."""
    try:
        return primitive.infer(*types)[0].shape.lengths
    except (TypeError, ValueError):
        return None


def _aligned(x: Tensor, count: int, row: Sequence[int]) -> list[int]:
    """The shape of `count` tensors like `x` along a first axis, which broadcast to so many of the shape `row`.

    That of `x` where there are none.
    """
    lengths = x.shape.known
    return [count, *[1] * (len(row) - len(lengths)), *lengths] if count else list(lengths)


def _reshaped(x: Tensor, shape: list[int]) -> Tensor:
    return x if x.shape.as_list() == shape else reshape(x, shape)
