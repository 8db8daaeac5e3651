"""Decoders of `tf.contrib.seq2seq`: trained through their loop, and generating, beside NumPy's loops."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pullback.compat import v1 as tf

seq2seq, rnn_cell = tf.contrib.seq2seq, tf.nn.rnn_cell
Array = np.ndarray[Any, Any]
LENGTHS = [4, 1, 3]


def data(*shape: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def session(engine: str = "numpy") -> Any:
    made = tf.Session(engine=engine)
    made.run(tf.global_variables_initializer())
    for i, v in enumerate(tf.trainable_variables()):
        made.run(v.assign(data(*v.shape.as_list(), seed=i + 7)))
    return made


class Model:
    """An LSTM with Luong's attention, an attention layer and an output layer, in TensorFlow's names and in NumPy's."""

    def __init__(self) -> None:
        self.memory, self.x, self.weights = data(3, 5, 6), data(3, 4, 2, seed=1), data(3, 4, 7, seed=2)
        self.lengths = tf.placeholder(tf.int32, [None])
        self.feeds = {self.lengths: LENGTHS}
        mechanism = seq2seq.LuongAttention(6, tf.constant(self.memory), [5, 2, 3], scale=True)
        cell = seq2seq.AttentionWrapper(rnn_cell.LSTMCell(6), mechanism, 3, alignment_history=True)
        helper = seq2seq.TrainingHelper(tf.constant(self.x), self.lengths)
        layer = tf.layers.Dense(7, use_bias=False)
        decoder = seq2seq.BasicDecoder(cell, helper, cell.zero_state(3, tf.float32), layer)
        self.outputs, self.state, self.found = seq2seq.dynamic_decode(decoder, impute_finished=True)
        self.loss = tf.reduce_sum(self.outputs.rnn_output * self.weights)
        self.variables = tf.trainable_variables()

    def expected(self, values: list[Array]) -> Array:
        """The outputs for these values of the variables."""
        keys, kernel, bias, scale, attention_layer, out = values
        memory = self.memory * (np.arange(5) < np.array([[5], [2], [3]]))[:, :, None]
        keys = memory @ keys
        c, h, attention = np.zeros((3, 6)), np.zeros((3, 6)), np.zeros((3, 3))
        outputs = np.zeros((3, 4, 7))
        for t in range(4):
            i, j, f, o = np.split(np.concatenate([self.x[:, t], attention, h], 1) @ kernel + bias, 4, 1)
            c = c / (1 + np.exp(-f - 1)) + np.tanh(j) / (1 + np.exp(-i))
            h = np.tanh(c) / (1 + np.exp(-o))
            score = np.where(
                np.arange(5) < np.array([[5], [2], [3]]), np.einsum("btu,bu->bt", keys, h) * scale, -np.inf
            )
            e = np.exp(score - score.max(1, keepdims=True))
            context = np.einsum("bt,btd->bd", e / e.sum(1, keepdims=True), memory)
            attention = np.concatenate([h, context], 1) @ attention_layer
            outputs[:, t] = attention @ out
        return outputs * (np.arange(4) < np.array(LENGTHS)[:, None])[:, :, None]


@pytest.mark.parametrize("engine", ["numpy", pytest.param("xla", marks=pytest.mark.slow)])
def test_a_decoder_that_is_trained_is_its_formula_and_so_is_its_derivative(engine: str) -> None:
    model = Model()
    slopes = tf.gradients(model.loss, model.variables)
    with session(engine) as opened:
        outputs, found, values, dvs = opened.run([model.outputs, model.found, model.variables, slopes], model.feeds)
    np.testing.assert_allclose(outputs.rnn_output, model.expected(values), rtol=1e-4, atol=1e-5)
    alive = np.arange(4) < np.array(LENGTHS)[:, None]
    np.testing.assert_array_equal(outputs.sample_id, outputs.rnn_output.argmax(-1) * alive)
    assert found.tolist() == LENGTHS
    for k, dv in enumerate(dvs):
        values = [np.asarray(v, np.float64) for v in values]
        along = np.random.default_rng(k).normal(size=dv.shape)
        ends = []
        for step in (1e-6, -1e-6):
            moved = [v + step * along if n == k else v for n, v in enumerate(values)]
            ends.append((model.expected(moved) * model.weights).sum())
        np.testing.assert_allclose((dv * along).sum(), (ends[0] - ends[1]) / 2e-6, rtol=1e-3, atol=1e-4)


