"""Two gradients of ADBench (Šrajer et al. 2018): a mixture of Gaussians, and a character model of two LSTM layers.

The mixture has 1,000 points; a covariance is given by the logarithms of a diagonal and what is below it, with a prior
by Wishart. The recurrence has diagonal weights: a gate is a product of elements.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ..workload import Step, Workload

POINTS = 1000
MIXTURES = [(10, 25), (20, 50), (64, 25)]
"""Dimensions and components."""
LAYERS, CHARACTERS, WIDTH = 2, 1024, 14

Array = np.ndarray[Any, Any]


class Mixture(NamedTuple):
    """Logarithms of weights, means, logarithms of diagonals with what is below them, and points."""

    weights: Array
    means: Array
    factors: Array
    points: Array


def mixture(dimensions: int, components: int) -> Mixture:
    random = np.random.default_rng(0)
    count = dimensions * (dimensions + 1) // 2
    shapes = (components,), (components, dimensions), (components, count), (POINTS, dimensions)
    return Mixture(*[(random.standard_normal(shape) * 0.5).astype(np.float32) for shape in shapes])


def places(dimensions: int) -> Array:
    """For each element of a lower triangle its number among `factors` behind a zero; 0 elsewhere."""
    found = np.zeros((dimensions, dimensions), np.int32)
    rows, columns = np.tril_indices(dimensions, -1)
    found[rows, columns] = 1 + dimensions + np.arange(len(rows))
    return found.ravel()


def likelihood(f: Any, weights: Any, means: Any, factors: Any, points: Any, dimensions: int) -> Any:
    """The logarithm of the likelihood, with functions `f` that all peers have."""
    logs = factors[:, :dimensions]
    diagonal = f.exp(logs)
    below = f.picked(factors, places(dimensions))
    centred = points[:, None, :] - means
    turned = centred * diagonal + f.turned(below, centred)
    inner = weights + f.sum(logs, 1) - 0.5 * f.sum(turned * turned, 2)
    prior = 0.5 * (f.sum(diagonal * diagonal, None) + f.sum(below * below, None))
    return f.sum(f.logsumexp(inner, 1), None) - POINTS * f.logsumexp(weights, 0) + prior


class Functions(NamedTuple):
    """What the likelihood is written with."""

    exp: Any
    sum: Any
    logsumexp: Any
    picked: Any
    turned: Any


def _checked(gradients: Any) -> float:
    return float(sum(np.abs(np.asarray(g)).sum() for g in gradients))


def mixture_with_pullback(data: Mixture) -> Step:
    import pullback as pb

    count, dimensions = data.means.shape

    def picked(factors: Any, at: Array) -> Any:
        behind = pb.concat([pb.zeros([count, 1]), factors], 1)
        return pb.reshape(pb.gather(behind, at, axis=1), [count, dimensions, dimensions])

    def turned(below: Any, centred: Any) -> Any:
        return pb.einsum("kij,nkj->nki", below, centred)

    f = Functions(pb.exp, pb.reduce_sum, pb.reduce_logsumexp, picked, turned)
    with pb.Graph().as_default():
        given = [pb.placeholder(pb.float32, x.shape) for x in data]
        y = likelihood(f, *given, dimensions)
        run = pb.Session().make_callable(pb.gradients(y, given[:3]), given)
    return lambda: _checked(run(*data))


def mixture_with_jax(data: Mixture) -> Step:
    import jax
    import jax.numpy as jnp

    count, dimensions = data.means.shape

    def picked(factors: Any, at: Array) -> Any:
        behind = jnp.concatenate([jnp.zeros([count, 1]), factors], 1)
        return behind[:, at].reshape(count, dimensions, dimensions)

    def turned(below: Any, centred: Any) -> Any:
        return jnp.einsum("kij,nkj->nki", below, centred)

    f = Functions(jnp.exp, jnp.sum, jax.nn.logsumexp, picked, turned)
    step = jax.jit(jax.grad(partial(likelihood, f, dimensions=dimensions), (0, 1, 2)))
    return lambda: _checked(step(*data))


def mixture_with_tensorflow(data: Mixture) -> Step:
    import tensorflow as tf

    count, dimensions = data.means.shape

    def picked(factors: Any, at: Array) -> Any:
        behind = tf.concat([tf.zeros([count, 1]), factors], 1)
        return tf.reshape(tf.gather(behind, at, axis=1), [count, dimensions, dimensions])

    def turned(below: Any, centred: Any) -> Any:
        return tf.einsum("kij,nkj->nki", below, centred)

    f = Functions(tf.exp, tf.reduce_sum, tf.reduce_logsumexp, picked, turned)

    @tf.function(jit_compile=True)  # type: ignore[untyped-decorator]
    def step(*given: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(given[:3])
            y = likelihood(f, *given, dimensions)
        return tape.gradient(y, given[:3])

    given = [tf.constant(x) for x in data]
    return lambda: _checked(step(*given))


class Recurrence(NamedTuple):
    """For each layer 8 vectors of weights and biases, 3 vectors around, the first state, and characters."""

    layers: Array
    around: Array
    state: Array
    characters: Array


def recurrence() -> Recurrence:
    random = np.random.default_rng(0)
    shapes = (LAYERS, 8, WIDTH), (3, WIDTH), (LAYERS, 2, WIDTH), (CHARACTERS, WIDTH)
    layers, around, state, characters = [random.standard_normal(shape).astype(np.float32) * 0.5 for shape in shapes]
    return Recurrence(layers, around, state, (characters > 0).astype(np.float32))


def step_of(f: Any, layers: Any, around: Any, state: Any, x: Any) -> tuple[Any, Any]:
    """The next state, and logarithms of probabilities of what follows `x`, by (sigmoid, tanh, logsumexp, stack)."""
    sigmoid, tanh, logsumexp, stack = f
    x, states = x * around[0], []
    for i in range(LAYERS):
        w, hidden, cell = layers[i], state[i, 0], state[i, 1]
        forget, ingate = sigmoid(x * w[0] + w[4]), sigmoid(hidden * w[1] + w[5])
        outgate, change = sigmoid(x * w[2] + w[6]), tanh(hidden * w[3] + w[7])
        cell = cell * forget + ingate * change
        x = outgate * tanh(cell)
        states.append(stack([x, cell]))
    y = x * around[1] + around[2]
    return stack(states), y - logsumexp(y)


def recurrence_with_pullback(data: Recurrence) -> Step:
    import pullback as pb

    f = pb.sigmoid, pb.tanh, pb.reduce_logsumexp, pb.stack
    with pb.Graph().as_default():
        layers, around, state, characters = [pb.placeholder(pb.float32, x.shape) for x in data]

        def step(carried: Any, row: Any) -> Any:
            state, total = carried
            x, following = row
            state, y = step_of(f, layers, around, state, x)
            return state, total + pb.reduce_sum(following * y)

        _, total = pb.foldl(step, (characters[:-1], characters[1:]), (state, pb.constant(0.0)))
        loss = -total / (CHARACTERS * WIDTH)
        run = pb.Session().make_callable(pb.gradients(loss, [layers, around]), [layers, around, state, characters])
    return lambda: _checked(run(*data))


def recurrence_with_jax(data: Recurrence) -> Step:
    import jax
    import jax.numpy as jnp

    f = jax.nn.sigmoid, jnp.tanh, jax.nn.logsumexp, jnp.stack

    def loss(layers: Any, around: Any, state: Any, characters: Any) -> Any:
        def step(carried: Any, row: Any) -> Any:
            state, total = carried
            x, following = row
            state, y = step_of(f, layers, around, state, x)
            return (state, total + jnp.sum(following * y)), None

        (_, total), _ = jax.lax.scan(step, (state, 0.0), (characters[:-1], characters[1:]))
        return -total / (CHARACTERS * WIDTH)

    step = jax.jit(jax.grad(loss, (0, 1)))
    return lambda: _checked(step(*data))


WORKLOADS = [
    *[
        Workload(
            f"adbench-gmm-{d}-{k}",
            f"the gradient of a mixture of {k} Gaussians in {d} dimensions, {POINTS:,} points",
            partial(mixture, d, k),
            {
                "pullback": mixture_with_pullback,
                "jax": mixture_with_jax,
                "tensorflow-xla": mixture_with_tensorflow,
            },
        )
        for d, k in MIXTURES
    ],
    Workload(
        "adbench-lstm",
        f"the gradient of a character model, {LAYERS} layers of diagonal LSTM, {CHARACTERS:,} characters",
        recurrence,
        {"pullback": recurrence_with_pullback, "jax": recurrence_with_jax},
    ),
]
