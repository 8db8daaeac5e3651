"""LSTM and GRU in closed form: recurrences whose derivatives are computed for all steps at once, but for the chain.

The steps keep their gates. All that the derivative of a step is multiplied with is computed of these in bulk. The loop
backward is left with what goes from step to step, one product of matrices and a few sums; weights get one product over
all steps. Derivatives of these derivatives are those of ordinary operations.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from ...control_flow.custom_gradient import custom_gradient
from ...core.operation import Tensor
from ...primitives.activations.sigmoid import sigmoid
from ...primitives.elementwise.hyperbolic import tanh
from ...primitives.linalg.matmul import matmul
from ...primitives.reduction.reduce import reduce_sum
from ...primitives.shape.broadcast import broadcast_like
from ...primitives.shape.reshape import reshape
from ...primitives.shape.squeeze import expand_dims
from ...primitives.shape.stacking import concat, split
from ...primitives.shape.transpose import transpose
from .steps import recur


def lstm_steps(gates: Tensor, r: Tensor, h: Tensor, c: Tensor, reverse: bool) -> Sequence[Tensor]:
    """All states [steps, batch, n], the last one, and the last cell, for what the gates are given, [steps, batch, 4 n].

    `c' = f c + i g`, `h' = o tanh(c')`, where the columns of the gates and the rows of `r` [4 n, n] are those of
    i, o, f and g.
    """
    found: Sequence[Tensor] = custom_gradient(partial(_lstm, reverse))(gates, r, h, c)
    return found


def _lstm(reverse: bool, gates: Tensor, r: Tensor, h: Tensor, c: Tensor) -> Any:
    size = r.shape.known[1]
    columns = transpose(r, [1, 0])

    def step(state: Sequence[Tensor], row: Sequence[Tensor]) -> tuple[list[Tensor], list[Tensor]]:
        before, cell = state
        openings, new = split(row[0] + matmul(before, columns), [3 * size, size], 1)
        i, o, f = split(sigmoid(openings), 3, 1)
        new = tanh(new)
        stayed, came = f * cell, i * new
        cell = stayed + came
        shown = tanh(cell)
        after = o * shown
        return [after, cell], [after, i, o, f, new, stayed, came, shown]

    last, (hs, i, o, f, new, stayed, came, shown) = recur(step, [h, c], [gates], reverse)

    def derivative(dy: Tensor, dh: Tensor, dc: Tensor) -> Sequence[Tensor]:
        slopes = [came * (1.0 - i), hs * (1.0 - o), stayed * (1.0 - f), i - came * new]

        def back(state: Sequence[Tensor], row: Sequence[Tensor]) -> tuple[list[Tensor], list[Tensor]]:
            dy, of_cell, f, of_gates = row
            dh = state[0] + dy
            dc = state[1] + dh * of_cell
            d = concat([dc, dh, dc, dc], 1) * of_gates
            return [matmul(d, r), dc * f], [d]

        rows = [dy, o - hs * shown, f, concat(slopes, 2)]
        (dh, dc), (d,) = recur(back, [dh, dc], rows, not reverse)
        return d, _of_weights(r, d, _before(h, hs, reverse)), dh, dc

    return (hs, *last), derivative


def gru_steps(gates: Tensor, r: Tensor, b: Tensor, h: Tensor, reverse: bool) -> Sequence[Tensor]:
    """All states [steps, batch, n], and the last one, for what the gates are given, [steps, batch, 3 n].

    `h' = (1 - z) tanh(x + s (h R + b)) + z h`, where the columns of the gates and the rows of `r` [3 n, n] are those of
    z, s and x.
    """
    found: Sequence[Tensor] = custom_gradient(partial(_gru, reverse))(gates, r, b, h)
    return found


def _gru(reverse: bool, gates: Tensor, r: Tensor, b: Tensor, h: Tensor) -> Any:
    size, columns = r.shape.known[1], transpose(r, [1, 0])
    openings, xs = split(gates, [2 * size, size], 2)
    biased = concat([openings, broadcast_like(b, xs)], 2)

    def step(state: Sequence[Tensor], row: Sequence[Tensor]) -> tuple[list[Tensor], list[Tensor]]:
        (before,) = state
        openings, added = split(row[0] + matmul(before, columns), [2 * size, size], 1)
        z, s = split(sigmoid(openings), 2, 1)
        reset = s * added
        new = tanh(row[1] + reset)
        stayed = z * (before - new)
        after = new + stayed
        return [after], [after, z, s, reset, new, stayed]

    (last,), (hs, z, s, reset, new, stayed) = recur(step, [h], [biased, xs], reverse)

    def derivative(dy: Tensor, dh: Tensor) -> Sequence[Tensor]:
        left = 1.0 - z
        of_new = left * (1.0 - new * new)
        slopes = concat([stayed * left, of_new * reset * (1.0 - s), of_new * s], 2)

        def back(state: Sequence[Tensor], row: Sequence[Tensor]) -> tuple[list[Tensor], list[Tensor]]:
            dy, z, slopes = row
            dh = state[0] + dy
            d = concat([dh, dh, dh], 1) * slopes
            return [dh * z + matmul(d, r)], [dh, d]

        (dh,), (whole, d) = recur(back, [dh], [dy, z, slopes], not reverse)
        dz, ds, dadded = split(d, 3, 2)
        dgates = concat([dz, ds, whole * of_new], 2)
        return dgates, _of_weights(r, d, _before(h, hs, reverse)), reduce_sum(dadded, [0, 1]), dh

    return (hs, last), derivative


def _before(first: Tensor, states: Tensor, reverse: bool) -> Tensor:
    """For each step the state that it starts from."""
    start = expand_dims(first, 0)
    return concat([states, start], 0)[1:] if reverse else concat([start, states], 0)[:-1]


def _of_weights(r: Tensor, d: Tensor, states: Tensor) -> Tensor:
    """The cotangent of `r`, by which `states` were multiplied in each step, where that of the products is `d`."""
    rows, columns = r.shape.known
    return matmul(reshape(d, [-1, rows]), reshape(states, [-1, columns]), transpose_a=True)
