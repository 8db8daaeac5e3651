"""Cost model: the floating-point operations and the memory of operations, at given lengths of axes.

What an operation computes follows from its traits and links: one operation an element where it is elementwise, two for
each product of a contraction, none where it moves elements. Estimates, for choosing what is cheap and for reports.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache
from math import prod
from types import MappingProxyType
from typing import Any

import numpy as np

from ..control_flow.call import RecomputedCall
from ..control_flow.loop import Loop
from ..core.dtypes import INEXACT, TokenType, bfloat16, float16, resource
from ..core.function import AbstractFunctional, Function
from ..core.graph import Operation, Tensor
from ..core.lengths import Dimension
from ..core.primitive import Primitive
from ..core.traits import (
    ADDS,
    CONSTANT,
    CONVERTS,
    COUNTS,
    ELEMENTWISE,
    GIVEN,
    MOVES,
    SHAPES,
    VIEWS,
    links_of_matrices,
    multiplies,
)
from ..primitives.activations.softmax import SoftmaxGrad
from ..primitives.convolution.abstract import AnyConvolution, bytes_beside
from ..primitives.convolution.compiled_memory import compiled_bytes, filters_turned
from ..primitives.identity.barrier import OptimizationBarrier
from ..primitives.indexing.slicing import StridedSlice
from ..primitives.linalg.einsum import Einsum
from ..primitives.linalg.formulations import by_first_axes, turns_first
from ..primitives.linalg.matmul import BatchMatMul, MatMul
from ..primitives.sorting.sort import ArgSort
from .run_lengths import Lengths

Inputs = Callable[[Operation], Sequence[Tensor]]
HALVES = (float16, bfloat16)
_ELEMENTS = 4096
"""So many elements have the arrays on which the memory of kernels is tried, about."""
BYTE = 8
"""Moving a byte takes as long as so many floating-point operations, about, on processors of today."""


def flops(op: Operation, lengths: Lengths, lean: Primitive | None = None) -> int:
    """The floating-point operations that `op` takes, about; with `lean` in the place of its primitive."""
    p = lean or op.primitive
    traits = p.traits
    if isinstance(p, AbstractFunctional):
        return _flops_inside(op, p, lengths)
    if not p.reads_values or any(t in traits for t in (MOVES, CONSTANT, COUNTS, SHAPES, CONVERTS)):
        return 0
    made = sum(_numbers(op.outputs, lengths))
    if ELEMENTWISE in traits:
        return made
    read = _numbers(op.inputs, lengths)
    if ADDS in traits:
        return sum(read)
    if any(t.name == "bilinear" for t in traits):
        return round(2 * made * max(_contracted(op, i, lengths) for i in range(min(2, len(op.inputs)))))
    return (sum(read) + made) * _matrix_length(op, lengths)


def work(op: Operation, lengths: Lengths) -> int:
    """How long `op` takes, about: its floating-point operations, and what it reads and writes at `BYTE` each."""
    moved = sum([lengths.bytes(x) for x in (*op.inputs, *op.outputs)])
    return flops(op, lengths) + BYTE * moved


def scratch(op: Operation, lengths: Lengths, lean: Primitive | None = None) -> int:
    """The bytes that `op` takes beside its outputs until it is done; with `lean` in the place of its primitive.

    What takes several steps has values in between, a convolution those of a part of the batch; of what holds functions
    it is the most that is alive in one of them.
    """
    p = lean or op.primitive
    if isinstance(p, Loop):
        return _scratch_of_loop(op, p, lengths, compiled=False)
    if isinstance(p, AbstractFunctional):
        pairs = zip(p.functions, p.arguments(op.inputs), strict=True)
        inside = [peak_inside(f, lengths.inside(f, args)) for f, args in pairs]
        return max(max(inside, default=0) - sum([lengths.bytes(y) for y in op.outputs]), 0)
    if isinstance(p, AnyConvolution):
        return bytes_beside(p, _shapes(op, lengths), op.outputs[0].dtype.itemsize)
    if not op.inputs or VIEWS in p.traits or p.stateful or p.acts or not p.reads_values:
        return 0
    share = _share_beside(p, _examples(op, lengths))
    return round(share * sum([lengths.bytes(x) for x in (*op.inputs, *op.outputs)]))


def compiled_scratch(
    op: Operation, lengths: Lengths, lean: Primitive | None = None, wide: Collection[Tensor] = ()
) -> int:
    """The same in a compiled program, which fuses elementwise operations.

    Numbers are sorted in one array with their places. The masked products that the derivative of a softmax adds up are
    an array. What a call makes again it makes in a branch, which has room of its own for it. Products of halves are
    made in float32, of copies but of what is `wide` already.
    """
    p = lean or op.primitive
    if multiplies(p.traits) and not isinstance(p, AnyConvolution) and op.outputs[0].dtype in HALVES:
        copies = sum([2 * lengths.bytes(x) for x in {*op.inputs, *op.outputs}.difference(wide)])
        return copies + 2 * _turned(op, lengths)
    if isinstance(p, Einsum | MatMul | BatchMatMul):
        return _turned(op, lengths)
    if isinstance(p, ArgSort):
        return 2 * lengths.bytes(op.inputs[0])
    if isinstance(p, SoftmaxGrad):
        return lengths.bytes(op.outputs[0])
    if isinstance(p, RecomputedCall):
        inner = lengths.inside(p.function, p.arguments(op.inputs)[0])
        return peak_inside(p.function, inner, compiled=True)
    if isinstance(p, Loop):
        return _scratch_of_loop(op, p, lengths, compiled=True)
    if isinstance(p, AbstractFunctional):
        return scratch(op, lengths, lean)
    if isinstance(p, AnyConvolution):
        return compiled_bytes(p, _shapes(op, lengths), op.outputs[0].dtype.itemsize)
    return 0


def _turned(op: Operation, lengths: Lengths) -> int:
    """The bytes of what XLA transposes for a contraction of the first axes of both inputs, as for weights."""
    number = _turned_number(op, lengths)
    return 0 if number is None else lengths.bytes(op.inputs[number])


def _turned_number(op: Operation, lengths: Lengths) -> int | None:
    """The number of the input that XLA transposes for such a contraction."""
    p, shapes = op.primitive, _shapes(op, lengths)
    if isinstance(p, MatMul):
        (rows, m), n = shapes[0], shapes[1][1]
        return 0 if p.transpose_a and not p.transpose_b and turns_first(rows, m, n) else None
    if isinstance(p, BatchMatMul):
        return 0 if p.adj_x and prod(shapes[0][:-2]) == 1 else None
    if not isinstance(p, Einsum) or len(op.inputs) != 2:
        return None
    way = by_first_axes(p.equation, (len(shapes[0]), len(shapes[1])))
    return None if way is None or way.is_direct(shapes[0], shapes[1]) else int(way.swapped)


def widened(operations: Sequence[Operation], inputs: Inputs, results: Collection[Tensor]) -> set[Tensor]:
    """The halves that a compiled program holds in float32: products for elementwise readers, and the other way round.

    It rounds bfloat16 that several read, and keeps that.
    """
    readers: dict[Tensor, list[Operation]] = {}
    for op in operations:
        for x in inputs(op):
            readers.setdefault(x, []).append(op)
    found: set[Tensor] = set()
    for x, ops in readers.items():
        traits = x.op.primitive.traits
        if x.dtype not in HALVES or x in results:
            continue
        is_product = multiplies(traits) and (x.dtype == float16 or len(ops) == 1)
        if is_product and all(ELEMENTWISE in op.primitive.traits for op in ops):
            found.add(x)
        if ELEMENTWISE in traits and all(multiplies(op.primitive.traits) for op in ops):
            found.add(x)
    return found


def made_early(op: Operation, lengths: Lengths) -> int:
    """Of `compiled_scratch` the bytes of what is made of given values only: a program makes it at the start."""
    p = op.primitive
    if not op.inputs or GIVEN not in op.inputs[0].op.primitive.traits:
        return 0
    if isinstance(p, MatMul):
        return lengths.bytes(op.inputs[0]) if _turned_number(op, lengths) == 0 else 0
    return filters_turned(p, _shapes(op, lengths), op.outputs[0].dtype.itemsize) if isinstance(p, AnyConvolution) else 0


def _shapes(op: Operation, lengths: Lengths) -> list[list[int]]:
    """The shapes of the first two inputs, and of the result."""
    return [[lengths.number(n) or 1 for n in x.shape.lengths or ()] for x in (*op.inputs[:2], *op.outputs)]


def _scratch_of_loop(op: Operation, loop: Loop, lengths: Lengths, *, compiled: bool) -> int:
    """The bytes that a loop takes beside its outputs: what is carried from the step before, and what a step makes.

    A compiled step writes what it carries where that was, if nothing else reads it, and copies the rows that it reads;
    the first one where it was computed.
    """
    c = loop.carried
    there = [*op.outputs[1 : 1 + c], *[x for x in op.inputs[1 : 1 + c] if compiled and _is_computed(x)]]
    found = []
    for function, args in zip(loop.functions, loop.arguments(op.inputs), strict=True):
        inner = lengths.inside(function, args)
        carried = [x for x in function.parameters[:c] if inner.knows(x)]
        if function is not loop.body:
            found.append(peak_inside(function, inner, compiled=compiled) + sum(map(inner.bytes, carried)))
            continue
        moving = {x: y for x, y in zip(carried, function.results, strict=False) if x is not y}
        rows = function.parameters[c : c + loop.scanned] if compiled else ()
        found.append(peak_inside(function, inner, compiled=compiled, own=rows, carried=moving))
    return max(max(found) - sum(map(lengths.bytes, there)), 0)


def _is_computed(x: Tensor) -> bool:
    return not {GIVEN, CONSTANT, VIEWS}.intersection(x.op.primitive.traits)


def peak_inside(
    function: Function,
    lengths: Lengths,
    *,
    compiled: bool = False,
    own: Collection[Tensor] = (),
    carried: Mapping[Tensor, Tensor] = MappingProxyType({}),
) -> int:
    """The most bytes of values of a function that are alive at once, as they are made in order.

    Of parameters those of `own` count until they are read last, and those that are `carried`, with what comes next.
    """
    operations, owners = function.operations, _owners(function, compiled)
    wide: set[Tensor] = set()
    last = {owners.get(x, x): op for op in operations for x in (*op.outputs, *op.inputs)}
    if compiled:
        wide = widened(operations, inputs_of, function.results)
        in_place = [(x, y) for x, y in carried.items() if ELEMENTWISE in y.op.primitive.traits]
        owners.update((y, x) for x, y in in_place if last.get(x) is y.op)
    freed = {*own, *carried}.difference(carried if compiled else (), [owners.get(y, y) for y in function.results])
    early = {op: made_early(op, lengths) for op in operations} if compiled else {}
    stays = {owners.get(x, x) for x in (*function.results, *function.parameters)} - freed
    alive = highest = sum(map(lengths.bytes, {*own, *carried})) + sum(early.values())
    for op in operations:
        alive -= early.get(op, 0)
        alive += sum([lengths.bytes(y) * (1 + (y in wide)) for y in op.outputs if y not in owners])
        beside = compiled_scratch(op, lengths, wide=wide) if compiled else scratch(op, lengths)
        highest = max(highest, alive + beside)
        read = {owners.get(x, x) for x in (*op.inputs, *op.outputs)} - stays
        ended = [x for x in read if last[x] is op and (x in freed or GIVEN not in x.op.primitive.traits)]
        alive -= sum([lengths.bytes(x) * (1 + (x in wide)) for x in ended])
    return highest


def inputs_of(op: Operation) -> Sequence[Tensor]:
    """What an operation reads."""
    return op.inputs


def _owners(function: Function, compiled: bool) -> dict[Tensor, Tensor]:
    """For tensors that take no memory of their own those that they lie in; themselves for what is there anyway.

    A compiled slice at a place that only a run knows is a copy.
    """
    found: dict[Tensor, Tensor] = {}
    for op in function.operations:
        traits = op.primitive.traits
        if GIVEN in traits:
            found.update(zip(op.outputs, op.outputs, strict=True))
        elif compiled and isinstance(op.primitive, StridedSlice) and len(op.inputs) > 1:
            continue
        elif VIEWS in traits or isinstance(op.primitive, OptimizationBarrier):
            found.update((y, found.get(x, x)) for x, y in zip(op.inputs, op.outputs, strict=False))
    return found


_Example = tuple[Any, tuple[int, ...]]
"""A dtype, and a shape of a few elements."""


class _Gauge(np.ndarray[Any, Any]):
    """An array that notes how many bytes of what NumPy makes of it are alive."""

    alive = highest = 0
    noted = 0

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, out: Any = None, **kwargs: Any) -> Any:
        if out is None:
            return _noted(getattr(ufunc, method)(*map(_plain, inputs), **kwargs))
        getattr(ufunc, method)(*map(_plain, inputs), out=tuple(map(_plain, out)), **kwargs)
        return out[0] if len(out) == 1 else out

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        result = super().__array_function__(function, types, args, kwargs)
        return result if _lies_in(result, args) else _noted(result)

    def astype(self, *args: Any, **kwargs: Any) -> Any:
        """Another array, but where none is needed."""
        result = super().astype(*args, **kwargs)
        return result if result is self else _noted(result)

    def __del__(self) -> None:
        _Gauge.alive -= self.noted


def _plain(x: Any) -> Any:
    return x.view(np.ndarray) if isinstance(x, _Gauge) else x


def _lies_in(x: Any, arrays: Any) -> bool:
    """Whether an array is a view of one of others."""
    if isinstance(arrays, list | tuple):
        return any(_lies_in(x, each) for each in arrays)
    return isinstance(x, np.ndarray) and isinstance(arrays, np.ndarray) and np.may_share_memory(x, arrays)


def _noted(x: Any) -> Any:
    if not isinstance(x, np.ndarray):
        return x
    found = x.view(_Gauge)
    found.noted = found.nbytes
    _Gauge.alive += found.nbytes
    _Gauge.highest = max(_Gauge.highest, _Gauge.alive)
    return found


def _examples(op: Operation, lengths: Lengths) -> tuple[_Example, ...]:
    """The dtypes of what `op` reads, and shapes of a few elements along each axis; equal lengths stay equal."""
    shapes = [x.shape.lengths or () for x in op.inputs]
    most = int(_ELEMENTS ** (1 / max(1, *map(len, shapes))))
    small = [tuple([min(_number_or_one(n, lengths), most) for n in shape]) for shape in shapes]
    return tuple(zip([x.dtype for x in op.inputs], small, strict=True))


@cache
def _share_beside(primitive: Primitive, types: tuple[_Example, ...]) -> float:
    """What a kernel takes at most under NumPy beside what it reads and makes, as a share of that."""
    try:
        given = [np.ones(shape, dtype) if dtype in INEXACT else np.zeros(shape, dtype) for dtype, shape in types]
        gauged = [x.view(_Gauge) for x in given]
        _Gauge.alive = _Gauge.highest = 0
        with np.errstate(all="ignore"):
            result = primitive.kernel(np, *gauged)
    except Exception:  # A kernel that takes no arrays of this kind: no more than an estimate is lost.
        return 0.0
    made = sum([np.asarray(y).nbytes for y in (result if isinstance(result, tuple) else (result,))])
    return max(_Gauge.highest - made, 0) / max(made + sum([x.nbytes for x in given]), 1)


def _flops_inside(op: Operation, p: AbstractFunctional, lengths: Lengths) -> int:
    """Of a call the operations of its function, of a branch those of the largest one, of a loop those of all steps."""
    found = []
    for function, args in zip(p.functions, p.arguments(op.inputs), strict=True):
        inner = lengths.inside(function, args)
        found.append(sum([flops(x, inner) for x in function.operations]))
    return max(found, default=0) * (lengths.steps(op, p) if isinstance(p, Loop) else 1)


def _numbers(xs: Sequence[Tensor], lengths: Lengths) -> list[int]:
    return [0 if x.dtype is resource or isinstance(x.dtype, TokenType) else lengths.elements(x) for x in xs]


def _contracted(op: Operation, i: int, lengths: Lengths) -> float:
    """How many elements of input `i` are multiplied for one element of the result, by the axes that they lie along."""
    x, y = op.inputs[i], op.outputs[0]
    links = op.primitive.links(i, *[z.type for z in op.inputs])
    if links is None or x.shape.lengths is None or y.shape.lengths is None:
        return 1
    counts: list[float] = [_number_or_one(n, lengths) for n in x.shape.lengths]
    for link in links:
        made = _number_or_one(y.shape.lengths[link.output], lengths)
        counts[link.input] = link.met(made, int(counts[link.input]))
    return prod(counts)


def _number_or_one(n: Dimension | None, lengths: Lengths) -> int:
    found = lengths.number(n)
    return 1 if found is None else found


def _matrix_length(op: Operation, lengths: Lengths) -> int:
    """For what works on matrices the length of one, for each element takes so many operations; else one."""
    if type(op.primitive).links is not links_of_matrices or not op.inputs or not op.inputs[0].shape.lengths:
        return 1
    return lengths.number(op.inputs[0].shape.lengths[-1]) or 1
