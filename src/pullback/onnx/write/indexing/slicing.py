"""ONNX export of slices and blocks, and of their derivatives: zeros around, or written in place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ....core.dtypes import int64
from ....core.errors import NotRecordedError
from ....primitives.indexing.slice import Slice, SliceGrad
from ....primitives.indexing.slicing import UNKNOWN, StridedSlice, StridedSliceGrad
from ...records import Value
from ...registry import writer
from ...writing import Writer
from ..shapes import shape_vector

_END = np.iinfo(np.int64).max


class _Cut:
    """A slicing as ONNX has it: starts, ends and steps along axes, then axes that go and axes that come."""

    def __init__(self, w: Writer, spec: Sequence[Any], numbers: Value | None, rank: int | None) -> None:
        given = iter(range(10**6))
        self.w = w
        self.numbers = None if numbers is None else w.cast(numbers, int64)
        self.starts: list[Value] = []
        self.ends: list[Value] = []
        self.steps: list[int | Value] = []
        self.axes: list[int] = []
        self.gone: list[int] = []
        self.new: list[int] = []
        axis, place = 0, 0
        used = sum(1 for e in spec if e is not None and not (isinstance(e, str) and e == "..."))
        for entry in spec:
            if entry is None:
                self.new.append(place)
                place += 1
            elif isinstance(entry, str) and entry == "...":
                if rank is None:
                    raise NotRecordedError("a slice whose rank is not known")
                axis, place = axis + rank - used, place + rank - used
            elif isinstance(entry, tuple):
                self._range(axis, entry, given)
                axis, place = axis + 1, place + 1
            else:
                self._single(axis, entry, given)
                axis += 1

    def _number(self, entry: Any, given: Any) -> Value:
        if entry != UNKNOWN:
            return self.w.vector([entry])
        assert self.numbers is not None
        return self.w.slice(self.numbers, [i := next(given)], [i + 1], [0])

    def _range(self, axis: int, entry: tuple[Any, Any, Any], given: Any) -> None:
        start, stop, step = entry
        if (start, stop, step) == (None, None, 1):
            return
        backward = isinstance(step, int) and step < 0
        first = self._number((_END if backward else 0) if start is None else start, given)
        last = self._number((-_END if backward else _END) if stop is None else stop, given)
        self.starts.append(first)
        self.ends.append(last)
        self.steps.append(self._number(step, given) if step == UNKNOWN else step)
        self.axes.append(axis)

    def _single(self, axis: int, entry: Any, given: Any) -> None:
        first = self._number(entry, given)
        after = self.w.node("Add", first, self.w.vector([1]))
        end = self.w.where(self.w.node("Equal", after, self.w.vector([0])), self.w.vector([_END]), after)
        self.starts.append(first)
        self.ends.append(end)
        self.steps.append(1)
        self.axes.append(axis)
        self.gone.append(axis)

    def of(self, x: Value) -> Value:
        """The slice of `x`, before axes go and come."""
        w = self.w
        if not self.axes:
            return x
        steps = None
        if any(s != 1 for s in self.steps):
            steps = w.concat([s if isinstance(s, Value) else w.vector([s]) for s in self.steps], 0)
        return w.slice(x, w.concat(self.starts, 0), w.concat(self.ends, 0), self.axes, steps)


@writer(StridedSlice)
def strided_slice(w: Writer, p: Any, x: Value, numbers: Value | None = None) -> Value:
    out = w.op.outputs[0].shape
    single = [e for e in p.spec if e != (None, None, 1) and e != "..."]
    at = [i for i, e in enumerate(p.spec) if e != (None, None, 1)]
    if len(single) == 1 and type(single[0]) is int and "..." not in p.spec:
        return w.gather(x, w.constant(single[0], int64), at[0])
    cut = _Cut(w, p.spec, numbers, x.type.shape.rank)
    part = cut.of(x)
    if out.is_fully_defined():
        return w.reshape(part, out.known) if cut.gone or cut.new else part
    part = w.squeeze(part, cut.gone)
    return w.unsqueeze(part, cut.new)


@writer(StridedSliceGrad)
def strided_slice_grad(w: Writer, p: Any, dy: Value, *rest: Value) -> Value:
    unknown = any(e == UNKNOWN or (isinstance(e, tuple) and UNKNOWN in e) for e in p.spec)
    numbers, *lengths = rest if unknown else (None, *rest)
    vector = shape_vector(w, p.shape, lengths[0] if lengths else None)
    rank = vector.type.shape.sizes[0] if vector.type.shape.sizes else None
    if rank is None:
        raise NotRecordedError("the slice of an array whose rank is not known")
    simple = _padded(w, dy, p, rank, numbers)
    if simple is not None:
        return simple
    size = w.reduce("ReduceProd", vector, None, False)
    places = w.reshape_to(_range(w, size), vector)
    taken = _Cut(w, p.spec, numbers, rank).of(places)
    flat = w.reshape(taken, [-1])
    zeros = w.expand(w.scalar(0, dy), w.reshape(size, [1]))
    total = w.node("ScatterElements", zeros, flat, w.reshape(dy, [-1]), axis=0)
    return w.reshape_to(total, vector)


def _range(w: Writer, count: Value) -> Value:
    return w.node("Range", w.constant(0, int64), count, w.constant(1, int64))


def _padded(w: Writer, dy: Value, p: Any, rank: int, numbers: Value | None) -> Value | None:
    """Zeros around, for static slices without strides of an array of static shape."""
    dims = w.op.outputs[0].shape.sizes
    if numbers is not None or dims is None:
        return None
    before, after, inner = [0] * rank, [0] * rank, list(dims)
    used = sum(1 for e in p.spec if e is not None and e != "...")
    axis = 0
    for entry in p.spec:
        if entry is None:
            continue
        if isinstance(entry, str):
            axis += rank - used
            continue
        n = dims[axis]
        if entry != (None, None, 1):
            if n is None:
                return None
            if isinstance(entry, tuple):
                first, last, step = slice(*entry).indices(n)
                if step != 1:
                    return None
            else:
                first, last = entry % max(n, 1), entry % max(n, 1) + 1
            before[axis], after[axis] = first, n - max(last, first)
            inner[axis] = max(last - first, 0)
        axis += 1
    whole = w.reshape(dy, [-1 if n is None else n for n in inner]) if inner.count(None) < 2 else None
    if whole is None:
        return None
    if not any(before) and not any(after):
        return whole
    return w.node("Pad", whole, w.vector([*before, *after]))


@writer(Slice)
def block(w: Writer, p: Any, x: Value, begin: Value | None = None, size: Value | None = None) -> Value:
    first = shape_vector(w, p.begin if p.begin is not None and None not in p.begin else None, _rest(p.begin, begin))
    lengths = shape_vector(
        w, p.size if p.size is not None and None not in p.size else None, _rest(p.size, size or begin)
    )
    rank = x.type.shape.rank if x.type.shape.rank is not None else (first.type.shape.sizes or (None,))[0]
    if rank is None:
        raise NotRecordedError("the slice of an array whose rank is not known")
    static = w.static(lengths)
    ends = w.node("Add", first, lengths)
    if static is None or (static == -1).any():
        ends = w.where(w.node("Equal", lengths, w.vector([-1])), w.vector([_END]), ends)
    if rank == 0:
        return x
    return w.slice(x, first, ends, list(range(rank)))


def _rest(dims: Any, vector: Value | None) -> Value | None:
    return None if dims is not None and None not in dims else vector


@writer(SliceGrad)
def block_grad(w: Writer, p: Any, dy: Value, begin: Value | None = None, lengths: Value | None = None) -> Value:
    known = p.shape is not None and None not in p.shape
    first = w.vector(p.begin) if p.begin is not None and None not in p.begin else w.cast(_there(begin), int64)
    total = w.vector(p.shape) if known else w.cast(_there(lengths), int64)
    after = w.node("Sub", w.node("Sub", total, first), w.shape(dy))
    return w.node("Pad", dy, w.concat([first, after], 0))


def _there(x: Value | None) -> Value:
    assert x is not None
    return x
