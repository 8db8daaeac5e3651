"""Derivatives that TensorFlow 1 has as functions: equal to what `gradients` gives."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pullback as pb
import pullback.compat.v1 as tf
from pullback.compat.v1 import backprop, inner_names

RANDOM = np.random.default_rng(3)
IMAGES, VOLUMES = [2, 5, 6, 3], [1, 4, 5, 4, 2]
WINDOW, STEP = [1, 3, 2, 1], [1, 2, 1, 1]


def value(shape: list[int]) -> pb.Tensor:
    return pb.constant(RANDOM.normal(size=shape))


def both(y: pb.Tensor, x: pb.Tensor, derivative: Callable[[pb.Tensor], pb.Tensor]) -> tuple[Any, Any]:
    """What `gradients` and the function give for the same cotangent of `y`."""
    dy = value(y.shape.as_list())
    expected, found = pb.Session(engine="numpy").run([pb.gradients(y, x, dy)[0], derivative(dy)])
    return expected, found


@pytest.mark.parametrize("padding", ["SAME", "VALID", [[0, 0], [1, 2], [0, 1], [0, 0]]])
def test_a_convolution_by_its_images_and_by_its_filters(padding: Any) -> None:
    x, f = value(IMAGES), value([3, 2, 3, 4])
    y = tf.nn.conv2d(x, f, STEP, padding)
    np.testing.assert_allclose(*both(y, x, lambda dy: tf.nn.conv2d_backprop_input(IMAGES, f, dy, STEP, padding)))
    np.testing.assert_allclose(*both(y, f, lambda dy: tf.nn.conv2d_backprop_filter(x, f.shape, dy, STEP, padding)))


def test_a_convolution_by_filters_of_a_shape_that_the_run_knows() -> None:
    x, f = value(IMAGES), value([3, 2, 3, 4])
    y = tf.nn.conv2d(x, f, STEP, "SAME", dilations=[1, 1, 2, 1])
    sizes = pb.placeholder_with_default(np.array([3, 2, 3, 4]), [4])
    np.testing.assert_allclose(
        *both(y, f, lambda dy: tf.nn.conv2d_backprop_filter(x, sizes, dy, STEP, "SAME", dilations=[1, 1, 2, 1]))
    )


def test_a_convolution_of_volumes_by_its_filters() -> None:
    x, f = value(VOLUMES), value([2, 3, 2, 2, 3])
    y = tf.nn.conv3d(x, f, [1, 2, 1, 1, 1], "SAME")
    steps = [1, 2, 1, 1, 1]
    np.testing.assert_allclose(*both(y, f, lambda dy: tf.nn.conv3d_backprop_filter_v2(x, f.shape, dy, steps, "SAME")))


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
def test_pools(padding: str) -> None:
    x = value(IMAGES)
    largest, mean = (pool(x, WINDOW, STEP, padding) for pool in (tf.nn.max_pool, tf.nn.avg_pool))
    for grad in (backprop.max_pool_grad, backprop.max_pool_grad_v2):
        np.testing.assert_allclose(
            *both(largest, x, lambda dy, grad=grad: grad(x, largest, dy, WINDOW, STEP, padding))  # type: ignore[misc]
        )
    np.testing.assert_allclose(*both(mean, x, lambda dy: backprop.avg_pool_grad(IMAGES, dy, WINDOW, STEP, padding)))


def test_a_pool_with_paddings_in_one_list() -> None:
    x, pads = value(IMAGES), [[0, 0], [1, 2], [0, 1], [0, 0]]
    y = tf.nn.max_pool(x, WINDOW, STEP, pads)
    flat = [n for pair in pads for n in pair]
    np.testing.assert_allclose(*both(y, x, lambda dy: backprop.max_pool_grad(x, y, dy, WINDOW, STEP, "EXPLICIT", flat)))


@pytest.mark.parametrize("name", ["relu", "relu6", "leaky_relu", "softplus", "softsign"])
def test_activations_by_their_inputs(name: str) -> None:
    x = value([3, 4]) * 4.0
    y = getattr(tf.nn, name)(x)
    np.testing.assert_allclose(*both(y, x, lambda dy: getattr(backprop, f"{name}_grad")(dy, x)))


@pytest.mark.parametrize("name", ["elu", "selu"])
def test_activations_by_their_results(name: str) -> None:
    x = value([3, 4])
    y = getattr(tf.nn, name)(x)
    np.testing.assert_allclose(*both(y, x, lambda dy: getattr(backprop, f"{name}_grad")(dy, y)))


@pytest.mark.parametrize("name", ["sigmoid", "tanh", "sqrt", "rsqrt", "reciprocal"])
def test_functions_by_their_results(name: str) -> None:
    x = pb.exp(value([3, 4]))
    y = getattr(tf.math, name)(x)
    np.testing.assert_allclose(*both(y, x, lambda dy: getattr(backprop, f"{name}_grad")(y, dy)))


def test_guided_backpropagation() -> None:
    @pb.RegisterGradient("GuidedReluByHand")
    def _guided(op: Any, dy: pb.Tensor) -> pb.Tensor:
        positive = pb.cast(dy > 0.0, dy.dtype)
        return positive * inner_names._relu_grad(dy, op.outputs[0])

    x = pb.constant([-1.0, 2.0, 3.0])
    with pb.get_default_graph().gradient_override_map({"Relu": "GuidedReluByHand"}):
        y = pb.nn.relu(x)
    assert pb.Session().run(pb.gradients(y, x, pb.constant([1.0, -1.0, 2.0])))[0].tolist() == [0.0, 0.0, 2.0]


def test_all_rows_as_slices() -> None:
    x = pb.constant([[1.0, 2.0], [3.0, 4.0]])
    slices = inner_names._as_indexed_slices(x)
    assert pb.Session().run([slices.indices, slices.dense_shape])[0].tolist() == [0, 1]
    assert pb.Session().run(pb.convert_to_tensor(slices)).tolist() == [[1.0, 2.0], [3.0, 4.0]]


def test_integers_become_floats_below_a_leaky_rectifier() -> None:
    y = tf.nn.leaky_relu(np.array([-10, 5]), alpha=0.5)
    assert (y.dtype, pb.Session().run(y).tolist()) == (pb.float32, [-5.0, 5.0])