def test_alignments_of_all_steps_are_kept_as_an_array() -> None:
    model = Model()
    with session() as opened:
        history, last = opened.run([model.state.alignment_history.stack(), model.state.alignments], model.feeds)
    assert history.shape == (4, 3, 5)
    np.testing.assert_allclose(history.sum(2), 1, rtol=1e-5)
    np.testing.assert_array_equal(history[3, 0], last[0])


def trained(impute: bool, time_major: bool, limit: int | None = None) -> list[Array]:
    """Outputs, last state and lengths of a decoder, and the outputs and the state of the loop of the same cell."""
    x, cell = tf.constant(data(3, 4, 2)), rnn_cell.GRUCell(5)
    given = tf.transpose(x, [1, 0, 2]) if time_major else x
    helper = seq2seq.TrainingHelper(given, LENGTHS, time_major)
    decoder = seq2seq.BasicDecoder(cell, helper, cell.zero_state(3, tf.float32))
    outputs, state, lengths = seq2seq.dynamic_decode(decoder, time_major, impute, limit, scope="d")
    looped, end = tf.nn.dynamic_rnn(cell, x, LENGTHS if impute else None, dtype=tf.float32, scope="d")
    with session() as opened:
        found: list[Array] = opened.run([outputs.rnn_output, state, lengths, looped, end])
    return found


def test_steps_beyond_the_end_are_zeros_and_leave_the_state_alone() -> None:
    outputs, state, lengths, looped, end = trained(impute=True, time_major=False)
    np.testing.assert_allclose(outputs, looped, rtol=1e-6)
    np.testing.assert_allclose(state, end, rtol=1e-6)
    assert lengths.tolist() == LENGTHS


def test_unless_it_is_asked_for_steps_go_on_beyond_the_end() -> None:
    outputs, state, lengths, looped, end = trained(impute=False, time_major=False)
    np.testing.assert_allclose(outputs, looped, rtol=1e-6)
    np.testing.assert_allclose(state, end, rtol=1e-6)
    assert lengths.tolist() == LENGTHS


def test_time_may_be_the_first_axis() -> None:
    outputs, _, _, looped, _ = trained(impute=True, time_major=True)
    np.testing.assert_allclose(outputs.transpose(1, 0, 2), looped, rtol=1e-6)


def test_a_decoder_ends_with_the_longest_sequence_or_at_its_limit() -> None:
    outputs, _, lengths, looped, _ = trained(impute=True, time_major=False, limit=2)
    np.testing.assert_allclose(outputs, looped[:, :2], rtol=1e-6)
    assert lengths.tolist() == [2, 1, 2]


def test_lengths_beyond_the_inputs_are_an_error_of_the_run() -> None:
    cell = rnn_cell.GRUCell(5)
    for wrong in ([5], [6]):
        helper = seq2seq.TrainingHelper(tf.ones([1, 4, 2]), wrong)
        decoder = seq2seq.BasicDecoder(cell, helper, cell.zero_state(1, tf.float32))
        outputs, _, _ = seq2seq.dynamic_decode(decoder)
        with session() as opened, pytest.raises(tf.errors.InvalidArgumentError):
            opened.run(outputs)


class Chain(rnn_cell.RNNCell):
    """Classes that follow each other: the logits for the class before, and no more."""

    state_size, output_size = 1, 4

    def __init__(self, table: Array) -> None:
        super().__init__()
        self.table = table

    def call(self, inputs: Any, state: Any) -> Any:
        return inputs @ tf.constant(self.table), state + 1.0


def generated(helper: Any, table: Array, **options: Any) -> Any:
    decoder = seq2seq.BasicDecoder(Chain(table), helper, tf.zeros([2, 1]))
    outputs, state, lengths = seq2seq.dynamic_decode(decoder, **options)
    with session() as opened:
        return opened.run([outputs.sample_id, lengths, state])


TABLE = np.array([[0, 9, 0, 0], [0, 0, 9, 0], [0, 0, 0, 9], [0, 9, 0, 0]], np.float32)
"""0 is followed by 1, that by 2, that by 3, that by 1."""


