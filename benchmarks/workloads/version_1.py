"""Programs of TensorFlow 1: the same text with `pullback.compat.v1` and with TensorFlow's `compat.v1`, in sessions.

Eleven kinds of program that are common in public repositories, from equal initial values, without random numbers in the
run. One step is one `session.run` of the loss and of what trains. Losses may differ by 1e-5, a part of them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from ..workload import Step, Workload

Array = np.ndarray[Any, Any]
Random = np.random.Generator


class Program(NamedTuple):
    """What a program runs: its loss, what trains, and what is fed."""

    loss: Any
    train: Any
    feeds: dict[Any, Array]


def variable(tf: Any, random: Random, *shape: int) -> Any:
    """A variable of normal numbers, scaled by the root of the number of inputs."""
    scale = 1.0 / np.sqrt(max(np.prod(shape[:-1]), 1.0))
    return tf.Variable((random.standard_normal(shape) * scale).astype(np.float32))


def layers(tf: Any, random: Random, *widths: int) -> list[tuple[Any, Any]]:
    """Weights and biases of a perceptron."""
    return [(variable(tf, random, n, m), tf.Variable(np.zeros(m, np.float32))) for n, m in pairwise(widths)]


def perceptron(tf: Any, x: Any, weights: list[tuple[Any, Any]], act: Any) -> Any:
    """The outputs, without an activation at the end."""
    for w, b in weights[:-1]:
        x = act(tf.matmul(x, w) + b)
    w, b = weights[-1]
    return tf.matmul(x, w) + b


def normals(random: Random, *shape: int) -> Array:
    """Normal numbers in float32."""
    return random.standard_normal(shape).astype(np.float32)


def meta_learning(tf: Any, random: Random) -> Program:
    """MAML on sines (Finn et al., 2017): three inner steps for each of 8 tasks, derivatives of second order."""
    x, y = tf.placeholder(tf.float32, [8, 20, 1]), tf.placeholder(tf.float32, [8, 20, 1])
    start = [v for pair in layers(tf, random, 1, 40, 40, 1) for v in pair]

    def outputs(x: Any, flat: list[Any]) -> Any:
        return perceptron(tf, x, list(zip(flat[::2], flat[1::2], strict=True)), tf.nn.relu)

    losses = []
    for task in range(8):
        flat = list(start)
        for _ in range(3):
            inner = tf.reduce_mean(tf.square(outputs(x[task, :10], flat) - y[task, :10]))
            flat = [v - 0.01 * g for v, g in zip(flat, tf.gradients(inner, flat), strict=True)]
        losses.append(tf.reduce_mean(tf.square(outputs(x[task, 10:], flat) - y[task, 10:])))
    loss = tf.add_n(losses) / 8.0
    points = random.uniform(-5.0, 5.0, (8, 20, 1)).astype(np.float32)
    return Program(loss, tf.train.AdamOptimizer(1e-3).minimize(loss), {x: points, y: np.sin(points)})


def physics_informed(tf: Any, random: Random) -> Program:
    """Burgers' equation as a loss (Raissi et al., 2019): second derivatives of a perceptron by its inputs."""
    t, x = tf.placeholder(tf.float32, [None, 1]), tf.placeholder(tf.float32, [None, 1])
    u = perceptron(tf, tf.concat([t, x], 1), layers(tf, random, 2, 20, 20, 20, 20, 20, 20, 1), tf.tanh)
    ut, ux = tf.gradients(u, [t, x])
    (uxx,) = tf.gradients(ux, [x])
    loss = tf.reduce_mean(tf.square(ut + u * ux - 0.01 / np.pi * uxx)) + tf.reduce_mean(tf.square(u))
    feeds = {t: random.uniform(0, 1, (2000, 1)), x: random.uniform(-1, 1, (2000, 1))}
    return Program(loss, tf.train.AdamOptimizer(1e-3).minimize(loss), feeds)


