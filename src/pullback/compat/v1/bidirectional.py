"""Recurrent networks of TensorFlow 1 that go in both directions: without a loop, and one upon the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pullback as pb

from ...core import nest
from ...core.contexts import in_graph_of_inputs
from ...core.typing import DTypeLike, TensorLike

Scope = pb.VariableScope | str | None


def static_bidirectional_rnn(
    cell_fw: Any,
    cell_bw: Any,
    inputs: Sequence[Any],
    initial_state_fw: Any = None,
    initial_state_bw: Any = None,
    dtype: DTypeLike | None = None,
    sequence_length: TensorLike | None = None,
    scope: Scope = None,
) -> tuple[list[pb.Tensor], Any, Any]:
    """For each of a list of inputs the outputs of a cell that goes forward and of one that goes backward, side by side.

    The second and third results are the last states of both.

    >>> import pullback.compat.v1 as tf
    >>> cells = [tf.nn.rnn_cell.GRUCell(n) for n in (3, 4)]
    >>> outputs, fw, bw = tf.nn.static_bidirectional_rnn(*cells, [tf.ones([2, 5])] * 3, dtype=tf.float32)
    >>> outputs[0].shape, fw.shape, bw.shape
    (TensorShape([2, 7]), TensorShape([2, 3]), TensorShape([2, 4]))
    """
    lengths = sequence_length
    with pb.variable_scope(scope or "bidirectional_rnn"):
        forward, end_fw = pb.nn.static_rnn(cell_fw, inputs, initial_state_fw, dtype, lengths, "fw")
        backward, end_bw = pb.nn.static_rnn(cell_bw, _turned(inputs, lengths), initial_state_bw, dtype, lengths, "bw")
    pairs = zip(forward, _turned(backward, lengths), strict=True)
    both = [nest.map_structure(lambda a, b: pb.concat([a, b], 1), *pair) for pair in pairs]
    return both, end_fw, end_bw


@in_graph_of_inputs
def stack_bidirectional_dynamic_rnn(
    cells_fw: Sequence[Any],
    cells_bw: Sequence[Any],
    inputs: TensorLike,
    initial_states_fw: Sequence[Any] | None = None,
    initial_states_bw: Sequence[Any] | None = None,
    dtype: DTypeLike | None = None,
    sequence_length: TensorLike | None = None,
    parallel_iterations: int | None = None,
    time_major: bool = False,
    scope: Scope = None,
    swap_memory: bool = False,
) -> tuple[pb.Tensor, tuple[Any, ...], tuple[Any, ...]]:
    """Layers of cells that go forward and backward, each on the outputs of the one before, side by side.

    >>> import pullback.compat.v1 as tf
    >>> cells = [[tf.nn.rnn_cell.GRUCell(3) for _ in range(2)] for _ in range(2)]
    >>> y, _, _ = tf.contrib.rnn.stack_bidirectional_dynamic_rnn(*cells, tf.ones([2, 4, 5]), dtype=tf.float32)
    >>> y.shape
    TensorShape([2, 4, 6])
    """
    x, ends = pb.convert_to_tensor(inputs), []
    with pb.variable_scope(scope, "stack_bidirectional_rnn"):
        for i, (cell_fw, cell_bw) in enumerate(zip(cells_fw, cells_bw, strict=True)):
            with pb.variable_scope(f"cell_{i}"):
                outputs, states = pb.nn.bidirectional_dynamic_rnn(
                    cell_fw,
                    cell_bw,
                    x,
                    sequence_length,
                    initial_states_fw[i] if initial_states_fw else None,
                    initial_states_bw[i] if initial_states_bw else None,
                    dtype,
                    parallel_iterations,
                    swap_memory,
                    time_major,
                )
            x = pb.concat(outputs, 2)
            ends.append(states)
    return x, tuple(fw for fw, _ in ends), tuple(bw for _, bw in ends)


def stack_bidirectional_rnn(
    cells_fw: Sequence[Any],
    cells_bw: Sequence[Any],
    inputs: Sequence[Any],
    initial_states_fw: Sequence[Any] | None = None,
    initial_states_bw: Sequence[Any] | None = None,
    dtype: DTypeLike | None = None,
    sequence_length: TensorLike | None = None,
    scope: Scope = None,
) -> tuple[list[pb.Tensor], tuple[Any, ...], tuple[Any, ...]]:
    """Layers of cells that go forward and backward through a list of inputs, without a loop.

    >>> import pullback.compat.v1 as tf
    >>> cells = [[tf.nn.rnn_cell.GRUCell(3) for _ in range(2)] for _ in range(2)]
    >>> outputs, _, _ = tf.contrib.rnn.stack_bidirectional_rnn(*cells, [tf.ones([2, 5])] * 4, dtype=tf.float32)
    >>> len(outputs), outputs[0].shape
    (4, TensorShape([2, 6]))
    """
    xs, ends = list(inputs), []
    with pb.variable_scope(scope or "stack_bidirectional_rnn"):
        for i, (cell_fw, cell_bw) in enumerate(zip(cells_fw, cells_bw, strict=True)):
            first_fw = initial_states_fw[i] if initial_states_fw else None
            first_bw = initial_states_bw[i] if initial_states_bw else None
            with pb.variable_scope(f"cell_{i}") as around:
                xs, *states = static_bidirectional_rnn(
                    cell_fw, cell_bw, xs, first_fw, first_bw, dtype, sequence_length, around
                )
            ends.append(states)
    return xs, tuple(fw for fw, _ in ends), tuple(bw for _, bw in ends)


def _turned(xs: Sequence[Any], lengths: TensorLike | None) -> list[Any]:
    """A list of steps backward; of each sequence as many as it has."""
    if lengths is None:
        return list(xs)[::-1]

    def turned(*steps: pb.Tensor) -> list[pb.Tensor]:
        return list(pb.unstack(pb.reverse_sequence(pb.stack(list(steps)), lengths, seq_axis=0, batch_axis=1)))

    parts = [turned(*steps) for steps in zip(*map(nest.flatten, xs), strict=True)]
    return [nest.pack_sequence_as(xs[0], list(step)) for step in zip(*parts, strict=True)]
