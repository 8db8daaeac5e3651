"""Layers of Keras that join, move, rectify and change tensors at random. Sums are those of TensorFlow 2.21's Keras."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pullback.compat.v1 as tf

L, regularizers = tf.keras.layers, tf.keras.regularizers
r = np.random.RandomState(0)
A = r.randn(2, 5, 4).astype("f")
IMAGES = r.randn(2, 6, 6, 3).astype("f")
V = r.randn(2, 4, 4, 4, 2).astype("f")
M = r.randn(3, 4).astype("f")
c = tf.constant
MADE: dict[str, tuple[Callable[[], Any], float, float]] = {
    "add": (lambda: L.add([c(M), c(M), c(M)]), -11.75, 218.9),
    "sub": (lambda: L.subtract([c(M), c(M * 2)]), 3.917, 72.96),
    "mul": (lambda: L.multiply([c(M), c(M)]), 15.08, 93.01),
    "avg": (lambda: L.average([c(M), c(M * 3)]), -7.835, 145.9),
    "maxi": (lambda: L.maximum([c(M), c(-M)]), 11.42, 72.96),
    "mini": (lambda: L.Minimum()([c(M), c(-M)]), -11.42, 72.96),
    "conc": (lambda: L.concatenate([c(A), c(A)], axis=1), 25.0, 2812.0),
    "addb": (lambda: L.Add()([c(A), c(A[:, 0])]), 30.54, 1178.0),
    "dot": (lambda: L.dot([c(A), c(A)], axes=2), 53.8, 3623.0),
    "dotn": (lambda: L.Dot(axes=-1, normalize=True)([c(M), c(M * M)]), -0.969, 5.781),
    "dot1": (lambda: L.Dot((1, 1))([c(A), c(A)]), 67.3, 1215.0),
    "resh": (lambda: L.Reshape((-1, 2))(c(A)), 12.5, 682.3),
    "resh2": (lambda: L.Reshape((2, 10))(c(A)), 12.5, 682.3),
    "perm": (lambda: L.Permute((2, 1))(c(A)), 12.5, 661.7),
    "rep": (lambda: L.RepeatVector(3)(c(M)), -11.75, 619.5),
    "zp1": (lambda: L.ZeroPadding1D(2)(c(A)), 12.5, 1261.0),
    "zp1b": (lambda: L.ZeroPadding1D((1, 2))(c(A)), 12.5, 1047.0),
    "zp2": (lambda: L.ZeroPadding2D((1, 2))(c(IMAGES)), -3.402, 40170.0),
    "zp2b": (lambda: L.ZeroPadding2D(((1, 0), (0, 2)))(c(IMAGES)), -3.402, 29670.0),
    "zp2c": (lambda: L.ZeroPadding2D(1, data_format="channels_first")(c(IMAGES)), -3.402, 40080.0),
    "zp3": (lambda: L.ZeroPadding3D()(c(V)), -22.3, 89780.0),
    "cr1": (lambda: L.Cropping1D((1, 2))(c(A)), 7.804, 109.5),
    "cr1d": (lambda: L.Cropping1D()(c(A)), 6.404, 230.4),
    "cr2": (lambda: L.Cropping2D(((1, 0), (2, 1)))(c(IMAGES)), 1.583, 2979.0),
    "cr2c": (lambda: L.Cropping2D((1, 1), data_format="channels_first")(c(IMAGES)), -12.62, 860.8),
    "cr3": (lambda: L.Cropping3D()(c(V)), -8.15, 435.5),
    "cr2d": (lambda: L.Cropping2D()(c(IMAGES)), -3.402, 18090.0),
    "up1": (lambda: L.UpSampling1D(3)(c(A)), 37.51, 6118.0),
    "up2": (lambda: L.UpSampling2D((2, 3))(c(IMAGES)), -20.41, 648200.0),
    "up2b": (lambda: L.UpSampling2D(interpolation="bilinear")(c(IMAGES)), -13.61, 190800.0),
    "up2c": (lambda: L.UpSampling2D(data_format="channels_first")(c(IMAGES)), -13.61, 288500.0),
    "up3": (lambda: L.UpSampling3D()(c(V)), -178.4, 1702000.0),
    "ga1": (lambda: L.GlobalAveragePooling1D()(c(A)), 2.5, 8.674),
    "gm1": (lambda: L.GlobalMaxPool1D()(c(A)), 10.48, 43.83),
    "ga2": (lambda: L.GlobalAveragePooling2D()(c(IMAGES)), -0.09451, 2.513),
    "ga2c": (lambda: L.GlobalAveragePooling2D(data_format="channels_first")(c(IMAGES)), -0.189, 16.82),
    "gm2": (lambda: L.GlobalMaxPooling2D()(c(IMAGES)), 12.38, 44.05),
    "ga3": (lambda: L.GlobalAveragePooling3D()(c(V)), -0.3485, 0.8435),
    "gm3": (lambda: L.GlobalMaxPool3D()(c(V)), 9.669, 24.56),
    "relu": (lambda: L.ReLU(1.0, 0.1, 0.2)(c(M)), 1.874, 24.21),
    "lrelu": (lambda: L.LeakyReLU()(c(M)), 1.449, 39.68),
    "lrelu2": (lambda: L.LeakyReLU(alpha=0.1)(c(M)), 2.983, 30.17),
    "elu": (lambda: L.ELU(0.5)(c(M)), 1.609, 39.27),
    "thr": (lambda: L.ThresholdedReLU(0.3)(c(M)), 3.289, 22.72),
    "sm": (lambda: L.Softmax(1)(c(A)), 8.0, 155.1),
    "prelu": (lambda: L.PReLU(alpha_initializer=tf.constant_initializer(0.25))(c(A)), 20.85, 472.9),
    "prelu2": (lambda: L.PReLU("ones", shared_axes=[1, 2])(c(IMAGES)), -3.402, 18090.0),
    "act": (lambda: L.Activation("selu")(c(M)), -3.586, 75.42),
    "act2": (lambda: L.Activation("exponential")(c(M)), 15.45, 105.4),
    "actsw": (lambda: L.Activation("swish")(c(M)), 1.199, 30.54),
    "lam": (lambda: L.Lambda(lambda x, k: x * k, arguments={"k": 3.0})(c(M)), -11.75, 218.9),
    "lamo": (lambda: L.Lambda(lambda x: x[:, 0], output_shape=(1,))(c(M)), -1.056, 2.997),
    "lstm": (lambda: L.LSTM(3, kernel_initializer="ones", recurrent_initializer="ones")(c(A)), 5.609, 19.04),
    "lstmb": (
        lambda: L.LSTM(
            3, kernel_initializer="ones", recurrent_initializer="ones", go_backwards=True, return_sequences=True
        )(c(A)),
        21.6,
        338.3,
    ),
    "gru": (lambda: L.GRU(3, kernel_initializer="ones", recurrent_initializer="ones", unroll=True)(c(A)), 2.036, 6.932),
    "gruis": (
        lambda: L.GRU(4, kernel_initializer="ones", recurrent_initializer="ones")(c(A), initial_state=c(M[:2])),
        2.314,
        12.12,
    ),
    "rnn": (
        lambda: L.SimpleRNN(3, kernel_initializer="ones", recurrent_initializer="ones", activation="relu")(c(A / 9)),
        182.4,
        407.3,
    ),
    "dense": (
        lambda: L.Dense(3, activation="relu", kernel_initializer="ones", bias_initializer="ones")(c(A)),
        76.02,
        961.6,
    ),
    "conv": (
        lambda: L.Conv2D(4, 3, padding="same", dilation_rate=2, kernel_initializer="ones")(c(IMAGES)),
        33.55,
        127800.0,
    ),
    "convT": (
        lambda: L.Conv2DTranspose(2, 3, strides=2, padding="same", kernel_initializer="ones")(c(IMAGES)),
        -122.6,
        306300.0,
    ),
    "sep": (
        lambda: L.SeparableConv2D(4, 3, depth_multiplier=2, depthwise_initializer="ones", pointwise_initializer="ones")(
            c(IMAGES)
        ),
        167.8,
        66260.0,
    ),
    "sep1": (
        lambda: L.SeparableConv1D(4, 2, depthwise_initializer="ones", pointwise_initializer="ones")(c(A)),
        75.62,
        1125.0,
    ),
    "c3t": (lambda: L.Conv3DTranspose(2, 2, strides=2, kernel_initializer="ones")(c(V)), -356.8, 2694000.0),
    "mpsame": (lambda: L.MaxPooling2D((3, 2), strides=1, padding="same")(c(IMAGES)), 247.5, 26440.0),
    "ap1": (lambda: L.AveragePooling1D(2)(c(A)), 5.005, 51.27),
    "flatc": (lambda: L.Flatten(data_format="channels_first")(c(IMAGES)), -3.402, 18460.0),
    "bnt": (lambda: L.BatchNormalization(gamma_initializer="ones")(c(IMAGES), training=True), 1.83e-07, 18730.0),
    "bnax": (lambda: L.BatchNormalization(axis=1)(c(IMAGES), training=True), 1.724e-06, 19090.0),
    "td": (lambda: L.TimeDistributed(L.Dense(2, kernel_initializer="ones"))(c(A)), 25.0, 431.8),
    "ln": (lambda: L.LayerNormalization()(c(A)), -1.937e-07, 722.7),
    "reg": (lambda: regularizers.l2(0.1)(c(M)), 1.508, 1.508),
    "reg1": (lambda: regularizers.get("l2")(c(M)), 0.1508, 0.1508),
    "reg2": (lambda: regularizers.l1_l2(0.1, 0.2)(c(M)), 4.158, 4.158),
}


def value(x: Any, engine: str = "numpy") -> Any:
    with tf.Session(engine=engine) as sess:
        sess.run(tf.global_variables_initializer())
        return sess.run(x)


@pytest.mark.parametrize("name", MADE)
def test_a_layer_gives_what_it_does_in_tensorflow(name: str) -> None:
    make, total, ordered = MADE[name]
    y = np.asarray(value(make()), "f8")
    assert y.sum() == pytest.approx(total, rel=1e-3, abs=1e-3)
    assert abs(y * np.arange(1, y.size + 1).reshape(y.shape)).sum() == pytest.approx(ordered, rel=1e-3)


NOISY: dict[str, Callable[[], Any]] = {
    "noise": lambda: L.GaussianNoise(1.0),
    "product": lambda: L.GaussianDropout(0.5),
    "dropout": lambda: L.Dropout(0.5),
    "channels": lambda: L.SpatialDropout2D(0.5),
}


@pytest.mark.parametrize("name", NOISY)
def test_noise_is_for_training_only(name: str) -> None:
    layer = NOISY[name]()
    np.testing.assert_array_equal(value(layer(c(IMAGES))), IMAGES)
    assert (value(layer(c(IMAGES), training=True)) != IMAGES).any()
    tf.keras.backend.set_learning_phase(1)
    try:
        assert (value(NOISY[name]()(c(IMAGES))) != IMAGES).any()
    finally:
        tf.keras.backend.set_learning_phase(0)


def test_whole_channels_are_dropped() -> None:
    y = value(L.SpatialDropout1D(0.5)(tf.ones([4, 9, 8]), training=True))
    assert set(np.unique(y)) == {0.0, 2.0}
    assert (y == y[:, :1]).all()


def test_an_embedding_starts_from_given_weights_and_is_trained_or_not() -> None:
    table = np.arange(6.0).reshape(3, 2)
    y = L.Embedding(3, 2, weights=[table], trainable=False, input_length=2)(c([[2.0, 0.0]]))
    assert value(y).tolist() == [[[4.0, 5.0], [0.0, 1.0]]]
    assert tf.trainable_variables() == []


def test_penalties_and_updates_are_the_layers_own() -> None:
    class Net(tf.keras.Model):
        def __init__(self) -> None:
            super().__init__()
            self.last = L.Dense(2, kernel_initializer="ones", kernel_regularizer=regularizers.l2(0.1))
            self.norm = L.BatchNormalization()

        def call(self, inputs: Any) -> Any:
            return self.last(self.norm(inputs, training=True))

    net = Net()
    net(c(M))
    assert value(net.losses) == [pytest.approx(0.8)]
    assert len(net.updates) == 2
    assert tf.losses.get_regularization_losses() == tf.get_collection(tf.GraphKeys.UPDATE_OPS) == []
    shared = L.Embedding(5, 2, embeddings_regularizer=regularizers.l1(l=0.5), embeddings_initializer="ones")
    shared(c([1]))
    shared(c([2]))
    assert value(shared.losses) == [5.0]


REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "activity": (lambda: L.LSTM(3, activity_regularizer=abs), "keras LSTM: not there: {'activity_regularizer': "),
    "unknown": (lambda: L.Reshape([2], no_such=1), "keras Reshape: not there: {'no_such': 1}"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_wishes_that_would_not_be_fulfilled_are_refused(name: str) -> None:
    make, message = REFUSED[name]
    with pytest.raises(NotImplementedError) as caught:
        make()
    assert str(caught.value).startswith(message)
    assert str(caught.value).endswith("; use functions of tf.nn, or a layer of your own")


def test_wishes_for_nothing_are_taken() -> None:
    layer = L.LSTM(3, dropout=0.0, recurrent_dropout=0, stateful=False, implementation=2, unroll=True, name="cell")
    assert layer(c(A)).shape == [2, 3]
    assert layer.name == "cell"


def test_tensors_to_join_come_in_a_list() -> None:
    with pytest.raises(ValueError, match=r"^keras Multiply: takes a list of at least two tensors, not "):
        L.Multiply()(c(M))
    with pytest.raises(ValueError, match=r"^keras Subtract: takes two tensors, not 3$"):
        L.Subtract()([c(M), c(M), c(M)])
    with pytest.raises(
        ValueError, match=r"^keras UpSampling2D: interpolation must be 'nearest' or 'bilinear', not 'x'$"
    ):
        L.UpSampling2D(interpolation="x")
