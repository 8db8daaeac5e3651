"""ONNX import of recurrent networks: RNN, GRU and LSTM, one loop for each direction.

What does not depend on the step before is computed for all steps at once, ahead of the loop.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

from ...core.dtypes import int32
from ...core.operation import Tensor
from ...primitives.activations.rectifiers import leaky_relu, relu, softsign
from ...primitives.activations.sigmoid import sigmoid, softplus
from ...primitives.creation.fill import zeros
from ...primitives.creation.ranges import range_
from ...primitives.elementwise.clip import clip_by_value
from ...primitives.elementwise.exponential import expm1
from ...primitives.elementwise.hyperbolic import tanh
from ...primitives.elementwise.masking import mask
from ...primitives.elementwise.maximum import minimum
from ...primitives.identity.identity import ensure_shape
from ...primitives.indexing.where import where
from ...primitives.linalg.matmul import matmul
from ...primitives.shape.squeeze import expand_dims
from ...primitives.shape.stacking import concat, split, stack
from ...primitives.shape.transpose import transpose
from ..reading import Node, reader
from .cells import gru_steps, lstm_steps
from .dtypes import cast
from .lengths import length, require_rank
from .steps import Step, recur

Activation = Callable[[Tensor], Tensor]


class Cell(NamedTuple):
    """What one direction of a recurrent node computes a step with."""

    w: Tensor
    r: Tensor
    b: Tensor | None
    functions: Sequence[Activation]
    size: int
    peepholes: Tensor | None = None


@reader("RNN")
def rnn(
    node: Node,
    x: Tensor,
    w: Tensor,
    r: Tensor,
    b: Tensor | None = None,
    sequence_lens: Tensor | None = None,
    initial_h: Tensor | None = None,
) -> Any:
    cells = _cells(node, w, r, b, ["Tanh"])
    return _recurrent(node, x, cells, sequence_lens, [initial_h], _rnn_step, lambda cell: _sum_of_halves(cell.b))


def _rnn_step(cell: Cell, state: Sequence[Tensor], gates: Tensor) -> list[Tensor]:
    (h,) = state
    return [cell.functions[0](gates + matmul(h, cell.r, transpose_b=True))]


def _sum_of_halves(b: Tensor | None) -> Tensor | None:
    """The biases of inputs and of states, where they are added in one place."""
    if b is None:
        return None
    first, second = split(b, 2, 0)
    return first + second


@reader("GRU")
def gru(
    node: Node,
    x: Tensor,
    w: Tensor,
    r: Tensor,
    b: Tensor | None = None,
    sequence_lens: Tensor | None = None,
    initial_h: Tensor | None = None,
) -> Any:
    cells = _cells(node, w, r, b, ["Sigmoid", "Tanh"])
    apart = bool(node.attribute("linear_before_reset", 0))

    def ahead(cell: Cell) -> Tensor | None:
        if cell.b is None or not apart:
            return _sum_of_halves(cell.b)
        own, of_state = split(cell.b, 2, 0)
        return own + concat([of_state[: 2 * cell.size], zeros([cell.size], own.dtype)], 0)

    step = _gru_step_apart if apart else _gru_step
    closed = _gru_closed if apart and _is_plain(node, ["sigmoid", "tanh"]) else None
    return _recurrent(node, x, cells, sequence_lens, [initial_h], step, ahead, closed)


def _gru_closed(cell: Cell, gates: Tensor, start: Sequence[Tensor], reverse: bool) -> Sequence[Tensor]:
    b = zeros([cell.size], gates.dtype) if cell.b is None else cell.b[5 * cell.size :]
    return gru_steps(gates, cell.r, b, start[0], reverse)


def _gru_step(cell: Cell, state: Sequence[Tensor], gates: Tensor) -> list[Tensor]:
    """`h' = (1 - z) g(x W + (r h) R) + z h`."""
    (h,) = state
    f, g = cell.functions
    n = cell.size
    z, reset = split(f(gates[:, : 2 * n] + matmul(h, cell.r[: 2 * n], transpose_b=True)), 2, 1)
    new = g(gates[:, 2 * n :] + matmul(reset * h, cell.r[2 * n :], transpose_b=True))
    return [new + z * (h - new)]


def _gru_step_apart(cell: Cell, state: Sequence[Tensor], gates: Tensor) -> list[Tensor]:
    """`h' = (1 - z) g(x W + r (h R + b)) + z h`."""
    (h,) = state
    f, g = cell.functions
    n = cell.size
    of_state = matmul(h, cell.r, transpose_b=True)
    z, reset = split(f(gates[:, : 2 * n] + of_state[:, : 2 * n]), 2, 1)
    last = of_state[:, 2 * n :]
    if cell.b is not None:
        last = last + cell.b[5 * n :]
    new = g(gates[:, 2 * n :] + reset * last)
    return [new + z * (h - new)]


@reader("LSTM")
def lstm(
    node: Node,
    x: Tensor,
    w: Tensor,
    r: Tensor,
    b: Tensor | None = None,
    sequence_lens: Tensor | None = None,
    initial_h: Tensor | None = None,
    initial_c: Tensor | None = None,
    p: Tensor | None = None,
) -> Any:
    cells = _cells(node, w, r, b, ["Sigmoid", "Tanh", "Tanh"])
    if p is not None:
        cells = [cell._replace(peepholes=p[i]) for i, cell in enumerate(cells)]
    coupled = bool(node.attribute("input_forget", 0))
    closed = _lstm_closed if p is None and not coupled and _is_plain(node, ["sigmoid", "tanh", "tanh"]) else None
    step = partial(_lstm_step, coupled)
    initial = [initial_h, initial_c]
    return _recurrent(node, x, cells, sequence_lens, initial, step, lambda cell: _sum_of_halves(cell.b), closed)


def _lstm_closed(cell: Cell, gates: Tensor, start: Sequence[Tensor], reverse: bool) -> Sequence[Tensor]:
    h, c = start
    return lstm_steps(gates, cell.r, h, c, reverse)


def _lstm_step(coupled: bool, cell: Cell, state: Sequence[Tensor], gates: Tensor) -> list[Tensor]:
    """`c' = f c + i g(...)`, `h' = o h(c')`; where input and forget gate are coupled, `f = 1 - i`."""
    h, c = state
    f, g, last = cell.functions
    i, o, forget, new = split(gates + matmul(h, cell.r, transpose_b=True), 4, 1)
    peep_i, peep_o, peep_f = [None] * 3 if cell.peepholes is None else split(cell.peepholes, 3, 0)
    i = f(i if peep_i is None else i + peep_i * c)
    kept = 1.0 - i if coupled else f(forget if peep_f is None else forget + peep_f * c)
    c = kept * c + i * g(new)
    o = f(o if peep_o is None else o + peep_o * c)
    return [o * last(c), c]


def _is_plain(node: Node, functions: list[str]) -> bool:
    """Whether these are the activations, with nothing clipped."""
    names = [name.lower() for name in node.attribute("activations", None) or functions]
    return names == functions * (len(names) // len(functions)) and node.attribute("clip", None) is None


def _cells(node: Node, w: Tensor, r: Tensor, b: Tensor | None, default: list[str]) -> list[Cell]:
    """One for each direction."""
    require_rank(node, 3, w, r)
    require_rank(node, 2, b)
    kind = node.attribute("direction", "forward")
    directions = 2 if kind == "bidirectional" else 1
    names = node.attribute("activations", None) or default * directions
    size = node.attribute("hidden_size", None) or r.shape.size(2)
    if size is None:
        node.refuse(f"without `hidden_size` the length of the state must be known, which it is not in {r}")
    each = len(default)
    functions = _activations(node, names, each)
    return [
        Cell(w[i], r[i], None if b is None else b[i], functions[i * each : (i + 1) * each], size)
        for i in range(directions)
    ]


def _recurrent(
    node: Node,
    x: Tensor,
    cells: Sequence[Cell],
    sequence_lens: Tensor | None,
    initial: Sequence[Tensor | None],
    step: Callable[[Cell, Sequence[Tensor], Tensor], list[Tensor]],
    ahead: Callable[[Cell], Tensor | None],
    closed: Callable[[Cell, Tensor, Sequence[Tensor], bool], Sequence[Tensor]] | None = None,
) -> Any:
    """All states [steps, directions, batch, size] and the last of each kind; batch first where `layout` is 1.

    `closed` makes all steps where no sequence is shorter than others, and the shape of the weights is known.
    """
    batch_first = bool(node.attribute("layout", 0))
    x, initial = _cubes(x), [None if s is None else _cubes(s) for s in initial]
    if batch_first:
        x = transpose(x, [1, 0, 2])
        initial = [None if s is None else transpose(s, [1, 0, 2]) for s in initial]
    kind = node.attribute("direction", "forward")
    inside = None if sequence_lens is None else _inside(x, sequence_lens)
    if inside is not None or not all(of.shape.is_fully_defined() for cell in cells for of in (cell.w, cell.r)):
        closed = None
    ys, finals = [], []
    for i, cell in enumerate(cells):
        bias = ahead(cell)
        gates = matmul(x, transpose(cell.w, [1, 0]))
        gates = gates if bias is None else gates + bias
        start = [zeros([length(x, 1), cell.size], x.dtype) if s is None else s[i] for s in initial]
        reverse = kind == "reverse" or i == 1
        if closed is not None:
            y, *final = closed(cell, gates, start, reverse)
        else:
            rows = [gates] if inside is None else [gates, inside]
            final, (y,) = recur(_masked(partial(step, cell)), start, rows, reverse)
        ys.append(y)
        finals.append(final)
    if closed is not None and node.names.outer is None:
        node.graph.stand_ins.update({y.op.inputs[0].op: node for y in ys})
    y, lasts = stack(ys, 1), [stack(list(last), 0) for last in zip(*finals, strict=True)]
    if batch_first:
        return transpose(y, [2, 0, 1, 3]), *[transpose(last, [1, 0, 2]) for last in lasts]
    return y, *lasts


def _cubes(x: Tensor) -> Tensor:
    """`x`, which has three axes."""
    return ensure_shape(x, [None] * 3) if x.shape.rank is None else x


def _inside(x: Tensor, sequence_lens: Tensor) -> Tensor:
    """For each step, which sequences still go on, [steps, batch, 1]."""
    places = range_(cast(length(x, 0), int32) if isinstance(length(x, 0), Tensor) else length(x, 0))
    return expand_dims(expand_dims(places, 1) < cast(sequence_lens, int32), 2)


def _masked(step: Callable[[Sequence[Tensor], Tensor], list[Tensor]]) -> Step:
    """`step`, which keeps the state of a sequence that is over and gives zeros for it."""

    def masked(carried: Sequence[Tensor], row: Sequence[Tensor]) -> tuple[Sequence[Tensor], Sequence[Tensor]]:
        state = step(carried, row[0])
        if len(row) == 1:
            return state, [state[0]]
        kept = [where(row[1], new, old) for new, old in zip(state, carried, strict=True)]
        return kept, [mask(row[1], state[0])]

    return masked


def _activations(node: Node, names: Sequence[str], each: int) -> list[Activation]:
    """The functions, `each` for a direction, with the numbers that they take, in order, from the attributes.

    The clip is before those of the gates, and not before that of an LSTM's cell, the third: runtimes have it so.
    """
    alphas = list(node.attribute("activation_alpha", None) or [])
    betas = list(node.attribute("activation_beta", None) or [])
    limit = node.attribute("clip", None)
    found: list[Activation] = []
    for name in names:
        entry = _FUNCTIONS.get(name.lower())
        if entry is None:
            node.refuse(f"the activation {name!r} is not one of {', '.join(sorted(_FUNCTIONS))}")
        function, alpha, beta = entry
        more = []
        for numbers, default in ((alphas, alpha), (betas, beta)):
            if default is not None:
                more.append(numbers.pop(0) if numbers else default)
        of_cell = len(found) % each == 2
        found.append(_clipped(function, more, None if of_cell else limit))
    return found


def _clipped(function: Callable[..., Tensor], numbers: Sequence[float], limit: float | None) -> Activation:
    def activation(x: Tensor) -> Tensor:
        return function(x if limit is None else clip_by_value(x, -limit, limit), *numbers)

    return activation


_FUNCTIONS: dict[str, tuple[Callable[..., Tensor], float | None, float | None]] = {
    "relu": (relu, None, None),
    "tanh": (tanh, None, None),
    "sigmoid": (sigmoid, None, None),
    "softsign": (softsign, None, None),
    "softplus": (softplus, None, None),
    "affine": (lambda x, alpha, beta: x * alpha + beta, 1.0, 0.0),
    "leakyrelu": (leaky_relu, 0.01, None),
    "thresholdedrelu": (lambda x, alpha: mask(x > alpha, x), 1.0, None),
    "scaledtanh": (lambda x, alpha, beta: tanh(x * beta) * alpha, 1.0, 1.0),
    "hardsigmoid": (lambda x, alpha, beta: clip_by_value(x * alpha + beta, 0.0, 1.0), 0.2, 0.5),
    "elu": (lambda x, alpha: where(x > 0, x, expm1(minimum(x, 0.0)) * alpha), 1.0, None),
}
"""By name: the function, and what stands for alpha and beta where it takes them."""
