"""Recurrence and connectionist temporal classification under the names of `tf.keras.backend`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pullback as pb

from .....core import nest
from .....core.contexts import in_graph_of_inputs
from .....core.typing import TensorLike
from .....layers.rnn.recurrent import axes_exchanged, kept_unless, masked
from ... import nn as nn_of_version_1
from .state import epsilon

Step = Callable[[Any, list[Any]], tuple[Any, Sequence[Any]]]


@in_graph_of_inputs
def rnn(
    step_function: Step,
    inputs: Any,
    initial_states: Sequence[TensorLike],
    go_backwards: bool = False,
    mask: TensorLike | None = None,
    constants: Sequence[Any] | None = None,
    unroll: bool = False,
    input_length: TensorLike | None = None,
    time_major: bool = False,
    zero_output_for_mask: bool = False,
) -> tuple[Any, Any, list[Any]]:
    """The last output, all outputs, and the last states of `step_function(input, states + constants)`.

    `inputs` [batch, time, ...], or a structure of such, come in their order, or backwards; the function returns an
    output and the next states. Where `mask` [batch, time] is false, states stay, and the output is the one before,
    zeros at first, or always with `zero_output_for_mask`. `unroll` and `input_length` change nothing.

    >>> from pullback.compat.v1.keras import backend
    >>> add = lambda x, states: (x + states[0], [x + states[0]])
    >>> last, outputs, _ = backend.rnn(add, pb.constant([[[1.0], [2.0], [3.0]]]), [pb.zeros([1, 1])])
    >>> pb.Session().run([last, outputs[:, :, 0]])
    [array([[6.]], dtype=float32), array([[1., 3., 6.]], dtype=float32)]
    """
    del unroll, input_length

    def in_order(x: Any) -> pb.Tensor:
        rows = pb.convert_to_tensor(x)
        rows = rows if time_major else axes_exchanged(rows)
        return pb.reverse(rows, [0]) if go_backwards else rows

    rows = nest.map_structure(in_order, inputs)
    counts = None if mask is None else pb.cast(in_order(mask), pb.bool)
    beside = list(constants or ())
    first = [pb.convert_to_tensor(state) for state in initial_states]
    output, _ = step_function(nest.map_structure(lambda x: x[0], rows), [*first, *beside])

    def step(before: Any, row: Any) -> Any:
        x, alive = row if counts is not None else (row, None)
        states, last = before
        made, after = step_function(x, [*states, *beside])
        if alive is None:
            return list(after), made
        kept = [kept_unless(alive, new, old) for new, old in zip(after, states, strict=True)]
        if zero_output_for_mask:
            return kept, masked(alive, made)
        return kept, nest.map_structure(lambda new, old: kept_unless(alive, new, old), made, last)

    start = (first, nest.map_structure(pb.zeros_like, output))
    states, outputs = pb.scan(step, rows if counts is None else (rows, counts), start)
    last = nest.map_structure(lambda y: y[-1], outputs)
    return last, outputs if time_major else nest.map_structure(axes_exchanged, outputs), [s[-1] for s in states]


@in_graph_of_inputs
def ctc_label_dense_to_sparse(labels: TensorLike, label_lengths: TensorLike) -> pb.SparseTensor:
    """The first `label_lengths` of each row of `labels` [batch, length], as a SparseTensor."""
    return nn_of_version_1.dense_labels_to_sparse(labels, label_lengths)


@in_graph_of_inputs
def ctc_batch_cost(
    y_true: TensorLike, y_pred: TensorLike, input_length: TensorLike, label_length: TensorLike
) -> pb.Tensor:
    """The loss [batch, 1] of labels `y_true` [batch, length] under probabilities `y_pred` [batch, time, classes].

    The last class is the blank; both lengths are [batch, 1].

    >>> from pullback.compat.v1.keras import backend
    >>> chances = pb.constant([[[0.5, 0.25, 0.25], [0.25, 0.25, 0.5]]])
    >>> pb.Session().run(backend.ctc_batch_cost([[0]], chances, [[2]], [[1]]))
    array([[0.826...]], dtype=float32)
    """
    steps, counts = (pb.reshape(pb.cast(n, pb.int32), [-1]) for n in (input_length, label_length))
    labels = ctc_label_dense_to_sparse(pb.cast(y_true, pb.int32), counts)
    return pb.expand_dims(nn_of_version_1.ctc_loss(labels, _logits(y_pred), steps), 1)


@in_graph_of_inputs
def ctc_decode(
    y_pred: TensorLike, input_length: TensorLike, greedy: bool = True, beam_width: int = 100, top_paths: int = 1
) -> tuple[list[pb.Tensor], pb.Tensor]:
    """The `top_paths` most probable labels [batch, time], -1 behind their ends, and the logarithms of how probable.

    The greedy way has one path, and the negative sum of the largest logits in place of a probability.

    >>> from pullback.compat.v1.keras import backend
    >>> chances = pb.constant([[[0.9, 0.05, 0.05], [0.1, 0.1, 0.8], [0.1, 0.8, 0.1]]])
    >>> pb.Session().run(backend.ctc_decode(chances, [3])[0][0])
    array([[ 0,  1, -1]])
    """
    chances = pb.convert_to_tensor(y_pred)
    steps = pb.cast(input_length, pb.int32)
    if greedy:
        decoded, score = nn_of_version_1.ctc_greedy_decoder(_logits(chances), steps)
    else:
        decoded, score = nn_of_version_1.ctc_beam_search_decoder(_logits(chances), steps, beam_width, top_paths)
    whole = pb.shape(chances, pb.int64)[:2]
    return [pb.sparse.to_dense(pb.SparseTensor(d.indices, d.values, whole), -1) for d in decoded], score


def _logits(chances: TensorLike) -> pb.Tensor:
    """Logits [time, batch, classes] of probabilities [batch, time, classes]."""
    return pb.log(axes_exchanged(pb.convert_to_tensor(chances)) + epsilon())
