"""`tf.layers`: variables by TensorFlow's names, and the numbers that the functions of `nn` give with them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pullback as pb
import pullback.compat.v1 as tf

IMAGES = np.random.default_rng(0).normal(size=(2, 7, 6, 3)).astype(np.float32)


def names() -> list[str]:
    return [v.op.name for v in tf.global_variables()]


def values(fetches: Any, feeds: Any = None) -> Any:
    session = pb.Session(engine="numpy")
    session.run(tf.global_variables_initializer())
    return session.run(fetches, feeds)


def test_layers_are_numbered_as_in_tensorflow() -> None:
    x = tf.zeros([2, 8, 8, 3])
    with tf.variable_scope("net"):
        y = tf.layers.conv2d(tf.layers.conv2d(x, 4, 3), 4, 3, name="last", use_bias=False)
        tf.layers.dense(tf.layers.flatten(y), 2)
    tf.layers.dense(x, 5)
    expected = ["net/conv2d/kernel", "net/conv2d/bias", "net/last/kernel", "net/dense/kernel", "net/dense/bias"]
    assert names() == [*expected, "dense/kernel", "dense/bias"]


def test_a_layer_that_is_used_again_shares_its_variables() -> None:
    x = tf.ones([2, 3])
    first, again = tf.layers.dense(x, 4, name="a"), tf.layers.dense(x, 4, name="a", reuse=True)
    layer = tf.layers.Dense(4)
    third, fourth = layer(x), layer(x)
    assert names() == ["a/kernel", "a/bias", "dense/kernel", "dense/bias"]
    assert [v.op.name for v in layer.variables] == ["dense/kernel", "dense/bias"]
    assert layer.kernel.shape == [3, 4]
    found = values([first, again, third, fourth])
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[2], found[3])
    with pytest.raises(ValueError, match="a/kernel already exists"):
        tf.layers.dense(x, 4, name="a")


@pytest.mark.parametrize("shape", [[None, 3], [2, None, 3], [2, 4, 5, 3]])
def test_dense_goes_along_the_last_axis(shape: list[int | None]) -> None:
    x = tf.placeholder(tf.float32, shape)
    y = tf.layers.dense(x, 4, tf.nn.relu, bias_initializer=tf.ones_initializer(), name="d")
    assert y.shape.as_list() == [*shape[:-1], 4]
    given = np.random.default_rng(0).normal(size=[n or 2 for n in shape])
    with tf.variable_scope("d", reuse=True):
        kernel = tf.get_variable("kernel")
    found, w = values([y, kernel], {x: given})
    np.testing.assert_allclose(found, np.maximum(given @ w + 1.0, 0.0), rtol=1e-4, atol=1e-5)


WINDOWS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "conv2d": (lambda x, **k: tf.layers.conv2d(x, 4, (3, 2), **k), lambda x, w, s, p: tf.nn.conv2d(x, w[0], s, p)),
    "separable_conv2d": (
        lambda x, **k: tf.layers.separable_conv2d(x, 4, 3, depth_multiplier=2, **k),
        lambda x, w, s, p: tf.nn.separable_conv2d(x, w[0], w[1], s, p),
    ),
    "max_pooling2d": (
        lambda x, **k: tf.layers.max_pooling2d(x, 2, **k),
        lambda x, w, s, p: tf.nn.max_pool(x, [1, 2, 2, 1], s, p),
    ),
    "average_pooling2d": (
        lambda x, **k: tf.layers.average_pooling2d(x, [3, 2], **k),
        lambda x, w, s, p: tf.nn.avg_pool(x, [1, 3, 2, 1], s, p),
    ),
}


@pytest.mark.parametrize("padding", ["valid", "SAME"])
@pytest.mark.parametrize("data_format", ["channels_last", "channels_first"])
@pytest.mark.parametrize("name", WINDOWS)
def test_windows_over_images_are_those_of_nn(name: str, data_format: str, padding: str) -> None:
    layer, function = WINDOWS[name]
    last = tf.constant(IMAGES)
    x = tf.transpose(last, [0, 3, 1, 2]) if data_format == "channels_first" else last
    y = layer(x, strides=2, padding=padding, data_format=data_format)
    y = tf.transpose(y, [0, 2, 3, 1]) if data_format == "channels_first" else y
    weights = [v for v in tf.global_variables() if "kernel" in v.op.name]
    found, expected = values([y, function(last, weights, [1, 2, 2, 1], padding.upper())])
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(("padding", "lengths"), [("same", [14, 12]), ("valid", [15, 13])])
def test_a_transposed_convolution_has_the_lengths_of_tensorflow(padding: str, lengths: list[int]) -> None:
    x = tf.placeholder(tf.float32, [None, None, 6, 3])
    y = tf.layers.conv2d_transpose(x, 5, 3, 2, padding)
    assert y.shape.as_list()[2:] == [lengths[1], 5]
    assert values(y, {x: IMAGES}).shape == (2, *lengths, 5)


@pytest.mark.parametrize("rank", [1, 3])
def test_windows_of_other_ranks(rank: int) -> None:
    x = tf.ones([2, *[5] * rank, 3])
    conv, pool = getattr(tf.layers, f"conv{rank}d"), getattr(tf.layers, f"max_pooling{rank}d")
    y = pool(conv(x, 4, 2, padding="same"), 2, 2)
    assert y.shape.as_list() == [2, *[2] * rank, 4]
    assert values(y).shape == (2, *[2] * rank, 4)


@pytest.mark.parametrize("engine", ["numpy", "xla"])
@pytest.mark.parametrize("known", [True, False])
def test_moving_means_follow_in_training_and_serve_prediction(known: bool, engine: str) -> None:
    x, training = tf.placeholder(tf.float32, [None, 3]), tf.placeholder_with_default(True, [])
    y = tf.layers.batch_normalization(x, momentum=0.5, epsilon=0.0, training=True if known else training)
    mean, variance = tf.global_variables()[2:]
    updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
    given = np.array([[1.0, 2.0, 0.0], [3.0, 6.0, 4.0]])
    with pb.Session(engine=engine) as session:
        session.run(tf.global_variables_initializer())
        found, _ = session.run([y, updates], {x: given})
        np.testing.assert_allclose(found, [[-1.0] * 3, [1.0] * 3], rtol=1e-5)
        np.testing.assert_allclose(session.run(mean), [1.0, 2.0, 1.0])
        np.testing.assert_allclose(session.run(variance), [1.0, 2.5, 2.5])
        if not known:
            found, _ = session.run([y, updates], {x: given, training: False})
            np.testing.assert_allclose(found[:, 0], [0.0, 2.0], atol=1e-6)
            np.testing.assert_allclose(session.run(mean), [1.0, 2.0, 1.0])


def test_prediction_alone_has_nothing_to_update() -> None:
    tf.layers.batch_normalization(tf.zeros([2, 3]))
    assert tf.get_collection(tf.GraphKeys.UPDATE_OPS) == []
    assert [v.op.name for v in tf.trainable_variables()] == ["batch_normalization/gamma", "batch_normalization/beta"]


@pytest.mark.parametrize(("fused", "expected"), [(None, 4.0 / 3.0), (False, 1.0)])
def test_the_moving_variance_of_images_is_that_of_what_they_are_a_sample_of(
    fused: bool | None, expected: float
) -> None:
    x = tf.placeholder(tf.float32, [None, 1, None, 1])
    tf.layers.batch_normalization(x, momentum=0.0, training=True, fused=fused)
    session = pb.Session(engine="numpy")
    session.run(tf.global_variables_initializer())
    session.run(tf.get_collection(tf.GraphKeys.UPDATE_OPS), {x: np.array([1.0, -1.0, 1.0, -1.0]).reshape(2, 1, 2, 1)})
    np.testing.assert_allclose(session.run(tf.global_variables()[3]), [expected], rtol=1e-6)


def test_channels_may_stand_before_the_pixels() -> None:
    x = tf.constant(IMAGES)
    y = tf.layers.batch_normalization(x, training=True)
    z = tf.layers.batch_normalization(tf.transpose(x, [0, 3, 1, 2]), axis=1, training=True)
    a, b = values([y, tf.transpose(z, [0, 2, 3, 1])])
    np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


def test_dropout_is_for_training() -> None:
    x, training = tf.ones([1000]), tf.placeholder_with_default(False, [])
    y, z = tf.layers.dropout(x, 0.25, training=training, seed=1), tf.layers.dropout(x, 0.25)
    session = pb.Session(engine="numpy")
    for found in session.run([y, z]):
        np.testing.assert_array_equal(found, np.ones(1000))
    dropped = session.run(y, {training: True})
    assert set(np.unique(dropped)) == {np.float32(0.0), np.float32(4.0 / 3.0)}


def test_what_variables_and_results_cost_is_noted() -> None:
    x = tf.ones([2, 3])
    tf.layers.dense(
        x,
        4,
        kernel_initializer=tf.ones_initializer(),
        kernel_regularizer=tf.nn.l2_loss,
        activity_regularizer=tf.reduce_sum,
    )
    costs = tf.losses.get_regularization_losses()
    assert costs[1].name == "dense/ActivityRegularizer/truediv:0"
    with pb.Session(engine="numpy") as session:
        session.run(tf.global_variables_initializer())
        assert session.run(costs) == [6.0, 24.0 / 2]


def test_what_results_of_keras_cost_is_that_of_an_example() -> None:
    layer = tf.keras.layers.Dense(4, kernel_initializer="ones", activity_regularizer=tf.reduce_sum)
    layer(tf.ones([2, 3]))
    with pb.Session(engine="numpy") as session:
        session.run(tf.global_variables_initializer())
        assert session.run(layer.losses) == [12.0]


def test_rows_are_flattened_in_the_order_of_channels_last() -> None:
    x = tf.placeholder(tf.float32, [None, 3, None])
    y, z = tf.layers.flatten(x), tf.layers.Flatten(data_format="channels_first")(x)
    assert tf.layers.flatten(tf.placeholder(tf.float32, [None, 3, 2])).shape.as_list() == [None, 6]
    given = np.arange(12.0).reshape(2, 3, 2)
    a, b = values([y, z], {x: given})
    assert a.tolist() == given.reshape(2, 6).tolist()
    assert b.tolist() == given.transpose(0, 2, 1).reshape(2, 6).tolist()


def test_lengths_that_shape_variables_must_be_known() -> None:
    with pytest.raises(ValueError, match=r"^layers: the shape of 'kernel' must be known, and is \[None, 2\]; use"):
        tf.layers.dense(tf.placeholder(tf.float32, [2, None]), 2)


@pytest.mark.parametrize("dtype", [tf.int32, tf.uint8, tf.bool])
def test_dense_layers_are_of_floats(dtype: Any) -> None:
    with pytest.raises(TypeError, match=r"^dense: a layer of floats takes floats, not .*; convert it with tf.cast$"):
        tf.layers.dense(tf.zeros([2, 3], dtype), 2)
    assert tf.global_variables() == []


def test_a_layer_knows_its_variables_however_a_getter_names_them() -> None:
    def renaming(make: Any, name: str, *args: Any, **options: Any) -> Any:
        return make(name.replace("kernel", "weights"), *args, **options)

    with tf.variable_scope("net", custom_getter=renaming) as scope:
        layer = tf.layers.Dense(4, use_bias=False, name="net", _scope=scope)
        y = layer.apply(tf.zeros([2, 3]))
    assert (layer.kernel.op.name, layer.bias, layer.units, layer.use_bias) == ("net/weights", None, 4, False)
    assert (y.shape, names()) == ([2, 4], ["net/weights"])
    again = tf.layers.Dense(4, use_bias=False, _scope=scope, _reuse=True)
    again.apply(tf.zeros([2, 3]))
    assert again.kernel.op is layer.kernel.op


def test_a_layer_has_no_variables_before_its_first_call() -> None:
    layer = tf.layers.BatchNormalization(scale=False)
    assert layer.gamma is None
    for name in ("beta", "moving_mean"):
        with pytest.raises(AttributeError, match=name):
            getattr(layer, name)
    layer(tf.zeros([2, 3]))
    assert [layer.beta.op.name, layer.moving_mean.op.name] == [
        f"batch_normalization/{n}" for n in ("beta", "moving_mean")
    ]


def test_a_layer_without_variables_works_in_the_scope_that_it_is_given() -> None:
    with tf.variable_scope("pool") as scope:
        y = tf.layers.MaxPooling2D(2, 2, _scope=scope).apply(tf.zeros([1, 4, 4, 1]))
    assert y.op.name.startswith("pool")
    assert y.shape == [1, 2, 2, 1]


def test_names_of_operations_are_those_of_tensorflow() -> None:
    x, image, volume = tf.zeros([2, 3]), tf.zeros([2, 4, 4, 3]), tf.zeros([2, 4, 4, 4, 3])
    dense = tf.layers.Dense(4, name="d")
    made = [
        tf.layers.max_pooling2d(image, 2, 2),
        tf.layers.MaxPooling2D(2, 2)(image),
        tf.layers.average_pooling2d(image, 2, 2, name="p"),
        tf.layers.max_pooling3d(volume, 2, 2),
        tf.layers.average_pooling3d(volume, 2, 2),
        tf.layers.flatten(image),
        tf.layers.Flatten(name="f")(image),
        tf.layers.dropout(x),
        dense(x),
        dense(x),
        tf.layers.dense(x, 4, name="e"),
        tf.layers.dense(x, 4, name="e", reuse=True),
    ]
    assert [y.op.name for y in made] == [
        "max_pooling2d/MaxPool",
        "max_pooling2d_1/MaxPool",
        "p/AvgPool",
        "max_pooling3d/MaxPool3D",
        "average_pooling3d/AvgPool3D",
        "flatten/Reshape",
        "f/Reshape",
        "dropout/Identity",
        "d/BiasAdd",
        "d/BiasAdd_1",
        "e/BiasAdd",
        "e_1/BiasAdd",
    ]
    assert tf.layers.dropout(x, training=True, name="dropped").op.name.startswith("dropped/dropout")


def test_a_layer_that_is_given_the_scope_around_it_adds_nothing_to_names() -> None:
    x = tf.zeros([2, 3])

    class Doubled(tf.layers.Layer):
        def call(self, inputs: Any) -> Any:
            return inputs * 2.0

    with tf.variable_scope("first") as scope:
        dense = tf.layers.Dense(4, name=scope.name, _scope=scope)
        assert [dense(x).op.name, Doubled(_scope=scope)(x).op.name] == ["first/BiasAdd", "first/mul"]
    assert [v.op.name for v in dense.variables] == ["first/kernel", "first/bias"]
    with tf.name_scope("elsewhere"):
        assert dense(x).op.name == "first/BiasAdd_1"


def test_activations_initializers_and_regularizers_by_name() -> None:
    x = tf.constant([[1.0, -2.0]])
    y = tf.layers.dense(x, 1, "relu", kernel_initializer="ones", kernel_regularizer="l2", activity_regularizer="l1")
    z = tf.layers.batch_normalization(x, gamma_initializer="zeros", renorm=True, moving_variance_initializer="ones")
    with pb.Session(engine="numpy") as session:
        session.run(tf.global_variables_initializer())
        assert session.run([y, z, tf.losses.get_regularization_loss()])[0] == 0.0
        assert session.run(tf.losses.get_regularization_loss()) == pytest.approx(0.02)
    assert y.op.type == "Relu"
    with pytest.raises(ValueError, match=r"^Unknown activation function: 'rely'"):
        tf.layers.conv1d(tf.ones([1, 4, 2]), 1, 2, activation="rely")