def style_transfer(tf: Any, random: Random) -> Program:
    """An image by the Gram matrices of convolutions of 64 and 128 channels (Gatys et al., 2016)."""
    image = tf.Variable(normals(random, 1, 64, 64, 3))
    losses, h = [], image
    for n, m in ((3, 64), (64, 64), (64, 128)):
        filters = tf.constant((normals(random, 3, 3, n, m) / np.sqrt(9.0 * n)).astype(np.float32))
        h = tf.nn.relu(tf.nn.conv2d(h, filters, [1, 1, 1, 1], "SAME"))
        rows = tf.reshape(h, [-1, m])
        gram = tf.matmul(rows, rows, transpose_a=True) / float(64 * 64)
        losses.append(tf.reduce_mean(tf.square(gram - normals(random, m, m))))
        h = tf.nn.avg_pool(h, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
    loss = tf.add_n(losses)
    return Program(loss, tf.train.AdamOptimizer(0.02).minimize(loss), {})


def sentences(tf: Any, random: Random) -> Program:
    """Convolutions over sentences of 50 words (Kim, 2014): an embedding of 20,000 rows, three widths of windows."""
    words, labels = tf.placeholder(tf.int32, [None, 50]), tf.placeholder(tf.int32, [None])
    x = tf.nn.embedding_lookup(variable(tf, random, 20_000, 64), words)
    pooled = [
        tf.reduce_max(tf.nn.relu(tf.nn.conv1d(x, variable(tf, random, n, 64, 64), 1, "VALID")), 1) for n in (3, 4, 5)
    ]
    logits = perceptron(tf, tf.concat(pooled, 1), layers(tf, random, 192, 2), tf.nn.relu)
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))
    feeds = {words: random.integers(0, 20_000, (64, 50)), labels: random.integers(0, 2, 64)}
    return Program(loss, tf.train.GradientDescentOptimizer(0.1).minimize(loss), feeds)


def trust_region(tf: Any, random: Random) -> Program:
    """A policy's step by ten conjugate gradients (TRPO, Schulman et al., 2015): products of a divergence's Hessian."""
    states, actions = tf.placeholder(tf.float32, [None, 17]), tf.placeholder(tf.float32, [None, 6])
    weights = layers(tf, random, 17, 64, 64, 6)
    flat = [v for pair in weights for v in pair]
    mean = perceptron(tf, states, weights, tf.tanh)
    loss = tf.reduce_mean(tf.square(actions - mean))
    divergence = tf.reduce_mean(tf.square(tf.stop_gradient(mean) - mean))
    slopes, right = tf.gradients(divergence, flat), tf.gradients(loss, flat)

    def inner(xs: list[Any], ys: list[Any]) -> Any:
        return tf.add_n([tf.reduce_sum(x * y) for x, y in zip(xs, ys, strict=True)])

    def product(v: list[Any]) -> list[Any]:
        held = [tf.stop_gradient(x) for x in v]
        return [h + 0.1 * x for h, x in zip(tf.gradients(inner(slopes, held), flat), held, strict=True)]

    way, rest, direction = [tf.zeros_like(b) for b in right], right, right
    for _ in range(10):
        curved = product(direction)
        length = inner(rest, rest) / inner(direction, curved)
        way = [x + length * p for x, p in zip(way, direction, strict=True)]
        after = [r - length * c for r, c in zip(rest, curved, strict=True)]
        turn = inner(after, after) / inner(rest, rest)
        direction = [r + turn * p for r, p in zip(after, direction, strict=True)]
        rest = after
    with tf.control_dependencies([loss]):
        train = tf.group(*[v.assign_sub(0.01 * x) for v, x in zip(flat, way, strict=True)])
    return Program(loss, train, {states: normals(random, 1000, 17), actions: normals(random, 1000, 6)})


def normalizing_flow(tf: Any, random: Random) -> Program:
    """Eight affine couplings (RealNVP, Dinh et al., 2017) of 16 numbers, by likelihood."""
    x = tf.placeholder(tf.float32, [None, 16])
    z, growth = x, 0.0
    for i in range(8):
        a, b = tf.split(z, 2, 1)
        a, b = (a, b) if i % 2 else (b, a)
        scale, shift = tf.split(perceptron(tf, a, layers(tf, random, 8, 64, 64, 16), tf.nn.relu), 2, 1)
        scale = tf.tanh(scale)
        growth += tf.reduce_sum(scale, 1)
        z = tf.concat([a, b * tf.exp(scale) + shift], 1)
    loss = tf.reduce_mean(0.5 * tf.reduce_sum(tf.square(z), 1) - growth)
    return Program(loss, tf.train.AdamOptimizer(1e-3).minimize(loss), {x: normals(random, 256, 16)})


