"""Micro-batching rules of gathers and scatters: rows at positions that are those of the batch."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ..core.primitive import Primitive
from ..primitives.indexing.gather import TakeGrad
from ..primitives.indexing.scatter_nd import GatherNd, ScatterNd
from ..primitives.segment.sums import UnsortedSegmentSum
from ..primitives.variables.operations import ResourceGather
from .microbatch_parts import At, Axes, Part, Rule, resized

Answer = tuple[Axes, int | None]
"""The axes of two inputs that go along each other, and that of the result; None: it is summed over."""


def _one_of(answers: Callable[[At], Iterator[Answer]]) -> Rule:
    """The rule of what can be run on parts along each of some axes."""

    def rule(at: At) -> Part | None:
        for axes, output in answers(at):
            inputs = (*axes, *[None for _ in at.types[2:]])
            agrees = all(a in (None, b) for a, b in zip(at.axes, inputs, strict=True))
            if agrees and at.wanted in (None, output):
                primitive = resized(at, inputs, output)
                return None if primitive is None else Part(primitive, inputs, output)
        return None

    return rule


def _looked_up(at: At) -> Iterator[Answer]:
    for n in range(len(at.lengths(1))):
        yield (None, n), n


def _summed_by_segments(at: At) -> Iterator[Answer]:
    rows, ids = len(at.lengths(0)), len(at.lengths(1))
    for n in range(ids):
        yield (n, n), None
    for a in range(ids, rows):
        yield (a, None), a - ids + 1


def _put_back(at: At) -> Iterator[Answer]:
    p: Any = at.primitive
    rank = len(at.result)
    axis, picked = p.axis % rank, len(at.lengths(1)) - p.batch_dims
    for n in range(p.batch_dims):
        yield (n, n), n
    for n in range(picked):
        yield (axis + n, p.batch_dims + n), None
    for a in (*range(p.batch_dims, axis), *range(axis + 1, rank)):
        yield (a if a < axis else a - 1 + picked, None), a


def _gathered(at: At) -> Iterator[Answer]:
    p: Any = at.primitive
    lead, end = len(at.lengths(1)) - 1, p.batch_dims + at.lengths(1)[-1]
    for n in range(lead):
        yield (n if n < p.batch_dims else None, n), n
    for a in range(end, len(at.lengths(0))):
        yield (a, None), lead + a - end


def _scattered(at: At) -> Iterator[Answer]:
    p: Any = at.primitive
    lead, end = len(at.lengths(0)) - 1, p.batch_dims + at.lengths(0)[-1]
    for n in range(lead):
        yield (n, n), n if n < p.batch_dims else None
    for a in range(end, len(at.result)):
        yield (None, lead + a - end), a


RULES_OF_ROWS: dict[type[Primitive], Rule] = {
    GatherNd: _one_of(_gathered),
    ResourceGather: _one_of(_looked_up),
    ScatterNd: _one_of(_scattered),
    TakeGrad: _one_of(_put_back),
    UnsortedSegmentSum: _one_of(_summed_by_segments),
}
