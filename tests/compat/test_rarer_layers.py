"""Layers of `tf.contrib.layers` and `tf.layers` that few programs use, beside NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pullback.compat import v1 as tf

layers = tf.contrib.layers
Array = np.ndarray[Any, Any]


def data(*shape: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def run(fetches: Any) -> Any:
    """The fetches, and the variables."""
    variables = tf.trainable_variables()
    with tf.Session(engine="numpy") as session:
        session.run(tf.global_variables_initializer())
        for i, v in enumerate(variables):
            session.run(v.assign(data(*v.shape.as_list(), seed=i + 7)))
        return session.run([fetches, variables])


def test_a_convolution_in_the_plane_is_the_same_for_each_channel() -> None:
    x = data(2, 5, 4, 3)
    y = layers.conv2d_in_plane(tf.constant(x), [2, 1], padding="VALID", activation_fn=None)
    found, (weights, biases) = run(y)
    expected = x[:, :-1] * weights[0, 0, 0, 0] + x[:, 1:] * weights[1, 0, 0, 0] + biases
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("data_format", ["NHWC", "NCHW"])
def test_points_of_features_are_means_of_positions(data_format: str) -> None:
    x = data(2, 3, 4, 5)
    given = x if data_format == "NHWC" else x.transpose(0, 3, 1, 2)
    y = layers.spatial_softmax(tf.constant(given), data_format=data_format)
    (found, slope), (heat,) = run([y, tf.gradients(y, tf.trainable_variables())[0]])
    e = np.exp(x / heat - (x / heat).max((1, 2), keepdims=True))
    weights = e / e.sum((1, 2), keepdims=True)
    rows = np.einsum("bijc,i->bc", weights, np.linspace(-1, 1, 3))
    columns = np.einsum("bijc,j->bc", weights, np.linspace(-1, 1, 4))
    np.testing.assert_allclose(found, np.stack([rows, columns], 2).reshape(2, 10), rtol=1e-4, atol=1e-5)
    assert np.isfinite(slope)


def test_a_temperature_that_is_given_is_the_first() -> None:
    layers.spatial_softmax(tf.ones([1, 2, 2, 1]), 0.25, trainable=False)
    with tf.Session(engine="numpy") as session:
        session.run(tf.global_variables_initializer())
        assert session.run(tf.global_variables())[0] == 0.25


def test_a_scaled_gradient_leaves_the_value_alone() -> None:
    x = tf.constant(data(3))
    y = layers.scale_gradient(x, 0.1)
    (same, slope), _ = run([y, tf.gradients(tf.square(y), x)[0]])
    np.testing.assert_array_equal(same, data(3))
    np.testing.assert_allclose(slope, 0.2 * data(3), rtol=1e-6)


@pytest.mark.parametrize(("data_format", "output"), [("NHWC", "channels_last"), ("NCHW", "channels_first")])
def test_images_become_sequences_of_columns_and_come_back(data_format: str, output: str) -> None:
    x = data(2, 3, 4, 5)
    given = x if data_format == "NHWC" else x.transpose(0, 3, 1, 2)
    rows = layers.images_to_sequence(tf.constant(given), data_format)
    (found, back), _ = run([rows, layers.sequence_to_images(rows, 3, output)])
    np.testing.assert_array_equal(found, x.transpose(2, 0, 1, 3).reshape(4, 6, 5))
    np.testing.assert_array_equal(back, given)


def test_labels_without_their_end_are_sparse() -> None:
    sparse = layers.dense_to_sparse([[3, 0, 5], [0, 7, 0]])
    found, _ = run([sparse.indices, sparse.values, sparse.dense_shape])
    assert [v.tolist() for v in found] == [[[0, 0], [0, 2], [1, 1]], [3, 5, 7], [2, 3]]


@pytest.mark.parametrize(("kind", "of"), [("MAX", np.max), ("AVG", np.mean)])
def test_windows_along_one_axis(kind: str, of: Any) -> None:
    x = data(2, 6, 3)
    found, _ = run(layers.pool(tf.constant(x), 2, kind, stride=2))
    np.testing.assert_allclose(found, of(x.reshape(2, 3, 2, 3), axis=2), rtol=1e-6)


@pytest.mark.parametrize("known", [None, [None, None], [2, 2]])
def test_rows_are_found_whatever_is_known_of_the_numbers(known: Any) -> None:
    table, ids = tf.constant([[1.0], [2.0], [3.0]]), tf.placeholder(tf.int32, known)
    found = layers.embedding_lookup_unique(table, ids)
    assert tf.Session(engine="numpy").run(found, {ids: [[2, 0], [2, 1]]}).tolist() == [[[3.0], [1.0]], [[3.0], [2.0]]]
    assert found.shape.rank is None if known is None else found.shape.as_list() == [*known, 1]


def test_rows_are_read_once_and_their_derivatives_add_up() -> None:
    table, ids = tf.constant(data(5, 2)), np.array([[1, 3], [1, 1]])
    y = layers.embedding_lookup_unique(table, ids)
    (found, slope), _ = run([y, tf.convert_to_tensor(tf.gradients(y, table)[0])])
    np.testing.assert_array_equal(found, data(5, 2)[ids])
    np.testing.assert_array_equal(slope[:, 0], [0, 3, 0, 1, 0])


@pytest.mark.parametrize("sparse", [True, False])
def test_a_bag_of_words_is_the_mean_of_its_rows(sparse: bool) -> None:
    y = layers.bow_encoder([[1, 2, 0], [3, 0, 0], [0, 0, 0]], 4, 5, sparse)
    found, (table,) = run(y)
    kept = [[1, 2], [3], [0]] if sparse else [[1, 2, 0], [3, 0, 0], [0]]
    np.testing.assert_allclose(found, [table[words].mean(0) for words in kept], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(("padding", "length"), [("same", 8), ("valid", 9)])
def test_a_transposed_convolution_of_volumes_is_the_derivative_of_a_convolution(padding: str, length: int) -> None:
    x = data(1, 4, 4, 4, 2)
    y = tf.layers.conv3d_transpose(tf.constant(x), 3, 3, 2, padding, use_bias=False)
    image = tf.placeholder(tf.float32, [1, length, length, length, 3])
    kernel = tf.trainable_variables()[0]
    (expected,) = tf.gradients(tf.nn.conv3d(image, kernel, [1, 2, 2, 2, 1], padding.upper()), image, tf.constant(x))
    with tf.Session(engine="numpy") as session:
        session.run(tf.global_variables_initializer())
        a, b = session.run([y, expected], {image: np.zeros(image.shape.as_list())})
    assert kernel.shape.as_list() == [3, 3, 3, 3, 2]
    np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("data_format", ["channels_last", "channels_first"])
def test_a_separable_convolution_of_sequences(data_format: str) -> None:
    x = data(2, 7, 3)
    given = x if data_format == "channels_last" else x.transpose(0, 2, 1)
    layer = tf.layers.SeparableConv1D(4, 3, 2, data_format=data_format, depth_multiplier=2)
    found, (depthwise, pointwise, bias) = run(layer(tf.constant(given)))
    windows = np.stack([x[:, t : t + 3] for t in (0, 2, 4)], 1)
    between = np.einsum("btkc,kcm->btcm", windows, depthwise).reshape(2, 3, 6)
    expected = between @ pointwise[0] + bias
    np.testing.assert_allclose(
        found if data_format == "channels_last" else found.transpose(0, 2, 1), expected, rtol=1e-4, atol=1e-5
    )


def test_parameters_of_convolutions_may_be_given_by_position() -> None:
    assert tf.keras.layers.Conv2D(4, 3, 2, "same")(tf.ones([1, 8, 8, 3])).shape.as_list() == [1, 4, 4, 4]
    assert tf.layers.Conv3DTranspose(4, 2, 2)(tf.ones([1, 3, 3, 3, 2])).shape.as_list() == [1, 6, 6, 6, 4]


def test_layers_under_their_first_names() -> None:
    x = data(2, 3)
    found, (w, b, *_) = run(layers.legacy_relu(tf.constant(x), 4))
    np.testing.assert_allclose(found, np.maximum(x @ w + b, 0), rtol=1e-5, atol=1e-6)
    assert layers.legacy_linear(tf.constant(x), 4).shape.as_list() == [2, 4]
