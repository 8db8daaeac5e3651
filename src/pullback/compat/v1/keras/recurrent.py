"""Recurrent layers of Keras over [batch, time, depth]: `RNN` of any cell, `LSTM`, `GRU` and so on, both directions."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any, ClassVar

import pullback as pb

from ....core import nest
from ....layers.rnn.recurrent import kept_unless, masked
from ....layers.variables.layer import snake_case
from .base import Layer, unbuilt
from .cells import AbstractCell, GRUCell, LSTMCell, SimpleRNNCell, StackedRNNCells, output_size
from .models import Wrapper
from .plain import of_all, refuse_others


class RNN(Layer):
    """A cell, or several behind each other, step after step.

    Where a mask says that a step does not count, the states stay as they are, and so does the output, or it is 0 with
    `zero_output_for_mask`.

    >>> import pullback.compat.v1 as tf
    >>> tf.keras.layers.RNN(tf.keras.layers.LSTMCell(4), return_sequences=True)(tf.zeros([2, 5, 3])).shape
    TensorShape([2, 5, 4])
    """

    supports_masking = True

    def __init__(
        self,
        cell: Any,
        return_sequences: bool = False,
        return_state: bool = False,
        go_backwards: bool = False,
        stateful: bool = False,
        unroll: bool = False,
        time_major: bool = False,
        zero_output_for_mask: bool = False,
        **options: Any,
    ) -> None:
        del unroll
        refuse_others(type(self).__name__, options | {"stateful": stateful})
        super().__init__(**of_all(options))
        self.cell = StackedRNNCells(cell) if isinstance(cell, list | tuple) else cell
        self.return_sequences, self.return_state = return_sequences, return_state
        self.go_backwards, self.time_major = go_backwards, time_major
        self.zero_output_for_mask = zero_output_for_mask

    def build(self, input_shape: Any) -> None:
        """Make the variables of the cell: in a loop it makes none."""
        shape = input_shape[0] if isinstance(input_shape, list | tuple) else input_shape
        build_cell(self.cell, pb.TensorShape([None, *shape.as_list()[2:]]))

    def call(
        self, inputs: Any, mask: Any = None, training: Any = None, initial_state: Any = None, **kwargs: Any
    ) -> Any:
        """The last output, or all with `return_sequences`; with `return_state` a list of it and the last states.

        `inputs` may be a list, of which the first is the sequence and the others the states that it begins with.
        """
        del training, kwargs
        if isinstance(inputs, list | tuple):
            inputs, initial_state = inputs[0], list(inputs[1:]) or initial_state
            mask = mask[0] if isinstance(mask, list | tuple) else mask
        rows = inputs if self.time_major else _turned(inputs)
        counts = None if mask is None else pb.cast(mask if self.time_major else _turned(mask), "bool")
        if self.go_backwards:
            rows = pb.reverse(rows, [0])
            counts = None if counts is None else pb.reverse(counts, [0])
        first = self._first_states(rows, initial_state)
        outputs, states = self._run(rows, counts, first)
        result = (outputs if self.time_major else _turned(outputs)) if self.return_sequences else outputs[-1]
        return [result, *[state[-1] for state in nest.flatten(states)]] if self.return_state else result

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """That of the inputs for a sequence; none for states and for the last output."""
        del inputs
        first = mask[0] if isinstance(mask, list | tuple) else mask
        return [first if self.return_sequences else None]

    @property
    def variables(self) -> list[Any]:
        """Those of the cell."""
        return self.cell.variables

    @property
    def trainable_variables(self) -> list[Any]:
        """Those of them that optimizers change."""
        return self.cell.trainable_variables

    def _first_states(self, rows: pb.Tensor, given: Any) -> list[Any]:
        sizes = self.cell.state_size
        wanted = list(sizes) if isinstance(sizes, list | tuple) else [sizes]
        if given is not None:
            flat = nest.flatten(given)
            return list(nest.pack_sequence_as(wanted, flat))
        batch = pb.shape(rows)[1]
        return [
            nest.map_structure(lambda n: pb.zeros([batch, *([n] if isinstance(n, int) else list(n))], rows.dtype), size)
            for size in wanted
        ]

    def _run(self, rows: pb.Tensor, counts: Any, first: list[Any]) -> tuple[pb.Tensor, Any]:
        """The outputs and the states of all steps."""
        output = pb.zeros([pb.shape(rows)[1], output_size(self.cell)], rows.dtype)

        def step(before: Any, row: Any) -> Any:
            x, alive = row if counts is not None else (row, None)
            states, last = before
            made, after = self.cell.call(x, states)
            if alive is None:
                return after, made
            kept = nest.map_structure(lambda new, old: kept_unless(alive, new, old), after, states)
            return kept, masked(alive, made) if self.zero_output_for_mask else kept_unless(alive, made, last)

        states, outputs = pb.scan(step, rows if counts is None else (rows, counts), (first, output))
        return outputs, states


class SimpleRNN(RNN):
    """`RNN` of a `SimpleRNNCell`, whose parameters it takes."""

    cell_type: ClassVar[Any] = SimpleRNNCell

    def __init__(self, units: int, *args: Any, **options: Any) -> None:
        refuse_others(type(self).__name__, options, _OF_CELLS + _OF_RNN)
        given = {name: options.pop(name) for name in _OF_CELLS if name in options}
        super().__init__(self.cell_type(units, *args, **given, name=snake_case(self.cell_type.__name__)), **options)
        self.units = units


class LSTM(SimpleRNN):
    """`RNN` of an `LSTMCell`, whose parameters it takes."""

    cell_type = LSTMCell


class GRU(SimpleRNN):
    """`RNN` of a `GRUCell`, whose parameters it takes."""

    cell_type = GRUCell


class Bidirectional(Wrapper):
    """Two copies of a recurrent layer, the second from the end to the front; what they give is put together.

    `merge_mode` is "concat", "sum", "mul", "ave", or None for a list of both.

    >>> import pullback.compat.v1 as tf
    >>> layer = tf.keras.layers.Bidirectional(tf.keras.layers.GRU(4, return_sequences=True))
    >>> layer(tf.zeros([2, 5, 3])).shape, layer.variables[0].name
    (TensorShape([2, 5, 8]), 'bidirectional/forward_gru/gru_cell/kernel:0')
    """

    supports_masking = True

    def __init__(
        self,
        layer: Any,
        merge_mode: str | None = "concat",
        weights: Any = None,
        backward_layer: Any = None,
        **options: Any,
    ) -> None:
        refuse_others("Bidirectional", {"weights": weights})
        if merge_mode not in _MERGED:
            raise ValueError(f"keras Bidirectional: merge_mode must be one of {list(_MERGED)}, not {merge_mode!r}")
        super().__init__(layer, **options)
        self.merge_mode = merge_mode
        self.forward_layer = _copied(layer, f"forward_{layer.name}", layer.go_backwards)
        behind = layer if backward_layer is None else backward_layer
        backwards = not layer.go_backwards if backward_layer is None else behind.go_backwards
        self.backward_layer = _copied(behind, f"backward_{behind.name}", backwards)

    def call(self, inputs: Any, mask: Any = None, training: Any = None, initial_state: Any = None) -> Any:
        """What both give, put together; then the last states of the first, and of the second, with `return_state`."""
        if isinstance(inputs, list | tuple):
            inputs, initial_state = inputs[0], list(inputs[1:]) or initial_state
            mask = mask[0] if isinstance(mask, list | tuple) else mask
        half = len(initial_state or ()) // 2
        states = (None, None) if initial_state is None else (initial_state[:half], initial_state[half:])
        found = [
            layer(inputs, mask=mask, training=training, initial_state=state)
            for layer, state in zip((self.forward_layer, self.backward_layer), states, strict=True)
        ]
        ends: list[Any] = []
        if self.layer.return_state:
            ends, found = [*found[0][1:], *found[1][1:]], [found[0][0], found[1][0]]
        forward, backward = found
        if self.layer.return_sequences:
            backward = pb.reverse(backward, [0 if self.layer.time_major else 1])
        merged = _MERGED[self.merge_mode](forward, backward)
        if self.merge_mode is None:
            return [*merged, *ends]
        return [merged, *ends] if ends else merged

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """That of the inputs for sequences; none for states and for last outputs."""
        del inputs
        first = mask[0] if isinstance(mask, list | tuple) else mask
        return [first if self.layer.return_sequences else None] * (2 if self.merge_mode is None else 1)

    @property
    def variables(self) -> list[Any]:
        """Those of both copies."""
        return [*self.forward_layer.variables, *self.backward_layer.variables]

    @property
    def trainable_variables(self) -> list[Any]:
        """Those of them that optimizers change."""
        return [*self.forward_layer.trainable_variables, *self.backward_layer.trainable_variables]


def build_cell(cell: Any, shape: Any) -> None:
    """Make the variables of a cell, or of several, for inputs of that shape, in the scope that is open."""
    with cell.entered(None, None):
        cell.make(shape)
        for inner in getattr(cell, "cells", ()):
            build_cell(inner, shape)
            shape = pb.TensorShape([None, output_size(inner)])


def _copied(layer: Any, name: str, go_backwards: bool) -> Any:
    """A layer like another one that has no variables yet; a sequence of it is 0 where steps do not count."""
    made = unbuilt(layer, name)
    made.cell = unbuilt(layer.cell, layer.cell.name)
    if hasattr(made.cell, "cells"):
        made.cell.cells = [unbuilt(cell, cell.name) for cell in made.cell.cells]
    made.go_backwards, made.zero_output_for_mask = go_backwards, layer.return_sequences
    return made


def _turned(x: pb.Tensor) -> pb.Tensor:
    """`x` with its first two axes in the other order."""
    return pb.transpose(x, [1, 0, *range(2, x.shape.rank or 2)])


_OF_RNN = ("return_sequences", "return_state", "go_backwards", "unroll", "time_major", "zero_output_for_mask")
_PARAMETERS = inspect.signature(AbstractCell.__init__).parameters
_OF_CELLS = ("implementation", *[name for name in _PARAMETERS if name not in ("self", "units", "options")])
_MERGED: Mapping[str | None, Any] = {
    "concat": lambda x, y: pb.concat([x, y], -1),
    "sum": lambda x, y: x + y,
    "mul": lambda x, y: x * y,
    "ave": lambda x, y: (x + y) / 2.0,
    None: lambda x, y: [x, y],
}