def test_greedy_decoding_goes_on_until_all_have_ended() -> None:
    ids, lengths, state = generated(seq2seq.GreedyEmbeddingHelper(np.eye(4, dtype=np.float32), [0, 2], 3), TABLE)
    assert (ids.tolist(), lengths.tolist()) == ([[1, 2, 3], [3, 1, 2]], [3, 1])
    assert state.tolist() == [[3.0], [3.0]]


def test_what_has_ended_gives_zeros_and_keeps_its_state_where_that_is_asked_for() -> None:
    helper = seq2seq.GreedyEmbeddingHelper(np.eye(4, dtype=np.float32), [0, 2], 3)
    ids, lengths, state = generated(helper, TABLE, impute_finished=True)
    assert (ids.tolist(), lengths.tolist(), state.tolist()) == ([[1, 2, 3], [3, 0, 0]], [3, 1], [[3.0], [1.0]])


def test_what_never_ends_is_cut_at_the_limit() -> None:
    helper = seq2seq.GreedyEmbeddingHelper(lambda ids: tf.one_hot(ids, 4), [0, 2], 0)
    ids, lengths, _ = generated(helper, TABLE, maximum_iterations=tf.constant(5))
    assert (ids.tolist(), lengths.tolist()) == ([[1, 2, 3, 1, 2], [3, 1, 2, 3, 1]], [5, 5])


@pytest.mark.slow
def test_xla_generates_as_many_steps_as_the_run_makes() -> None:
    helper = seq2seq.GreedyEmbeddingHelper(np.eye(4, dtype=np.float32), [0, 2], 3)
    decoder = seq2seq.BasicDecoder(Chain(TABLE), helper, tf.zeros([2, 1]))
    outputs, state, lengths = seq2seq.dynamic_decode(decoder, impute_finished=True, maximum_iterations=6)
    y, ids, ends, n = session("xla").run([outputs.rnn_output, outputs.sample_id, state, lengths])
    assert (ids.tolist(), ends.tolist(), n.tolist()) == ([[1, 2, 3], [3, 0, 0]], [[3.0], [1.0]], [3, 1])
    assert y.shape == (2, 3, 4)


def test_sampling_at_a_low_temperature_is_greedy() -> None:
    helper = seq2seq.SampleEmbeddingHelper(np.eye(4, dtype=np.float32), [0, 2], 3, 1e-3, seed=1)
    assert generated(helper, TABLE)[0].tolist() == [[1, 2, 3], [3, 1, 2]]


def test_samples_are_drawn_with_the_softmax_of_the_outputs() -> None:
    table = np.log(np.tile(np.array([[0.6, 0.3, 0.1, 0.0]]) + 1e-9, [4, 1])).astype(np.float32)
    helper = seq2seq.SampleEmbeddingHelper(np.eye(4, dtype=np.float32), [0, 0], 3, seed=1)
    ids = generated(helper, table, maximum_iterations=2000)[0]
    np.testing.assert_allclose(np.bincount(ids.ravel(), minlength=4) / 4000, [0.6, 0.3, 0.1, 0.0], atol=0.03)


def test_helpers_of_three_functions_and_of_one_for_inference() -> None:
    start = tf.one_hot([0, 2], 4)
    custom = seq2seq.CustomHelper(
        lambda: (tf.zeros([2], tf.bool), start),
        lambda time, outputs, state: tf.argmax(outputs, 1, output_type=tf.int32),
        lambda time, outputs, state, sample_ids: (tf.fill([2], time >= 2), tf.one_hot(sample_ids, 4), state * 2.0),
    )
    ids, lengths, state = generated(custom, TABLE)
    assert (ids.tolist(), lengths.tolist(), state.tolist()) == ([[1, 2, 3], [3, 1, 2]], [3, 3], [[14.0], [14.0]])
    inference = seq2seq.InferenceHelper(
        lambda outputs: outputs / 9.0, [4], tf.float32, start, lambda ids: tf.equal(tf.argmax(ids, 1), 3)
    )
    ids, lengths, _ = generated(inference, TABLE)
    assert (ids.argmax(-1).tolist(), lengths.tolist()) == ([[1, 2, 3], [3, 1, 2]], [3, 1])


@pytest.mark.parametrize(("probability", "expected"), [(0.0, [[-1] * 3] * 2), (1.0, [[1, 2, 3], [3, 1, 2]])])
def test_scheduled_sampling_takes_what_is_given_or_what_was_drawn(probability: float, expected: Any) -> None:
    x = tf.one_hot([[0, 0, 0], [2, 2, 2]], 4)
    helper = seq2seq.ScheduledEmbeddingTrainingHelper(x, [3, 3], np.eye(4, dtype=np.float32), probability)
    assert generated(helper, TABLE * 9)[0].tolist() == expected


