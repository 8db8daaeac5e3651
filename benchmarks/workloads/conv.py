"""A convolutional net: images 32x32x3 (NHWC), three 3x3 convolutions with relu and max pool, dense 10, batch 64."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from ..values import normal, zeros
from ..workload import Step, Workload

RATE = 0.01
CHANNELS = (3, 32, 64, 64)
SIDE, BATCH, CLASSES = 32, 64, 10

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Data:
    """`weights` and `biases` of the three convolutions (HWIO), then of the dense layer."""

    weights: list[Array]
    biases: list[Array]
    images: Array
    labels: Array


def data() -> Data:
    random = np.random.default_rng(0)
    kernels = [normal(random, 3, 3, a, b) for a, b in pairwise(CHANNELS)]
    features = (SIDE // 8) ** 2 * CHANNELS[-1]
    return Data(
        weights=[*kernels, normal(random, features, CLASSES)],
        biases=[*(zeros(c) for c in CHANNELS[1:]), zeros(CLASSES)],
        images=random.standard_normal((BATCH, SIDE, SIDE, CHANNELS[0])).astype(np.float32),
        labels=random.integers(0, CLASSES, BATCH).astype(np.int32),
    )


def with_pullback(data: Data, engine: str) -> Step:
    import pullback as pb

    with pb.Graph().as_default():
        images = pb.placeholder(pb.float32, data.images.shape)
        labels = pb.placeholder(pb.int32, data.labels.shape)
        weights, biases = [pb.Variable(w) for w in data.weights], [pb.Variable(b) for b in data.biases]
        y = images
        for w, b in zip(weights[:-1], biases[:-1], strict=True):
            y = pb.nn.relu(pb.nn.bias_add(pb.nn.conv2d(y, w, 1, "SAME"), b))
            y = pb.nn.max_pool2d(y, 2, 2, "VALID")
        y = pb.matmul(pb.reshape(y, [BATCH, -1]), weights[-1]) + biases[-1]
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
    from jax import lax

    def loss(weights: list[Any], biases: list[Any], images: Any, labels: Any) -> Any:
        y = images
        for w, b in zip(weights[:-1], biases[:-1], strict=True):
            y = lax.conv_general_dilated(y, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
            y = lax.reduce_window(jax.nn.relu(y + b), -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
        y = jax.nn.log_softmax(y.reshape(BATCH, -1) @ weights[-1] + biases[-1])
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
                y = tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(y, w, 1, "SAME"), b))
                y = tf.nn.max_pool2d(y, 2, 2, "VALID")
            y = tf.matmul(tf.reshape(y, (BATCH, -1)), weights[-1]) + biases[-1]
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, y))
        variables = weights + biases
        for variable, d in zip(variables, tape.gradient(loss, variables), strict=True):
            variable.assign_sub(RATE * d)
        return loss

    update.get_concrete_function(images, labels)
    return lambda: update(images, labels).numpy()


def with_torch(data: Data) -> Step:
    """In NCHW, which is torch's own layout and the faster one here."""
    import torch
    from torch.nn import functional as F

    weights = [torch.tensor(w).permute(3, 2, 0, 1).contiguous() for w in data.weights[:-1]]
    weights.append(torch.tensor(data.weights[-1]))
    biases = [torch.tensor(b) for b in data.biases]
    variables = [variable.requires_grad_() for variable in weights + biases]
    images = torch.tensor(data.images).permute(0, 3, 1, 2).contiguous()
    labels = torch.tensor(data.labels).long()

    def step() -> float:
        y = images
        for w, b in zip(weights[:-1], biases[:-1], strict=True):
            y = F.max_pool2d(F.relu(F.conv2d(y, w, b, padding=1)), 2)
        y = torch.addmm(biases[-1], y.permute(0, 2, 3, 1).reshape(BATCH, -1), weights[-1])
        loss = F.cross_entropy(y, labels)
        gradients = torch.autograd.grad(loss, variables)
        with torch.no_grad():
            for variable, d in zip(variables, gradients, strict=True):
                variable.sub_(d, alpha=RATE)
        return loss.item()

    return step


WORKLOADS = [
    Workload(
        name="conv",
        title="three convolutions on 32x32x3, batch 64",
        data=data,
        peers={
            "pullback": partial(with_pullback, engine="xla"),
            "pullback-numpy": partial(with_pullback, engine="numpy"),
            "jax": with_jax,
            "tensorflow": partial(with_tensorflow, compiled=False),
            "tensorflow-xla": partial(with_tensorflow, compiled=True),
            "torch": with_torch,
        },
    )
]
