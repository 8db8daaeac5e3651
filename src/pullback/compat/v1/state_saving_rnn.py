"""A recurrent network without a loop that keeps its state from run to run (`tf.nn.static_state_saving_rnn`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pullback as pb

from ...core import nest
from ...core.typing import TensorLike


def static_state_saving_rnn(
    cell: Any,
    inputs: Sequence[Any],
    state_saver: Any,
    state_name: Any,
    sequence_length: TensorLike | None = None,
    scope: pb.VariableScope | str | None = None,
) -> tuple[list[Any], Any]:
    """The outputs of a cell for each of a list of inputs, and its last state, which begins and ends with what is kept.

    It begins with `state_saver.state(name)`; the last output and the last state wait for
    `state_saver.save_state(name, state)`. `state_name` is a name, or a structure of them like the state of the cell.

    Raises:
        ValueError: there are not as many names as parts of the state.

    >>> import pullback.compat.v1 as tf
    >>> class Kept:
    ...     value = tf.Variable(tf.zeros([2, 3]))
    ...     def state(self, name):
    ...         return self.value.read_value()
    ...     def save_state(self, name, state):
    ...         return self.value.assign(state)
    >>> _, state = tf.nn.static_state_saving_rnn(tf.nn.rnn_cell.GRUCell(3), [tf.ones([2, 5])] * 4, Kept(), "state")
    >>> with tf.Session() as session:
    ...     session.run(tf.global_variables_initializer())
    ...     bool((session.run(state) != session.run(state)).any())
    True
    """
    sizes = cell.state_size
    several = isinstance(sizes, list | tuple)
    names = nest.flatten(state_name)
    if several != isinstance(state_name, list | tuple) or len(names) != len(nest.flatten(sizes)):
        raise ValueError(
            "static_state_saving_rnn: state_name must be the name of the state, or one for each part of it; it is "
            f"{state_name!r}, and state_size of the cell is {sizes}"
        )
    begun = [state_saver.state(name) for name in names]
    first = nest.pack_sequence_as(sizes, begun) if several else begun[0]
    outputs, state = pb.nn.static_rnn(cell, inputs, first, None, sequence_length, scope)
    saved = [state_saver.save_state(name, part) for name, part in zip(names, nest.flatten(state), strict=True)]
    with pb.control_dependencies(saved):
        last, state = (nest.map_structure(pb.identity, x) for x in (outputs[-1], state))
    return [*outputs[:-1], last], state
