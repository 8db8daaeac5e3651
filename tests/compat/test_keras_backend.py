"""Backend functions of Keras. Sums are those of TensorFlow 2.21's Keras."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pullback.compat.v1 as tf

K, losses = tf.keras.backend, tf.keras.losses
r = np.random.RandomState(0)
A = r.randn(2, 3, 4).astype("f")
B = r.randn(2, 4, 5).astype("f")
IMAGES = r.randn(2, 4, 4, 3).astype("f")
M = r.randn(3, 4).astype("f")
P = r.rand(4, 3).astype("f") + 0.1
P /= P.sum(1, keepdims=True)
L = np.eye(3, dtype="f")[[0, 2, 1, 1]]
c = tf.constant
MADE: dict[str, tuple[Callable[[], Any], float, float]] = {
    "sum": (lambda: K.sum(c(A), 1), 9.61, 50.62),
    "mean_b": (lambda: K.mean(c(A > 0), [0, 1], True), 2.833, 7.0),
    "var": (lambda: K.var(c(A), -1), 4.674, 18.98),
    "std": (lambda: K.std(c(A)), 1.027, 1.027),
    "max": (lambda: K.max(c(A), 0), 10.71, 67.32),
    "min": (lambda: K.min(c(A), [1, 2]), -3.53, 6.083),
    "prod": (lambda: K.prod(c(A), 1), -3.447, 20.18),
    "any": (lambda: K.any(c(A > 1), 1), 3.0, 10.0),
    "all": (lambda: K.all(c(A), 1), 8.0, 36.0),
    "argmax": (lambda: K.argmax(c(A)), 8.0, 24.0),
    "argmin": (lambda: K.argmin(c(A), 1), 11.0, 45.0),
    "cumsum": (lambda: K.cumsum(c(A), 1), 26.13, 339.7),
    "cumprod": (lambda: K.cumprod(c(A), 2), 0.6077, 243.1),
    "sqrt": (lambda: K.sqrt(c(A)), 15.0, 156.3),
    "clip": (lambda: K.clip(c(A), -0.5, 0.5), 4.707, 121.0),
    "clip2": (lambda: K.clip(c(A), 0.5, -0.5), 12.0, 150.0),
    "clip3": (lambda: K.clip(c(A), None, 0.1), -3.886, 119.6),
    "pow": (lambda: K.pow(c(abs(A)), 2.5), 38.08, 429.3),
    "l2": (lambda: K.l2_normalize(c(A), -1), 5.305, 121.8),
    "l2n": (lambda: K.l2_normalize(c(A)), 1.779, 44.98),
    "dot3": (lambda: K.dot(c(M), c(B)), -0.6044, 777.2),
    "dot22": (lambda: K.dot(c(M), c(M.T)), 11.89, 107.6),
    "bd": (lambda: K.batch_dot(c(A), c(B)), 7.535, 819.8),
    "bd1": (lambda: K.batch_dot(c(A), c(A), axes=2), 33.97, 491.0),
    "bd2": (lambda: K.batch_dot(c(A[:, 0]), c(A[:, 1]), axes=1), 4.46, 5.426),
    "bd3": (lambda: K.batch_dot(c(A[:, 0]), c(B), axes=[1, 1]), -4.158, 101.5),
    "bd4": (lambda: K.batch_dot(c(A), c(A[:, 0]), axes=(2, 1)), 16.27, 45.19),
    "bd5": (lambda: K.batch_dot(c(A), c(A), axes=1), 41.94, 871.0),
    "bd6": (lambda: K.batch_dot(c(A), c(A[:, 0])), 16.27, 45.19),
    "bflat": (lambda: K.batch_flatten(c(IMAGES)), 15.55, 3901.0),
    "perm": (lambda: K.permute_dimensions(c(A), (1, 0, 2)), 9.61, 250.9),
    "concat": (lambda: K.concatenate([c(A), c(A)]), 19.22, 958.6),
    "rep": (lambda: K.repeat(c(M), 3), 6.861, 570.2),
    "repe": (lambda: K.repeat_elements(c(A), 2, 1), 19.22, 958.6),
    "rev": (lambda: K.reverse(c(A), 1), 9.61, 244.0),
    "arange": (lambda: K.arange(5), 10.0, 40.0),
    "arange2": (lambda: K.arange(1, 9, 3), 12.0, 30.0),
    "arange3": (lambda: K.arange(-3), 0.0, 0.0),
    "onehot": (lambda: K.one_hot(c([1, 2]), 4), 2.0, 9.0),
    "gather": (lambda: K.gather(c(M), c([2, 0])), 5.213, 27.27),
    "relu": (lambda: K.relu(c(A)), 15.2, 142.8),
    "relu2": (lambda: K.relu(c(A), alpha=0.1, max_value=0.6), 7.608, 100.4),
    "relu3": (lambda: K.relu(c(A), alpha=0.2, threshold=0.5), 10.94, 150.8),
    "relu4": (lambda: K.relu(c(A), threshold=0.3, max_value=1.0), 11.11, 115.6),
    "relu5": (lambda: K.relu(c(A), alpha=0.2), 14.08, 162.8),
    "elu": (lambda: K.elu(c(A), 0.5), 13.66, 169.1),
    "hs": (lambda: K.hard_sigmoid(c(A) * 3), 15.93, 178.6),
    "sm": (lambda: K.softmax(c(A), axis=1), 8.0, 94.77),
    "sp": (lambda: K.softplus(c(A)), 24.67, 265.3),
    "ss": (lambda: K.softsign(c(A)), 4.558, 115.8),
    "bce": (lambda: K.binary_crossentropy(c(L), c(P)), 8.345, 45.07),
    "bcel": (lambda: K.binary_crossentropy(c(L), c(P), from_logits=True), 9.178, 57.36),
    "bces": (lambda: K.binary_crossentropy(c(L), tf.sigmoid(c(P * 60 - 20))), 51.14, 208.5),
    "cce": (lambda: K.categorical_crossentropy(c(L), c(P * 2)), 4.874, 10.38),
    "ccel": (lambda: K.categorical_crossentropy(c(L), c(P), from_logits=True), 4.437, 10.47),
    "cces": (lambda: K.categorical_crossentropy(c(L), tf.nn.softmax(c(P * 200))), 155.2, 262.4),
    "cceax": (lambda: K.categorical_crossentropy(c(L), c(P), axis=0), 6.059, 11.71),
    "scce": (lambda: K.sparse_categorical_crossentropy(c([0, 2, 1, 1]), c(P)), 4.874, 10.38),
    "scces": (lambda: K.sparse_categorical_crossentropy(c([0, 2, 1, 1]), tf.nn.softmax(c(P * 200))), 155.2, 262.4),
    "scce2": (lambda: K.sparse_categorical_crossentropy(c([[0], [2], [1], [1]]), c(P)), 4.874, 10.38),
    "scce3": (lambda: K.sparse_categorical_crossentropy(c([[0, 1, 2], [2, 1, 0]]), c(abs(A) + 0.1)), 9.286, 33.65),
    "sccel": (lambda: K.sparse_categorical_crossentropy(c([[0, 1, 2], [2, 1, 0]]), c(A), from_logits=True), 14.1, 54.7),
    "scceax": (
        lambda: K.sparse_categorical_crossentropy(c([[0, 1, 2, 0], [2, 1, 0, 0]]), c(abs(A) + 0.1), axis=1),
        9.904,
        47.88,
    ),
    "lbce": (lambda: losses.binary_crossentropy(c(L), tf.sigmoid(c(P * 60 - 20))), 17.05, 30.17),
    "lcce": (
        lambda: losses.categorical_crossentropy(c(L), tf.nn.softmax(c(P * 200)), label_smoothing=0.1),
        155.4,
        275.5,
    ),
    "lscce": (lambda: losses.sparse_categorical_crossentropy(c([[0], [2], [1], [1]]), c(P)), 4.874, 10.38),
    "lscce3": (
        lambda: losses.sparse_categorical_crossentropy(c([[0, 1, 2], [2, 1, 0]]), tf.nn.softmax(c(A))),
        14.1,
        54.7,
    ),
    "p2": (lambda: K.pool2d(c(IMAGES), (2, 2), (2, 2), pool_mode="avg", padding="same"), 3.888, 128.1),
    "p2m": (lambda: K.pool2d(c(IMAGES), (3, 2)), 51.13, 961.3),
    "p3": (lambda: K.pool3d(c(IMAGES[:, None]), (1, 2, 2)), 66.14, 1914.0),
    "tp": (lambda: K.temporal_padding(c(A), (2, 1)), 9.61, 521.3),
    "sp2": (lambda: K.spatial_2d_padding(c(IMAGES), ((1, 2), (0, 1))), 15.55, 7616.0),
    "sp2c": (lambda: K.spatial_2d_padding(c(IMAGES), ((1, 2), (0, 1)), "channels_first"), 15.55, 8841.0),
    "bn": (
        lambda: K.batch_normalization(
            c(IMAGES), c(IMAGES.mean((0, 1, 2))), c(IMAGES.var((0, 1, 2))), None, c(np.ones(3, "f") * 2)
        ),
        -2.563e-06,
        7861.0,
    ),
    "sw0": (lambda: K.switch(c(True), lambda: c(M), lambda: c(M * 2)), 2.287, 65.92),
    "itp": (lambda: K.in_train_phase(c(M), c(M * 2)), 4.574, 131.8),
    "itp1": (lambda: K.in_train_phase(c(M), c(M * 2), training=1), 2.287, 65.92),
    "zeros": (lambda: K.zeros((2, 3)), 0.0, 0.0),
    "ones": (lambda: K.ones_like(c(M)), 12.0, 78.0),
    "eye": (lambda: K.eye(3), 3.0, 15.0),
    "const": (lambda: K.constant([1, 2]), 3.0, 5.0),
    "var_": (lambda: K.variable(M), 2.287, 65.92),
    "tile": (lambda: K.tile(c([1, 2]), 3), 9.0, 33.0),
    "flat": (lambda: K.flatten(c(A)), 9.61, 243.0),
    "round_": (lambda: K.round(c(A * 3)), 27.0, 722.0),
    "max0": (lambda: K.maximum(c(A), 0.0), 15.2, 142.8),
    "sq": (lambda: K.squeeze(c(M[None]), 0), 2.287, 65.92),
    "ed": (lambda: K.expand_dims(c(M)), 2.287, 65.92),
    "cast": (lambda: K.cast(c(A), "int32"), 4.0, 85.0),
    "stack": (lambda: K.stack([c(M), c(M)], 1), 4.574, 256.0),
    "tr": (lambda: K.transpose(c(M)), 2.287, 64.98),
    "rsh": (lambda: K.reshape(c(M), (-1, 2)), 2.287, 65.92),
    "mse": (lambda: losses.mse(c(L), c(P)), 0.9861, 2.054),
    "hinge": (lambda: losses.hinge(c(L), c(P)), 4.438, 10.67),
    "kld": (lambda: losses.kullback_leibler_divergence(c(L), c(P)), 4.874, 10.38),
}


def value(x: Any, engine: str = "numpy") -> Any:
    with tf.Session(engine=engine) as sess:
        sess.run(tf.global_variables_initializer())
        return sess.run(x)


@pytest.mark.parametrize("name", MADE)
def test_a_function_gives_what_it_does_in_tensorflow(name: str) -> None:
    make, total, ordered = MADE[name]
    y = np.asarray(value(make()), "f8")
    assert y.sum() == pytest.approx(total, rel=1e-3, abs=1e-3)
    assert abs(y * np.arange(1, y.size + 1).reshape(y.shape)).sum() == pytest.approx(ordered, rel=1e-3)


def test_convolutions_and_pools() -> None:
    x, w = tf.constant(IMAGES), tf.constant(np.ones([2, 2, 3, 1], "f"))
    windows = sum(IMAGES[:, i : i + 3, j : j + 3].sum(-1) for i in (0, 1) for j in (0, 1))
    np.testing.assert_allclose(value(K.conv2d(x, w))[..., 0], windows, rtol=1e-4, atol=1e-5)
    first = K.conv2d(tf.constant(IMAGES.transpose(0, 3, 1, 2)), w, data_format="channels_first")
    np.testing.assert_allclose(value(first)[:, 0], windows, rtol=1e-4, atol=1e-5)
    assert K.conv1d(c(A), tf.ones([2, 4, 5]), padding="causal", dilation_rate=2).shape == [2, 3, 5]
    assert K.conv3d(c(IMAGES[:, None]), tf.ones([1, 2, 2, 3, 2])).shape == [2, 1, 3, 3, 2]
    with pytest.raises(ValueError, match=r"^keras.backend.pool2d: pool_mode must be 'max' or 'avg', not 'sum'$"):
        K.pool2d(x, 2, pool_mode="sum")
    with pytest.raises(
        ValueError, match=r"^keras: data_format must be 'channels_last' or 'channels_first', not 'NHWC'$"
    ):
        K.pool2d(x, 2, data_format="NHWC")


def test_variables_and_runs() -> None:
    with tf.Session(engine="numpy") as sess:
        K.set_session(sess)
        v, total = K.variable([1.0, 2.0]), K.zeros((2,))
        sess.run(tf.global_variables_initializer())
        x = K.placeholder((2,))
        run = K.function([x], [K.sum(x * v)], updates=[K.update_add(total, x), (v, x)])
        assert run([[3.0, 4.0]]) == [11.0]
        assert K.eval(total).tolist() == [3.0, 4.0] == K.get_value(v).tolist()
        K.batch_set_value([(v, [5.0, 6.0])])
        assert [y.tolist() for y in K.batch_get_value([v])] == [[5.0, 6.0]]
        sess.run(K.moving_average_update(v, [0.0, 0.0], 0.9))
        np.testing.assert_allclose(K.get_value(v), [4.5, 5.4], rtol=1e-6)
        K.clear_session()


def test_what_all_share_is_set_and_read() -> None:
    assert (K.epsilon(), K.floatx(), K.image_data_format(), K.backend()) == (
        1e-7,
        "float32",
        "channels_last",
        "tensorflow",
    )
    try:
        K.set_epsilon(1e-3)
        K.set_floatx("float64")
        K.set_image_data_format("channels_first")
        assert K.constant(1.0).dtype == tf.float64
        assert K.bias_add(tf.zeros([2, 3, 4]), [1.0, 2.0, 3.0]).shape == [2, 3, 4]
        assert value(K.binary_crossentropy([1.0], c([1.0]))) == pytest.approx(0.0, abs=2e-3)
    finally:
        K.set_epsilon(1e-7)
        K.set_floatx("float32")
        K.set_image_data_format("channels_last")
    with pytest.raises(
        ValueError, match=r"^keras.backend.set_floatx: the dtype is float16, float32 or float64, not 'x'$"
    ):
        K.set_floatx("x")


@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_losses_of_certain_wrong_predictions_go_back_to_the_logits(engine: str) -> None:
    logits = tf.constant([[-40.0]])
    loss = losses.binary_crossentropy(tf.constant([[1.0]]), tf.sigmoid(logits))
    assert [y.tolist() for y in value([loss, tf.gradients(loss, logits)[0]], engine)] == [[40.0], [[-1.0]]]
    scores = tf.constant([[0.0, 60.0]])
    several = losses.categorical_crossentropy(tf.constant([[1.0, 0.0]]), tf.nn.softmax(scores))
    one = losses.sparse_categorical_crossentropy(tf.constant([0]), tf.nn.softmax(scores))
    assert [y.tolist() for y in value([several, one], engine)] == [[60.0], [60.0]]


def test_another_default_graph_has_a_session_of_its_own() -> None:
    first = tf.keras.backend.get_session()
    with tf.Graph().as_default():
        x = tf.keras.backend.variable(3.0)
        assert tf.keras.backend.get_value(x) == 3.0
        assert tf.keras.backend.get_session() is not first


def test_what_is_not_there_says_so() -> None:
    text = "^module 'tensorflow.keras.backend' has no attribute 'local_conv': use the function of tf$"
    with pytest.raises(AttributeError, match=text):
        _ = K.local_conv


def test_lengths_that_only_a_run_knows() -> None:
    x = tf.placeholder(tf.float32, [None, 3])
    assert (K.int_shape(x), K.ndim(x), K.dtype(x), K.count_params(c(M))) == ((None, 3), 2, "float32", 12)
    assert K.int_shape(tf.placeholder(tf.float32)) is None
    loss = losses.categorical_crossentropy(L, x, label_smoothing=0.1)
    with tf.Session(engine="numpy") as sess:
        known = sess.run(losses.categorical_crossentropy(L, c(P), label_smoothing=0.1))
        np.testing.assert_allclose(sess.run(loss, {x: P}), known, rtol=1e-6)
        assert sess.run(K.batch_flatten(tf.placeholder_with_default(IMAGES, [None, None, 4, 3]))).shape == (2, 48)
