"""Recurrent layers of Keras over [batch, time, depth]: `RNN` of any cell, `LSTM`, `GRU` and so on, both directions."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

import pullback as pb

from ....core import nest
from ....layers.rnn.recurrent import kept_unless, masked
from ....layers.variables.layer import snake_case
from . import backend
from .base import Layer, unbuilt
from .cells import AbstractCell, GRUCell, LSTMCell, SimpleRNNCell, StackedRNNCells, output_size
from .history import takes
from .models import Wrapper
from .plain import of_all, refuse_others


class RNN(Layer):
    """A cell, or several behind each other, step after step.

    Where a mask says that a step does not count, the states stay as they are, and so does the output, or it is 0 with
    `zero_output_for_mask`. With `stateful` a run begins with the states that the run before ended with, if the
    operations in `updates` run too; `reset_states` makes them zeros.

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
        refuse_others(type(self).__name__, options)
        if "input_dim" in options:
            options["input_shape"] = (options.get("input_length"), options.pop("input_dim"))
        super().__init__(**of_all(options))
        self.cell = StackedRNNCells(cell) if isinstance(cell, list | tuple) else cell
        self.return_sequences, self.return_state = return_sequences, return_state
        self.go_backwards, self.time_major = go_backwards, time_major
        self.zero_output_for_mask, self.stateful = zero_output_for_mask, stateful
        self.states: list[Any] = []

    def build(self, input_shape: Any) -> None:
        """Make the variables of the cell: in a loop it makes none."""
        shape = input_shape[0] if isinstance(input_shape, list | tuple) else input_shape
        build_cell(self.cell, pb.TensorShape([None, *shape.as_list()[2:]]))
        if self.stateful:
            self._make_states(shape.as_list())

    def call(
        self, inputs: Any, mask: Any = None, training: Any = None, initial_state: Any = None, **kwargs: Any
    ) -> Any:
        """The last output, or all with `return_sequences`; with `return_state` a list of it and the last states.

        `inputs` may be a list, of which the first is the sequence and the others the states that it begins with.
        """
        del kwargs
        if isinstance(inputs, list | tuple):
            inputs, initial_state = inputs[0], list(inputs[1:]) or initial_state
            mask = mask[0] if isinstance(mask, list | tuple) else mask
        rows = inputs if self.time_major else _turned(inputs)
        counts = None if mask is None else pb.cast(mask if self.time_major else _turned(mask), "bool")
        if self.go_backwards:
            rows = pb.reverse(rows, [0])
            counts = None if counts is None else pb.reverse(counts, [0])
        first = self._first_states(rows, initial_state)
        outputs, states = self._run(rows, counts, first, training)
        if self.stateful:
            self.add_update([v.assign(s[-1]) for v, s in zip(self._flat_states, nest.flatten(states), strict=True)])
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
        if given is None and self.stateful:
            given = [pb.convert_to_tensor(v) for v in self._flat_states]
        if given is not None:
            flat = nest.flatten(given)
            return list(nest.pack_sequence_as(wanted, flat))
        batch = pb.shape(rows)[1]
        if hasattr(self.cell, "get_initial_state"):
            made = self.cell.get_initial_state(inputs=rows[0], batch_size=batch, dtype=rows.dtype)
            return list(made) if isinstance(made, list | tuple) else [made]
        return [
            nest.map_structure(lambda n: pb.zeros([batch, *([n] if isinstance(n, int) else list(n))], rows.dtype), size)
            for size in wanted
        ]

    @property
    def _flat_states(self) -> list[Any]:
        return nest.flatten(self.states)

    def _make_states(self, lengths: list[int | None]) -> None:
        """The variables of the states, for sequences of those lengths.

        Raises:
            ValueError: the number of sequences is not known.
        """
        batch = lengths[1 if self.time_major else 0]
        if batch is None:
            raise ValueError(
                f"keras {type(self).__name__}: stateful=True needs to know the number of sequences: say "
                f"batch_input_shape=, or batch_shape= of the Input; it is given {pb.TensorShape(lengths)}"
            )
        with pb.Graph().as_default():
            rows = pb.zeros([1, batch, *lengths[2:]])
            self.stateful = False
            sizes = [s.shape.as_list() for s in nest.flatten(self._first_states(rows, None))]
        self.stateful = True
        self.states = [backend.zeros(size) for size in sizes]

    def reset_states(self, states: Any = None) -> None:
        """Make the states of a stateful layer these values, or zeros, in `backend.get_session()`.

        Raises:
            AttributeError: the layer is not stateful. ValueError: there are no states yet, or another number of them.
        """
        if not self.stateful:
            raise AttributeError("Layer must be stateful.")
        held = self._flat_states
        values = [np.zeros(v.shape.as_list()) for v in held] if states is None else nest.flatten(states)
        if not held or len(values) != len(held):
            raise ValueError(
                f"keras {type(self).__name__}: reset_states: {len(values)} values for {len(held)} states, which the "
                "first call makes"
            )
        backend.batch_set_value(list(zip(held, values, strict=True)))

    def _run(self, rows: pb.Tensor, counts: Any, first: list[Any], training: Any) -> tuple[pb.Tensor, Any]:
        """The outputs and the states of all steps."""
        size = output_size(self.cell)
        output = pb.zeros_like(first[0]) if size is None else pb.zeros([pb.shape(rows)[1], size], rows.dtype)
        told = {"training": training} if takes(self.cell, "training") else {}
        if hasattr(self.cell, "draw"):
            several = isinstance(self.cell, StackedRNNCells)
            self.cell.draw(rows[0], first if several else first[0], training)

        single = len(first) == 1 and isinstance(self.cell, pb.rnn_cell.RNNCell)

        def step(before: Any, row: Any) -> Any:
            x, alive = row if counts is not None else (row, None)
            states, last = before
            made, after = self.cell.call(x, states[0] if single else states, **told)
            after = nest.pack_sequence_as(states, nest.flatten(after))
            if alive is None:
                return after, made
            kept = nest.map_structure(lambda new, old: kept_unless(alive, new, old), after, states)
            return kept, masked(alive, made) if self.zero_output_for_mask else kept_unless(alive, made, last)

        states, outputs = pb.scan(step, rows if counts is None else (rows, counts), (first, output))
        if hasattr(self.cell, "draw"):
            self.cell.reset_dropout_mask()
            self.cell.reset_recurrent_dropout_mask()
        return outputs, states


