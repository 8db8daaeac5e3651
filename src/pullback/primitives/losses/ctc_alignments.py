"""CTC forward-backward recurrences: sums over all alignments of a label sequence with a longer one.

Source: Graves, Fernández, Gomez and Schmidhuber, Connectionist Temporal Classification, 2006. With blanks around the
labels there are S = 2L + 1 states; a step stays in its state, goes on by one, or by two where that skips a blank
between labels that differ.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.dtypes import INTEGER, int32
from ...core.dtypes import bool as bool_
from ...core.operation import Operation, Tensor
from ...core.primitive import Primitive, no_gradient
from ...core.shape import TensorShape
from ...core.traits import linear
from ...core.types import TensorType
from ..activations.softmax import SoftmaxGrad
from ..elementwise.add_n import add_n
from ..shape.pad import pad
from ..shape.squeeze import expand_dims
from ..shape.stacking import stack


class CtcStates(Primitive):
    """The class of each state [B, S], whether two before it may precede it, and where its two last states stand.

    The inputs are labels [B, L], their lengths [B], and the numbers of steps [B]. The places [B, 2, 3] are in the sums
    of `CtcAlignments`.
    """

    blank: int

    def infer(self, labels: TensorType, lengths: TensorType, steps: TensorType) -> tuple[TensorType, ...]:
        for x, rank, what in ((labels, 2, "labels"), (lengths, 1, "label_length"), (steps, 1, "logit_length")):
            if x.dtype not in INTEGER or x.shape.rank not in (rank, None):
                raise ValueError(f"ctc_loss: {what} must be integers of rank {rank}, not {x}")
        batch, length = labels.shape.lengths or (None, None)
        for x in (lengths, steps):
            if not x.shape.is_compatible_with([batch]):
                raise ValueError(f"ctc_loss: labels {labels}, label_length {lengths} and logit_length {steps} differ")
        states = TensorShape([batch, None if length is None else 2 * length + 1])
        return TensorType(int32, states), TensorType(bool_, states), TensorType(int32, TensorShape([batch, 2, 3]))

    def kernel(self, xp: Any, labels: Any, lengths: Any, steps: Any) -> Any:
        batch, length = labels.shape
        lengths, steps = lengths.astype(int32), steps.astype(int32)
        inside = xp.arange(length, dtype=int32) < lengths[:, None]
        classes = xp.where(inside, labels.astype(int32), np.int32(self.blank))
        blanks = xp.full_like(classes, self.blank)
        states = xp.stack([blanks, classes], axis=2).reshape(batch, 2 * length)
        states = xp.concatenate([states, xp.full((batch, 1), self.blank, int32)], axis=1)
        skips = states[:, 2:] != states[:, :-2]
        skips = xp.concatenate([xp.zeros((batch, min(2, 2 * length + 1)), bool), skips], axis=1)
        rows = xp.arange(batch, dtype=int32)
        ends = [xp.stack([steps, rows, 2 * lengths + i], axis=1) for i in (1, 2)]
        return states, skips, xp.stack(ends, axis=1).astype(int32)

    gradient = no_gradient


class CtcAlignments(Primitive):
    """Logarithms of the sums over all ways into each state, and how much of each comes from 0, 1 and 2 states before.

    The inputs are the logarithms of the emissions [T, B, S], and where a blank may be skipped [B, S]. The sums are
    [T+1, B, S+2]: row 0 stands before the first step, and the first two states cannot be reached. The parts are
    [T, 3, B, S] and add up to 1, or to 0 where nothing leads.
    """

    takes_none = True

    def infer(self, emissions: TensorType, skips: TensorType) -> tuple[TensorType, ...]:
        steps = emissions.shape.lengths[0] if emissions.shape.lengths else None
        batch, states = skips.shape.lengths or (None, None)
        more = [None if steps is None else steps + 1, batch, None if states is None else states + 2]
        return (
            TensorType(emissions.dtype, TensorShape(more)),
            TensorType(emissions.dtype, TensorShape([steps, 3, batch, states])),
        )

    def kernel(self, xp: Any, emissions: Any, skips: Any) -> Any:
        """With NumPy; XLA has a loop of its own."""
        steps, batch, states = emissions.shape
        sums = np.full((steps + 1, batch, states + 2), -np.inf, emissions.dtype)
        sums[0, :, 2] = 0.0
        parts = np.empty((steps, 3, batch, states), emissions.dtype)
        walls = no_way(np, skips, emissions.dtype)
        with np.errstate(divide="ignore"):
            for t in range(steps):
                into, parts[t] = one_step(xp, sums[t], walls)
                np.add(into, emissions[t], out=sums[t + 1, :, 2:])
        return sums, parts

    def gradient(self, op: Operation, dsums: Tensor | None, dparts: Tensor | None) -> Sequence[Any]:
        _, parts = op.outputs
        terms = [] if dsums is None else [dsums]
        if dparts is not None:
            back = SoftmaxGrad(1)(parts, dparts)
            terms += [pad(back[:, k], [[0, 1], [0, 0], [2 - k, k]]) for k in range(3)]
        total = add_n(terms)
        return lambda: Alignments(True)(parts, total[1:, :, 2:]), None


def no_way(xp: Any, skips: Any, dtype: Any) -> Any:
    """0 where a blank may be skipped, -inf elsewhere."""
    return xp.where(skips, 0.0, -np.inf).astype(dtype)


def one_step(xp: Any, sums: Any, walls: Any) -> tuple[Any, Any]:
    """What comes into the states from the `sums` [B, S+2] before, and the parts [3, B, S] of it."""
    ways = xp.stack([sums[:, 2:], sums[:, 1:-1], sums[:, :-2] + walls])
    most = xp.maximum(xp.max(ways, axis=0), np.finfo(sums.dtype).min)
    powers = xp.exp(ways - most)
    total = xp.sum(powers, axis=0)
    return xp.log(total) + most, powers / xp.maximum(total, 1)


class Alignments(Primitive):
    """`y[t, s] = x[t, s] + sum over k of parts[t, k, s] * y[t-1, s-k]`, or its transpose with `reverse`.

    The shapes are [T, 3, B, S] and [T, B, S]. Each is the derivative of the other.
    """

    traits = (linear(1),)

    reverse: bool = False

    def infer(self, parts: TensorType, x: TensorType) -> tuple[TensorType, ...]:
        del parts
        return (x,)

    def kernel(self, xp: Any, parts: Any, x: Any) -> Any:
        """With NumPy; XLA has a loop of its own."""
        y = np.array(x)
        if self.reverse:
            for t in range(len(x) - 2, -1, -1):
                y[t] += go_back(xp, parts[t + 1], y[t + 1])
        else:
            for t in range(1, len(x)):
                y[t] += go_on(xp, parts[t], y[t - 1])
        return y

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        parts, _ = op.inputs
        (y,) = op.outputs
        dx = Alignments(not self.reverse)(parts, dy)
        after, before = (y, dx) if self.reverse else (dx, y)
        return lambda: expand_dims(after, 1) * _ways(pad(before, [[1, 0], [0, 0], [2, 0]])), dx


def _ways(sums: Tensor) -> Tensor:
    """For each state the sums of 0, 1 and 2 states before it, a step before: [T+1, B, S+2] to [T, 3, B, S]."""
    return stack([sums[:-1, :, 2:], sums[:-1, :, 1:-1], sums[:-1, :, :-2]], axis=1)


def go_on(xp: Any, parts: Any, y: Any) -> Any:
    """One step of `Alignments`: parts [3, B, S] and y [B, S]."""
    y = xp.concatenate([xp.zeros((len(y), 2), y.dtype), y], axis=1)
    return parts[0] * y[:, 2:] + parts[1] * y[:, 1:-1] + parts[2] * y[:, :-2]


def go_back(xp: Any, parts: Any, y: Any) -> Any:
    """The transpose of `go_on`."""
    terms = parts * y
    terms = xp.concatenate([terms, xp.zeros((3, len(y), 2), y.dtype)], axis=2)
    return terms[0, :, :-2] + terms[1, :, 1:-1] + terms[2, :, 2:]
