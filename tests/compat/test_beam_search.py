"""Beam search of `tf.contrib.seq2seq`, beside all sequences that there are."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from pullback.compat import v1 as tf

seq2seq, rnn_cell = tf.contrib.seq2seq, tf.nn.rnn_cell
Array = np.ndarray[Any, Any]
END, STEPS, CLASSES = 3, 4, 4


class Chain(rnn_cell.RNNCell):
    """Classes that follow each other: the logits for the class before; the state counts steps."""

    state_size, output_size = 1, CLASSES

    def __init__(self, table: Array) -> None:
        super().__init__()
        self.table = table

    def call(self, inputs: Any, state: Any) -> Any:
        return inputs @ tf.constant(self.table), state + tf.reduce_max(inputs, 1, keepdims=True)


def table() -> Array:
    return np.random.default_rng(3).normal(size=(CLASSES, CLASSES)).astype(np.float32) * 1.5


def run(fetches: Any) -> Any:
    with tf.Session(engine="numpy") as session:
        session.run(tf.global_variables_initializer())
        return session.run(fetches)


def searched(beams: int, starts: list[int], **options: Any) -> Any:
    state = seq2seq.tile_batch(tf.zeros([len(starts), 1]), beams)
    eye = np.eye(CLASSES, dtype=np.float32)
    decoder = seq2seq.BeamSearchDecoder(Chain(table()), eye, starts, END, state, beams, **options)
    return run(seq2seq.dynamic_decode(decoder, maximum_iterations=STEPS))


def likelihoods(start: int) -> dict[tuple[int, ...], float]:
    """The logarithms of all sequences that end, or are as long as may be."""
    logits = table()
    steps = logits - np.log(np.exp(logits).sum(1, keepdims=True))
    found = {}
    for length in range(1, STEPS + 1):
        for ids in itertools.product(range(CLASSES), repeat=length):
            if END not in ids[:-1] and (ids[-1] == END or length == STEPS):
                found[ids] = float(sum(steps[a, b] for a, b in zip((start, *ids), ids, strict=False)))
    return found


def compared(ids: tuple[int, ...]) -> int:
    """The length by which a sequence is compared: an end counts from the step after it on, as in TensorFlow."""
    return len(ids) - (ids[-1] == END and len(ids) == STEPS)


@pytest.mark.parametrize("weight", [0.0, 1.0])
def test_with_room_for_all_the_likeliest_sequences_are_found(weight: float) -> None:
    beams = 60
    outputs, state, _ = searched(beams, [0, 1], length_penalty_weight=weight)
    for b in range(2):
        scores = {ids: value / ((5 + compared(ids)) / 6) ** weight for ids, value in likelihoods(b).items()}
        best = sorted(scores, key=lambda ids: -scores[ids])[:5]
        for k, ids in enumerate(best):
            found = outputs.predicted_ids[b, :, k].tolist()
            assert found == [*ids, *[END] * (STEPS - len(ids))]
            assert state.lengths[b, k] == len(ids)
            np.testing.assert_allclose(outputs.beam_search_decoder_output.scores[b, -1, k], scores[ids], rtol=1e-5)


def test_one_beam_is_greedy() -> None:
    outputs, state, lengths = searched(1, [0, 1, 2])
    eye = np.eye(CLASSES, dtype=np.float32)
    greedy = seq2seq.BasicDecoder(Chain(table()), seq2seq.GreedyEmbeddingHelper(eye, [0, 1, 2], END), tf.zeros([3, 1]))
    expected, _, expected_lengths = run(seq2seq.dynamic_decode(greedy, maximum_iterations=STEPS))
    for b, length in enumerate(expected_lengths):
        assert outputs.predicted_ids[b, :length, 0].tolist() == expected.sample_id[b, :length].tolist()
    assert lengths[:, 0].tolist() == expected_lengths.tolist() == state.lengths[:, 0].tolist()


def test_the_state_of_a_cell_goes_with_its_beam() -> None:
    eye = tf.constant(np.eye(CLASSES, dtype=np.float32) * [[1.0], [2.0], [4.0], [8.0]], tf.float32)
    state = seq2seq.tile_batch(tf.zeros([1, 1]), 3)
    decoder = seq2seq.BeamSearchDecoder(Chain(table()), lambda ids: tf.gather(eye, ids), [0], END, state, 3)
    outputs, end, _ = run(seq2seq.dynamic_decode(decoder, maximum_iterations=STEPS))
    for k in range(3):
        ids = outputs.predicted_ids[0, :, k]
        going = int(end.lengths[0, k])
        read = [0, *ids[:-1]] if going == STEPS else [0, *ids[: going - 1], *[END] * (STEPS - going)]
        assert end.cell_state[0, k, 0] == sum(2.0**i for i in read)


def by_hand(ids: Array, parents: Array, lengths: Array, end: int) -> Array:
    """What `gather_tree` gives, beam by beam."""
    found = np.full_like(ids, end)
    for b, k in itertools.product(range(ids.shape[1]), range(ids.shape[2])):
        beam = k
        for t in reversed(range(min(lengths[b], len(ids)))):
            found[t, b, k] = ids[t, b, beam]
            beam = parents[t, b, beam]
        ended = np.flatnonzero(found[:, b, k] == end)
        if len(ended):
            found[ended[0] :, b, k] = end
    return found


def test_sequences_are_put_together_from_the_last_step_back() -> None:
    rng = np.random.default_rng(0)
    ids, parents = rng.integers(0, 6, (5, 3, 4)).astype(np.int32), rng.integers(0, 4, (5, 3, 4)).astype(np.int32)
    lengths = np.array([5, 2, 9], np.int32)
    found = run(seq2seq.gather_tree(ids, parents, lengths, 5))
    np.testing.assert_array_equal(found, by_hand(ids, parents, lengths, 5))


def attending(weight: float = 0.0, **options: Any) -> Any:
    memory = np.random.default_rng(1).normal(size=(2, 5, 6)).astype(np.float32)
    tiled, lengths = seq2seq.tile_batch((tf.constant(memory), tf.constant([5, 3])), 3)
    cell = seq2seq.AttentionWrapper(
        rnn_cell.GRUCell(6), seq2seq.LuongAttention(6, tiled, lengths), alignment_history=True, **options
    )
    table = tf.get_variable("embedding", [CLASSES, 2])
    state = cell.zero_state(6, tf.float32).clone(cell_state=seq2seq.tile_batch(tf.ones([2, 6]), 3))
    layer = tf.layers.Dense(CLASSES)
    return seq2seq.BeamSearchDecoder(cell, table, tf.fill([2], 0), END, state, 3, layer, coverage_penalty_weight=weight)


def test_alignments_are_put_in_the_order_of_the_beams() -> None:
    outputs, state, _ = run(seq2seq.dynamic_decode(attending(), maximum_iterations=STEPS))
    history, parents = state.cell_state.alignment_history, outputs.beam_search_decoder_output.parent_ids
    assert history.shape == (parents.shape[1], 6, 5)
    np.testing.assert_allclose(history.sum(2), 1, rtol=1e-5)
    assert (history[:, 3:, 3:] == 0).all()


def test_a_penalty_for_coverage_counts_what_was_attended_to() -> None:
    _, state, _ = run(seq2seq.dynamic_decode(attending(0.3), maximum_iterations=STEPS))
    seen = state.accumulated_attention_probs
    assert seen.shape == (2, 3, 5)
    np.testing.assert_allclose(seen.sum(2), np.minimum(state.lengths, STEPS), rtol=1e-5)


def test_a_penalty_for_coverage_needs_attention() -> None:
    text = r"^BeamSearchDecoder: with coverage_penalty_weight= a cell must be an AttentionWrapper$"
    with pytest.raises(ValueError, match=text):
        searched(2, [0], coverage_penalty_weight=0.1)


def test_what_cannot_be_tiled_or_begin_a_search_is_an_error() -> None:
    with pytest.raises(
        ValueError, match=r"^tile_batch: a tensor of known rank, at least 1, is needed, not float32\[\]$"
    ):
        seq2seq.tile_batch(1.0, 3)
    text = r"^BeamSearchDecoder: start_tokens must be a vector and end_token a scalar, not int32\[\], int32\[\]$"
    with pytest.raises(ValueError, match=text):
        seq2seq.BeamSearchDecoder(Chain(table()), tf.eye(4), 0, END, tf.zeros([2, 1]), 2)


@pytest.mark.slow
def test_a_translator_learns_to_turn_sequences_around_and_its_beams_find_them() -> None:
    rng, units, classes, beams = np.random.default_rng(0), 16, 12, 3
    words = rng.integers(3, classes, (4, 5))
    targets = np.concatenate([words[:, ::-1], np.full((4, 1), 2)], 1)
    begun = np.concatenate([np.ones((4, 1), np.int64), targets[:, :-1]], 1)
    encoder = tf.get_variable("encoder", [classes, units])
    memory, state = tf.nn.dynamic_rnn(rnn_cell.GRUCell(units), tf.gather(encoder, words), dtype=tf.float32)
    table, layer = tf.get_variable("decoder_table", [classes, units]), tf.layers.Dense(classes, name="out")

    def cell(memory: Any, state: Any, batch: int) -> Any:
        attention = seq2seq.BahdanauAttention(units, memory, normalize=True)
        made = seq2seq.AttentionWrapper(rnn_cell.GRUCell(units), attention, units)
        return made, made.zero_state(batch, tf.float32).clone(cell_state=state)

    with tf.variable_scope("decoding"):
        helper = seq2seq.TrainingHelper(tf.gather(table, begun), [6] * 4)
        wrapped, start = cell(memory, state, 4)
        outputs, _, _ = seq2seq.dynamic_decode(seq2seq.BasicDecoder(wrapped, helper, start, layer))
    with tf.variable_scope("decoding", reuse=True):
        tiled, first = seq2seq.tile_batch((memory, state), beams)
        wrapped, start = cell(tiled, first, 4 * beams)
        decoder = seq2seq.BeamSearchDecoder(wrapped, table, [1] * 4, 2, start, beams, layer)
        found, _, _ = seq2seq.dynamic_decode(decoder, maximum_iterations=8)
    loss = seq2seq.sequence_loss(outputs.rnn_output, targets, tf.ones([4, 6]))
    train = tf.train.AdamOptimizer(0.03).minimize(loss)
    with tf.Session(engine="numpy") as session:
        session.run(tf.global_variables_initializer())
        for _ in range(80):
            session.run(train)
        np.testing.assert_array_equal(session.run(found.predicted_ids)[:, :6, 0], targets)
