"""The choice of what a loop's steps keep of what they compute, for the steps of its derivative to read."""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import Any

from ..autodiff.pullbacks import pullback_of
from ..core.dtypes import TokenType
from ..core.function import Function, trace
from ..core.graph import Operation, Tensor
from ..core.memory import Memory
from ..core.traits import CONSTANT, ELEMENTWISE, VIEWS, linear, multiplies


def kept_values(body: Function, carried: int, memory: Memory | None) -> list[Tensor]:
    """What each step keeps of what it computes on the way, for a backward step to read."""
    known = {*body.results, *body.parameters}
    if memory is not None and memory.intermediates:
        found = [y for op in body.pure_operations if CONSTANT not in op.primitive.traits for y in op.outputs]
    elif memory is None or memory == Memory():
        found = _dear(body, carried)
    else:
        found = []
    return [y for y in dict.fromkeys(found) if y not in known and not isinstance(y.dtype, TokenType)]


def kept_next(body: Function, carried: int) -> list[int]:
    """The numbers of the carried results that a backward step need not compute again, whatever is kept.

    The step after has found them, of which the backward step comes before. It carries them from there, which costs more
    than to compute the sum of a cell's gates, and less than a product or a function such as tanh.
    """
    found = _dear(body, carried)
    return [i for i, y in enumerate(_steady(body, carried)) if y is not None and (y in found or _is_curve(y.op))]


def _dear(body: Function, carried: int) -> list[Tensor]:
    """What it costs most to compute again: products, or functions of them that a derivative reads in their place."""
    steady = _steady(body, carried)
    return [z for y in _products(body) for z in _functions(body, y, steady) or [y]]


def _steady(body: Function, carried: int) -> list[Tensor | None]:
    """What a step hands to the next one, where all steps have it of one type and once only; None elsewhere."""
    results = body.results[:carried]
    pairs = enumerate(zip(results, body.parameters, strict=False))
    return [y if y.type == x.type and y not in results[:i] else None for i, (y, x) in pairs]


def _products(body: Function) -> list[Tensor]:
    """The matrix products and convolutions of a step; of some that are only added up, with what is added, the sum."""
    readers = _readers(body)
    found = []
    for op in body.pure_operations:
        if multiplies(op.primitive.traits):
            y = op.outputs[0]
            while len(readers.get(y, ())) == 1 and _adds(readers[y][0], y):
                y = readers[y][0].outputs[0]
            found.append(y)
    return found


def _functions(body: Function, y: Tensor, free: Collection[Tensor | None]) -> list[Tensor]:
    """Functions of `y`, of its parts and of sums with them, where derivatives read those only, and they are no larger.

    They are the gates of a cell, which need not be computed again then. Results of a step must be `free`.
    """
    readers, found, parts = _readers(body), [], [y]
    for x in parts:
        for op in readers.get(x, ()):
            if VIEWS in op.primitive.traits or _adds(op, x):
                parts += op.outputs
            elif len(op.inputs) == 1 and ELEMENTWISE in op.primitive.traits and _reads_result(_derivative(op)):
                found.append(op.outputs[0])
            else:
                return []
    places, size = _size(y)
    sizes = [_size(z) for z in found]
    fits = all(other == places for other, _ in sizes) and sum([n for _, n in sizes]) <= size
    others = {x for x in (y, *found) if x not in free}
    return found if fits and others.isdisjoint(body.results) else []


def _size(x: Tensor) -> tuple[list[Any], int]:
    """The lengths of `x` that only a run knows, and the bytes that one of each would be."""
    lengths = x.shape.lengths or (None,)
    known = [n for n in lengths if isinstance(n, int)]
    return [n for n in lengths if not isinstance(n, int)], math.prod(known) * x.dtype.itemsize


def _reads_result(derivative: Function) -> bool:
    """Whether the derivative of an operation of one input reads its result only."""
    return all(derivative.parameters[0] not in made.inputs for made in derivative.operations)


def _is_curve(op: Operation) -> bool:
    """Whether an operation is an elementwise function, and no choice, whose derivative reads its result only."""
    if len(op.inputs) != 1 or ELEMENTWISE not in op.primitive.traits:
        return False
    step = _derivative(op)
    if not step.results or not _reads_result(step):
        return False
    return bool(pullback_of(step, (False, False, True), (True,)).places[-1])


def _derivative(op: Operation) -> Function:
    """The cotangent of the one input of an operation, from that, the cotangent of the result, and the result."""
    function = trace(lambda x: [op.primitive(x)], [op.inputs[0].type], op.type, ["x"]).function
    return pullback_of(function, (True,), (True,), given=(0,)).function


def _readers(body: Function) -> dict[Tensor, list[Operation]]:
    readers: dict[Tensor, list[Operation]] = {}
    for op in body.pure_operations:
        for x in op.inputs:
            readers.setdefault(x, []).append(op)
    return readers


def _adds(op: Operation, x: Tensor) -> bool:
    """Whether the result of `op` is as large as `x`, and a sum of `x` and something else."""
    traits = op.primitive.traits
    return op.outputs[0].type == x.type and ELEMENTWISE in traits and linear(0, 1) in traits
