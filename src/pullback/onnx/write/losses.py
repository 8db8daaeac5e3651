"""ONNX export of losses: cross entropies, and connectionist temporal classification.

The recurrences of `ctc_loss` are loops over the steps.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.dtypes import int32, int64
from ...primitives.losses.cross_entropy import (
    SigmoidCrossEntropy,
    SoftmaxCrossEntropyWithLogits,
    SparseSoftmaxCrossEntropyWithLogits,
)
from ...primitives.losses.ctc import CtcUniqueLabels
from ...primitives.losses.ctc_alignments import Alignments, CtcAlignments, CtcStates, go_back, go_on, no_way, one_step
from ...primitives.losses.l2 import L2Loss
from ..namespace import Namespace
from ..pairs import as_array, as_value
from ..records import Value
from ..registry import writer
from ..writing import Writer
from .activations.activations import in_float32
from .activations.softmax import counted_up, log_softmax, narrowed, widened
from .cumulative import rows_of_loop
from .reduction.reduce import wide
from .traced import traced

_END = np.iinfo(np.int64).max


@writer(CtcAlignments)
def ctc_alignments(w: Writer, p: Any, emissions: Value, skips: Value) -> list[Value]:
    dtype: Any = emissions.type.dtype
    batch, states = skips.type.shape.known
    walls = as_value(w, no_way(Namespace(w), as_array(w, skips), dtype), dtype)
    first = np.full((batch, states + 2), -np.inf, dtype)
    first[:, 2] = 0.0
    start = w.constant(first)

    def step(inner: Writer, carried: Value, emission: Value) -> list[Any]:
        xp = Namespace(inner)
        into, parts = one_step(xp, as_array(inner, carried), as_array(inner, walls))
        unreachable = np.full((batch, 2), -np.inf, dtype)
        after = xp.concatenate([unreachable, into + as_array(inner, emission)], axis=1)
        following = as_value(inner, after, dtype)
        return [following, following, as_value(inner, parts, dtype)]

    sums, parts = rows_of_loop(w, [emissions], start, step, reverse=False)
    whole = w.concat([w.unsqueeze(start, [0]), sums], 0)
    return [Value(whole.name, w.op.outputs[0].type), parts]


@writer(Alignments)
def alignments(w: Writer, p: Any, parts: Value, x: Value) -> Value:
    """Starting from zero instead of the first row, which makes a step more and needs no second one."""
    dtype: Any = x.type.dtype
    one = go_back if p.reverse else go_on
    before = _moved(w, parts) if p.reverse else parts
    start = w.constant(np.zeros(x.type.shape.known[1:], dtype))

    def step(inner: Writer, carried: Value, part: Value, row: Value) -> list[Any]:
        came = one(Namespace(inner), as_array(inner, part), as_array(inner, carried))
        following = as_value(inner, as_array(inner, row) + came, dtype)
        return [following, following]

    return rows_of_loop(w, [before, x], start, step, p.reverse)[0]


def _moved(w: Writer, parts: Value) -> Value:
    """The parts of the step after each one; those after the last meet a zero."""
    rest = w.slice(parts, [1], [_END], [0])
    last = w.slice(parts, [-1], [_END], [0])
    return Value(w.concat([rest, last], 0).name, parts.type)


@writer(L2Loss)
def l2_loss(w: Writer, p: Any, x: Value) -> Value:
    z = w.cast(x, wide(x))
    total = w.reduce("ReduceSumSquare", z, None, False) if x.type.shape.rank != 0 else w.node("Mul", z, z)
    return w.cast(w.node("Mul", total, w.scalar(0.5, z)), x.type.dtype)


@writer(SoftmaxCrossEntropyWithLogits)
def cross_entropy(w: Writer, p: Any, x: Value, labels: Value) -> list[Value | None]:
    x, labels = widened(w, x), widened(w, labels)
    axis = p.axis if x.type.shape.rank is None else p.axis % x.type.shape.rank
    logarithm = log_softmax(w, x, p.axis)
    loss = back = None
    if w.read(0):
        zero = w.scalar(0, labels)
        terms = w.where(w.node("Equal", labels, zero), zero, w.node("Mul", labels, logarithm))
        loss = narrowed(w, w.node("Neg", w.sum(terms, [axis], False)))
    if w.read(1):
        shares = w.node("Mul", w.node("Exp", logarithm), w.sum(labels, [axis], True))
        back = narrowed(w, w.node("Sub", shares, labels))
    return [loss, back]


@writer(SparseSoftmaxCrossEntropyWithLogits)
def sparse_cross_entropy(w: Writer, p: Any, x: Value, labels: Value) -> list[Value | None]:
    """NaN where a label is not the number of a class."""
    x = widened(w, x)
    rank = len(x.type.shape.sizes or (None,))
    logarithm = log_softmax(w, x, -1)
    classes = w.lengths(x, [rank - 1])
    column = w.unsqueeze(labels if labels.type.dtype in (int32, int64) else w.cast(labels, int64), [rank - 1])
    last = w.node("Sub", w.cast(w.reshape(classes, []), column.type.dtype), w.scalar(1, column))
    nearest = w.node("Clip", column, w.scalar(0, column), last)
    logarithm = w.where(w.node("Equal", nearest, column), logarithm, w.scalar(np.nan, x))
    loss = back = None
    if w.read(0):
        picked = w.node("GatherElements", logarithm, nearest, axis=-1)
        loss = narrowed(w, w.node("Neg", w.squeeze(picked, [rank - 1])))
    if w.read(1):
        numbers = w.cast(counted_up(w, classes), column.type.dtype)
        hot = w.node("Equal", column, numbers)
        back = narrowed(w, w.node("Sub", w.node("Exp", logarithm), w.cast(hot, x.type.dtype)))
    return [loss, back]


@writer(SigmoidCrossEntropy)
def sigmoid_cross_entropy(w: Writer, p: Any, x: Value, labels: Value) -> Any:
    return in_float32(w, p, _sigmoid_cross_entropy, x, labels)


def _sigmoid_cross_entropy(w: Writer, p: Any, x: Value, z: Value) -> Value:
    """`max(x, 0) - x * z + log(1 + exp(-abs(x)))`, in which nothing cancels."""
    near = w.node("Softplus", w.node("Neg", w.node("Abs", x)))
    return w.node("Add", w.node("Sub", w.node("Relu", x), w.node("Mul", x, z)), near)


# Where all lengths are known, the kernels of these say how they are written.
writer(CtcUniqueLabels, CtcStates, pairs=True)(traced)
