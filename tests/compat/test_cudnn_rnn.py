"""Layers of `tf.contrib.cudnn_rnn`, beside their formulas and the loops of the same cells."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pullback.compat import v1 as tf

cudnn_rnn, rnn = tf.contrib.cudnn_rnn, tf.contrib.rnn
Array = np.ndarray[Any, Any]


def data(*shape: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def run(fetches: Any) -> Any:
    """The fetches, and the variables by the ends of their names."""
    variables = tf.trainable_variables()
    with tf.Session(engine="numpy") as session:
        session.run(tf.global_variables_initializer())
        for i, v in enumerate(variables):
            session.run(v.assign(data(*v.shape.as_list(), seed=i + 7)))
        found, values = session.run([fetches, variables])
    return found, {v.op.name.split("cell_0/")[-1]: value for v, value in zip(variables, values, strict=True)}


def sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


X = data(5, 2, 3)


def test_a_long_short_term_memory_adds_nothing_to_its_forget_gate() -> None:
    outputs, (h, c) = cudnn_rnn.CudnnLSTM(1, 4)(X)
    (y, last, memory), v = run([outputs, h, c])
    shown = kept = np.zeros((2, 4))
    for t in range(5):
        both = np.concatenate([X[t], shown], 1) @ v["cudnn_compatible_lstm_cell/kernel"]
        i, j, f, o = np.split(both + v["cudnn_compatible_lstm_cell/bias"], 4, 1)
        kept = sigmoid(f) * kept + sigmoid(i) * np.tanh(j)
        shown = sigmoid(o) * np.tanh(kept)
        np.testing.assert_allclose(y[t], shown, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(last[0], shown, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(memory[0], kept, rtol=1e-4, atol=1e-5)


def test_a_gated_unit_resets_after_its_product() -> None:
    outputs, (h,) = cudnn_rnn.CudnnGRU(1, 4)(X, (tf.constant(data(1, 2, 4, seed=1)),))
    (y, last), values = run([outputs, h])
    v = {name.partition("/")[2]: value for name, value in values.items()}
    state = data(1, 2, 4, seed=1)[0]
    for t in range(5):
        gates = sigmoid(np.concatenate([X[t], state], 1) @ v["gates/kernel"] + v["gates/bias"])
        r, u = np.split(gates, 2, 1)
        hidden = state @ v["candidate/hidden_projection/kernel"] + v["candidate/hidden_projection/bias"]
        inputs = X[t] @ v["candidate/input_projection/kernel"] + v["candidate/input_projection/bias"]
        state = u * state + (1 - u) * np.tanh(inputs + r * hidden)
        np.testing.assert_allclose(y[t], state, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(last[0], state, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("kind", "activation"), [(cudnn_rnn.CudnnRNNTanh, np.tanh), (cudnn_rnn.CudnnRNNRelu, lambda x: np.maximum(x, 0))]
)
def test_plain_layers(kind: Any, activation: Any) -> None:
    (y, _), v = run(list(kind(1, 4)(X)))
    first = activation(X[0] @ v["basic_rnn_cell/kernel"][:3] + v["basic_rnn_cell/bias"])
    np.testing.assert_allclose(y[0], first, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("lengths", [None, [5, 2]])
def test_both_directions_are_stacked_cells_with_the_variables_of_tensorflows_checkpoints(lengths: Any) -> None:
    layer = cudnn_rnn.CudnnLSTM(2, 4, direction="bidirectional")
    states = tuple(tf.constant(data(4, 2, 4, seed=k)) for k in (1, 2))
    outputs, ends = layer(X, states, lengths)
    cells = [[cudnn_rnn.CudnnCompatibleLSTMCell(4) for _ in range(2)] for _ in range(2)]
    h, c = [tf.unstack(part) for part in states]
    first = [[rnn.LSTMStateTuple(c[n], h[n]) for n in (k, k + 2)] for k in (0, 1)]
    with tf.variable_scope(tf.get_variable_scope(), reuse=True):
        stacked, fw, bw = rnn.stack_bidirectional_dynamic_rnn(
            *cells, tf.constant(X), *first, tf.float32, lengths, time_major=True, scope="stack_bidirectional_rnn"
        )
    found, _ = run([outputs, stacked, ends[0], tf.stack([fw[0].h, bw[0].h, fw[1].h, bw[1].h])])
    np.testing.assert_allclose(found[0], found[1], rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(found[2], found[3], rtol=1e-5, atol=1e-6)
    assert len(layer.trainable_variables) == 8


def test_one_direction_has_the_variables_of_tensorflows_checkpoints_too() -> None:
    layer = cudnn_rnn.CudnnLSTM(2, 4)
    with tf.variable_scope("encoder"):
        layer(X)
    assert [v.op.name for v in layer.variables if "kernel" in v.op.name] == [
        f"encoder/rnn/multi_rnn_cell/cell_{k}/cudnn_compatible_lstm_cell/kernel" for k in range(2)
    ]


def test_a_second_call_shares_the_variables() -> None:
    layer = cudnn_rnn.CudnnGRU(2, 4, direction="bidirectional")
    first, second = layer(X)[0], layer(np.swapaxes(X, 0, 1), time_major=False)[0]
    (a, b), _ = run([first, second])
    np.testing.assert_allclose(a, np.swapaxes(b, 0, 1), rtol=1e-5, atol=1e-6)
    assert len(tf.trainable_variables()) == len(layer.variables) == 24


def test_elements_are_dropped_between_layers_while_training() -> None:
    layer = cudnn_rnn.CudnnRNNRelu(2, 30, dropout=0.5, seed=1)
    trained, used, again = layer(X)[0], layer(X, training=False)[0], layer(X, training=False)[0]
    (a, b, c), _ = run([trained, used, again])
    np.testing.assert_array_equal(b, c)
    assert not np.allclose(a, b)


def test_the_gates_of_a_layer_begin_each_by_itself() -> None:
    layer = cudnn_rnn.CudnnLSTM(1, 40, kernel_initializer=lambda shape, dtype: tf.fill(shape, float(shape[1])))
    layer(X)
    with tf.Session(engine="numpy") as session:
        session.run(tf.global_variables_initializer())
        kernel, bias = session.run(layer.variables)
    assert (kernel[:3] == 3).all()
    assert (kernel[3:] == 40).all()
    assert (bias == 0).all()


def test_derivatives_go_through_all_layers() -> None:
    x = tf.constant(X)
    layer = cudnn_rnn.CudnnGRU(2, 4)
    outputs, _ = layer(x, training=False)
    slopes, _ = run(tf.gradients(outputs, [x, *layer.variables]))
    assert all(np.abs(s).max() > 0 for s in slopes)


def test_what_is_not_there_says_so() -> None:
    text = r"^CudnnGRU: direction must be unidirectional or bidirectional, not 'both'$"
    with pytest.raises(ValueError, match=text):
        cudnn_rnn.CudnnGRU(1, 2, direction="both")
    with pytest.raises(NotImplementedError, match=r"^CudnnGRU: only input_mode='linear_input' is there$"):
        cudnn_rnn.CudnnGRU(1, 2, "skip_input")
    with pytest.raises(TypeError, match=r"^CudnnGRU: initial_state must be a tuple, not \[\]$"):
        cudnn_rnn.CudnnGRU(1, 2)(X, [])
