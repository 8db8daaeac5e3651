"""Loop rerolling: a chain of pieces that differ in a constant, as a code generator prints them; value and derivative.

`pullback` rerolls the graph before it differentiates; `jax` compiles what is there. "build" has the rerolling in it.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ..workload import Step, Workload

Array = np.ndarray[Any, Any]
LENGTH = 1000
COUNTS = (250, 2500)
"""Pieces of four operations each."""


def data() -> Array:
    return np.random.default_rng(0).random(LENGTH).astype(np.float32)


def with_pullback(data: Array, count: int) -> Step:
    import pullback as pb

    with pb.Graph().as_default():
        x = pb.placeholder(pb.float32, [LENGTH])
        y = x
        for k in range(count):
            y = pb.sin(y * (1.0 + k / count)) + 0.1 * x
        loss = pb.reroll(pb.reduce_sum(y)).fetches
        step = pb.Session(engine="xla").make_callable([loss, *pb.gradients(loss, x)], [x])
    return lambda: step(data)[0]


def with_jax(data: Array, count: int) -> Step:
    import jax
    import jax.numpy as jnp

    def loss(x: Any) -> Any:
        y = x
        for k in range(count):
            y = jnp.sin(y * (1.0 + k / count)) + 0.1 * x
        return y.sum()

    step = jax.jit(jax.value_and_grad(loss))

    def run() -> float:
        value, dx = step(data)
        np.asarray(dx)
        return float(value)

    return run


WORKLOADS = [
    Workload(
        f"reroll-{4 * count}",
        f"{4 * count:,} operations of generated code, value and derivative",
        data,
        {"pullback": partial(with_pullback, count=count), "jax": partial(with_jax, count=count)},
    )
    for count in COUNTS
]