class SimpleRNN(RNN):
    """`RNN` of a `SimpleRNNCell`, whose parameters it takes."""

    cell_type: ClassVar[Any] = SimpleRNNCell

    def __init__(self, units: int, *args: Any, **options: Any) -> None:
        refuse_others(type(self).__name__, options, OF_CELLS + _OF_RNN)
        given = {name: options.pop(name) for name in OF_CELLS if name in options}
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
    def updates(self) -> list[Any]:
        """Those of both copies."""
        return [*self.forward_layer.updates, *self.backward_layer.updates]

    @updates.setter
    def updates(self, updates: list[Any]) -> None:
        """None of its own."""

    def reset_states(self) -> None:
        """Make the states of both copies zeros."""
        self.forward_layer.reset_states()
        self.backward_layer.reset_states()

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


_OF_RNN = (
    "return_sequences",
    "return_state",
    "go_backwards",
    "stateful",
    "unroll",
    "time_major",
    "zero_output_for_mask",
)
_PARAMETERS = inspect.signature(AbstractCell.__init__).parameters
OF_CELLS = tuple(name for name in _PARAMETERS if name not in ("self", "units", "options"))
_MERGED: Mapping[str | None, Any] = {
    "concat": lambda x, y: pb.concat([x, y], -1),
    "sum": lambda x, y: x + y,
    "mul": lambda x, y: x * y,
    "ave": lambda x, y: (x + y) / 2.0,
    None: lambda x, y: [x, y],
}
