"""A transformer block, norms first: width 256, 4 heads, 128 tokens, batch 8, gelu (tanh form) of width 1024.

The loss is the mean of the squares of what comes out; plain descent on all twelve parameters.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ..values import normal, ones, zeros
from ..workload import Step, Workload

RATE, EPSILON = 0.01, 1e-5
WIDTH, HEADS, TOKENS, BATCH = 256, 4, 128, 8
DEPTH = WIDTH // HEADS
ROWS = BATCH * TOKENS

Array = np.ndarray[Any, Any]


def data() -> tuple[list[Array], Array]:
    """Parameters: scale, shift, query-key-value, output, scale, shift, widening, narrowing; and the tokens."""
    random = np.random.default_rng(0)
    attention = [normal(random, WIDTH, 3 * WIDTH), zeros(3 * WIDTH), normal(random, WIDTH, WIDTH), zeros(WIDTH)]
    dense = [normal(random, WIDTH, 4 * WIDTH), zeros(4 * WIDTH), normal(random, 4 * WIDTH, WIDTH), zeros(WIDTH)]
    norm = [ones(WIDTH), zeros(WIDTH)]
    x = random.standard_normal((BATCH, TOKENS, WIDTH)).astype(np.float32)
    return [*norm, *attention, *norm, *dense], x


def with_pullback(data: tuple[list[Array], Array], engine: str) -> Step:
    import pullback as pb

    def norm(x: Any, scale: Any, shift: Any) -> Any:
        mean = pb.reduce_mean(x, -1, keepdims=True)
        variance = pb.reduce_mean(pb.square(x - mean), -1, keepdims=True)
        return (x - mean) * pb.math.rsqrt(variance + EPSILON) * scale + shift

    def loss_of(p: list[Any], x: Any) -> Any:
        x = pb.reshape(x, [ROWS, WIDTH])
        qkv = pb.reshape(pb.matmul(norm(x, p[0], p[1]), p[2]) + p[3], [BATCH, TOKENS, 3, HEADS, DEPTH])
        q, k, v = pb.unstack(pb.transpose(qkv, [2, 0, 3, 1, 4]))
        weights = pb.nn.softmax(pb.matmul(q, k, transpose_b=True) * DEPTH**-0.5)
        heads = pb.reshape(pb.transpose(pb.matmul(weights, v), [0, 2, 1, 3]), [ROWS, WIDTH])
        x = x + (pb.matmul(heads, p[4]) + p[5])
        wide = pb.nn.gelu(pb.matmul(norm(x, p[6], p[7]), p[8]) + p[9], approximate=True)
        x = x + (pb.matmul(wide, p[10]) + p[11])
        return pb.reduce_mean(pb.square(x))

    parameters, tokens = data
    with pb.Graph().as_default():
        x = pb.placeholder(pb.float32, tokens.shape)
        loss = loss_of([pb.Variable(p) for p in parameters], x)
        train = pb.train.GradientDescentOptimizer(RATE).minimize(loss)
        session = pb.Session(engine=engine)
        session.run(pb.global_variables_initializer())
        step = session.make_callable([loss, train], [x])
    return lambda: step(tokens)[0]


def with_jax(data: tuple[list[Array], Array]) -> Step:
    import jax
    import jax.numpy as jnp

    def norm(x: Any, scale: Any, shift: Any) -> Any:
        mean = x.mean(-1, keepdims=True)
        variance = jnp.square(x - mean).mean(-1, keepdims=True)
        return (x - mean) * jax.lax.rsqrt(variance + EPSILON) * scale + shift

    def loss(p: list[Any], x: Any) -> Any:
        parts = jnp.split(norm(x, p[0], p[1]) @ p[2] + p[3], 3, -1)
        q, k, v = (part.reshape(BATCH, TOKENS, HEADS, DEPTH).transpose(0, 2, 1, 3) for part in parts)
        weights = jax.nn.softmax(q @ k.transpose(0, 1, 3, 2) * DEPTH**-0.5)
        x = x + (weights @ v).transpose(0, 2, 1, 3).reshape(BATCH, TOKENS, WIDTH) @ p[4] + p[5]
        x = x + jax.nn.gelu(norm(x, p[6], p[7]) @ p[8] + p[9]) @ p[10] + p[11]
        return jnp.mean(x * x)

    def update(parameters: list[Any], x: Any) -> Any:
        value, gradients = jax.value_and_grad(loss)(parameters, x)
        return value, [p - RATE * d for p, d in zip(parameters, gradients, strict=True)]

    update = jax.jit(update, donate_argnums=0)
    parameters, x = [jnp.array(p) for p in data[0]], jnp.array(data[1])
    update.lower(parameters, x)

    def step() -> float:
        nonlocal parameters
        value, parameters = update(parameters, x)
        return value.block_until_ready()

    return step


def with_tensorflow(data: tuple[list[Array], Array], compiled: bool) -> Step:
    import tensorflow as tf

    def norm(x: Any, scale: Any, shift: Any) -> Any:
        mean = tf.reduce_mean(x, -1, keepdims=True)
        variance = tf.reduce_mean(tf.square(x - mean), -1, keepdims=True)
        return (x - mean) * tf.math.rsqrt(variance + EPSILON) * scale + shift

    def dense(x: Any, w: Any, b: Any) -> Any:
        return tf.reshape(tf.matmul(tf.reshape(x, (ROWS, -1)), w) + b, (BATCH, TOKENS, -1))

    def loss_of(p: list[Any], x: Any) -> Any:
        parts = tf.split(dense(norm(x, p[0], p[1]), p[2], p[3]), 3, -1)
        q, k, v = (tf.transpose(tf.reshape(part, (BATCH, TOKENS, HEADS, DEPTH)), (0, 2, 1, 3)) for part in parts)
        weights = tf.nn.softmax(tf.matmul(q, k, transpose_b=True) * DEPTH**-0.5)
        heads = tf.reshape(tf.transpose(tf.matmul(weights, v), (0, 2, 1, 3)), (BATCH, TOKENS, WIDTH))
        x = x + dense(heads, p[4], p[5])
        x = x + dense(tf.nn.gelu(dense(norm(x, p[6], p[7]), p[8], p[9]), approximate=True), p[10], p[11])
        return tf.reduce_mean(tf.square(x))

    parameters, x = [tf.Variable(p) for p in data[0]], tf.constant(data[1])

    @tf.function(jit_compile=compiled)
    def update(x: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = loss_of(parameters, x)
        for parameter, d in zip(parameters, tape.gradient(loss, parameters), strict=True):
            parameter.assign_sub(RATE * d)
        return loss

    update.get_concrete_function(x)
    return lambda: update(x).numpy()


def with_torch(data: tuple[list[Array], Array]) -> Step:
    import torch
    from torch.nn import functional as F

    def dense(x: Any, w: Any, b: Any) -> Any:
        return torch.addmm(b, x.reshape(ROWS, -1), w).view(BATCH, TOKENS, -1)

    def loss_of(p: list[Any], x: Any) -> Any:
        qkv = dense(F.layer_norm(x, (WIDTH,), p[0], p[1], EPSILON), p[2], p[3])
        q, k, v = qkv.view(BATCH, TOKENS, 3, HEADS, DEPTH).permute(2, 0, 3, 1, 4)
        heads = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(BATCH, TOKENS, WIDTH)
        x = x + dense(heads, p[4], p[5])
        wide = F.gelu(dense(F.layer_norm(x, (WIDTH,), p[6], p[7], EPSILON), p[8], p[9]), approximate="tanh")
        return (x + dense(wide, p[10], p[11])).square().mean()

    parameters, x = [torch.tensor(p, requires_grad=True) for p in data[0]], torch.tensor(data[1])

    def step() -> float:
        loss = loss_of(parameters, x)
        gradients = torch.autograd.grad(loss, parameters)
        with torch.no_grad():
            for parameter, d in zip(parameters, gradients, strict=True):
                parameter.sub_(d, alpha=RATE)
        return loss.item()

    return step


WORKLOADS = [
    Workload(
        name="transformer",
        title="transformer block, width 256, 4 heads, 128 tokens, batch 8",
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
