"""Names and variables of layers of Keras: those of TensorFlow 2.21's `compat.v1`, whatever scopes of variables say."""

from __future__ import annotations

from typing import Any

import pytest

import pullback as pb
from pullback.compat import v1 as tf

L = tf.keras.layers


def names() -> list[str]:
    return [v.op.name for v in tf.global_variables()]


LAYERS: dict[str, Any] = {
    "dense": (lambda: L.Dense(2), [3], "kernel bias"),
    "lstm": (lambda: L.LSTM(2), [4, 3], "lstm_cell/kernel lstm_cell/recurrent_kernel lstm_cell/bias"),
    "rnn": (lambda: L.RNN(L.GRUCell(2)), [4, 3], "gru_cell/kernel gru_cell/recurrent_kernel gru_cell/bias"),
    "time_distributed": (lambda: L.TimeDistributed(L.Dense(2)), [4, 3], "kernel bias"),
    "depthwise_conv2d": (lambda: L.DepthwiseConv2D(2), [4, 4, 2], "depthwise_kernel bias"),
    "batch_normalization": (lambda: L.BatchNormalization(), [3], "gamma beta moving_mean moving_variance"),
    "layer_normalization": (lambda: L.LayerNormalization(), [3], "gamma beta"),
    "p_re_lu": (lambda: L.PReLU(), [3], "alpha"),
}


@pytest.mark.parametrize("name", LAYERS)
def test_layers_share_nothing_in_a_scope_that_is_entered_again(name: str) -> None:
    make, shape, parts = LAYERS[name]
    x = tf.zeros([1, *shape])
    made = []
    for _ in range(2):
        with tf.variable_scope("model", reuse=tf.AUTO_REUSE, initializer=tf.ones_initializer()):
            made.append(make())
            made[-1](x)
    first = [f"model/{name}/{part}" for part in parts.split()]
    assert [v.op.name for v in made[0].variables] == first
    assert [v.op.name.split("/")[0] for v in made[1].variables] == ["model_1"] * len(first)
    assert len(names()) == 2 * len(first)


def test_a_layer_that_is_called_again_has_the_same_variables() -> None:
    layer = L.Dense(2)
    ys = [layer(tf.zeros([1, 3])) for _ in range(2)]
    assert [y.op.name for y in ys] == ["dense/BiasAdd", "dense_1/BiasAdd"]
    assert names() == ["dense/kernel", "dense/bias"]


def test_names_are_counted_by_class_where_layers_are_made() -> None:
    layers = [L.Dense(2), L.Dense(2), L.Dense(2, name="dense"), L.LSTM(2)]
    assert [layer.name for layer in layers] == ["dense", "dense_1", "dense", "lstm"]
    for layer in (layers[2], layers[0]):
        layer(tf.zeros([1, 3]))
    assert names() == ["dense/kernel", "dense/bias", "dense_1/kernel", "dense_1/bias"]


def test_models_are_scopes_of_their_layers() -> None:
    class Net(tf.keras.Model):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.inner = [L.Dense(2), L.Dense(2)]

        def call(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
            return self.inner[1](self.inner[0](inputs))

    net = Net()
    ys = [net(tf.zeros([1, 3])) for _ in range(2)]
    assert names() == [f"net/dense{n}/{part}" for n in ("", "_1") for part in ("kernel", "bias")]
    assert [y.op.name for y in ys] == ["net/dense_1/BiasAdd", "net_1/dense_1/BiasAdd"]


def test_scopes_of_variables_hold_for_what_a_layer_gets_and_not_for_its_weights() -> None:
    class Mixed(L.Layer):  # type: ignore[misc, valid-type]
        def build(self, input_shape: Any) -> None:
            self.weight = self.add_weight("own", [1], regularizer="l2")
            self.got = tf.get_variable("got", [1])

        def call(self, inputs: Any) -> Any:
            return inputs * self.weight * self.got

    with tf.variable_scope("outer", reuse=tf.AUTO_REUSE):
        layers = [Mixed(), Mixed()]
        for layer in layers:
            layer(tf.zeros([1]))
    assert names() == ["outer/mixed/own", "outer/got", "outer/mixed_1/own"]
    assert [len(layer.losses) for layer in layers] == [1, 1]


def test_layers_in_the_body_of_a_loop_have_variables_of_their_own() -> None:
    def body(i: Any, x: Any) -> Any:
        return i + 1, L.Dense(3)(x)

    L.Dense(3)(tf.zeros([1, 3]))
    with pb.Session(engine="numpy") as session:
        y = tf.while_loop(lambda i, _: i < 3, body, [0, tf.ones([1, 3])])[1]
        session.run(tf.global_variables_initializer())
        assert session.run(y).shape == (1, 3)
    assert len(set(names())) == 4


def test_layers_of_both_kinds_are_counted_together() -> None:
    x = tf.zeros([2, 6])
    ys = [tf.layers.dense(x, 3), L.Dense(3)(x), L.Dense(2)(x), tf.layers.Dense(2)(x), L.Dense(1)(x)]
    tf.layers.dense(x, 2, name="named")
    assert [ys[n].op.name for n in (0, 1, 2, 4)] == [f"dense{n}/BiasAdd" for n in ("", "_1", "_2", "_4")]
    assert L.Dense(1).name == "dense_5"


def test_variables_of_keras_are_not_shared_by_name_and_their_scopes_are_not_counted() -> None:
    x = tf.ones([2, 3])
    with tf.variable_scope("s"):
        for layer in [L.Dense, L.Dense, tf.layers.Dense, tf.layers.Dense, tf.layers.Dense, L.Dense]:
            layer(2, use_bias=False)(x)
        tf.get_variable("dense_5/kernel", [1])
        tf.nn.rnn_cell.BasicRNNCell(2)(x, tf.zeros([2, 2]))
    wanted = [
        "dense/kernel",
        "dense_1/kernel",
        "dense/kernel_1",
        "dense_1/kernel_1",
        "dense_2/kernel",
        "dense_5/kernel",
    ]
    wanted += ["dense_5/kernel_1", "basic_rnn_cell/kernel", "basic_rnn_cell/bias"]
    assert names() == [f"s/{name}" for name in wanted]
    with tf.variable_scope("s", reuse=True):
        assert tf.get_variable("dense_5/kernel", [1]).op.name == "s/dense_5/kernel_1"
