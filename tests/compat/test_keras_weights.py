"""Weights of Keras' layers as arrays, the session that they are in, and convolutions that look back only."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pullback as pb
import pullback.compat.v1 as tf

L: Any = tf.keras.layers
K: Any = tf.keras.backend


def test_weights_are_read_and_written() -> None:
    x = tf.keras.Input([3])
    inner = L.Dense(2, kernel_initializer="ones", name="inner")
    net = tf.keras.Model(x, L.BatchNormalization()(inner(x)))
    with pb.Session(engine="numpy").as_default():
        found = net.get_weights()
        assert [w.shape for w in found] == [(3, 2), (2,), (2,), (2,), (2,), (2,)]
        assert (found[0] == 1.0).all()
        net.set_weights([w + 2.0 for w in found])
        assert (inner.get_weights()[0] == 3.0).all()
        with pytest.raises(
            ValueError, match=r"^set_weights: the layer 'inner' has weights of the shapes \[\[3, 2\], \[2"
        ):
            inner.set_weights(found)


def test_the_session_of_the_backend_begins_with_initial_values() -> None:
    layer, x = L.Dense(1, kernel_initializer="ones"), tf.ones([1, 3])
    with pb.Session(engine="numpy").as_default() as session:
        given = tf.Variable(1.0)
        session.run(given.assign(5.0))
        y = layer(x)
        assert K.get_session() is session
        assert (session.run(y).item(), session.run(given)) == (3.0, 5.0)
        session.run(given.assign(7.0))
        assert K.get_session().run(given) == 7.0


@pytest.mark.parametrize("engine", ["numpy", "xla"])
@pytest.mark.parametrize("make", [L.Conv1D, L.SeparableConv1D, tf.layers.Conv1D])
@pytest.mark.parametrize(("dilation", "strides"), [(1, 1), (2, 1), (1, 2)])
def test_no_result_depends_on_later_steps(make: Any, dilation: int, strides: int, engine: str) -> None:
    x = tf.constant(np.random.default_rng(0).normal(size=(2, 7, 3)), tf.float32)
    layer = make(2, 3, strides, "causal", dilation_rate=dilation)
    y = layer(x)
    before = tf.pad(x, [[0, 0], [2 * dilation, 0], [0, 0]])
    if make is L.SeparableConv1D:
        depthwise, pointwise = layer.variables[:2]
        steps = [1, strides, strides, 1]
        wide = tf.nn.separable_conv2d(before[:, None], depthwise[None], pointwise[None], steps, "VALID", [1, dilation])
        expected = wide[:, 0]
    else:
        expected = tf.nn.convolution(before, layer.variables[0], "VALID", [strides], [dilation])
    assert y.shape == [2, 7 if strides == 1 else 4, 2]
    with pb.Session(engine=engine) as session:
        session.run(tf.global_variables_initializer())
        np.testing.assert_allclose(*session.run([y, expected]), rtol=1e-5, atol=1e-6)
        assert not session.run(tf.gradients(y[:, 1], x)[0])[:, 1 + strides :].any()


def test_images_have_no_earlier_steps() -> None:
    with pytest.raises(ValueError, match="padding must be SAME, VALID or a list of pairs, not 'CAUSAL'"):
        L.Conv2D(2, 3, padding="causal")(tf.zeros([1, 5, 5, 1]))


def test_the_session_of_the_backend_is_one_of_the_default_graph() -> None:
    sessions = []
    for _ in range(2):
        with tf.Graph().as_default() as graph:
            layer = L.Dense(1, kernel_initializer="ones")
            layer.build([None, 3])
            assert (layer.get_weights()[0] == 1.0).all()
            sessions.append(K.get_session())
            assert K.get_session() is sessions[-1]
            assert sessions[-1].graph is graph
    assert sessions[0] is not sessions[1]
    K.clear_session()