def test_scheduled_sampling_of_outputs_adds_what_stands_beside_the_inputs() -> None:
    x, beside = tf.one_hot([[0, 0, 0], [2, 2, 2]], 4), tf.constant([[[0.0], [5.0], [6.0]]] * 2)
    helper = seq2seq.ScheduledOutputTrainingHelper(x, [3, 3], 1.0, auxiliary_inputs=beside)
    table = np.concatenate([TABLE / 9, np.ones((1, 4), np.float32)])
    decoder = seq2seq.BasicDecoder(Chain(table), helper, tf.zeros([2, 1]))
    outputs, _, _ = seq2seq.dynamic_decode(decoder)
    with session() as opened:
        y, chosen = opened.run(outputs)
    assert chosen.tolist() == [[1, 1, 1]] * 2
    np.testing.assert_allclose(y[0], [[0, 1, 0, 0], [5, 5, 6, 5], [6, 16, 11, 12]])


def test_a_decoder_of_ones_own_may_finish_as_it_likes() -> None:
    class Counter(seq2seq.Decoder):
        batch_size, output_size, output_dtype = 2, {"n": 1}, {"n": tf.int32}

        def initialize(self, name: Any = None) -> Any:
            return tf.constant([False, False]), tf.constant([0, 10]), tf.constant(0)

        def step(self, time: Any, inputs: Any, state: Any, name: Any = None) -> Any:
            return {"n": inputs}, state + 2, inputs + 1, tf.greater_equal(inputs, [3, 11])

        def finalize(self, outputs: Any, final_state: Any, sequence_lengths: Any) -> Any:
            return {"doubled": 2 * outputs["n"]}, -final_state

    outputs, state, lengths = seq2seq.dynamic_decode(Counter())
    with session() as opened:
        found = opened.run([outputs["doubled"], state, lengths])
    assert [v.tolist() for v in found] == [[[0, 2, 4, 6], [20, 22, 24, 26]], -8, [4, 2]]


def test_what_is_no_decoder_helper_or_layer_is_refused() -> None:
    with pytest.raises(TypeError, match=r"^dynamic_decode: decoder must be a Decoder, not 3$"):
        seq2seq.dynamic_decode(3)
    with pytest.raises(TypeError, match=r"^BasicDecoder: helper must be a Helper, not 3$"):
        seq2seq.BasicDecoder(rnn_cell.GRUCell(3), 3, None)
    with pytest.raises(ValueError, match=r"^TrainingHelper: sequence_length must be a vector, not int32\[\]$"):
        seq2seq.TrainingHelper(tf.ones([1, 2, 3]), 2)


def test_losses_are_averaged_or_added_up_along_the_axes_asked_for() -> None:
    logits, targets, weights = data(2, 3, 4), np.array([[0, 1, 2], [3, 3, 0]]), np.array([[1, 1, 0], [0.5, 0, 0]])
    losses = (np.log(np.exp(logits).sum(-1)) - np.take_along_axis(logits, targets[:, :, None], 2)[:, :, 0]) * weights
    w, neither = tf.constant(weights, tf.float32), {"average_across_timesteps": False, "average_across_batch": False}

    def found(**options: Any) -> Any:
        return tf.Session(engine="numpy").run(seq2seq.sequence_loss(tf.constant(logits), targets, w, **options))

    np.testing.assert_allclose(found(), losses.sum() / 2.5, rtol=1e-5)
    np.testing.assert_allclose(found(**neither), losses, rtol=1e-5)
    np.testing.assert_allclose(found(average_across_batch=False), losses.sum(1) / [2, 0.5], rtol=1e-5)
    np.testing.assert_allclose(found(average_across_timesteps=False), losses.sum(0) / [1.5, 1, 1], rtol=1e-5)
    np.testing.assert_allclose(
        found(**neither, sum_over_timesteps=True, sum_over_batch=True), losses.sum() / 3, rtol=1e-5
    )
    ours = found(softmax_loss_function=tf.nn.sparse_softmax_cross_entropy_with_logits)
    np.testing.assert_allclose(ours, losses.sum() / 2.5, rtol=1e-5)
