"""Keras' recurrent layers of the cells of `nn.rnn_cell`, whose state may be one tensor or a tuple of two."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pullback as pb
import pullback.compat.v1 as tf

X = np.random.default_rng(3).normal(size=(2, 4, 5)).astype(np.float32)


@pytest.mark.parametrize(
    "make",
    [
        lambda: tf.nn.rnn_cell.LSTMCell(3, use_peepholes=True, cell_clip=True, name="cell"),
        lambda: tf.nn.rnn_cell.BasicRNNCell(3, name="cell"),
        lambda: tf.nn.rnn_cell.GRUCell(3, name="cell"),
        lambda: tf.nn.rnn_cell.MultiRNNCell([tf.nn.rnn_cell.GRUCell(3, name="cell"), tf.nn.rnn_cell.LSTMCell(2)]),
    ],
)
@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_a_layer_gives_what_dynamic_rnn_gives(make: Any, engine: str) -> None:
    with pb.Graph().as_default():
        cell = make()
        given = tf.placeholder(tf.float32, [2, 4, 5])
        layer = tf.keras.layers.RNN(cell, return_sequences=True, return_state=True)
        found = layer(given)
        wanted = tf.nn.dynamic_rnn(cell, given, dtype=tf.float32)
        session = pb.Session(engine=engine)
        session.run(tf.global_variables_initializer())
        values, right = session.run([found, wanted], {given: X})
        np.testing.assert_allclose(values[0], right[0], rtol=1e-5, atol=1e-6)
        for a, b in zip(pb.nest.flatten(values[1:]), pb.nest.flatten(right[1]), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)
