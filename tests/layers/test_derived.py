"""Cells and layers that a program derives, as TensorFlow 1's protocol has it."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

import pullback as pb
import pullback.compat.v1 as tf

RNNCell: Any = pb.nn.rnn_cell.RNNCell
Layer: Any = tf.layers.Layer
X = np.random.default_rng(0).normal(size=(2, 4, 3)).astype(np.float32)
UNITS = 5


class OfCall(RNNCell):
    """All in `__call__`, without a word to the base class."""

    def __init__(self, units: int) -> None:
        self.units = units

    state_size = output_size = property(lambda self: self.units)

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:
        with tf.variable_scope(scope or "own"):
            kernel = tf.get_variable("kernel", [inputs.shape.as_list()[-1] + self.units, self.units])
            h = tf.tanh(tf.matmul(tf.concat([inputs, state], 1), kernel))
            return h, h


class OfBuild(RNNCell):
    """Variables in `build`, the step in `call`."""

    def __init__(self, units: int, reuse: Any = None) -> None:
        super().__init__(_reuse=reuse)
        self.units = units

    state_size = output_size = property(lambda self: self.units)

    def build(self, inputs_shape: Any) -> None:
        self.kernel = self.add_variable("kernel", shape=[int(inputs_shape[1]) + self.units, self.units])

    def call(self, inputs: Any, state: Any) -> Any:
        h = tf.tanh(tf.matmul(tf.concat([inputs, state], 1), self.kernel))
        return h, h


class OfGet(OfBuild):
    """Variables where the step needs them."""

    def build(self, inputs_shape: Any) -> None:
        pass

    def call(self, inputs: Any, state: Any) -> Any:
        self.kernel = tf.get_variable("kernel", [inputs.shape.as_list()[-1] + self.units, self.units])
        return super().call(inputs, state)


CELLS = {OfCall: "own", OfBuild: "of_build", OfGet: "of_get"}


def recurrent(x: Any, kernel: Any) -> Any:
    h = np.zeros([len(x), UNITS])
    for t in range(x.shape[1]):
        h = np.tanh(np.concatenate([x[:, t], h], 1) @ kernel)
    return h


@pytest.mark.parametrize("engine", ["numpy", "xla"])
@pytest.mark.parametrize("cell", CELLS)
def test_a_cell_of_ones_own_steps_through_a_sequence(cell: Any, engine: str) -> None:
    x = tf.placeholder(tf.float32, [None, None, 3])
    _, state = tf.nn.dynamic_rnn(cell(UNITS), x, dtype=tf.float32)
    (kernel,) = tf.global_variables()
    assert kernel.name == f"rnn/{CELLS[cell]}/kernel:0"
    dx, dkernel = tf.gradients(tf.reduce_sum(state), [x, kernel])
    with tf.Session(engine=engine) as session:
        session.run(tf.global_variables_initializer())
        value, found, _, slope = session.run([kernel, state, dx, dkernel], {x: X})
        np.testing.assert_allclose(found, recurrent(X, value), rtol=1e-4, atol=1e-6)
        step = np.zeros(value.shape)
        step[0, 0] = 1e-4
        difference = recurrent(X, value + step).sum() - recurrent(X, value - step).sum()
        np.testing.assert_allclose(slope[0, 0], difference / 2e-4, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("cell", CELLS)
def test_a_cell_of_ones_own_stands_in_stacks_and_wrappers(cell: Any) -> None:
    stack = tf.nn.rnn_cell.MultiRNNCell(
        [tf.nn.rnn_cell.DropoutWrapper(cell(UNITS), output_keep_prob=1.0), tf.nn.rnn_cell.ResidualWrapper(cell(UNITS))]
    )
    outputs, _ = tf.nn.static_rnn(stack, tf.unstack(tf.constant(X), axis=1), dtype=tf.float32)
    names = [v.name for v in tf.global_variables()]
    assert names == [f"rnn/multi_rnn_cell/cell_{i}/{CELLS[cell]}/kernel:0" for i in (0, 1)]
    assert outputs[-1].shape == [2, UNITS]


@pytest.mark.parametrize("cell", [OfBuild, OfGet])
def test_the_second_call_shares_the_variables_of_the_first(cell: Any) -> None:
    shared = cell(UNITS)
    x = tf.constant(X[:, 0])
    with tf.variable_scope("a"):
        shared(x, shared.zero_state(2, tf.float32))
    with tf.variable_scope("b"):
        shared(x, shared.zero_state(2, tf.float32))
    assert [v.name for v in tf.global_variables()] == [f"a/{CELLS[cell]}/kernel:0"]
    assert shared.variables == tf.global_variables()


def test_a_state_may_have_a_shape() -> None:
    class Images(RNNCell):
        state_size = tf.TensorShape([4, 4, 2])

    assert Images().zero_state(3, tf.float32).shape == [3, 4, 4, 2]


def test_what_a_cell_does_not_say_is_named() -> None:
    with pytest.raises(NotImplementedError, match="RNNCell has no state_size: define it"):
        RNNCell().zero_state(1, tf.float32)


class Scaled(Layer):
    def __init__(self, factor: float, **options: Any) -> None:
        super().__init__(**options)
        self.factor = factor

    def build(self, input_shape: Any) -> None:
        self.scale = self.add_weight("scale", shape=[int(input_shape[-1])], initializer=tf.ones_initializer())
        self.count = self.add_weight("count", shape=[], trainable=False, initializer=tf.zeros_initializer())
        super().build(input_shape)

    def call(self, inputs: Any, training: bool = False) -> Any:
        return inputs * self.scale * (self.factor if training else 1.0)


def test_a_layer_of_ones_own_makes_its_variables_once() -> None:
    layer = Scaled(3.0)
    first, second = layer(tf.constant(X)), layer.apply(tf.constant(X), training=True)
    assert [v.name for v in layer.variables] == ["scaled/scale:0", "scaled/count:0"]
    assert layer.trainable_weights == [layer.scale]
    assert layer.non_trainable_weights == [layer.count]
    assert first.name == "scaled/mul_1:0"
    with tf.Session(engine="numpy") as session:
        session.run(tf.global_variables_initializer())
        one, three = session.run([first, second])
    np.testing.assert_allclose(three, 3 * one)


def test_two_layers_have_variables_of_their_own_and_a_name_may_be_given() -> None:
    x = tf.constant(X)
    with tf.variable_scope("net"):
        layers = [Scaled(1.0), Scaled(1.0), Scaled(1.0, name="last")]
        for layer in layers:
            layer(x)
    assert [layer.scope_name for layer in layers] == ["net/scaled", "net/scaled_1", "net/last"]
    assert [layer.name for layer in layers] == ["scaled", "scaled_1", "last"]


def test_every_layer_of_tensorflow_is_one() -> None:
    assert isinstance(tf.layers.Dense(3), tf.layers.Layer)
    assert isinstance(tf.nn.rnn_cell.GRUCell(3), tf.layers.Layer)
    assert tf.layers.Dense(3).name == "dense"


def test_a_layer_without_a_call_says_so() -> None:
    with pytest.raises(NotImplementedError, match=r"Layer has no call\(inputs\): define it"):
        Layer()(tf.constant(X))


def test_a_layer_takes_a_structure() -> None:
    class Mixed(tf.layers.Layer):
        def build(self, input_shape: Any) -> None:
            self.w = self.add_weight("w", input_shape["x"][-1:], initializer=tf.ones_initializer())

        def call(self, inputs: Any) -> Any:
            return {"y": inputs["x"] * self.w, "rest": [inputs["i"][0]]}

    found = Mixed()({"i": [np.array([1, 2])], "x": tf.ones([2, 3], tf.float64)})
    assert [t.dtype for t in (found["y"], found["rest"][0])] == [tf.float64, tf.int64]


def test_variables_beside_integers_are_floats() -> None:
    class Table(tf.layers.Layer):
        def call(self, inputs: Any) -> Any:
            return tf.gather(tf.get_variable("table", [5, 2]), inputs)

    assert Table()(tf.constant([1, 2])).dtype == tf.float32


def test_the_shape_of_a_result_makes_no_variable() -> None:
    with tf.Graph().as_default():
        layer = tf.layers.Conv2D(4, 3, name="c")
        assert layer.compute_output_shape([None, 8, 8, 3]).as_list() == [None, 6, 6, 4]
        assert tf.global_variables() == []
        assert layer(tf.zeros([1, 8, 8, 3])).op.name == "c/BiasAdd"


def test_a_stack_begins_with_the_states_of_its_cells() -> None:
    class Named(tf.nn.rnn_cell.GRUCell):
        def zero_state(self, batch_size: Any, dtype: Any) -> Any:
            return tf.ones([batch_size, 3], dtype)

    stack = tf.nn.rnn_cell.MultiRNNCell([Named(3), tf.nn.rnn_cell.GRUCell(3)])
    first, second = tf.Session(engine="numpy").run(stack.zero_state(2, tf.float32))
    assert (first.sum(), second.sum()) == (6.0, 0.0)


def test_a_layer_says_what_it_is_made_of() -> None:
    assert next(iter(inspect.signature(tf.layers.Dense).parameters)) == "units"


def test_penalties_and_updates_are_those_of_the_layer_and_of_the_graph() -> None:
    class Costly(tf.layers.Layer):
        def build(self, input_shape: Any) -> None:
            self.w = self.add_weight("w", [3], regularizer=tf.nn.l2_loss, initializer=tf.ones_initializer())

        def call(self, inputs: Any) -> Any:
            self.add_loss(tf.reduce_sum(self.w))
            self.add_update([tf.no_op(name="u")])
            return inputs * self.w

    layer, other = Costly(), tf.layers.BatchNormalization()
    x = layer(tf.ones([2, 3]))
    other(x, training=True)
    assert layer.compute_output_shape([2, 3]).as_list() == [2, 3]
    assert layer.losses == tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)
    assert [loss.op.name for loss in layer.losses] == ["costly/w/Regularizer/L2Loss", "costly/Sum"]
    assert [*layer.updates, *other.updates] == tf.get_collection(tf.GraphKeys.UPDATE_OPS)
    assert [len(layer.updates), len(other.updates), other.losses] == [1, 2, []]
    assert list(OfCall(3).losses) == []


def test_a_layer_counts_its_numbers_once_it_has_them() -> None:
    layer = tf.layers.Dense(4, name="d")
    with pytest.raises(ValueError, match=r"^the layer 'd' has no variables to count before its first call$"):
        layer.count_params()
    layer(tf.ones([2, 3]))
    assert (layer.count_params(), layer.built) == (16, True)


class OfOneWeight(Layer):
    """`x * scale`, with penalties of its weight and of each call."""

    def build(self, input_shape: Any) -> None:
        self.scale = self.add_weight("scale", [int(input_shape[-1])], regularizer=tf.nn.l2_loss)

    def call(self, inputs: Any) -> Any:
        return inputs * self.scale


BUILT = {
    "of_one_weight": (OfOneWeight, [None, 3]),
    "of_build": (lambda: OfBuild(UNITS), [2, 3]),
    "dense": (lambda: tf.layers.Dense(4, kernel_regularizer=tf.nn.l2_loss), [None, 3]),
    "active": (lambda: tf.layers.Dense(4, activity_regularizer=tf.nn.l2_loss), [None, 3]),
    "normalization": (tf.layers.BatchNormalization, [2, 3]),
    "convolution": (lambda: tf.layers.Conv2D(2, 3), [None, 6, 6, 3]),
    "gru": (lambda: tf.nn.rnn_cell.GRUCell(UNITS), [2, 3]),
    "deep": (lambda: tf.nn.rnn_cell.MultiRNNCell([tf.nn.rnn_cell.LSTMCell(UNITS)] * 1), [2, 3]),
    "keras": (lambda: tf.keras.layers.Dense(4), [None, 3]),
    "keras_cell": (lambda: tf.keras.layers.LSTMCell(UNITS), [2, 3]),
    "keras_loop": (lambda: tf.keras.layers.GRU(UNITS), [2, 4, 3]),
}


@pytest.mark.parametrize("kind", [list, tuple, tf.TensorShape])
@pytest.mark.parametrize("name", BUILT)
def test_a_layer_that_a_program_builds_has_the_variables_of_its_first_call(name: str, kind: Any) -> None:
    make, lengths = BUILT[name]

    def called(layer: Any) -> None:
        x = tf.ones([2, *lengths[1:]])
        if name == "keras_cell":
            layer(x, [tf.zeros([2, UNITS])] * 2)
        elif hasattr(layer, "zero_state"):
            layer(x, layer.zero_state(2, tf.float32))
        else:
            layer(x)

    def noted() -> Any:
        costs = [len(tf.get_collection(key)) for key in (tf.GraphKeys.REGULARIZATION_LOSSES, tf.GraphKeys.UPDATE_OPS)]
        return [v.name for v in tf.global_variables()], costs

    with tf.Graph().as_default(), tf.variable_scope("model"):
        called(make())
        expected = noted()
    with tf.Graph().as_default(), tf.variable_scope("model"):
        layer = make()
        layer.build(kind(lengths))
        assert layer.built
        assert [v.name for v in layer.variables] == [v.name for v in tf.global_variables()] == expected[0]
        called(layer)
        assert noted() == expected


def test_a_layer_may_build_itself_and_its_parts() -> None:
    class Inner(Layer):
        def build(self, input_shape: Any) -> None:
            self.scale = self.add_weight("scale", [int(input_shape[-1])])
            super().build(input_shape)

    class Outer(Layer):
        def __init__(self, width: int) -> None:
            super().__init__()
            self.inner = Inner()
            self.build(input_shape=[None, width])

        def build(self, input_shape: Any) -> None:
            self.inner.build(input_shape)
            self.shift = self.add_weight("shift", [int(input_shape[-1])])

        def call(self, inputs: Any) -> Any:
            return inputs * self.inner.scale + self.shift

    layer = Outer(3)
    layer(layer(tf.ones([2, 3])))
    assert [v.op.name for v in tf.global_variables()] == ["outer/inner/scale", "outer/shift"]


def test_a_build_of_other_arguments_is_what_it_says() -> None:
    class Net(Layer):
        def build(self) -> Any:  # type: ignore[override]
            return tf.get_variable("w", [3])

    class Pair(Layer):
        def build(self, one: int, other: int) -> Any:  # type: ignore[override]
            return tf.get_variable("v", [one, other])

    Net().build()
    Pair().build(2, other=3)
    assert [v.name for v in tf.global_variables()] == ["w:0", "v:0"]


@pytest.mark.parametrize("name", ["of_one_weight", "of_build", "dense", "normalization", "gru", "deep"])
def test_weights_are_read_and_written_in_the_default_session(name: str) -> None:
    make, lengths = BUILT[name]
    layer = make()
    layer.build(lengths)
    with tf.Session(engine="numpy").as_default() as session:
        session.run(tf.global_variables_initializer())
        found = layer.get_weights()
        assert [list(w.shape) for w in found] == [v.shape.as_list() for v in layer.variables]
        layer.set_weights([w + 1.0 for w in found])
        for v, w in zip(layer.variables, found, strict=True):
            np.testing.assert_array_equal(session.run(v), w + 1.0)
        with pytest.raises(ValueError, match=rf"^set_weights: the layer '{layer.name}' has weights of the shapes "):
            layer.set_weights(found[1:])
