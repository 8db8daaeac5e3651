"""`tf.contrib`: layers by their older names, argument scopes, the loss of sequences."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

import pullback as pb
import pullback.compat.v1 as tf

slim = tf.contrib.slim
layers = tf.contrib.layers


def names() -> list[str]:
    return [v.op.name for v in tf.global_variables()]


def test_variables_have_the_names_of_checkpoints() -> None:
    x = tf.ones([2, 8, 8, 3])
    y = layers.conv2d(x, 4, 3, normalizer_fn=layers.batch_norm, normalizer_params={"scale": True})
    y = slim.repeat(slim.max_pool2d(y, [2, 2]), 2, slim.conv2d, 4, 3, scope="conv2")
    y = slim.stack(slim.flatten(y), slim.fully_connected, [5, 6], scope="fc")
    layers.fully_connected(y, 2)
    assert names() == [
        *("Conv/weights", *[f"Conv/BatchNorm/{v}" for v in ("gamma", "beta", "moving_mean", "moving_variance")]),
        *(f"conv2/conv2_{i}/{v}" for i in (1, 2) for v in ("weights", "biases")),
        *(f"fc/fc_{i}/{v}" for i in (1, 2) for v in ("weights", "biases")),
        *("fully_connected/weights", "fully_connected/biases"),
    ]


def test_a_layer_is_activated_unless_it_is_said_otherwise() -> None:
    x = tf.placeholder(tf.float32, [None, 3])
    y = layers.fully_connected(x, 4, biases_initializer=tf.ones_initializer(), scope="a")
    z = layers.fully_connected(x, 4, activation_fn=None, scope="a", reuse=True)
    given = np.random.default_rng(0).normal(size=(5, 3))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        found, plain, w = session.run([y, z, tf.global_variables()[0]], {x: given})
    np.testing.assert_allclose(plain, given @ w + 1.0, rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(found, np.maximum(plain, 0.0))


def test_scopes_give_arguments_and_inner_ones_come_first() -> None:
    x = tf.ones([2, 3])
    with slim.arg_scope([slim.fully_connected], weights_regularizer=slim.l2_regularizer(2.0), activation_fn=None):
        slim.fully_connected(x, 4)
        with slim.arg_scope([slim.fully_connected], weights_regularizer=None) as inner:
            slim.fully_connected(x, 4)
        slim.fully_connected(x, 4, weights_regularizer=None)
    slim.fully_connected(x, 4)
    assert len(tf.losses.get_regularization_losses()) == 1
    with slim.arg_scope(inner):
        assert slim.fully_connected(x, 4).op.type == "BiasAdd"


def test_a_function_of_ones_own_takes_arguments_of_scopes() -> None:
    @slim.add_arg_scope
    def block(x: Any, size: int = 1) -> Any:
        return x * size

    with slim.arg_scope([block], size=3):
        assert (block(2), block(2, size=5)) == (6, 10)
    assert block(2) == 2
    with pytest.raises(ValueError, match=r"^arg_scope: .* takes no defaults; decorate it with add_arg_scope$"):
        slim.arg_scope([print]).__enter__()


def test_costs_are_those_of_contrib() -> None:
    w = tf.constant([1.0, -3.0])
    found = pb.Session(engine="numpy").run([layers.l1_regularizer(0.5)(w), layers.l2_regularizer(0.5)(w)])
    assert found == [2.0, 2.5]


@pytest.mark.parametrize(("uniform", "deviation"), [(True, 1.0), (False, (1.3**0.5) * 0.8796)])
def test_initial_weights_have_the_deviation_of_contrib(uniform: bool, deviation: float) -> None:
    w = pb.Session(engine="numpy").run(layers.xavier_initializer(uniform, seed=1)([300, 500]))
    np.testing.assert_allclose(w.std(), deviation * (2.0 / 800) ** 0.5, rtol=0.02)


def test_moving_means_may_follow_whenever_the_result_is_computed() -> None:
    x = tf.placeholder(tf.float32, [None, 2])
    y = layers.batch_norm(x, decay=0.5, updates_collections=None)
    assert tf.get_collection(tf.GraphKeys.UPDATE_OPS) == []
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(y, {x: [[2.0, 4.0], [4.0, 8.0]]})
        assert session.run(tf.global_variables()[1]).tolist() == [1.5, 3.0]


def test_dropout_keeps_what_it_is_told_to() -> None:
    x = tf.ones([1000])
    kept, all_of_it = layers.dropout(x, 0.75, seed=1), layers.dropout(x, 0.75, is_training=False)
    found, whole = pb.Session(engine="numpy").run([kept, all_of_it])
    assert set(np.unique(found)) == {np.float32(0.0), np.float32(4.0 / 3.0)}
    assert whole.tolist() == [1.0] * 1000


@pytest.mark.parametrize(("steps", "batch", "shape"), [(True, True, ()), (True, False, (2,)), (False, False, (2, 3))])
def test_the_loss_of_sequences_is_averaged_by_weights(steps: bool, batch: bool, shape: tuple[int, ...]) -> None:
    weights = np.array([[1.0, 1.0, 0.0], [1.0, 0.0, 0.0]], np.float32)
    loss = tf.contrib.seq2seq.sequence_loss(tf.zeros([2, 3, 4]), tf.zeros([2, 3], tf.int32), weights, steps, batch)
    found = pb.Session(engine="numpy").run(loss)
    assert found.shape == shape
    np.testing.assert_allclose(found, np.log(4.0) * (weights if shape == (2, 3) else 1.0), rtol=1e-5)


def test_cells_stand_at_their_older_place() -> None:
    assert tf.contrib.rnn.BasicLSTMCell is pb.nn.rnn_cell.BasicLSTMCell
    assert tf.contrib.framework.nest is not None


def test_signals_are_where_programs_look_for_them() -> None:
    frames = tf.contrib.signal.stft(tf.ones([8]), frame_length=4, frame_step=2)
    assert frames.shape.as_list() == [3, 3]


@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_alpha_dropout_keeps_mean_and_variance(engine: str) -> None:
    x = tf.constant(np.random.default_rng(0).normal(size=(200, 100)).astype(np.float32))
    y = tf.contrib.nn.alpha_dropout(x, 0.8, seed=1)
    found = tf.Session(engine=engine).run(y)
    assert abs(found.mean()) < 0.02
    assert abs(found.var() - 1.0) < 0.03
    assert tf.contrib.nn.alpha_dropout(x, 1.0) is x
    scale = (0.8 + 0.8 * 0.2 * 1.7580993408473766**2) ** -0.5
    assert np.isclose(found, -1.7580993408473766 * scale * 0.8).mean() == pytest.approx(0.2, abs=0.02)
    with pytest.raises(ValueError, match="keep_prob must be a scalar tensor or a float in the range"):
        tf.contrib.nn.alpha_dropout(x, 0.0)


def test_one_true_class_is_that_of_a_sparse_loss() -> None:
    weights, biases, inputs = tf.ones([9, 4]), tf.zeros([9]), tf.constant([[1.0, 2.0, 3.0, 4.0]] * 2)
    sampled = tf.nn.uniform_candidate_sampler([[1], [2]], 1, 3, True, 9, seed=1)
    arguments = (weights, biases, tf.constant([[1], [2]], tf.int64), inputs, 3, 9)
    sparse = tf.contrib.nn.sampled_sparse_softmax_loss(*arguments, sampled_values=sampled)
    dense = tf.nn.sampled_softmax_loss(*arguments, sampled_values=sampled)
    found, expected = tf.Session(engine="numpy").run([sparse, dense])
    assert found.tolist() == expected.tolist()


def test_padded_batches_without_a_smaller_last_one() -> None:
    dataset = tf.data.Dataset.range(5).map(lambda n: tf.fill([n], n))
    batches = dataset.apply(tf.contrib.data.padded_batch_and_drop_remainder(2, [None]))
    following, session = batches.make_one_shot_iterator().get_next(), tf.Session(engine="numpy")
    assert [session.run(following).shape for _ in range(2)] == [(2, 1), (2, 3)]
    with pytest.raises(tf.errors.OutOfRangeError):
        session.run(following)


def test_layers_that_are_repeated_are_named_after_the_layer() -> None:
    x = np.ones([2, 4, 4, 3], np.float32)
    y = slim.repeat(x, 2, partial(slim.conv2d, kernel_size=3), 4)
    y = slim.repeat(y, 1, slim.conv2d, 4, 3)
    y = slim.stack(slim.flatten(y), slim.fully_connected, [5, 6])
    slim.stack(y, slim.fully_connected, [2])
    assert names()[::2] == [
        *("Repeat/conv2d_1/weights", "Repeat/conv2d_2/weights", "Repeat_1/conv2d_1/weights"),
        *("Stack/fully_connected_1/weights", "Stack/fully_connected_2/weights", "Stack_1/fully_connected_1/weights"),
    ]
