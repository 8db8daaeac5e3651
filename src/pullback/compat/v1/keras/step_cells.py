"""RNN cells of Keras as those of `tf.nn.rnn_cell`, which `tf.nn.dynamic_rnn` and its like go through."""

from __future__ import annotations

from operator import attrgetter
from typing import Any

import pullback as pb

from ....core import nest
from ....layers.rnn.cells import RNNCell
from .cells import output_size
from .recurrent import build_cell


class KerasStep(RNNCell):
    """A cell of Keras; its state is a tensor, or a list where it has several."""

    def __init__(self, cell: Any) -> None:
        self.cell = cell

    name = property(attrgetter("cell.name"))
    state_size = property(attrgetter("cell.state_size"))
    variables = property(attrgetter("cell.variables"))

    @property
    def output_size(self) -> Any:
        return output_size(self.cell)

    def get_initial_state(self, inputs: Any = None, batch_size: Any = None, dtype: Any = None) -> Any:
        if hasattr(self.cell, "get_initial_state"):
            return self.cell.get_initial_state(inputs=inputs, batch_size=batch_size, dtype=dtype)
        return super().get_initial_state(inputs, batch_size, dtype)

    def prepare(self, depth: int | None, dtype: Any) -> None:
        del dtype
        build_cell(self.cell, pb.TensorShape([None, depth]))

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> tuple[Any, Any]:
        """The output and the next state; what is left out by dropout is drawn anew."""
        del scope
        x = pb.convert_to_tensor(inputs)
        build_cell(self.cell, x.shape)
        output, after = self.cell.call(x, list(state) if isinstance(state, list | tuple) else [state])
        if hasattr(self.cell, "draw"):
            self.cell.reset_dropout_mask()
            self.cell.reset_recurrent_dropout_mask()
        return output, nest.pack_sequence_as(state, nest.flatten(after))
