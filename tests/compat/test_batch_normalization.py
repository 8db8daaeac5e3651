"""Batch normalization as a layer: several axes, virtual batches, adjustments, renormalization, floats of 16 bits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pullback.compat.v1 as tf

Array = np.ndarray[Any, Any]
RNG = np.random.RandomState(0)
X = (2.0 * RNG.randn(6, 3, 4) + 1.0).astype(np.float32)


def normal(x: Array, axes: tuple[int, ...], epsilon: float = 1e-3) -> Array:
    found: Array = (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + epsilon)
    return found


def trained(engine: str, x: Array, **options: Any) -> tuple[Array, dict[str, Array]]:
    """The results while training, and the variables after that."""
    y = tf.layers.batch_normalization(tf.constant(x), training=True, **options)
    with tf.Session(engine=engine) as session:
        session.run(tf.global_variables_initializer())
        result = session.run(y)
        session.run(tf.get_collection(tf.GraphKeys.UPDATE_OPS))
        return result, {v.op.name.split("/")[1]: session.run(v) for v in tf.global_variables()}


@pytest.mark.parametrize("engine", ["numpy", "xla"])
@pytest.mark.parametrize("axis", [[0, 2], [-1, 1], (1,), [2]])
def test_there_are_moments_along_each_axis(axis: Any, engine: str) -> None:
    y, variables = trained(engine, X, axis=axis, momentum=0.0)
    axes = {a % 3 for a in axis}
    others = tuple({0, 1, 2} - axes)
    np.testing.assert_allclose(y, normal(X, others), rtol=1e-4, atol=1e-5)
    mean = X.mean(others, keepdims=len(axes) > 1)
    assert variables["gamma"].shape == mean.shape
    np.testing.assert_allclose(variables["moving_mean"], mean, rtol=1e-5, atol=1e-6)


def test_axes_are_those_of_the_inputs() -> None:
    for axis in (3, [1, -2], [-4]):
        with pytest.raises(ValueError, match=r"^batch_normalization: axis must be different axes of"):
            tf.layers.batch_normalization(X, axis=axis)


@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_parts_of_a_virtual_batch_have_moments_of_their_own(engine: str) -> None:
    y, variables = trained(engine, X, virtual_batch_size=2, momentum=0.0)
    parts = X.reshape(2, 3, 3, 4)
    np.testing.assert_allclose(y, normal(parts, (0, 2)).reshape(X.shape), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(variables["moving_variance"].ravel(), parts.var((0, 2)).mean(0), rtol=1e-5)
    for options in ({"axis": 0}, {"adjustment": lambda shape: (shape, shape)}):
        with pytest.raises(ValueError, match=r"^batch_normalization: with virtual_batch_size there is no axis 0"):
            tf.layers.batch_normalization(X, virtual_batch_size=2, **options)


@pytest.mark.parametrize("known", [True, False])
def test_adjustments_count_while_training(known: bool) -> None:
    training = True if known else tf.placeholder_with_default(True, [])

    def adjustment(shape: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        return tf.fill([shape[0], 1], 2.0), tf.fill([1, shape[1]], 0.5)

    start = tf.constant_initializer(3.0)
    y = tf.layers.batch_normalization(
        tf.constant(X[:, 0]), training=training, adjustment=adjustment, beta_initializer=start, gamma_initializer=start
    )
    with tf.Session(engine="numpy") as session:
        session.run(tf.global_variables_initializer())
        wanted = (normal(X[:, 0], (0,)) * 2.0 + 0.5) * 3.0 + 3.0
        np.testing.assert_allclose(session.run(y), wanted, rtol=1e-4, atol=1e-5)
        if not known:
            found = session.run(y, {training: False})
            np.testing.assert_allclose(found, X[:, 0] / np.sqrt(1.001) * 3.0 + 3.0, rtol=1e-4)


@pytest.mark.parametrize("engine", ["numpy", "xla"])
@pytest.mark.parametrize("known", [True, False])
def test_renormalized_batches_lie_where_moving_moments_would_put_them(known: bool, engine: str) -> None:
    batches = [X[:, 0], X[:, 1] * 3.0, X[:, 2] - 2.0]
    x, training = tf.placeholder(tf.float32, [None, 4]), tf.placeholder_with_default(True, [])
    limits = {"rmin": 0.5, "rmax": 1.5, "dmax": 0.7}
    y = tf.layers.batch_normalization(
        x,
        training=True if known else training,
        renorm=True,
        renorm_clipping=limits,
        renorm_momentum=0.8,
        momentum=0.9,
    )
    dx = tf.gradients(tf.reduce_sum(y * y), x)[0]
    names = ["gamma", "beta", "moving_mean", "moving_variance", "moving_stddev", "renorm_mean", "renorm_stddev"]
    assert [v.op.name.split("/")[1] for v in tf.global_variables()] == names
    moving, kept, seen = np.zeros(4), np.ones(4), [np.zeros(4), np.ones(4)]
    with tf.Session(engine=engine) as session:
        session.run(tf.global_variables_initializer())
        for batch in batches:
            mean, deviation = batch.mean(0), np.sqrt(batch.var(0) + 1e-3)
            r = np.clip(deviation / seen[1], 0.5, 1.5)
            d = np.clip((mean - seen[0]) / seen[1], -0.7, 0.7)
            z = (batch - mean) / deviation
            found, slope, _ = session.run([y, dx, tf.get_collection(tf.GraphKeys.UPDATE_OPS)], {x: batch})
            np.testing.assert_allclose(found, z * r + d, rtol=1e-4, atol=1e-5)
            dy = 2.0 * (z * r + d) * r
            wanted = (dy - dy.mean(0) - z * (dy * z).mean(0)) / deviation
            np.testing.assert_allclose(slope, wanted, rtol=1e-3, atol=1e-4)
            seen = [0.8 * seen[0] + 0.2 * mean, 0.8 * seen[1] + 0.2 * deviation]
            moving, kept = 0.9 * moving + 0.1 * mean, 0.9 * kept + 0.1 * deviation
        values = dict(zip(names, session.run(tf.global_variables()), strict=True))
        np.testing.assert_allclose(values["renorm_mean"], seen[0], rtol=1e-5)
        np.testing.assert_allclose(values["moving_mean"], moving, rtol=1e-5)
        np.testing.assert_allclose(values["moving_variance"], kept**2 - 1e-3, rtol=1e-5)
        if not known:
            found = session.run(y, {x: batches[0], training: False})
            np.testing.assert_allclose(found, (batches[0] - moving) / kept, rtol=1e-4, atol=1e-5)
            session.run(tf.get_collection(tf.GraphKeys.UPDATE_OPS), {x: batches[0], training: False})
            np.testing.assert_array_equal(session.run(tf.global_variables()), list(values.values()))


def test_renormalization_knows_its_limits() -> None:
    with pytest.raises(
        ValueError, match=r"^batch_normalization: renorm_clipping has rmin, rmax and dmax, not \['max'\]"
    ):
        tf.layers.batch_normalization(X, renorm=True, renorm_clipping={"max": 2.0})


@pytest.mark.parametrize("dtype", [tf.float16, tf.bfloat16])
def test_floats_of_16_bits_are_normalized_as_float32(dtype: Any) -> None:
    y = tf.layers.batch_normalization(tf.cast(X, dtype), training=True)
    assert y.dtype == dtype
    assert {v.dtype for v in tf.global_variables()} == {tf.float32}
    with tf.Session(engine="numpy") as session:
        session.run(tf.global_variables_initializer())
        np.testing.assert_allclose(session.run(y).astype(np.float32), normal(X, (0, 1)), atol=2e-2)
