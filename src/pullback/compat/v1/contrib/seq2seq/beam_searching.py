"""Beam search: the likeliest sequences of a cell, several for each of a batch (`BeamSearchDecoder`)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

import pullback as pb

from .....core import nest
from .....core.typing import TensorLike
from .....primitives.creation.constant import constant_value
from .basic_decoding import check_layer
from .beams import gather_tree, gather_tree_from_array, picked, tile_batch
from .decoding import Decoder
from .helpers import embedding_function, tokens
from .wrapping import AttentionWrapperState


class BeamSearchDecoderState(NamedTuple):
    """The state of a beam search: that of the cell, and of each beam its logarithm, end, length and attention."""

    cell_state: Any
    log_probs: Any
    finished: Any
    lengths: Any
    accumulated_attention_probs: Any


class BeamSearchDecoderOutput(NamedTuple):
    """What a step chose for each beam: its score, the class, and the beam that it goes on."""

    scores: Any
    predicted_ids: Any
    parent_ids: Any


class FinalBeamSearchDecoderOutput(NamedTuple):
    """The sequences found [batch, time, beam], the likeliest first, and what each step chose."""

    predicted_ids: Any
    beam_search_decoder_output: Any


class BeamSearchDecoder(Decoder):
    """A cell whose `beam_width` likeliest sequences are searched for, from `start_tokens` [batch] to `end_token`.

    Sequences are compared by their logarithm divided by `((5 + length) / 6) ** length_penalty_weight`, to which comes
    `coverage_penalty_weight` times the logarithms of what each step of the memory was attended to. Memory, lengths and
    state of the cell are those of `tile_batch`. Arrays in the state are put in the order of the beams in the end.

    It has no derivative. The number of steps is known when it ends: run it on the NumPy engine.

    Raises:
        TypeError: `output_layer` is no layer. ValueError: `start_tokens` is no vector, `end_token` no scalar.

    Source: Y. Wu et al., "Google's neural machine translation system", 2016.

    >>> import pullback.compat.v1 as tf
    >>> from pullback.compat.v1.contrib import seq2seq
    >>> cell = tf.nn.rnn_cell.GRUCell(4)
    >>> state = seq2seq.tile_batch(tf.ones([2, 4]), 3)
    >>> decoder = seq2seq.BeamSearchDecoder(cell, tf.eye(4), [0, 0], 3, state, 3)
    >>> outputs, _, lengths = seq2seq.dynamic_decode(decoder, maximum_iterations=5)
    >>> with tf.Session(engine="numpy") as session:
    ...     session.run(tf.global_variables_initializer())
    ...     print(session.run(lengths).shape, session.run(outputs.predicted_ids).shape[::2])
    (2, 3) (2, 3)
    """

    def __init__(
        self,
        cell: Any,
        embedding: Any,
        start_tokens: TensorLike,
        end_token: TensorLike,
        initial_state: Any,
        beam_width: int,
        output_layer: Any = None,
        length_penalty_weight: Any = 0.0,
        coverage_penalty_weight: float = 0.0,
        reorder_tensor_arrays: bool = True,
    ) -> None:
        check_layer("BeamSearchDecoder", output_layer)
        self._cell, self._output_layer = cell, output_layer
        self._embedding_fn = embedding_function(embedding)
        start, self._end_token = tokens("BeamSearchDecoder", start_tokens, end_token)
        self._batch_size, self._beam_width = pb.size(start), beam_width
        self._length_penalty_weight = length_penalty_weight
        self._coverage_penalty_weight = coverage_penalty_weight
        self._reorder_tensor_arrays = reorder_tensor_arrays
        self._initial_cell_state = nest.map_structure(self._split, initial_state)
        self._start_inputs = self._embedding_fn(pb.reshape(tile_batch(start, beam_width), [-1, beam_width]))

    @property
    def batch_size(self) -> Any:
        """The number of sequences, without the beams."""
        return self._batch_size

    @property
    def tracks_own_finished(self) -> bool:
        """Beams change places."""
        return True

    @property
    def output_size(self) -> BeamSearchDecoderOutput:
        """One of each for each beam."""
        beams = pb.TensorShape([self._beam_width])
        return BeamSearchDecoderOutput(beams, beams, beams)

    @property
    def output_dtype(self) -> BeamSearchDecoderOutput:
        """Scores are of the dtype of the state."""
        return BeamSearchDecoderOutput(self._dtype(), pb.int32, pb.int32)

    def initialize(self, name: str | None = None) -> Any:
        """All beams but the first are finished, and impossible: else all would find the same."""
        first = pb.one_hot(pb.zeros([self._batch_size], pb.int32), self._beam_width, dtype=pb.bool)
        possible = pb.where(first, pb.constant(0.0, self._dtype()), pb.constant(float("-inf"), self._dtype()))
        attention = self._attention(self._initial_cell_state)
        lengths = pb.zeros_like(possible, pb.int64)
        state = BeamSearchDecoderState(self._initial_cell_state, possible, pb.logical_not(first), lengths, attention)
        return pb.logical_not(first), self._start_inputs, state

    def step(self, time: Any, inputs: Any, state: Any, name: str | None = None) -> Any:
        """What is chosen in a step, the next state and inputs, and which beams are finished."""
        inputs, before = [nest.map_structure(self._merged, part) for part in (inputs, state.cell_state)]
        y, after = self._cell(inputs, before)
        logits, after = [nest.map_structure(self._split, part) for part in (y, after)]
        if self._output_layer is not None:
            logits = self._output_layer(logits)
        outputs, after = self._chosen(logits, after, state)
        return outputs, after, self._embedding_fn(outputs.predicted_ids), after.finished

    def finalize(self, outputs: Any, final_state: Any, sequence_lengths: Any) -> Any:
        """The sequences that were found, and the state, with its arrays in their order."""
        longest = pb.cast(pb.reduce_max(final_state.lengths, 1), pb.int32)
        found = gather_tree(outputs.predicted_ids, outputs.parent_ids, longest, self._end_token)
        if self._reorder_tensor_arrays:

            def ordered(part: Any) -> Any:
                if not isinstance(part, pb.TensorArray) or not part.element_shape.rank:
                    return part
                return gather_tree_from_array(part.stack(), outputs.parent_ids, final_state.lengths)

            final_state = final_state._replace(cell_state=nest.map_structure(ordered, final_state.cell_state))
        return FinalBeamSearchDecoderOutput(found, outputs), final_state

    def _chosen(self, logits: Any, cell_state: Any, state: Any) -> tuple[BeamSearchDecoderOutput, Any]:
        """The best continuations of all beams, and the state after them."""
        classes, going = logits.shape.size(-1) or pb.shape(logits)[-1], pb.logical_not(state.finished)
        is_end = pb.one_hot(self._end_token, classes, dtype=pb.bool)
        only_end = pb.where(
            is_end, pb.constant(0.0, logits.dtype), pb.constant(float(np.finfo(logits.dtype).min), logits.dtype)
        )
        step = pb.where(pb.expand_dims(state.finished, 2), only_end, pb.math.log_softmax(logits))
        total = pb.expand_dims(state.log_probs, 2) + step
        lengths = pb.expand_dims(state.lengths, 2) + pb.cast(
            pb.expand_dims(going, 2) & pb.logical_not(is_end), pb.int64
        )
        attention = self._attention(cell_state)
        if not isinstance(attention, tuple):
            alive = pb.cast(pb.expand_dims(going, 2), attention.dtype)
            attention = state.accumulated_attention_probs + attention * alive
        scores = self._scores(total, lengths, attention, state.finished)
        best, places = pb.math.top_k(pb.reshape(scores, [self._batch_size, -1]), self._beam_width)
        ids, beams = places % classes, places // classes
        was_finished = picked(state.finished, beams)
        after = BeamSearchDecoderState(
            cell_state=nest.map_structure(lambda x: self._picked(x, beams), cell_state),
            log_probs=picked(pb.reshape(total, [self._batch_size, -1]), places),
            finished=pb.logical_or(was_finished, pb.equal(ids, self._end_token)),
            lengths=picked(state.lengths, beams) + pb.cast(pb.logical_not(was_finished), pb.int64),
            accumulated_attention_probs=attention if isinstance(attention, tuple) else picked(attention, beams),
        )
        return BeamSearchDecoderOutput(best, ids, beams), after

    def _scores(self, total: Any, lengths: Any, attention: Any, finished: Any) -> Any:
        """The logarithms, divided by the penalty for length, with that for what was not attended to."""
        weight = constant_value(pb.convert_to_tensor(self._length_penalty_weight))
        if weight is None or weight != 0:
            total = total / ((5.0 + pb.cast(lengths, total.dtype)) / 6.0) ** self._length_penalty_weight
        if isinstance(attention, tuple):
            return total
        seen = pb.minimum(pb.where(pb.equal(attention, 0.0), pb.ones_like(attention), attention), 1.0)
        coverage = pb.reduce_sum(pb.log(seen), 2) * pb.cast(finished, total.dtype)
        return total + pb.expand_dims(coverage * self._coverage_penalty_weight, 2)

    def _attention(self, cell_state: Any) -> Any:
        """The mean of all alignments [batch, beam, time], () where there is no penalty for coverage.

        Raises:
            ValueError: no cell attends to anything.
        """
        if self._coverage_penalty_weight == 0.0:
            return ()
        cells = cell_state if type(cell_state) is tuple else (cell_state,)
        found = [a for c in cells if isinstance(c, AttentionWrapperState) for a in nest.flatten(c.alignments)]
        if not found:
            raise ValueError("BeamSearchDecoder: with coverage_penalty_weight= a cell must be an AttentionWrapper")
        return found[0] if len(found) == 1 else pb.reduce_mean(pb.stack(found), 0)

    def _dtype(self) -> Any:
        return nest.flatten(self._initial_cell_state)[0].dtype

    def _split(self, x: Any) -> Any:
        """`x` [batch * beam, ...] as [batch, beam, ...]; arrays and scalars stay."""
        if isinstance(x, pb.TensorArray) or x.shape.rank == 0:
            return x
        return pb.reshape(x, [self._batch_size, self._beam_width, *_lengths(x, 1)])

    def _merged(self, x: Any) -> Any:
        """`x` [batch, beam, ...] as [batch * beam, ...]."""
        if isinstance(x, pb.TensorArray) or x.shape.rank == 0:
            return x
        return pb.reshape(x, [self._batch_size * self._beam_width, *_lengths(x, 2)])

    def _picked(self, x: Any, beams: Any) -> Any:
        return x if isinstance(x, pb.TensorArray) or x.shape.rank == 0 else picked(x, beams)


def _lengths(x: Any, first: int) -> list[Any]:
    """The lengths from an axis on: integers where they are known."""
    return [pb.shape(x)[i] if n is None else n for i, n in enumerate(x.shape.as_list())][first:]
