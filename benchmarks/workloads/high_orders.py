"""Derivatives of high order: u_xxxx of a perceptron, and a Taylor solver of a differential equation.

"pullback" and "jax-jet" carry Taylor coefficients, "pullback-nested" and "jax" differentiate derivatives.
"""

from __future__ import annotations

from functools import partial, reduce
from itertools import pairwise
from typing import Any

import numpy as np

from ..workload import Step, Workload

Arrays = tuple[np.ndarray[Any, Any], list[np.ndarray[Any, Any]]]
POINTS, ORDER, TERMS, SPAN = 4096, 4, 8, 0.1


def points_and_weights(lengths: tuple[int, ...]) -> Arrays:
    """Points, a row each, and the matrices of a perceptron."""
    random = np.random.default_rng(0)
    pairs = pairwise(lengths)
    weights = [(random.normal(size=(n, m)) / np.sqrt(n)).astype(np.float32) for n, m in pairs]
    return random.uniform(-1, 1, (POINTS, lengths[0])).astype(np.float32), weights


def perceptron(library: Any, x: Any, weights: Any) -> Any:
    """Its values, by a library that has `matmul` and `tanh`."""
    for w in weights[:-1]:
        x = library.tanh(library.matmul(x, w))
    return library.matmul(x, weights[-1])


def derivative_with_pullback(data: Arrays, nested: bool) -> Step:
    """The sum of the magnitudes of u_xxxx."""
    import pullback as pb

    points, weights = data
    x = pb.placeholder(pb.float32, points.shape)
    u = perceptron(pb, x, [pb.constant(w) for w in weights])
    fourth = reduce(lambda y, _: pb.gradients(y, x)[0], range(ORDER), u) if nested else pb.jet(u, x, ORDER)[-1]
    call = pb.Session(engine="xla").make_callable(pb.reduce_sum(pb.abs(fourth)), [x])
    return lambda: float(call(points))


def derivative_with_jax(data: Arrays, nested: bool) -> Step:
    """The same, of each point by `vmap` of nested `grad`, or of all at once."""
    import jax
    import jax.numpy as jnp
    from jax.experimental.jet import jet

    points, weights = jnp.asarray(data[0]), [jnp.asarray(w) for w in data[1]]

    def along(x: Any) -> Any:
        series = [jnp.ones_like(x), *[jnp.zeros_like(x)] * (ORDER - 1)]
        return jet(lambda x: perceptron(jnp, x, weights), (x,), (series,))[1][-1]

    def at(t: Any) -> Any:
        return perceptron(jnp, t[None, None], weights)[0, 0]

    of_points = (lambda x: jax.vmap(reduce(lambda f, _: jax.grad(f), range(ORDER), at))(x[:, 0])) if nested else along
    call = jax.jit(lambda x: jnp.sum(jnp.abs(of_points(x))))
    return lambda: float(call(points))


def solver_with_pullback(data: Arrays) -> Step:
    """One step of a Taylor method of order `TERMS` for x' = perceptron(x)."""
    import pullback as pb

    points, weights = data
    x = pb.placeholder(pb.float32, points.shape)
    slope = perceptron(pb, x, [pb.constant(w) for w in weights])
    derivatives = [slope]
    for k in range(1, TERMS):
        derivatives.append(pb.jet(slope, x, k, series=derivatives)[-1])
    return _summed(pb.Session(engine="xla").make_callable(pb.reduce_sum(_advanced(x, derivatives)), [x]), points)


def solver_with_jax(data: Arrays) -> Step:
    """The same."""
    import jax
    import jax.numpy as jnp
    from jax.experimental.jet import jet

    points, weights = jnp.asarray(data[0]), [jnp.asarray(w) for w in data[1]]

    def field(x: Any) -> Any:
        return perceptron(jnp, x, weights)

    def step(x: Any) -> Any:
        derivatives = [field(x)]
        for _ in range(1, TERMS):
            slope, further = jet(field, (x,), (derivatives,))
            derivatives = [slope, *further]
        return jnp.sum(_advanced(x, derivatives[:TERMS]))

    return _summed(jax.jit(step), points)


def _advanced(x: Any, derivatives: list[Any]) -> Any:
    factor = 1.0
    for k, derivative in enumerate(derivatives, start=1):
        factor *= SPAN / k
        x = x + derivative * factor
    return x


def _summed(call: Any, points: Any) -> Step:
    return lambda: float(call(points))


WORKLOADS = [
    Workload(
        name="u-xxxx",
        title="fourth derivatives of a perceptron at 4096 points",
        data=partial(points_and_weights, (1, 64, 64, 64, 1)),
        peers={
            "pullback": partial(derivative_with_pullback, nested=False),
            "pullback-nested": partial(derivative_with_pullback, nested=True),
            "jax": partial(derivative_with_jax, nested=True),
            "jax-jet": partial(derivative_with_jax, nested=False),
        },
    ),
    Workload(
        name="taylor-ode",
        title="a step of order 8 of a Taylor solver of 4096 differential equations",
        data=partial(points_and_weights, (8, 64, 64, 8)),
        peers={"pullback": solver_with_pullback, "jax-jet": solver_with_jax},
    ),
]