def wasserstein(tf: Any, random: Random) -> Program:
    """A critic with a penalty on its gradients (WGAN-GP, Gulrajani et al., 2017): convolutions of 32, 64 channels."""
    real, fake = tf.placeholder(tf.float32, [None, 28, 28, 1]), tf.placeholder(tf.float32, [None, 28, 28, 1])
    first, second = variable(tf, random, 5, 5, 1, 32), variable(tf, random, 5, 5, 32, 64)
    last = layers(tf, random, 7 * 7 * 64, 1)

    def critic(x: Any) -> Any:
        for filters in (first, second):
            x = tf.nn.leaky_relu(tf.nn.conv2d(x, filters, [1, 2, 2, 1], "SAME"))
        return perceptron(tf, tf.reshape(x, [-1, 7 * 7 * 64]), last, tf.nn.relu)

    between = 0.5 * (real + fake)
    (slope,) = tf.gradients(critic(between), [between])
    norms = tf.sqrt(tf.reduce_sum(tf.square(slope), [1, 2, 3]) + 1e-8)
    loss = tf.reduce_mean(critic(fake) - critic(real)) + 10.0 * tf.reduce_mean(tf.square(norms - 1.0))
    feeds = {real: normals(random, 32, 28, 28, 1), fake: normals(random, 32, 28, 28, 1)}
    return Program(loss, tf.train.AdamOptimizer(1e-4, 0.5, 0.9).minimize(loss), feeds)


def autoencoder(tf: Any, random: Random) -> Program:
    """A variational autoencoder of digits (Kingma and Welling, 2014)."""
    x, noise = tf.placeholder(tf.float32, [None, 784]), tf.placeholder(tf.float32, [None, 20])
    mean, logs = tf.split(perceptron(tf, x, layers(tf, random, 784, 500, 40), tf.nn.softplus), 2, 1)
    z = mean + tf.exp(0.5 * logs) * noise
    logits = perceptron(tf, z, layers(tf, random, 20, 500, 784), tf.nn.softplus)
    cost = tf.reduce_sum(tf.nn.sigmoid_cross_entropy_with_logits(labels=x, logits=logits), 1)
    loss = tf.reduce_mean(cost - 0.5 * tf.reduce_sum(1.0 + logs - tf.square(mean) - tf.exp(logs), 1))
    feeds = {x: random.uniform(0, 1, (100, 784)), noise: normals(random, 100, 20)}
    return Program(loss, tf.train.AdamOptimizer(1e-3).minimize(loss), feeds)


def characters(tf: Any, random: Random) -> Program:
    """An LSTM over 50 characters in a `while_loop` with a `TensorArray`, its gradients clipped by their norm."""
    letters = tf.placeholder(tf.int32, [32, 51])
    rows = tf.one_hot(letters, 65)
    weights, bias = variable(tf, random, 65 + 128, 512), tf.Variable(np.zeros(512, np.float32))

    def step(i: Any, h: Any, c: Any, outputs: Any) -> Any:
        gates = tf.split(tf.matmul(tf.concat([rows[:, i], h], 1), weights) + bias, 4, 1)
        c = tf.sigmoid(gates[0]) * c + tf.sigmoid(gates[1]) * tf.tanh(gates[2])
        h = tf.sigmoid(gates[3]) * tf.tanh(c)
        return i + 1, h, c, outputs.write(i, h)

    start = [tf.constant(0), tf.zeros([32, 128]), tf.zeros([32, 128]), tf.TensorArray(tf.float32, 50)]
    outputs = tf.while_loop(lambda i, *_: i < 50, step, start)[3].stack()
    logits = perceptron(tf, tf.reshape(outputs, [-1, 128]), layers(tf, random, 128, 65), tf.tanh)
    labels = tf.reshape(tf.transpose(letters[:, 1:]), [-1])
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))
    variables = tf.trainable_variables()
    clipped, _ = tf.clip_by_global_norm(tf.gradients(loss, variables), 5.0)
    train = tf.train.AdamOptimizer(2e-3).apply_gradients(zip(clipped, variables, strict=True))
    return Program(loss, train, {letters: random.integers(0, 65, (32, 51))})


