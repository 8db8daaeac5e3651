"""A recurrent network of the LSTM kind over 100 steps: batch 32, inputs of 64, states of 128; derivative by weights.

All peers scan the inputs, so the number of steps is known. After Hochreiter and Schmidhuber (1997), with a forget gate.
The loss is the sum of the squares of the last output.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ..values import normal, zeros
from ..workload import Step, Workload

STEPS, BATCH, INPUTS, STATES = 100, 32, 64, 128

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Data:
    """`weights` are for the inputs, for the state, and the bias; the four gates lie side by side."""

    inputs: Array
    weights: tuple[Array, Array, Array]


def data() -> Data:
    random = np.random.default_rng(0)
    inputs = random.standard_normal((STEPS, BATCH, INPUTS), np.float32)
    return Data(inputs, (normal(random, INPUTS, 4 * STATES), normal(random, STATES, 4 * STATES), zeros(4 * STATES)))


def step_of(xp: Any, sigmoid: Callable[[Any], Any], gates: Any, c: Any) -> tuple[Any, Any]:
    """The next output and state of a cell, from its four gates."""
    i, f, g, o = gates
    c = sigmoid(f) * c + sigmoid(i) * xp.tanh(g)
    return sigmoid(o) * xp.tanh(c), c


def with_pullback(data: Data, engine: str) -> Step:
    import pullback as pb

    with pb.Graph().as_default():
        inputs = pb.placeholder(pb.float32, data.inputs.shape)
        wx, wh, b = weights = [pb.Variable(x) for x in data.weights]

        def step(state: Any, x: Any) -> Any:
            h, c = state
            z = pb.matmul(x, wx) + pb.matmul(h, wh) + b
            return step_of(pb, pb.sigmoid, pb.split(z, 4, axis=1), c)

        start = pb.zeros([BATCH, STATES])
        h, _ = pb.foldl(step, inputs, initializer=(start, start))
        gradients = pb.gradients(pb.reduce_sum(pb.square(h)), weights)
        session = pb.Session(engine=engine)
        session.run(pb.global_variables_initializer())
        run = session.make_callable(gradients, [inputs])
    return lambda: _first(run(data.inputs))


def _first(gradients: Any) -> float:
    return float(np.asarray(gradients[0]).ravel()[0])


def with_jax(data: Data, checkpoint: bool) -> Step:
    import jax
    import jax.numpy as jnp

    def loss(weights: Any, inputs: Any) -> Any:
        wx, wh, b = weights

        def step(state: Any, x: Any) -> Any:
            h, c = state
            return step_of(jnp, jax.nn.sigmoid, jnp.split(x @ wx + h @ wh + b, 4, axis=1), c), None

        start = jnp.zeros((BATCH, STATES), jnp.float32)
        (h, _), _ = jax.lax.scan(jax.checkpoint(step) if checkpoint else step, (start, start), inputs)
        return jnp.sum(jnp.square(h))

    gradient = jax.jit(jax.grad(loss))
    weights, inputs = tuple(map(jnp.asarray, data.weights)), jnp.asarray(data.inputs)
    gradient.lower(weights, inputs)
    return lambda: _first([np.asarray(x) for x in gradient(weights, inputs)])


def with_tensorflow(data: Data, compiled: bool) -> Step:
    import tensorflow as tf

    weights, inputs = [tf.constant(x) for x in data.weights], tf.constant(data.inputs)

    @tf.function(jit_compile=compiled)
    def gradient(inputs: Any, *weights: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(weights)
            wx, wh, b = weights
            start = tf.zeros([BATCH, STATES])

            def step(state: Any, x: Any) -> Any:
                h, c = state
                return step_of(tf, tf.sigmoid, tf.split(x @ wx + h @ wh + b, 4, axis=1), c)

            h, _ = tf.foldl(step, inputs, initializer=(start, start))
            loss = tf.reduce_sum(tf.square(h))
        return tape.gradient(loss, weights)

    gradient.get_concrete_function(inputs, *weights)
    return lambda: _first([x.numpy() for x in gradient(inputs, *weights)])


def with_torch(data: Data) -> Step:
    import torch

    wx, wh, b = weights = [torch.tensor(x, requires_grad=True) for x in data.weights]
    inputs = torch.tensor(data.inputs)

    def step() -> float:
        h = c = torch.zeros(BATCH, STATES)
        for x in inputs:
            h, c = step_of(torch, torch.sigmoid, (x @ wx + h @ wh + b).chunk(4, dim=1), c)
        return _first([x.numpy() for x in torch.autograd.grad(h.square().sum(), weights)])

    return step


WORKLOADS = [
    Workload(
        name="lstm",
        title="LSTM of 100 steps, batch 32, 64 inputs, 128 states",
        data=data,
        peers={
            "pullback": partial(with_pullback, engine="xla"),
            "pullback-numpy": partial(with_pullback, engine="numpy"),
            "jax": partial(with_jax, checkpoint=False),
            "jax-checkpoint": partial(with_jax, checkpoint=True),
            "tensorflow": partial(with_tensorflow, compiled=False),
            "tensorflow-xla": partial(with_tensorflow, compiled=True),
            "torch": with_torch,
        },
    )
]
