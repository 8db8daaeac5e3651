"""Attention of `tf.contrib.seq2seq`, beside NumPy's formulas."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from pullback.compat import v1 as tf

seq2seq = tf.contrib.seq2seq
Array = np.ndarray[Any, Any]
LENGTHS = [4, 1, 3]


def data(*shape: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def run(*fetches: Any) -> Any:
    with tf.Session(engine="numpy") as session:
        session.run(tf.global_variables_initializer())
        for i, v in enumerate(tf.trainable_variables()):
            session.run(v.assign(data(*v.shape.as_list(), seed=i + 7)))
        return session.run([*fetches, tf.trainable_variables()])


def alignments(mechanism: Any, query: Array) -> tuple[Array, dict[str, Array]]:
    """What a mechanism makes of a query, and its variables by the last part of their names."""
    aligned, _ = mechanism(tf.constant(query), mechanism.initial_state(3, tf.float32))
    found, values = run(aligned)
    return found, {
        v.op.name.split("/", 1)[-1]: value for v, value in zip(tf.trainable_variables(), values, strict=True)
    }


def softmax(score: Array, lengths: Any = LENGTHS) -> Array:
    alive = np.arange(score.shape[1]) < np.array(lengths)[:, None]
    e = np.exp(np.where(alive, score, -np.inf))
    return np.asarray(e / e.sum(1, keepdims=True))


def masked(memory: Array) -> Array:
    return np.asarray(memory * (np.arange(memory.shape[1]) < np.array(LENGTHS)[:, None])[:, :, None])


@pytest.mark.parametrize("scale", [False, True])
def test_luong_scores_are_products_of_query_and_keys(scale: bool) -> None:
    memory, query = data(3, 4, 5), data(3, 6, seed=1)
    found, v = alignments(seq2seq.LuongAttention(6, tf.constant(memory), LENGTHS, scale=scale), query)
    score = np.einsum("btu,bu->bt", masked(memory) @ v["kernel"], query) * v.get("attention_g", 1.0)
    np.testing.assert_allclose(found, softmax(score), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("normalize", [False, True])
def test_bahdanau_scores_are_sums_of_query_and_keys(normalize: bool) -> None:
    memory, query = data(3, 4, 5), data(3, 2, seed=1)
    found, v = alignments(seq2seq.BahdanauAttention(6, tf.constant(memory), LENGTHS, normalize=normalize), query)
    added = masked(memory) @ v["kernel"] + (query @ v["query_layer/kernel"])[:, None] + v.get("attention_b", 0.0)
    weights = v["attention_v"]
    if normalize:
        weights = v["attention_g"] * weights / np.linalg.norm(weights)
    np.testing.assert_allclose(found, softmax(np.tanh(added) @ weights), rtol=1e-4, atol=1e-6)


def test_a_probability_function_and_a_mask_of_ones_own_take_the_place_of_softmax_and_infinity() -> None:
    memory, query = data(3, 4, 6), data(3, 6, seed=1)
    mechanism = seq2seq.LuongAttention(6, tf.constant(memory), LENGTHS, False, tf.nn.sigmoid, score_mask_value=-3.0)
    found, v = alignments(mechanism, query)
    score = np.einsum("btu,bu->bt", memory @ v["kernel"], query)
    score = np.where(np.arange(4) < np.array(LENGTHS)[:, None], score, -3.0)
    np.testing.assert_allclose(found, 1 / (1 + np.exp(-score)), rtol=1e-4, atol=1e-6)


def test_keys_and_values_of_ones_own() -> None:
    mechanism = seq2seq.LuongAttention(
        6, tf.ones([3, 4, 6]), custom_key_value_fn=lambda keys, values: (2.0 * keys, values + 1.0)
    )
    keys, values, (kernel,) = run(mechanism.keys, mechanism.values)
    np.testing.assert_allclose(keys[0, 0], 2 * kernel.sum(0), rtol=1e-5)
    assert (values == 2.0).all()


def in_order(p: Array, before: Array) -> Array:
    """Monotonic attention as it is defined, step by step."""
    q, found = np.zeros(len(p)), np.zeros_like(p)
    for t in range(p.shape[1]):
        q = (1 - p[:, t - 1] if t else 1.0) * q + before[:, t]
        found[:, t] = p[:, t] * q
    return found


def test_monotonic_attention_is_its_recursion_in_each_mode() -> None:
    p, before = 1 / (1 + np.exp(-data(3, 5))), np.abs(data(3, 5, seed=1))
    before /= before.sum(1, keepdims=True)
    hard, one = (p > 0.5).astype(np.float32), np.eye(5, dtype=np.float32)[:3]
    *found, _ = run(
        *[seq2seq.monotonic_attention(p, before, mode) for mode in ("recursive", "parallel")],
        seq2seq.monotonic_attention(hard, one, "hard"),
    )
    np.testing.assert_allclose(found[0], in_order(p, before), rtol=1e-5)
    np.testing.assert_allclose(found[1], in_order(p, before), rtol=1e-4)
    np.testing.assert_array_equal(found[2], in_order(hard, one))


def test_monotonic_mechanisms_begin_at_the_first_step_of_the_memory() -> None:
    memory, query = data(3, 4, 5), data(3, 6, seed=1)
    luong = seq2seq.LuongMonotonicAttention(6, tf.constant(memory), score_bias_init=-1.0)
    found, v = alignments(luong, query)
    score = np.einsum("btu,bu->bt", memory @ v["kernel"], query) + v["attention_score_bias"]
    expected = in_order(1 / (1 + np.exp(-score)), np.eye(4)[[0, 0, 0]])
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-5)


def test_a_wrapped_cell_attends_with_its_output_and_feeds_that_to_the_next_step() -> None:
    memory, x, before = data(3, 4, 5), data(3, 2, seed=1), data(3, 3, seed=2)
    mechanism = seq2seq.LuongAttention(6, tf.constant(memory), LENGTHS)
    cell = seq2seq.AttentionWrapper(tf.nn.rnn_cell.BasicRNNCell(6), mechanism, attention_layer_size=3)
    state = cell.zero_state(3, tf.float32).clone(attention=tf.constant(before), cell_state=tf.zeros([3, 6]))
    output, after = cell(tf.constant(x), state)
    found, h, aligned, time, (keys, kernel, bias, layer) = run(output, after.cell_state, after.alignments, after.time)
    expected = np.tanh(np.concatenate([x, before, np.zeros((3, 6))], 1) @ kernel + bias)
    weights = softmax(np.einsum("btu,bu->bt", masked(memory) @ keys, expected))
    context = np.einsum("bt,btd->bd", weights, masked(memory))
    np.testing.assert_allclose(h, expected, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(aligned, weights, rtol=1e-3, atol=1e-6)
    np.testing.assert_allclose(found, np.concatenate([expected, context], 1) @ layer, rtol=1e-3, atol=1e-5)
    assert time == 1


def test_several_mechanisms_are_tuples_in_the_state() -> None:
    mechanisms = [seq2seq.LuongAttention(6, tf.ones([3, 4, 5])), seq2seq.BahdanauAttention(2, tf.ones([3, 7, 8]))]
    cell = seq2seq.AttentionWrapper(
        tf.nn.rnn_cell.GRUCell(6), mechanisms, [2, 3], alignment_history=True, output_attention=False
    )
    outputs, state = tf.nn.dynamic_rnn(cell, tf.ones([3, 5, 1]), dtype=tf.float32)
    histories = [array.stack() for array in state.alignment_history]
    y, attention, *kept, _ = run(outputs, state.attention, *histories)
    assert (y.shape, attention.shape) == ((3, 5, 6), (3, 5))
    assert [h.shape for h in kept] == [(5, 3, 4), (5, 3, 7)]
    assert (cell.output_size, cell.state_size.attention, cell.state_size.alignments) == (6, 5, (4, 7))


def test_inputs_and_attention_of_ones_own() -> None:
    mechanism = seq2seq.LuongAttention(6, tf.ones([3, 4, 5]))
    cell = seq2seq.AttentionWrapper(
        tf.nn.rnn_cell.GRUCell(6),
        mechanism,
        cell_input_fn=lambda inputs, attention: inputs,
        attention_fn=lambda m, output, state, layer: (output[:, :5], state, state),
    )
    output, _ = cell(tf.ones([3, 2]), cell.zero_state(3, tf.float32))
    assert output.shape.as_list() == [3, 5]
    assert cell.variables[0].shape.as_list() == [8, 12]


def test_variables_stand_where_tensorflows_do() -> None:
    mechanism = seq2seq.BahdanauAttention(6, tf.ones([3, 4, 5]), normalize=True)
    cell = seq2seq.AttentionWrapper(tf.nn.rnn_cell.LSTMCell(6), mechanism, attention_layer_size=3)
    helper = seq2seq.TrainingHelper(tf.ones([3, 5, 2]), [5, 5, 5])
    layer = tf.layers.Dense(7, name="out")
    decoder = seq2seq.BasicDecoder(cell, helper, cell.zero_state(3, tf.float32), layer)
    seq2seq.dynamic_decode(decoder)
    within = "decoder/attention_wrapper"
    assert {v.op.name for v in tf.trainable_variables()} == {
        "memory_layer/kernel",
        f"{within}/lstm_cell/kernel",
        f"{within}/lstm_cell/bias",
        f"{within}/bahdanau_attention/query_layer/kernel",
        f"{within}/bahdanau_attention/attention_v",
        f"{within}/bahdanau_attention/attention_g",
        f"{within}/bahdanau_attention/attention_b",
        f"{within}/attention_layer/kernel",
        "decoder/out/kernel",
        "decoder/out/bias",
    }


@pytest.mark.parametrize(
    ("ask", "text"),
    [
        (
            lambda: seq2seq.LuongAttention(6, tf.ones([3, 4, 5]))(tf.ones([3, 2]), None),
            "LuongAttention: the query float32[3,2] must be as long as the keys float32[3,4,6]; give num_units=2",
        ),
        (
            lambda: seq2seq.LuongAttention(6, tf.placeholder(tf.float32, [3, 4, None])),
            "attention: the memory float32[3,4,?] must have known lengths beyond batch and time",
        ),
        (
            lambda: seq2seq.AttentionWrapper(
                tf.nn.rnn_cell.GRUCell(6), [seq2seq.LuongAttention(6, tf.ones([3, 4, 5]))], [1, 2]
            ),
            "AttentionWrapper: 2 attention layers for 1 mechanisms",
        ),
        (
            lambda: seq2seq.AttentionWrapper(
                tf.nn.rnn_cell.GRUCell(6), seq2seq.LuongAttention(6, tf.ones([3, 4, 5]))
            ).zero_state(12, tf.float32),
            "AttentionWrapper: 12 sequences, but the memory has 3. With a BeamSearchDecoder the memory, its lengths "
            "and the state are tiled by tile_batch, and zero_state is given the batch times beam_width.",
        ),
        (
            lambda: seq2seq.monotonic_attention([[0.5]], [[1.0]], "soft"),
            "monotonic_attention: mode must be 'recursive', 'parallel' or 'hard', not 'soft'",
        ),
        (
            lambda: (
                seq2seq.AttentionWrapper(tf.nn.rnn_cell.GRUCell(6), seq2seq.LuongAttention(6, tf.ones([3, 4, 5])))
                .zero_state(3, tf.float32)
                .clone(cell_state=tf.ones([3, 5]))
            ),
            "AttentionWrapperState.clone: float32[3,5] takes the place of float32[3,6]; shapes must be equal",
        ),
    ],
)
def test_what_does_not_fit_is_an_error(ask: Any, text: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        ask()
