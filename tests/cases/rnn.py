"""Rows: a cell step after step, in a loop, in two, and written out."""

from __future__ import annotations

from typing import Any

import numpy as np

import pullback as pb

from .case import Case, normal

NO_RANK = "the inputs must be of rank 3 and of known depth"
LENGTHS = np.array([3, 0])


class _Cell(pb.nn.rnn_cell.RNNCell):
    """A cell without variables, so that a row can be differentiated by its weights."""

    def __init__(self, weights: Any) -> None:
        super().__init__(name="cell")
        self.matrix = weights

    @property
    def state_size(self) -> int:
        return 2

    @property
    def output_size(self) -> int:
        return 2

    def call(self, inputs: Any, state: Any) -> tuple[Any, Any]:
        h = pb.tanh(pb.matmul(pb.concat([inputs, state], 1), self.matrix))
        return 2.0 * h, h


def _dynamic(x: Any, w: Any) -> Any:
    return list(pb.nn.dynamic_rnn(_Cell(w), x, LENGTHS))


def _both(x: Any, w: Any) -> Any:
    return pb.nest.flatten(pb.nn.bidirectional_dynamic_rnn(_Cell(w), _Cell(w * w), x, LENGTHS))


def _static(x: Any, y: Any, w: Any) -> Any:
    return pb.nest.flatten(pb.nn.static_rnn(_Cell(w), [x, y], sequence_length=LENGTHS))


CASES = [
    Case("dynamic_rnn", _dynamic, [normal(2, 4, 3), normal(5, 2)], third_order=True, slow=True, not_erased=NO_RANK),
    Case("bidirectional_dynamic_rnn", _both, [normal(2, 4, 3), normal(5, 2)], not_erased=NO_RANK),
    Case("static_rnn", _static, [normal(2, 3), normal(2, 3, seed=1), normal(5, 2)], not_erased=NO_RANK),
]