def q_learning(tf: Any, random: Random) -> Program:
    """Q-learning with a target network and Huber's loss (Mnih et al., 2015), RMSProp."""
    now, then = tf.placeholder(tf.float32, [None, 128]), tf.placeholder(tf.float32, [None, 128])
    actions, rewards = tf.placeholder(tf.int32, [None]), tf.placeholder(tf.float32, [None])
    chosen, target = layers(tf, random, 128, 256, 256, 8), layers(tf, random, 128, 256, 256, 8)
    values = tf.reduce_sum(perceptron(tf, now, chosen, tf.nn.relu) * tf.one_hot(actions, 8), 1)
    wanted = rewards + 0.99 * tf.reduce_max(tf.stop_gradient(perceptron(tf, then, target, tf.nn.relu)), 1)
    loss = tf.reduce_mean(tf.losses.huber_loss(wanted, values))
    optimizer = tf.train.RMSPropOptimizer(2.5e-4, 0.95, epsilon=0.01)
    train = optimizer.minimize(loss, var_list=[v for pair in chosen for v in pair])
    feeds = {now: normals(random, 64, 128), then: normals(random, 64, 128)}
    return Program(loss, train, feeds | {actions: random.integers(0, 8, 64), rewards: normals(random, 64)})


def factors(tf: Any, random: Random) -> Program:
    """Matrix factorisation with biases (Koren et al., 2009): 10,000 users and 5,000 items of 64 numbers."""
    users, items, ratings = [tf.placeholder(dtype, [None]) for dtype in (tf.int32, tf.int32, tf.float32)]
    found = []
    for count, rows in ((10_000, users), (5_000, items)):
        found.append(tf.nn.embedding_lookup(variable(tf, random, count, 64), rows))
        found.append(tf.nn.embedding_lookup(tf.Variable(np.zeros(count, np.float32)), rows))
    u, by_user, v, by_item = found
    rated = tf.reduce_sum(u * v, 1) + by_user + by_item
    loss = tf.reduce_mean(tf.square(ratings - rated)) + 0.02 * (tf.nn.l2_loss(u) + tf.nn.l2_loss(v))
    feeds = {users: random.integers(0, 10_000, 1000), items: random.integers(0, 5_000, 1000)}
    train = tf.train.GradientDescentOptimizer(0.01).minimize(loss)
    return Program(loss, train, feeds | {ratings: normals(random, 1000)})


def with_pullback(random: Random, program: Callable[..., Program], engine: str) -> Step:
    import pullback as pb
    import pullback.compat.v1 as tf

    return _step(tf, program(tf, random), pb.Session(engine=engine))


def with_tensorflow(random: Random, program: Callable[..., Program]) -> Step:
    import tensorflow.compat.v1 as tf

    tf.disable_v2_behavior()
    return _step(tf, program(tf, random), tf.Session())


def _step(tf: Any, program: Program, session: Any) -> Step:
    session.run(tf.global_variables_initializer())
    return lambda: float(session.run([program.loss, program.train], program.feeds)[0])


PROGRAMS = (
    meta_learning,
    physics_informed,
    style_transfer,
    sentences,
    trust_region,
    normalizing_flow,
    wasserstein,
    autoencoder,
    characters,
    q_learning,
    factors,
)

WORKLOADS = [
    Workload(
        name="version_1_" + program.__name__,
        title=program.__name__.replace("_", " ") + " in a program of TensorFlow 1",
        data=partial(np.random.default_rng, 0),
        peers={
            "pullback": partial(with_pullback, program=program, engine="xla"),
            "pullback-numpy": partial(with_pullback, program=program, engine="numpy"),
            "tensorflow": partial(with_tensorflow, program=program),
        },
        tolerance=1e-5,
    )
    for program in PROGRAMS
]
