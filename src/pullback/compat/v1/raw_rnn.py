"""A recurrent network whose inputs, states and outputs a function decides, step after step (`tf.nn.raw_rnn`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pullback as pb

from ...control_flow.while_loop import while_rows
from ...core import nest
from ...layers.rnn.recurrent import kept_unless, masked


def raw_rnn(
    cell: Any,
    loop_fn: Callable[..., Any],
    parallel_iterations: int | None = None,
    swap_memory: bool = False,
    scope: pb.VariableScope | str | None = None,
) -> tuple[Any, Any, Any]:
    """Arrays of what `loop_fn` emits in each step, the last state, and what the function carried at the end.

    `loop_fn(time, output, state, carried)` returns which sequences are finished, the next input and state, what is to
    be emitted, and what it carries on. It is called first with time 0 and None for the others, for the first input and
    state and an example of what is emitted (None: the outputs of the cell). It ends when all sequences are finished;
    what is finished emits zeros, and keeps its state. XLA has no bound on the steps: it gives the last state alone.

    Derivative: a loop in the other direction.

    >>> import pullback.compat.v1 as tf
    >>> cell, x = tf.nn.rnn_cell.GRUCell(3), tf.ones([4, 2, 5])
    >>> def loop_fn(time, output, state, carried):
    ...     state = cell.zero_state(2, tf.float32) if output is None else state
    ...     return time >= [4, 2], x[tf.minimum(time, 3)], state, output, None
    >>> outputs, state, _ = tf.nn.raw_rnn(cell, loop_fn)
    >>> with tf.Session(engine="numpy") as session:
    ...     session.run(tf.global_variables_initializer())
    ...     print(session.run(outputs.stack()).any(2).astype(int).tolist())
    [[1, 1], [1, 1], [1, 0], [1, 0]]
    """
    del parallel_iterations, swap_memory
    if not callable(loop_fn):
        raise TypeError(f"raw_rnn: loop_fn must be callable, not {loop_fn!r}")
    with pb.variable_scope(scope or "rnn"):
        finished, inputs, state, _, carried = loop_fn(pb.constant(0, pb.int32), None, None, None)

        def going(time: Any, inputs: Any, state: Any, finished: Any, carried: Any) -> Any:
            return pb.logical_not(pb.reduce_all(finished))

        def step(time: Any, inputs: Any, state: Any, finished: Any, carried: Any) -> Any:
            alive = pb.logical_not(finished)
            output, after = cell(inputs, state)
            ended, following, after, emitted, more = loop_fn(time + 1, output, after, carried)
            after = nest.map_structure(lambda new, old: kept_unless(alive, new, old), after, state)
            emitted = masked(alive, output if emitted is None else emitted)
            carried = carried if more is None else more
            return [time + 1, following, after, pb.logical_or(finished, ended), carried], emitted

        ends, rows = while_rows(going, step, [0, inputs, state, finished, carried])
        return nest.map_structure(_array, rows), ends[2], ends[4]


def _array(rows: pb.Tensor) -> pb.TensorArray:
    return pb.TensorArray(rows.dtype, element_shape=rows.shape[1:]).unstack(rows)
