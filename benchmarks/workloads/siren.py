"""A net of sines (Sitzmann et al. 2020), as implicit representations are: loss and derivatives by its weights."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from ..workload import Step, Workload

ROWS, WIDTH, LAYERS = 8192, 256, 4
Array = np.ndarray[Any, Any]


def data() -> list[Array]:
    """The inputs, what is wanted, then the weights of each layer."""
    random = np.random.default_rng(0)
    x = random.uniform(-1, 1, [ROWS, 2])
    wanted = np.sin(5 * x.sum(1, keepdims=True))
    widths = [2, *[WIDTH] * LAYERS, 1]
    weights = [random.uniform(-1, 1, [a, b]) * np.sqrt(6 / a) for a, b in pairwise(widths)]
    return [array.astype(np.float32) for array in (x, wanted, *weights)]


def loss(xp: Any, mean: Callable[[Any], Any], x: Any, wanted: Any, *weights: Any) -> Any:
    """The mean of the squares of what the net misses."""
    for w in weights[:-1]:
        x = xp.sin(xp.matmul(x, w))
    missed = xp.matmul(x, weights[-1]) - wanted
    return mean(missed * missed)


def with_pullback(data: list[Array]) -> Step:
    import pullback as pb

    with pb.Graph().as_default():
        feeds = [pb.placeholder(pb.float32, array.shape) for array in data]
        y = loss(pb, pb.reduce_mean, *feeds)
        run = pb.Session().make_callable([y, *pb.gradients(y, feeds[2:])], feeds, to_host=False)
    return lambda: float(np.asarray(run(*data)[0]))


def with_jax(data: list[Array]) -> Step:
    import jax
    import jax.numpy as jnp

    def of_weights(weights: list[Any], x: Any, wanted: Any) -> Any:
        return loss(jnp, jnp.mean, x, wanted, *weights)

    step = jax.jit(jax.value_and_grad(of_weights))
    return lambda: float(step(data[2:], data[0], data[1])[0])


def with_tensorflow(data: list[Array]) -> Step:
    import tensorflow as tf

    @tf.function
    def step(*arrays: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(arrays[2:])
            y = loss(tf, tf.reduce_mean, *arrays)
        return [y, *tape.gradient(y, arrays[2:])]

    tensors = [tf.constant(array) for array in data]
    return lambda: float(step(*tensors)[0])


WORKLOADS = [
    Workload(
        "siren",
        f"loss and gradient of {LAYERS} layers of {WIDTH} sines, {ROWS:,} rows",
        data,
        {"pullback": with_pullback, "jax": with_jax, "tensorflow": with_tensorflow},
    )
]
