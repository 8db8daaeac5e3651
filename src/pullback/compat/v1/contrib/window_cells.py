"""Attention over the last outputs of a cell (`AttentionCellWrapper`)."""

from __future__ import annotations

from typing import Any

from ....core import nest
from ....layers.rnn.cells import RNNCell
from ....layers.variables.scope import get_variable, variable_scope
from ....primitives.activations.softmax import softmax
from ....primitives.elementwise.hyperbolic import tanh
from ....primitives.linalg.tensordot import tensordot
from ....primitives.reduction.reduce import reduce_sum
from ....primitives.shape.reshape import reshape
from ....primitives.shape.squeeze import expand_dims
from ....primitives.shape.stacking import concat, split
from .linear_cells import linear


class AttentionCellWrapper(RNNCell):
    """`cell`, which attends to the last `attn_length` outputs.

    The state is that of the cell, what was attended to, and the last outputs, one after the other.

    Source: J. Cheng et al., "Long short-term memory-networks for machine reading", 2016.

    Raises:
        ValueError: `attn_length` is not positive; the state of the cell is a tuple, and `state_is_tuple` is False.

    >>> import pullback.compat.v1 as tf
    >>> cell = tf.contrib.rnn.AttentionCellWrapper(tf.contrib.rnn.GRUCell(3), 4)
    >>> outputs, state = tf.nn.dynamic_rnn(cell, tf.ones([2, 7, 5]), dtype=tf.float32)
    >>> outputs.shape, state[2].shape
    (TensorShape([2, 7, 3]), TensorShape([2, 12]))
    """

    def __init__(
        self,
        cell: Any,
        attn_length: int,
        attn_size: int | None = None,
        attn_vec_size: int | None = None,
        input_size: int | None = None,
        state_is_tuple: bool = True,
        reuse: bool | str | None = None,
    ) -> None:
        super().__init__(_reuse=reuse)
        if attn_length <= 0:
            raise ValueError(f"AttentionCellWrapper: attn_length must be positive, not {attn_length}")
        if nest.is_nested(cell.state_size) and not state_is_tuple:
            raise ValueError("AttentionCellWrapper: the state of the cell is a tuple; state_is_tuple must be True")
        self._cell, self._attn_length, self._input_size = cell, attn_length, input_size
        self._attn_size = attn_size or cell.output_size
        self._attn_vec_size = attn_vec_size or self._attn_size
        self._state_is_tuple = state_is_tuple

    @property
    def state_size(self) -> Any:
        sizes = (self._cell.state_size, self._attn_size, self._attn_size * self._attn_length)
        return sizes if self._state_is_tuple else sum(sizes)

    @property
    def output_size(self) -> int:
        return self._attn_size

    def call(self, inputs: Any, state: Any) -> tuple[Any, Any]:
        """The output and the next state."""
        sizes = [self._cell.state_size, self._attn_size, self._attn_size * self._attn_length]
        before, attention, window = state if self._state_is_tuple else split(state, sizes, 1)
        last = reshape(window, [-1, self._attn_length, self._attn_size])
        x = linear([inputs, attention], self._input_size or inputs.shape.size(-1))
        y, after = self._cell(x, before)
        attention = self._attended(concat(nest.flatten(after), 1), last)
        with variable_scope("attn_output_projection"):
            output = linear([y, attention], self._attn_size)
        window = reshape(concat([last[:, 1:], expand_dims(output, 1)], 1), [-1, self._attn_length * self._attn_size])
        state = (after, attention, window)
        return output, state if self._state_is_tuple else concat(list(state), 1)

    def _attended(self, query: Any, last: Any) -> Any:
        with variable_scope("attention"):
            w: Any = get_variable("attn_w", [1, 1, self._attn_size, self._attn_vec_size])
            v = get_variable("attn_v", [self._attn_vec_size])
            features = tensordot(last, w[0, 0], 1) + expand_dims(linear([query], self._attn_vec_size), 1)
        weights = softmax(reduce_sum(v * tanh(features), 2))
        return reduce_sum(expand_dims(weights, 2) * last, 1)
