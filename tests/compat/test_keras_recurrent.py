"""Recurrent layers of Keras: dropout, states that last, convolutions; values are TensorFlow 2.21's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pullback as pb
from pullback.compat import v1 as tf

L = tf.keras.layers
X = np.random.RandomState(0).rand(2, 4, 3).astype(np.float32)
IMAGES = np.random.RandomState(1).rand(2, 3, 5, 6, 2).astype(np.float32)
ALIKE = {f"{kind}_initializer": tf.constant_initializer(0.3) for kind in ("kernel", "recurrent")}
ENGINES = ["numpy", "xla"]
RECURRENT = [L.SimpleRNN, L.LSTM, L.GRU]


def run(fetches: Any, engine: str = "numpy") -> Any:
    with pb.Session(engine=engine) as session:
        session.run(tf.global_variables_initializer())
        return session.run(fetches)


STATEFUL: dict[str, tuple[Any, list[list[float]]]] = {
    "lstm": (lambda: L.LSTM(2, stateful=True, **ALIKE), [[0.572782, 0.5741544], [0.6778641, 0.6964161]]),
    "gru": (
        lambda: L.GRU(2, stateful=True, batch_input_shape=(2, 4, 3), **ALIKE),
        [[0.486396, 0.4740346], [0.6188909, 0.6005528]],
    ),
    "rnn": (
        lambda: L.RNN([L.LSTMCell(2, **ALIKE), L.GRUCell(3, **ALIKE)], stateful=True),
        [[0.3059945, 0.2821584], [0.5271556, 0.5131854]],
    ),
    "bidirectional": (
        lambda: L.Bidirectional(L.SimpleRNN(2, stateful=True, **ALIKE)),
        [[0.7563917, 0.7967252], [0.7607111, 0.8022852]],
    ),
}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", STATEFUL)
def test_states_last_until_they_are_reset(name: str, engine: str) -> None:
    make, wanted = STATEFUL[name]
    layer = make()
    y = layer(tf.constant(X))
    with pb.Session(engine=engine) as session:
        session.run(tf.global_variables_initializer())
        found = [session.run([y, layer.updates])[0][:, 0] for _ in range(2)]
        layer.reset_states()
        found.append(session.run(y)[:, 0])
    np.testing.assert_allclose(found, [*wanted, wanted[0]], rtol=1e-5)


def test_states_are_variables_of_the_layer_that_are_no_weights() -> None:
    layer = L.LSTM(2, stateful=True, **ALIKE)
    y = layer(tf.constant(X))
    assert [v.op.name for v in layer.states] == ["lstm/Variable", "lstm/Variable_1"]
    assert len(layer.weights) == 3
    assert tf.get_collection(tf.GraphKeys.UPDATE_OPS) == []
    with pb.Session(engine="numpy") as session:
        session.run(tf.global_variables_initializer())
        layer.reset_states([np.ones((2, 2)), np.full((2, 2), 0.5)])
        np.testing.assert_allclose(session.run(y)[:, 0], [0.6618578, 0.6792237], rtol=1e-5)


def test_messages_of_states() -> None:
    text = (
        r"keras LSTM: stateful=True needs to know the number of sequences: say batch_input_shape=, or batch_shape= of "
        r"the Input; it is given \(None, 4, 3\)"
    )
    with pytest.raises(ValueError, match=f"^{text}$"):
        L.LSTM(2, stateful=True)(tf.placeholder(tf.float32, [None, 4, 3]))
    with pytest.raises(AttributeError, match=r"^Layer must be stateful\.$"):
        L.LSTM(2).reset_states()
    with pytest.raises(
        ValueError, match=r"^keras GRU: reset_states: 0 values for 0 states, which the first call makes$"
    ):
        L.GRU(2, stateful=True).reset_states()


def ones_and_more(y: Any) -> list[float]:
    return sorted(set(np.asarray(y).ravel().tolist()))


@pytest.mark.parametrize("engine", ENGINES)
def test_what_is_left_out_of_inputs_is_the_same_at_all_steps_and_another_in_each_run(engine: str) -> None:
    eye = tf.constant_initializer(np.eye(64))
    options = {"activation": "linear", "recurrent_initializer": "zeros", "return_sequences": True}
    layer = L.SimpleRNN(64, dropout=0.5, kernel_initializer=eye, **options)
    y = layer(tf.ones([3, 5, 64]), training=True)
    with pb.Session(engine=engine) as session:
        session.run(tf.global_variables_initializer())
        first, second = session.run(y), session.run(y)
    assert ones_and_more(first) == [0.0, 2.0]
    assert 0.3 < np.mean(first > 0) < 0.7
    np.testing.assert_array_equal(first, np.broadcast_to(first[:, :1], first.shape))
    assert (first != second).any()


def test_what_is_left_out_of_states_is_the_same_at_all_steps() -> None:
    eye = tf.constant_initializer(np.eye(64))
    layer = L.SimpleRNN(
        64,
        activation="linear",
        recurrent_dropout=0.5,
        kernel_initializer="zeros",
        bias_initializer="ones",
        recurrent_initializer=eye,
        return_sequences=True,
    )
    found = run(layer(tf.ones([3, 4, 64]), training=True))
    assert [ones_and_more(found[:, t]) for t in (0, 1, 3)] == [[1.0], [1.0, 3.0], [1.0, 15.0]]


@pytest.mark.parametrize("implementation", [1, 2])
@pytest.mark.parametrize("kind", RECURRENT)
def test_nothing_is_left_out_but_in_training(kind: Any, implementation: int) -> None:
    plain = kind(2, **ALIKE)(tf.constant(X))
    layer = kind(2, dropout=0.5, recurrent_dropout=0.3, implementation=implementation, **ALIKE)
    found = run([plain, layer(tf.constant(X)), layer(tf.constant(X), training=False)])
    np.testing.assert_array_equal(found[1], found[0])
    np.testing.assert_array_equal(found[2], found[0])


@pytest.mark.parametrize("kind", RECURRENT)
def test_each_gate_leaves_out_others_unless_they_are_computed_together(kind: Any) -> None:
    cell = {L.SimpleRNN: L.SimpleRNNCell, L.LSTM: L.LSTMCell, L.GRU: L.GRUCell}[kind]
    apart, together = cell(4, dropout=0.5), cell(4, dropout=0.5, implementation=2)
    for layer in (apart, together):
        layer(tf.ones([8, 3]), [tf.zeros([8, 4])] * layer.states, training=True)
    assert [len(set(layer._kept["inputs"])) for layer in (apart, together)] == [apart.gates, 1]


def test_cells_behind_each_other_leave_out_their_own() -> None:
    cells = [L.LSTMCell(4, dropout=0.5), L.GRUCell(3, recurrent_dropout=0.5)]
    x = tf.ones([2, 5, 6])
    y = L.RNN(cells)(x, training=True)
    (dx,) = tf.gradients(y, x)
    found = run([y, dx])
    assert [part.shape for part in found] == [(2, 3), (2, 5, 6)]
    assert np.isfinite(found[1]).all()


IN_IMAGES = {
    "kernel_initializer": tf.constant_initializer(0.05),
    "recurrent_initializer": tf.constant_initializer(0.07),
}
CONVOLUTIONAL: dict[str, tuple[dict[str, Any], list[int], float]] = {
    "plain": ({"filters": 3, "kernel_size": 3}, [2, 3, 4, 3], 36.085576),
    "same": (
        {
            "filters": 2,
            "kernel_size": (2, 3),
            "padding": "same",
            "return_sequences": True,
            "activation": "relu",
            "recurrent_activation": "sigmoid",
        },
        [2, 3, 5, 6, 2],
        62.435936,
    ),
    "backwards": (
        {
            "filters": 2,
            "kernel_size": 3,
            "strides": 2,
            "go_backwards": True,
            "unit_forget_bias": False,
            "use_bias": False,
        },
        [2, 2, 2, 2],
        5.442371,
    ),
    "dilated": ({"filters": 2, "kernel_size": 3, "dilation_rate": 2, "dropout": 0.5}, [2, 1, 2, 2], 2.761065),
}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", CONVOLUTIONAL)
def test_convolutions_step_after_step(name: str, engine: str) -> None:
    options, shape, total = CONVOLUTIONAL[name]
    y = L.ConvLSTM2D(**options, **IN_IMAGES)(tf.constant(IMAGES))
    assert y.shape.as_list() == shape
    np.testing.assert_allclose(run(tf.reduce_sum(y), engine), total, rtol=1e-5)


@pytest.mark.parametrize("engine", ENGINES)
def test_the_derivative_of_convolutions_step_after_step(engine: str) -> None:
    x = tf.constant(IMAGES)
    (dx,) = tf.gradients(L.ConvLSTM2D(3, 3, **IN_IMAGES)(x), x)
    found = run(dx, engine)
    np.testing.assert_allclose(found.sum(), 62.513989, rtol=1e-5)
    np.testing.assert_allclose(found[0, 0, :, 0, 0], [0.0466257, 0.1010712, 0.1449763, 0.0983506, 0.0439051], rtol=1e-5)


def test_convolutional_layers_heed_masks_keep_states_and_leave_out() -> None:
    layer, mask = L.ConvLSTM2D(3, 3, **IN_IMAGES), tf.constant([[True, True, False], [True, False, False]])
    kept = L.ConvLSTM2D(2, 2, stateful=True, **IN_IMAGES)
    ys = [layer(tf.constant(IMAGES), mask=mask), kept(tf.constant(IMAGES))]
    noisy = L.ConvLSTM2D(2, 3, dropout=0.5, recurrent_dropout=0.5)(tf.constant(IMAGES), training=True)
    with pb.Session(engine="numpy") as session:
        session.run(tf.global_variables_initializer())
        found = [session.run([*ys, kept.updates])[:2] for _ in range(2)]
        assert np.isfinite(session.run(noisy)).all()
    sums = [[float(y.sum()) for y in step] for step in found]
    np.testing.assert_allclose(sums, [[17.177856, 12.587509], [17.177856, 20.847397]], rtol=1e-5)


def test_variables_of_convolutional_layers_are_the_layers_own() -> None:
    layers = [L.ConvLSTM2D(2, 2), L.ConvLSTM2D(2, 2, use_bias=False)]
    for layer in layers:
        layer(tf.constant(IMAGES))
    assert [v.op.name for v in layers[0].weights] == [
        f"conv_lstm2d/{n}" for n in ("kernel", "recurrent_kernel", "bias")
    ]
    assert [v.op.name for v in layers[1].weights] == [f"conv_lstm2d_1/{n}" for n in ("kernel", "recurrent_kernel")]
    with pytest.raises(NotImplementedError, match=r"^keras ConvLSTM2D: only data_format='channels_last' is there; "):
        L.ConvLSTM2D(2, 2, data_format="channels_first")


STEPS = {
    "rnn": lambda: L.SimpleRNNCell(2, **ALIKE),
    "lstm": lambda: L.LSTMCell(2, **ALIKE),
    "gru": lambda: L.GRUCell(2, **ALIKE),
    "stacked": lambda: L.StackedRNNCells([L.LSTMCell(3, **ALIKE), L.GRUCell(2, **ALIKE)]),
}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", STEPS)
def test_loops_of_tensorflow_1_go_through_cells_of_keras(name: str, engine: str) -> None:
    x = tf.constant(X)
    made = L.RNN(STEPS[name](), return_sequences=True, return_state=True)(x)
    outputs, state = tf.nn.dynamic_rnn(STEPS[name](), x, dtype=tf.float32)
    listed, end = tf.nn.static_rnn(STEPS[name](), tf.unstack(x, axis=1), dtype=tf.float32)
    grads = [tf.gradients(y, x)[0] for y in (made[0], outputs, tf.stack(listed, 1))]
    flat = [tf.nest.flatten(s) for s in (list(made[1:]), state, end)]
    wanted, *found = run(
        [[made[0], flat[0], grads[0]], [outputs, flat[1], grads[1]], [tf.stack(listed, 1), flat[2], grads[2]]], engine
    )
    for values in found:
        for a, b in zip(tf.nest.flatten(values), tf.nest.flatten(wanted), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


def test_a_cell_of_keras_that_a_program_derives_and_its_dropout() -> None:
    class Mean(L.Layer):
        state_size = 3

        def call(self, inputs: Any, states: Any) -> Any:
            h = 0.5 * (inputs + states[0])
            return h, [h]

    outputs, state = tf.nn.dynamic_rnn(Mean(), tf.constant(X), [4, 2])
    thinned, _ = tf.nn.dynamic_rnn(L.LSTMCell(64, dropout=0.5, recurrent_dropout=0.5), tf.constant(X))
    tf.keras.backend.set_learning_phase(1)
    dropped, _ = tf.nn.dynamic_rnn(L.SimpleRNNCell(64, dropout=0.5, **ALIKE), tf.ones([1, 2, 8]))
    tf.keras.backend.set_learning_phase(0)
    y, h, kept, drawn = run([outputs, state, thinned, dropped])
    np.testing.assert_allclose(y[0, 1], 0.5 * X[0, 1] + 0.25 * X[0, 0], rtol=1e-6)
    np.testing.assert_array_equal(h[1], y[1, 1])
    assert np.isfinite(kept).all()
    assert np.unique(drawn[0, 0]).size == 1


def test_a_layer_of_keras_that_is_no_cell() -> None:
    with pytest.raises(TypeError, match=r"^dynamic_rnn: cell must be an RNNCell, not <.*Dense object"):
        tf.nn.dynamic_rnn(L.Dense(2), tf.constant(X))
