"""A net of 200 layers: loss and gradient, with everything kept and with each ten layers computed again.

Layers are tanh(x W), 256 wide, of 1,024 rows. `pullback` recomputes by `pb.recompute_grad`, jax by `jax.checkpoint`,
whose second computations XLA merges with the first on processors: it saves neither memory nor time there.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ..workload import Step, Workload

LAYERS, WIDTH, ROWS, TOGETHER = 200, 256, 1024, 10

Array = np.ndarray[Any, Any]


def data() -> list[Array]:
    """The inputs, then the weights of each layer."""
    random = np.random.default_rng(0)
    weights = [random.standard_normal((WIDTH, WIDTH)) / np.sqrt(WIDTH) for _ in range(LAYERS)]
    return [x.astype(np.float32) for x in (random.standard_normal((ROWS, WIDTH)), *weights)]


def loss(xp: Any, again: Callable[[Any], Any], x: Any, *weights: Any) -> Any:
    """The mean of the squares behind all layers; `again` is put around ten of them."""

    def layers(x: Any, *weights: Any) -> Any:
        for w in weights:
            x = xp.tanh(xp.matmul(x, w))
        return x

    for start in range(0, LAYERS, TOGETHER):
        x = again(layers)(x, *weights[start : start + TOGETHER])
    return x


def _as_it_is(layers: Any) -> Any:
    return layers


def with_pullback(data: list[Array], again: bool) -> Step:
    import pullback as pb

    with pb.Graph().as_default():
        x = pb.constant(data[0])
        weights = [pb.placeholder(pb.float32, w.shape) for w in data[1:]]
        y = pb.reduce_mean(pb.square(loss(pb, pb.recompute_grad if again else _as_it_is, x, *weights)))
        run = pb.Session().make_callable([y, *pb.gradients(y, weights)], weights, to_host=False)
    return lambda: float(np.asarray(run(*data[1:])[0]))


def with_jax(data: list[Array], again: bool) -> Step:
    import jax
    import jax.numpy as jnp

    x = jnp.asarray(data[0])

    def mean(weights: list[Any]) -> Any:
        return jnp.mean(jnp.square(loss(jnp, jax.checkpoint if again else _as_it_is, x, *weights)))

    step = jax.jit(jax.value_and_grad(mean))
    return lambda: float(step(data[1:])[0])


WORKLOADS = [
    Workload(
        f"deep{name}",
        f"loss and gradient of {LAYERS} layers of width {WIDTH}, {ROWS:,} rows" + (", computed again" if again else ""),
        data,
        {"pullback": partial(with_pullback, again=again), "jax": partial(with_jax, again=again)},
    )
    for name, again in (("", False), ("-again", True))
]
