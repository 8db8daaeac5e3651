"""A perceptron 64-512-512-10 on arrays of the shape of the digits: relu, softmax cross entropy, batch 128, descent."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from ..values import normal, zeros
from ..workload import Step, Workload

RATE = 0.01
SIZES = (64, 512, 512, 10)
BATCH = 128

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Data:
    """`weights` and `biases` per layer."""

    weights: list[Array]
    biases: list[Array]
    images: Array
    labels: Array


def data() -> Data:
    random = np.random.default_rng(0)
    return Data(
        weights=[normal(random, a, b) for a, b in pairwise(SIZES)],
        biases=[zeros(b) for b in SIZES[1:]],
        images=random.random((BATCH, SIZES[0]), np.float32),
        labels=random.integers(0, SIZES[-1], BATCH).astype(np.int32),
    )


def with_pullback(data: Data, engine: str) -> Step:
    import pullback as pb

    with pb.Graph().as_default():
        images = pb.placeholder(pb.float32, data.images.shape)
        labels = pb.placeholder(pb.int32, data.labels.shape)
        weights, biases = [pb.Variable(w) for w in data.weights], [pb.Variable(b) for b in data.biases]
        y = images
        for w, b in zip(weights[:-1], biases[:-1], strict=True):
            y = pb.nn.relu(pb.matmul(y, w) + b)
        y = pb.matmul(y, weights[-1]) + biases[-1]
        loss = pb.reduce_mean(pb.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=y))
        train = pb.train.GradientDescentOptimizer(RATE).minimize(loss)
        session = pb.Session(engine=engine)
        session.run(pb.global_variables_initializer())
        step = session.make_callable([loss, train], [images, labels])
    image_values, label_values = data.images, data.labels
    return lambda: step(image_values, label_values)[0]


def with_jax(data: Data) -> Step:
    import jax
    import jax.numpy as jnp

    def loss(weights: list[Any], biases: list[Any], images: Any, labels: Any) -> Any:
        y = images
        for w, b in zip(weights[:-1], biases[:-1], strict=True):
            y = jax.nn.relu(y @ w + b)
        y = jax.nn.log_softmax(y @ weights[-1] + biases[-1])
        return -jnp.mean(jnp.take_along_axis(y, labels[:, None], 1))

    def update(weights: list[Any], biases: list[Any], images: Any, labels: Any) -> Any:
        value, (dw, db) = jax.value_and_grad(loss, (0, 1))(weights, biases, images, labels)
        return (
            value,
            [w - RATE * d for w, d in zip(weights, dw, strict=True)],
            [b - RATE * d for b, d in zip(biases, db, strict=True)],
        )

    update = jax.jit(update, donate_argnums=(0, 1))
    weights, biases = [jnp.array(w) for w in data.weights], [jnp.array(b) for b in data.biases]
    images, labels = jnp.array(data.images), jnp.array(data.labels)
    update.lower(weights, biases, images, labels)

    def step() -> float:
        nonlocal weights, biases
        value, weights, biases = update(weights, biases, images, labels)
        return value.block_until_ready()

    return step


def with_tensorflow(data: Data, compiled: bool) -> Step:
    import tensorflow as tf

    weights, biases = [tf.Variable(w) for w in data.weights], [tf.Variable(b) for b in data.biases]
    images, labels = tf.constant(data.images), tf.constant(data.labels)

    @tf.function(jit_compile=compiled)
    def update(images: Any, labels: Any) -> Any:
        with tf.GradientTape() as tape:
            y = images
            for w, b in zip(weights[:-1], biases[:-1], strict=True):
                y = tf.nn.relu(tf.matmul(y, w) + b)
            y = tf.matmul(y, weights[-1]) + biases[-1]
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, y))
        variables = weights + biases
        for variable, d in zip(variables, tape.gradient(loss, variables), strict=True):
            variable.assign_sub(RATE * d)
        return loss

    update.get_concrete_function(images, labels)
    return lambda: update(images, labels).numpy()


def with_torch(data: Data) -> Step:
    import torch
    from torch.nn import functional as F

    weights = [torch.tensor(w, requires_grad=True) for w in data.weights]
    biases = [torch.tensor(b, requires_grad=True) for b in data.biases]
    images, labels = torch.tensor(data.images), torch.tensor(data.labels).long()

    def step() -> float:
        y = images
        for w, b in zip(weights[:-1], biases[:-1], strict=True):
            y = F.relu(torch.addmm(b, y, w))
        loss = F.cross_entropy(torch.addmm(biases[-1], y, weights[-1]), labels)
        variables = weights + biases
        gradients = torch.autograd.grad(loss, variables)
        with torch.no_grad():
            for variable, d in zip(variables, gradients, strict=True):
                variable.sub_(d, alpha=RATE)
        return loss.item()

    return step


def by_hand(data: Data) -> Step:
    weights, biases = [w.copy() for w in data.weights], [b.copy() for b in data.biases]
    images, labels, rows = data.images, data.labels, np.arange(BATCH)

    def step() -> float:
        inputs, y = [], images
        for w, b in zip(weights, biases, strict=True):
            inputs.append(y)
            y = y @ w
            y += b
            if w is not weights[-1]:
                np.maximum(y, 0, out=y)
        y -= y.max(1, keepdims=True)
        d = np.exp(y)
        total = d.sum(1, keepdims=True)
        loss = np.mean(np.log(total[:, 0]) - y[rows, labels])
        d /= total
        d[rows, labels] -= 1
        d /= BATCH
        for w, b, x in zip(reversed(weights), reversed(biases), reversed(inputs), strict=True):
            dw, db = x.T @ d, d.sum(0)
            if x is not images:
                d = d @ w.T
                d *= x > 0
            dw *= RATE
            w -= dw
            b -= RATE * db
        return loss

    return step


WORKLOADS = [
    Workload(
        name="mlp",
        title="perceptron 64-512-512-10, batch 128",
        data=data,
        peers={
            "pullback": partial(with_pullback, engine="xla"),
            "pullback-numpy": partial(with_pullback, engine="numpy"),
            "jax": with_jax,
            "tensorflow": partial(with_tensorflow, compiled=False),
            "tensorflow-xla": partial(with_tensorflow, compiled=True),
            "torch": with_torch,
            "numpy": by_hand,
        },
    )
]
