"""`tf.contrib.legacy_seq2seq`: decoders without loops, losses of lists, buckets."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pullback.compat import v1 as tf

seq2seq = tf.contrib.legacy_seq2seq
CELLS = {"gru": lambda: tf.nn.rnn_cell.GRUCell(6), "lstm": lambda: tf.nn.rnn_cell.BasicLSTMCell(6)}


def run(fetches: Any) -> Any:
    with tf.Session(engine="numpy") as session:
        session.run(tf.global_variables_initializer())
        return session.run(fetches)


def symbols(count: int) -> list[Any]:
    return [tf.constant([i % 5, (i + 2) % 5]) for i in range(count)]


@pytest.mark.parametrize("feed_previous", [False, True])
@pytest.mark.parametrize("model", ["embedding_rnn_seq2seq", "embedding_attention_seq2seq"])
@pytest.mark.parametrize("cell", CELLS)
def test_symbols_are_translated_and_learned_from(model: str, cell: str, feed_previous: bool) -> None:
    options = {"feed_previous": feed_previous}
    outputs, _ = getattr(seq2seq, model)(symbols(4), symbols(3), CELLS[cell](), 5, 7, 8, **options)
    loss = seq2seq.sequence_loss(outputs, symbols(3), [tf.ones([2])] * 3)
    slopes = tf.gradients(loss, tf.trainable_variables())
    assert [y.shape.as_list() for y in outputs] == [[2, 7]] * 3
    assert all(np.isfinite(dv).all() for dv in run([tf.convert_to_tensor(dv) for dv in slopes if dv is not None]))


def test_a_decoder_is_fed_what_it_said() -> None:
    seen = []

    def loop(previous: Any, i: int) -> Any:
        seen.append((previous, i))
        return tf.ones([2, 5])

    outputs, _ = seq2seq.rnn_decoder([tf.zeros([2, 5])] * 3, tf.zeros([2, 6]), CELLS["gru"](), loop)
    assert seen == [(outputs[0], 1), (outputs[1], 2)]
    assert len(tf.trainable_variables()) == 4


def test_an_encoder_and_a_decoder_have_weights_of_their_own() -> None:
    outputs, _ = seq2seq.basic_rnn_seq2seq([tf.ones([2, 5])] * 2, [tf.ones([2, 5])] * 3, CELLS["lstm"]())
    assert (len(outputs), len(tf.trainable_variables())) == (3, 4)


@pytest.mark.parametrize("whole", [True, False])
def test_the_loss_of_a_list_is_that_of_numpy(whole: bool) -> None:
    random = np.random.default_rng(0)
    logits, targets = random.normal(size=(3, 2, 5)).astype(np.float32), random.integers(0, 5, (3, 2))
    weights = random.uniform(size=(3, 2)).astype(np.float32)
    loss = seq2seq.sequence_loss(list(map(tf.constant, logits)), list(targets), list(weights), whole)
    each = -np.take_along_axis(logits - np.log(np.exp(logits).sum(2, keepdims=True)), targets[..., None], 2)[..., 0]
    total = (each * weights).sum(0) / (weights.sum(0) if whole else 1.0)
    np.testing.assert_allclose(run(loss), total.mean(), rtol=1e-5)


def test_lists_of_different_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match=r"logits, targets and weights must be as many, not 1, 2 and 1$"):
        seq2seq.sequence_loss_by_example([tf.zeros([2, 5])], symbols(2), [tf.ones([2])])


def test_buckets_share_their_variables() -> None:
    cell = CELLS["gru"]()

    def model(encoder: Any, decoder: Any) -> Any:
        return seq2seq.embedding_attention_seq2seq(encoder, decoder, cell, 5, 7, 8)

    ones = [tf.ones([2])] * 3
    outputs, losses = seq2seq.model_with_buckets(symbols(4), symbols(3), symbols(3), ones, [(2, 2), (4, 3)], model)
    count = len(tf.trainable_variables())
    assert ([len(y) for y in outputs], len(losses), count) == (
        [2, 3],
        2,
        len({v.name for v in tf.trainable_variables()}),
    )
    assert np.isfinite(run(losses)).all()
