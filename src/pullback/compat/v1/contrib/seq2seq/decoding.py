"""Dynamic decoding: a decoder asked for step after step, until all of its sequences are finished (`dynamic_decode`)."""

from __future__ import annotations

from typing import Any

import pullback as pb

from .....control_flow.while_loop import while_rows
from .....core import nest
from .....core.typing import TensorLike
from .....layers.rnn.recurrent import axes_exchanged, kept_unless, masked
from .wrapping import with_room


class Decoder:
    """What `dynamic_decode` asks step after step; programs derive their own."""

    @property
    def batch_size(self) -> Any:
        """The number of sequences."""
        raise NotImplementedError(f"{type(self).__name__} defines no batch_size; its subclass must")

    @property
    def output_size(self) -> Any:
        """The length, or the shape, of what a step gives for a sequence; a structure of them."""
        raise NotImplementedError(f"{type(self).__name__} defines no output_size; its subclass must")

    @property
    def output_dtype(self) -> Any:
        """The dtypes of what a step gives."""
        raise NotImplementedError(f"{type(self).__name__} defines no output_dtype; its subclass must")

    @property
    def tracks_own_finished(self) -> bool:
        """Whether a sequence that was finished may be unfinished again, as beams that change places are."""
        return False

    def known_steps(self) -> pb.Tensor | None:
        """The number of steps, where it is known before the first."""
        return None

    def initialize(self, name: str | None = None) -> Any:
        """Which sequences are finished before the first step, its inputs, and its state."""
        raise NotImplementedError(f"{type(self).__name__} defines no initialize(); its subclass must")

    def step(self, time: Any, inputs: Any, state: Any, name: str | None = None) -> Any:
        """The outputs of a step, the next state and inputs, and which sequences are finished."""
        raise NotImplementedError(f"{type(self).__name__} defines no step(); its subclass must")

    def finalize(self, outputs: Any, final_state: Any, sequence_lengths: Any) -> Any:
        """What `dynamic_decode` is to return of the outputs of all steps, [time, batch, ...], and of the last state."""
        raise NotImplementedError(f"{type(self).__name__} defines no finalize(); its subclass must")


def dynamic_decode(
    decoder: Decoder,
    output_time_major: bool = False,
    impute_finished: bool = False,
    maximum_iterations: TensorLike | None = None,
    parallel_iterations: int = 32,
    swap_memory: bool = False,
    scope: pb.VariableScope | str | None = None,
    **kwargs: Any,
) -> tuple[Any, Any, pb.Tensor]:
    """The outputs of all steps of a decoder [batch, time, ...], its last state, and the length of each sequence.

    It ends when all sequences are finished, or after `maximum_iterations`. With `impute_finished` the outputs of a
    sequence that is finished are zeros, its state stays as it is, and no derivative goes through its steps. With
    `output_time_major` outputs are [time, batch, ...]. Variables are made in the scope `scope`, or "decoder".

    Where the inputs are given, their `sequence_length` says how many steps there are, and XLA compiles for that number.
    Where the outputs say it, XLA needs a number for `maximum_iterations`; what may count the steps, it then refuses.

    Derivative: a loop in the other direction.

    Raises:
        TypeError: `decoder` is no Decoder. ValueError: `maximum_iterations` is no scalar.

    >>> import pullback.compat.v1 as tf
    >>> from pullback.compat.v1.contrib import seq2seq
    >>> cell = tf.nn.rnn_cell.GRUCell(3)
    >>> helper = seq2seq.TrainingHelper(tf.ones([2, 4, 5]), [4, 2])
    >>> decoder = seq2seq.BasicDecoder(cell, helper, cell.zero_state(2, tf.float32), tf.layers.Dense(7))
    >>> outputs, state, lengths = seq2seq.dynamic_decode(decoder)
    >>> with tf.Session() as session:
    ...     session.run(tf.global_variables_initializer())
    ...     logits, found = session.run([outputs.rnn_output, lengths])
    >>> logits.shape, found.tolist()
    ((2, 4, 7), [4, 2])
    """
    del parallel_iterations, swap_memory, kwargs
    if not isinstance(decoder, Decoder):
        raise TypeError(f"dynamic_decode: decoder must be a Decoder, not {decoder!r}")
    with pb.variable_scope(scope, "decoder"):
        finished, inputs, state = decoder.initialize()
        steps, limit = decoder.known_steps(), _limit(maximum_iterations)
        if steps is not None:
            steps = steps if limit is None else pb.minimum(steps, limit)
            state = with_room(state, steps)
        start = [0, state, inputs, finished, pb.zeros_like(finished, pb.int32)]

        def going(time: Any, state: Any, inputs: Any, finished: Any, lengths: Any) -> Any:
            return pb.logical_not(pb.reduce_all(finished)) if steps is None else time < steps

        def step(time: Any, state: Any, inputs: Any, finished: Any, lengths: Any) -> Any:
            outputs, after, following, ended = decoder.step(time, inputs, state)
            if impute_finished:
                alive = pb.logical_not(finished)
                outputs = masked(alive, outputs)
                after = nest.map_structure(lambda new, old: kept_unless(alive, new, old), after, state)
            lengths = pb.where(finished, lengths, time + 1)
            ended = ended if decoder.tracks_own_finished else pb.logical_or(ended, finished)
            return [time + 1, after, following, ended, lengths], outputs

        (_, state, _, _, lengths), rows = while_rows(going, step, start, limit)
        if steps is not None:
            rows = nest.map_structure(lambda y: y[:steps], rows)
        outputs, state = _finalized(decoder, rows, state, lengths)
        return (outputs if output_time_major else nest.map_structure(axes_exchanged, outputs)), state, lengths


def _limit(maximum_iterations: Any) -> Any:
    if maximum_iterations is None:
        return None
    limit = pb.cast(pb.convert_to_tensor(maximum_iterations), pb.int32)
    if limit.shape.rank not in (0, None):
        raise ValueError(f"dynamic_decode: maximum_iterations must be a scalar, not {limit.type}")
    return limit


def _finalized(decoder: Decoder, outputs: Any, state: Any, lengths: pb.Tensor) -> tuple[Any, Any]:
    """What the decoder makes of outputs and state, if it makes something of them."""
    try:
        found: tuple[Any, Any] = decoder.finalize(outputs, state, lengths)
    except NotImplementedError:
        return outputs, state
    return found
