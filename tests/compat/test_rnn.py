"""The recurrent cells and loops that only `tf.contrib.rnn` and TensorFlow 1 have."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pullback.compat import v1 as tf
from pullback.compat.v1 import rnn_names

rnn = tf.contrib.rnn


def data(*shape: int) -> np.ndarray[Any, Any]:
    return np.random.default_rng(0).normal(size=shape).astype(np.float32)


def run(*fetches: Any) -> Any:
    with tf.Session(engine="numpy") as session:
        session.run(tf.global_variables_initializer())
        return session.run(list(fetches))


@pytest.mark.parametrize(
    ("make", "output"),
    [
        (lambda: rnn.UGRNNCell(3), [2, 4, 3]),
        (lambda: rnn.LSTMBlockCell(3, use_peephole=True), [2, 4, 3]),
        (lambda: rnn.GRUBlockCellV2(3), [2, 4, 3]),
        (lambda: rnn.LayerNormBasicLSTMCell(3), [2, 4, 3]),
        (lambda: rnn.LayerNormBasicLSTMCell(3, layer_norm=False, dropout_keep_prob=0.5), [2, 4, 3]),
        (lambda: rnn.InputProjectionWrapper(rnn.GRUCell(3), 7), [2, 4, 3]),
        (lambda: rnn.OutputProjectionWrapper(rnn.GRUCell(3), 7, tf.nn.relu), [2, 4, 7]),
        (lambda: rnn.HighwayWrapper(rnn.GRUCell(5)), [2, 4, 5]),
        (lambda: rnn.DeviceWrapper(rnn.CompiledWrapper(rnn.GRUCell(3)), "/cpu:0"), [2, 4, 3]),
    ],
)
def test_a_cell_runs_and_is_differentiated(make: Any, output: list[int]) -> None:
    outputs, _ = tf.nn.dynamic_rnn(make(), tf.constant(data(2, 4, 5)), [4, 2], dtype=tf.float32)
    assert outputs.shape.as_list() == output
    slopes = tf.gradients(tf.reduce_sum(tf.square(outputs)), tf.trainable_variables())
    assert all(np.isfinite(dv).all() for dv in run(*slopes))


def test_a_step_of_a_layer_normalized_cell() -> None:
    x = data(2, 5)
    cell = rnn.LayerNormBasicLSTMCell(3, norm_gain=2.0, norm_shift=0.5)
    output, (c, h) = cell(tf.constant(x), cell.zero_state(2, tf.float32))
    kernel, y, memory, shown = run(cell.variables[0], output, c, h)

    def normal(z: Any) -> Any:
        return 2.0 * (z - z.mean(1, keepdims=True)) / z.std(1, keepdims=True) + 0.5

    i, j, f, o = (normal(part) for part in np.split(x @ kernel[:5], 4, 1))
    del f
    expected = normal(np.tanh(j) / (1 + np.exp(-i)))
    np.testing.assert_allclose(memory, expected, rtol=1e-4)
    np.testing.assert_allclose(y, np.tanh(expected) / (1 + np.exp(-o)), rtol=1e-4)
    np.testing.assert_array_equal(y, shown)


def test_a_convolutional_cell_keeps_images() -> None:
    cell = rnn.Conv2DLSTMCell(input_shape=[6, 6, 1], output_channels=2, kernel_shape=[3, 3], skip_connection=True)
    frames = tf.unstack(tf.constant(data(2, 3, 6, 6, 1)), axis=1)
    outputs, state = tf.nn.static_rnn(cell, frames, dtype=tf.float32)
    assert (outputs[0].shape.as_list(), state.c.shape.as_list()) == ([2, 6, 6, 3], [2, 6, 6, 2])
    assert len(tf.trainable_variables()) == 2


def test_numbers_of_rows_go_through_an_embedding() -> None:
    cell = rnn.EmbeddingWrapper(rnn.GRUCell(3), 10, 4)
    outputs, _ = tf.nn.static_rnn(cell, [tf.constant([1, 2]), tf.constant([3, 4])], dtype=tf.float32)
    assert outputs[0].shape.as_list() == [2, 3]
    assert "rnn/embedding_wrapper/embedding" in [v.op.name for v in tf.trainable_variables()]


@pytest.mark.parametrize("lengths", [None, [4, 2]])
def test_both_directions_without_a_loop_are_those_of_the_loop(lengths: Any) -> None:
    x = tf.constant(data(2, 4, 5))
    fw, bw = tf.nn.rnn_cell.GRUCell(3), tf.nn.rnn_cell.GRUCell(3)
    with tf.variable_scope("both"):
        looped, ends = tf.nn.bidirectional_dynamic_rnn(fw, bw, x, lengths, dtype=tf.float32)
    with tf.variable_scope("both", reuse=True):
        listed, end_fw, end_bw = tf.nn.static_bidirectional_rnn(
            fw, bw, tf.unstack(x, axis=1), dtype=tf.float32, sequence_length=lengths
        )
    found = run(tf.concat(looped, 2), tf.stack(listed, 1), ends[0], end_fw, ends[1], end_bw)
    for one, other in zip(found[::2], found[1::2], strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-7)


def test_layers_of_both_directions_lie_upon_each_other() -> None:
    cells = [[rnn.LSTMCell(3), rnn.LSTMCell(2)] for _ in range(2)]
    y, fw, bw = rnn.stack_bidirectional_dynamic_rnn(*cells, tf.ones([2, 4, 5]), dtype=tf.float32)
    assert (y.shape.as_list(), fw[0].h.shape.as_list(), bw[1].c.shape.as_list()) == ([2, 4, 4], [2, 3], [2, 2])
    names = {v.op.name.partition("/bidirectional_rnn")[0] for v in tf.trainable_variables()}
    assert names == {"stack_bidirectional_rnn/cell_0", "stack_bidirectional_rnn/cell_1"}


def test_names_of_the_modules_that_cells_are_in() -> None:
    x, h = tf.constant(data(2, 5)), tf.constant(data(2, 3))
    made = rnn_names._linear([x, h], 4, True)
    layer = rnn_names._Linear
    with tf.variable_scope("again"):
        kept = layer([x, h], 4, False)
    zeros = rnn_names._zero_state_tensors((3, tf.TensorShape([2, 1])), 2, tf.float32)
    turned = rnn_names._reverse_seq([x, 2.0 * x], tf.constant([2, 1]))
    found = run(made, kept([x, h]), *tf.trainable_variables(), rnn_names._transpose_batch_time(x), *turned)
    both = np.concatenate([data(2, 5), data(2, 3)], 1)
    np.testing.assert_allclose(found[0], both @ found[2] + found[3], rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(found[1], both @ found[4], rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(found[5], data(2, 5).T)
    np.testing.assert_array_equal(found[6], [2 * data(2, 5)[0], data(2, 5)[1]])
    assert [z.shape.as_list() for z in zeros] == [[2, 3], [2, 2, 1]]
    assert [v.op.name for v in tf.trainable_variables()] == ["kernel", "bias", "again/kernel"]


def test_a_step_of_sequences_that_have_ended_changes_nothing() -> None:
    state = tf.constant(data(2, 3))
    output, after = rnn_names._rnn_step(
        tf.constant(1), tf.constant([2, 1]), 1, 2, None, state, lambda: (state + 1.0, 2.0 * state), 3
    )
    y, ended = run(output, after)
    np.testing.assert_array_equal(y, [data(2, 3)[0] + 1, [0, 0, 0]])
    np.testing.assert_array_equal(ended, [2 * data(2, 3)[0], data(2, 3)[1]])


def test_what_is_no_cell_is_said_so() -> None:
    assert rnn_names._like_rnncell(rnn.GRUCell(3))
    with pytest.raises(TypeError, match=r"^The argument 'cell' must be an RNNCell, not 3$"):
        rnn_names.assert_like_rnncell("cell", 3)


class Pairs(rnn.RNNCell):
    """A cell whose inputs, outputs and states are pairs."""

    state_size = output_size = (5, 5)

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:
        (x, y), (a, b) = inputs, state
        after = (0.5 * a + x, 0.25 * b + y)
        return after, after


@pytest.mark.parametrize("lengths", [None, [4, 2]])
def test_both_directions_take_structures_of_inputs(lengths: Any) -> None:
    x, y = tf.constant(data(2, 4, 5)), tf.constant(2.0 * data(2, 4, 5))
    steps = list(zip(tf.unstack(x, axis=1), tf.unstack(y, axis=1), strict=True))
    listed, fw, bw = tf.nn.static_bidirectional_rnn(Pairs(), Pairs(), steps, dtype=tf.float32, sequence_length=lengths)
    looped, ends = tf.nn.bidirectional_dynamic_rnn(Pairs(), Pairs(), (x, y), lengths, dtype=tf.float32)
    found = run([tf.stack([step[i] for step in listed], 1) for i in range(2)], fw, bw, looped, ends)
    both = [np.concatenate([found[3][0][i], found[3][1][i]], -1) for i in range(2)]
    np.testing.assert_allclose(found[0], both, rtol=1e-6)
    np.testing.assert_allclose(found[1:3], found[4], rtol=1e-6)


class Kept:
    """States of two sequences that are kept in variables."""

    def __init__(self, sizes: dict[str, int]) -> None:
        self.variables = {
            name: tf.get_variable(name, [2, n], initializer=tf.ones_initializer()) for name, n in sizes.items()
        }

    def state(self, name: str) -> Any:
        return self.variables[name].read_value()

    def save_state(self, name: str, state: Any) -> Any:
        return self.variables[name].assign(state)


@pytest.mark.parametrize(
    ("make", "sizes", "names"),
    [
        (lambda: rnn.GRUCell(3), {"h": 3}, "h"),
        (lambda: rnn.LSTMCell(3), {"c": 3, "h": 3}, ("c", "h")),
        (
            lambda: rnn.MultiRNNCell([rnn.LSTMCell(3), rnn.GRUCell(2)]),
            {"c": 3, "h": 3, "g": 2},
            (("c", "h"), "g"),
        ),
    ],
)
def test_a_state_is_kept_from_run_to_run(make: Any, sizes: Any, names: Any) -> None:
    saver, steps = Kept(sizes), tf.unstack(tf.constant(data(2, 6, 4)), axis=1)
    cell = make()
    outputs, _ = tf.nn.static_state_saving_rnn(cell, steps[:3], saver, names)
    first = tf.nest.pack_sequence_as(cell.state_size, [tf.ones([2, n]) for n in sizes.values()])
    with tf.variable_scope("", reuse=True):
        expected, _ = tf.nn.static_rnn(cell, [*steps[:3]] * 2, initial_state=first)
    with tf.Session(engine="numpy") as session:
        session.run(tf.global_variables_initializer())
        wanted = session.run(expected)
        np.testing.assert_allclose(session.run(outputs), wanted[:3], rtol=1e-6)
        np.testing.assert_allclose(session.run(outputs), wanted[3:], rtol=1e-6)


@pytest.mark.parametrize(("make", "names"), [(rnn.GRUCell, ("a",)), (rnn.LSTMCell, "a"), (rnn.LSTMCell, ("a",))])
def test_each_part_of_a_state_that_is_kept_has_a_name(make: Any, names: Any) -> None:
    with pytest.raises(ValueError, match=r"^static_state_saving_rnn: state_name must be the name of the state, or one"):
        tf.nn.static_state_saving_rnn(make(3), [tf.ones([2, 4])], Kept({}), names)
