"""ONNX export of cumulative sums and products, and of recurrences, which are loops."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.dtypes import bool as bool_
from ...core.dtypes import int64
from ...core.shape import TensorShape
from ...core.types import TensorType
from ...primitives.cumulative.cumsum import Cumprod, Cumsum, Recurrence, Shift
from ...primitives.cumulative.logsumexp import CumulativeLogsumexp
from ..records import Value
from ..registry import writer
from ..writing import Writer
from .elementwise import kept
from .reduction.reduce import wide
from .shapes import alike, rank_of

_END = np.iinfo(np.int64).max


@writer(Cumsum)
def cumsum(w: Writer, p: Any, x: Value) -> Value:
    more = {"exclusive": 1} if p.exclusive else {}
    more |= {"reverse": 1} if p.reverse else {}
    narrow = x.type.dtype.kind in "iu" and x.type.dtype != int64
    y = w.node("CumSum", w.cast(x, int64 if narrow else wide(x)), w.constant(p.axis, int64), **more)
    return w.cast(y, x.type.dtype)


@writer(Shift)
def shift(w: Writer, p: Any, x: Value) -> Value:
    return shifted(w, x, p.axis, p.first, p.reverse)


def shifted(w: Writer, x: Value, axis: int, first: float, reverse: bool) -> Value:
    """Each element moved on by one along an axis (back with `reverse`), `first` put in."""
    rank = rank_of(x)
    place = axis % rank
    if x.type.shape.as_list()[place] == 0:
        return x
    pads = [0] * (2 * rank)
    pads[place + (rank if reverse else 0)] = 1
    number = [w.scalar(first, x)] if first else []
    longer = w.node("Pad", x, w.vector(pads), *number)
    return alike(w, w.slice(longer, [1], [_END], [place]) if reverse else w.slice(longer, [0], [-1], [place]), x)


def rows_of_loop(w: Writer, xs: list[Value], start: Value, step: Any, reverse: bool) -> list[Value]:
    """What a loop over the first axis of `xs` writes: a row a step, from the last to the first with `reverse`.

    `step` takes a writer, what is carried, which begins as `start`, and a row of each of `xs`; it returns what is
    carried next and the rows that it writes.
    """
    count = w.reshape(w.lengths(xs[0], [0]), [])
    last = w.node("Sub", count, w.constant(1, int64))
    rows: list[TensorType] = []

    def build(inner: Writer, number: Value, going: Value, carried: Value) -> list[Value]:
        at = inner.node("Sub", last, number) if reverse else number
        following, *written = step(inner, carried, *[inner.gather(x, at, 0) for x in xs])
        rows.extend(y.type for y in written)
        return [going, following, *written]

    scalar = TensorShape.SCALAR
    body = w.body(build, [TensorType(int64, scalar), TensorType(bool_, scalar), start.type], ["step", "going"])
    steps = xs[0].type.shape.static[:1]
    types = [TensorType(t.dtype, steps.concatenate(t.shape.static)) for t in rows]
    _, *made = w.emit("Loop", [count, w.constant(True), start], [start.type, *types], {"body": body})
    if not reverse:
        return made
    return [Value(w.slice(y, [-1], [-_END], [0], [-1]).name, y.type) for y in made]


def _running(w: Writer, xs: list[Value], start: Value, step: Any, axis: int, reverse: bool) -> Value:
    """What a loop along an axis carries, after each step; `step` takes what is carried and a row of each of `xs`."""
    rank = rank_of(xs[0])
    place = axis % rank
    perm = [place, *[i for i in range(rank) if i != place]]

    def twice(inner: Writer, carried: Value, *rows: Value) -> list[Value]:
        now = step(inner, carried, *rows)
        return [now, now]

    moved = [w.transpose(x, perm) for x in xs]
    (made,) = rows_of_loop(w, moved, start, twice, reverse)
    if not made.type.shape.is_fully_defined():
        # A loop of no steps gives a length of 0 along every axis whose length it does not know.
        made = w.reshape_to(made, w.shape(moved[0]))
    return w.transpose(made, np.argsort(perm).tolist())


@writer(Recurrence)
def recurrence(w: Writer, p: Any, a: Value, b: Value) -> Value:
    if 0 in (a.type.shape.sizes or ()):
        return b

    def step(inner: Writer, state: Value, factor: Value, term: Value) -> Value:
        product = inner.node("Mul", factor, state)
        return inner.node("Add", kept(inner, [factor, state], product) if p.zeros_win else product, term)

    start = _zeros_across(w, a, p.axis)
    return _running(w, [a, b], start, step, p.axis, p.reverse)


def _zeros_across(w: Writer, x: Value, axis: int, number: float = 0.0) -> Value:
    rank = rank_of(x)
    place = axis % rank
    others = [i for i in range(rank) if i != place]
    lengths = w.lengths(x, others) if others else w.vector([])
    return w.expand(w.scalar(number, x), lengths)


@writer(Cumprod)
def cumprod(w: Writer, p: Any, x: Value) -> Value:
    if 0 in (x.type.shape.sizes or ()):
        return x
    given = w.cast(x, wide(x))
    factors = shifted(w, given, p.axis, 1.0, p.reverse) if p.exclusive else given

    def step(inner: Writer, state: Value, factor: Value) -> Value:
        return inner.node("Mul", state, factor)

    start = _zeros_across(w, factors, p.axis, 1.0)
    return alike(w, w.cast(_running(w, [factors], start, step, p.axis, p.reverse), x.type.dtype), x)


@writer(CumulativeLogsumexp)
def running_logsumexp(w: Writer, p: Any, x: Value) -> Value:
    if 0 in (x.type.shape.sizes or ()):
        return x
    given = w.cast(x, wide(x))
    terms = shifted(w, given, p.axis, -np.inf, p.reverse) if p.exclusive else given

    def step(inner: Writer, state: Value, term: Value) -> Value:
        top, low = inner.node("Max", state, term), inner.node("Min", state, term)
        apart = inner.node("Exp", inner.node("Sub", low, top))
        total = inner.node("Add", top, inner.node("Log", inner.node("Add", apart, inner.scalar(1, apart))))
        # Infinities of one sign have no difference.
        return inner.where(inner.node("Equal", low, top), inner.where(_infinite(inner, top), top, total), total)

    start = _zeros_across(w, terms, p.axis, -np.inf)
    return alike(w, w.cast(_running(w, [terms], start, step, p.axis, p.reverse), x.type.dtype), x)


def _infinite(w: Writer, x: Value) -> Value:
    return w.node("Equal", w.node("Abs", x), w.scalar(np.inf, x))
