"""ONNX export of connectionist temporal classification: the recurrences of `ctc_loss` as loops over the steps."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.operation import Operation
from ...primitives.losses.ctc_alignments import Alignments, CtcAlignments, go_back, go_on, no_way, one_step
from ..namespace import Namespace
from ..pairs import as_array, as_value
from ..records import Value
from ..registry import writer
from ..writing import Writer
from .cumulative import rows_of_loop

_END = np.iinfo(np.int64).max


@writer(CtcAlignments)
def ctc_alignments(w: Writer, op: Operation, emissions: Value, skips: Value) -> list[Value]:
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
    return [Value(whole.name, op.outputs[0].type), parts]


@writer(Alignments)
def alignments(w: Writer, op: Operation, parts: Value, x: Value) -> Value:
    """Starting from zero instead of the first row, which makes a step more and needs no second one."""
    p: Any = op.primitive
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
