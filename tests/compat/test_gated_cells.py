"""Cells of papers in `tf.contrib.rnn`: a step of each beside its formula in NumPy, and what calls them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pullback.compat import v1 as tf

rnn = tf.contrib.rnn
Array = np.ndarray[Any, Any]
LSTM = rnn.LSTMStateTuple


def data(*shape: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def run(fetches: Any) -> Any:
    """The fetches, and the trainable variables by their names below the first scope."""
    variables = tf.trainable_variables()
    with tf.Session(engine="numpy") as session:
        session.run(tf.global_variables_initializer())
        for i, v in enumerate(variables):
            session.run(v.assign(data(*v.shape.as_list(), seed=i + 7) * 0.5 + 0.5))
        found, values = session.run([fetches, variables])
    return found, {v.op.name.partition("/")[2]: value for v, value in zip(variables, values, strict=True)}


def sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def relu(x: Any) -> Any:
    return np.maximum(x, 0)


def parts(x: Any, count: int) -> list[Any]:
    return np.split(x, count, 1)


X, C, H = data(2, 4, seed=1), data(2, 4, seed=2), data(2, 4, seed=3)
XH = np.concatenate([X, H], 1)


def nas(v: dict[str, Array]) -> Any:
    x, h = parts(X @ v["kernel"], 8), parts(H @ v["recurrent_kernel"] + v["bias"], 8)
    one = np.tanh(sigmoid(x[0] + h[0]) * relu(x[1] + h[1]))
    two = np.tanh(sigmoid(x[2] + h[2]) + relu(x[3] * h[3]))
    three = np.tanh(np.tanh(x[4] + h[4]) * sigmoid(x[5] + h[5]))
    four = sigmoid(np.tanh(x[6] + h[6]) + sigmoid(x[7] + h[7]))
    c = np.tanh(one + C) * two
    return np.tanh(c * np.tanh(three + four)), c


def intersection(v: dict[str, Array]) -> Any:
    gh, h, gy, y = parts(XH @ v["kernel"] + v["bias"], 4)
    gh, gy = sigmoid(gh + 1), sigmoid(gy + 1)
    return gy * X + (1 - gy) * relu(y), gh * H + (1 - gh) * np.tanh(h)


def coupled(v: dict[str, Array]) -> Any:
    j, f, o = parts(XH @ v["W"] + v["B"], 3)
    f = sigmoid(f + 1 + v["W_F_diag"] * C)
    c = f * C + (1 - f) * np.tanh(j)
    return sigmoid(o + v["W_O_diag"] * c) * np.tanh(c), c


def sru(v: dict[str, Array]) -> Any:
    x, f, r, through = parts(X @ v["kernel"], 4)
    f, r = parts(sigmoid(np.concatenate([f, r], 1) + v["bias"]), 2)
    c = f * H + (1 - f) * x
    return r * np.tanh(c) + (1 - r) * through, c


def grouped(v: dict[str, Array]) -> Any:
    products = [
        parts(np.concatenate([X[:, k : k + 2], H[:, k : k + 2]], 1) @ v[f"group{k // 2}/kernel"], 4) for k in (0, 2)
    ]
    i, j, f, o = [np.concatenate(both, 1) + v[f"bias_{g}"] for *both, g in zip(*products, "ijfo", strict=True)]
    c = sigmoid(f + 1) * C + sigmoid(i) * np.tanh(j)
    return sigmoid(o) * np.tanh(c), c


def independent(v: dict[str, Array]) -> Any:
    h = np.tanh(X @ v["kernel_w"] + H * v["kernel_u"] + v["bias"])
    return h, h


def independent_gru(v: dict[str, Array]) -> Any:
    states = np.concatenate([H, H], 1)
    r, u = parts(sigmoid(X @ v["gates/kernel_w"] + states * v["gates/kernel_u"] + v["gates/bias"]), 2)
    new = X @ v["candidate/kernel"] + r * H * v["candidate/kernel_u"] + v["candidate/bias"]
    h = u * H + (1 - u) * np.tanh(new)
    return h, h


def independent_lstm(v: dict[str, Array]) -> Any:
    i, j, f, o = parts(X @ v["kernel_w"] + np.concatenate([H] * 4, 1) * v["kernel_u"] + v["bias"], 4)
    c = C * sigmoid(f + 1) + sigmoid(i) * np.tanh(j)
    return np.tanh(c) * sigmoid(o), c


@pytest.mark.parametrize(
    ("make", "formula"),
    [
        (lambda: rnn.NASCell(4, use_bias=True), nas),
        (lambda: rnn.IntersectionRNNCell(4), intersection),
        (lambda: rnn.CoupledInputForgetGateLSTMCell(4, use_peepholes=True), coupled),
        (lambda: rnn.SRUCell(4), sru),
        (lambda: rnn.GLSTMCell(4, number_of_groups=2), grouped),
        (lambda: rnn.IndRNNCell(4), independent),
        (lambda: rnn.IndyGRUCell(4), independent_gru),
        (lambda: rnn.IndyLSTMCell(4), independent_lstm),
    ],
)
def test_a_step_is_its_formula(make: Any, formula: Any) -> None:
    cell = make()
    single = not isinstance(cell.state_size, tuple)
    output, after = cell(tf.constant(X), tf.constant(H) if single else LSTM(tf.constant(C), tf.constant(H)))
    (found, state), values = run([output, after])
    expected, carried = formula(values)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(state if single else state.c, carried, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("make", "names"),
    [
        (lambda: rnn.NASCell(6, num_proj=3), {"recurrent_kernel", "kernel", "projection_weights"}),
        (lambda: rnn.CoupledInputForgetGateLSTMCell(6, num_proj=3, proj_clip=0.1), {"W", "B", "W_P"}),
        (lambda: rnn.GLSTMCell(6, num_proj=3), {"group0/kernel", *[f"bias_{g}" for g in "ijfo"], "projection/kernel"}),
    ],
)
def test_what_is_shown_may_be_shorter_than_what_is_remembered(make: Any, names: set[str]) -> None:
    cell = make()
    output, state = cell(tf.constant(X), cell.zero_state(2, tf.float32))
    (_, slopes), values = run([output, tf.gradients(output, tf.trainable_variables())])
    assert (output.shape.as_list(), state.c.shape.as_list(), cell.output_size) == ([2, 3], [2, 6], 3)
    assert values.keys() == names
    assert all(s is not None for s in slopes)


def test_a_coupled_cell_may_be_normalized() -> None:
    cell = rnn.CoupledInputForgetGateLSTMCell(4, layer_norm=True, norm_gain=2.0)
    _, state = cell(tf.constant(X), cell.zero_state(2, tf.float32))
    with tf.Session(engine="numpy") as session:
        session.run(tf.global_variables_initializer())
        np.testing.assert_allclose(session.run(state.c).std(1), 2.0, rtol=1e-4)


def test_a_phased_cell_changes_while_it_is_open() -> None:
    cell, times = rnn.PhasedLSTMCell(4, ratio_on=0.5), tf.placeholder(tf.float32, [2, 1])
    before = LSTM(tf.constant(C), tf.constant(H))
    output, after = cell((times, tf.constant(X)), before)
    values = {v.op.name.partition("/")[2]: v for v in tf.trainable_variables()}
    with tf.Session(engine="numpy") as session:
        session.run(tf.global_variables_initializer())
        session.run([values["period"].assign([10.0] * 4), values["phase"].assign([0.0] * 4)])
        v = session.run(values)
        i, f = parts(sigmoid(XH @ v["mask_gates/kernel"] + v["mask_gates/bias"]), 2)
        c = C * f + i * np.tanh(XH @ v["new_input/kernel"] + v["new_input/bias"])
        h = np.tanh(c) * sigmoid(XH @ v["output_gate/kernel"] + v["output_gate/bias"])
        for time, k in ((1.0, 0.4), (2.5, 1.0), (4.0, 0.4), (8.0, 0.8e-3), (11.0, 0.4)):
            found, state = session.run([output, after], {times: [[time]] * 2})
            np.testing.assert_allclose(state.c, k * c + (1 - k) * C, rtol=1e-3, atol=1e-5)
            np.testing.assert_allclose(found, k * h + (1 - k) * H, rtol=1e-3, atol=1e-5)


def test_times_and_features_go_through_a_loop_together() -> None:
    inputs = (tf.constant(data(2, 5, 1)), tf.constant(data(2, 5, 3)))
    outputs, _ = tf.nn.dynamic_rnn(rnn.PhasedLSTMCell(4), inputs, [5, 3], dtype=tf.float32)
    (y, slopes), _ = run([outputs, tf.gradients(outputs, list(inputs))])
    assert (y[1, 3:] == 0).all()
    assert (slopes[0].shape, slopes[1].shape) == ((2, 5, 1), (2, 5, 3))


def test_images_go_through_a_loop() -> None:
    cell = rnn.Conv2DLSTMCell(input_shape=[4, 4, 1], output_channels=2, kernel_shape=[3, 3])
    frames = tf.constant(data(2, 3, 4, 4, 1))
    looped, _ = tf.nn.dynamic_rnn(cell, frames, [3, 2], dtype=tf.float32)
    listed, _ = tf.nn.static_rnn(cell, tf.unstack(frames, axis=1), dtype=tf.float32, sequence_length=[3, 2])
    (a, b), _ = run([looped, tf.stack(listed, 1)])
    np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


def test_attention_over_the_last_outputs() -> None:
    cell = rnn.AttentionCellWrapper(rnn.BasicRNNCell(4), 3, attn_vec_size=5)
    window, attended = data(2, 12, seed=4), data(2, 4, seed=5)
    output, after = cell(tf.constant(X), (tf.constant(H), tf.constant(attended), tf.constant(window)))
    (found, state), v = run([output, after])
    x = np.concatenate([X, attended], 1) @ v["kernel"] + v["bias"]
    h = np.tanh(np.concatenate([x, H], 1) @ v["basic_rnn_cell/kernel"] + v["basic_rnn_cell/bias"])
    last = window.reshape(2, 3, 4)
    query = h @ v["attention/kernel"] + v["attention/bias"]
    e = np.exp(np.tanh(last @ v["attention/attn_w"][0, 0] + query[:, None]) @ v["attention/attn_v"])
    attention = np.einsum("bt,btd->bd", e / e.sum(1, keepdims=True), last)
    inner = "attn_output_projection"
    expected = np.concatenate([h, attention], 1) @ v[f"{inner}/kernel"] + v[f"{inner}/bias"]
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(state[1], attention, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(state[2], np.concatenate([window[:, 4:], expected], 1), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("use_dynamic_rnn", [False, True])
def test_fused_cells_go_forward_and_back(use_dynamic_rnn: bool) -> None:
    x, lengths = tf.constant(data(5, 2, 3)), [5, 3]
    fused = rnn.FusedRNNCellAdaptor(rnn.GRUCell(4), use_dynamic_rnn)
    with tf.variable_scope("a"):
        forward, _ = fused(x, dtype=tf.float32, sequence_length=lengths)
    with tf.variable_scope("a", reuse=True):
        backward, _ = rnn.TimeReversedFusedRNN(fused)(x, dtype=tf.float32, sequence_length=lengths)
        expected, _ = tf.nn.bidirectional_dynamic_rnn(
            fused._cell, fused._cell, x, lengths, dtype=tf.float32, time_major=True
        )
    (a, b, both), _ = run([forward, backward, expected])
    np.testing.assert_allclose(a, both[0], rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(b, both[1], rtol=1e-5, atol=1e-6)


def test_the_fused_long_short_term_memory_is_the_cell_in_a_loop() -> None:
    x = tf.constant(data(5, 2, 3))
    fused, state = rnn.LSTMBlockFusedCell(4, use_peephole=True)(x, (tf.ones([2, 4]), tf.zeros([2, 4])), tf.float32)
    cell = rnn.LSTMCell(4, use_peepholes=True, name="lstm_fused_cell", reuse=True)
    looped, end = tf.nn.dynamic_rnn(
        cell, x, None, LSTM(tf.ones([2, 4]), tf.zeros([2, 4])), time_major=True, scope=tf.get_variable_scope()
    )
    (a, b, c, d), _ = run([fused, looped, state.c, end.c])
    np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(c, d)


def test_a_loop_of_ones_own_is_that_of_dynamic_rnn() -> None:
    x, lengths, cell = tf.constant(data(2, 5, 3)), tf.constant([5, 3]), rnn.LSTMCell(4)
    rows = tf.TensorArray(tf.float32, 5).unstack(tf.transpose(x, [1, 0, 2]))

    def loop_fn(time: Any, output: Any, state: Any, carried: Any) -> Any:
        first = output is None
        finished = time >= lengths
        following = tf.cond(tf.reduce_all(finished), lambda: tf.zeros([2, 3]), lambda: rows.read(time))
        after = cell.zero_state(2, tf.float32) if first else state
        return finished, following, after, output, tf.constant(0) if first else carried + 1

    with tf.variable_scope("a"):
        arrays, end, steps = tf.nn.raw_rnn(cell, loop_fn, scope="rnn")
    with tf.variable_scope("a", reuse=True):
        looped, expected = tf.nn.dynamic_rnn(cell, x, lengths, dtype=tf.float32)
    y = tf.transpose(arrays.stack(), [1, 0, 2])
    slopes = [tf.gradients(z, x)[0] for z in (y, looped)]
    found, _ = run([y, looped, end.c, expected.c, *slopes, steps])
    for one, other in zip(found[:-1:2], found[1:-1:2], strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)
    assert found[-1] == 5


def test_what_does_not_fit_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"^GLSTMCell: num_units must be a multiple of 3 groups, not 4$"):
        rnn.GLSTMCell(4, number_of_groups=3)
    text = (
        r"^IntersectionRNNCell: inputs must be of length 3, not float32\[2,4\]; give num_in_proj=3 in the first layer$"
    )
    with pytest.raises(ValueError, match=text):
        rnn.IntersectionRNNCell(3)(tf.constant(X), tf.zeros([2, 3]))
    with pytest.raises(ValueError, match=r"^AttentionCellWrapper: attn_length must be positive, not 0$"):
        rnn.AttentionCellWrapper(rnn.GRUCell(4), 0)
    with pytest.raises(TypeError, match=r"^raw_rnn: loop_fn must be callable, not 3$"):
        tf.nn.raw_rnn(rnn.GRUCell(4), 3)
