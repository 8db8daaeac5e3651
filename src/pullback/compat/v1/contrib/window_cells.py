"""Attention over the last outputs of a cell (`AttentionCellWrapper`)."""

from __future__ import annotations

from operator import attrgetter
from typing import Any

import pullback as pb

from ....core import nest
from ....layers.rnn.cells import RNNCell
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

    output_size = property(attrgetter("_attn_size"))

    def call(self, inputs: Any, state: Any) -> tuple[Any, Any]:
        """The output and the next state."""
        sizes = [self._cell.state_size, self._attn_size, self._attn_size * self._attn_length]
        before, attention, window = state if self._state_is_tuple else pb.split(state, sizes, 1)
        last = pb.reshape(window, [-1, self._attn_length, self._attn_size])
        x = linear([inputs, attention], self._input_size or inputs.shape.size(-1))
        y, after = self._cell(x, before)
        attention = self._attended(pb.concat(nest.flatten(after), 1), last)
        with pb.variable_scope("attn_output_projection"):
            output = linear([y, attention], self._attn_size)
        window = pb.reshape(
            pb.concat([last[:, 1:], pb.expand_dims(output, 1)], 1), [-1, self._attn_length * self._attn_size]
        )
        state = (after, attention, window)
        return output, state if self._state_is_tuple else pb.concat(list(state), 1)

    def _attended(self, query: Any, last: Any) -> Any:
        with pb.variable_scope("attention"):
            w: Any = pb.get_variable("attn_w", [1, 1, self._attn_size, self._attn_vec_size])
            v = pb.get_variable("attn_v", [self._attn_vec_size])
            features = pb.tensordot(last, w[0, 0], 1) + pb.expand_dims(linear([query], self._attn_vec_size), 1)
        weights = pb.math.softmax(pb.reduce_sum(v * pb.tanh(features), 2))
        return pb.reduce_sum(pb.expand_dims(weights, 2) * last, 1)
