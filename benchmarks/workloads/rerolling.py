"""Loop rerolling: chains of pieces that differ in constants, as a code generator prints them; value and derivative.

`pullback` rerolls the graph before it differentiates; others take what is there. "build" has the rerolling in it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ..workload import Step, Workload

Array = np.ndarray[Any, Any]
LENGTH = 1000
COUNTS = (1_000, 10_000)
"""Operations of a chain."""
Chain = Callable[[Any, Any, int], Any]


def data() -> Array:
    return np.random.default_rng(0).random(LENGTH).astype(np.float32)


def sines(xp: Any, x: Any, count: int) -> Any:
    """Pieces of four operations: a sine of a multiple, and a part of `x`."""
    y = x
    for k in range(count // 4):
        y = xp.sin(y * (1.0 + 4 * k / count)) + 0.1 * x
    return y


def tangents(xp: Any, x: Any, count: int) -> Any:
    """Multiply, add, hyperbolic tangent, multiply, ..., by other constants each time."""
    y = x
    for i in range(count):
        a = 0.5 + 0.5 * i / count
        y = y * a if i % 3 == 0 else y + a if i % 3 == 1 else xp.tanh(y)
    return y


def with_pullback(data: Array, chain: Chain, count: int) -> Step:
    import pullback as pb

    with pb.Graph().as_default():
        x = pb.placeholder(pb.float32, [LENGTH])
        loss = pb.reroll(pb.reduce_sum(chain(pb, x, count))).fetches
        step = pb.Session(engine="xla").make_callable([loss, *pb.gradients(loss, x)], [x])
    return lambda: step(data)[0]


def with_jax(data: Array, chain: Chain, count: int) -> Step:
    import jax
    import jax.numpy as jnp

    step = jax.jit(jax.value_and_grad(lambda x: chain(jnp, x, count).sum()))

    def run() -> float:
        value, dx = step(data)
        np.asarray(dx)
        return float(value)

    return run


def with_tensorflow_graph(data: Array, chain: Chain, count: int) -> Step:
    import tensorflow as tf

    with tf.Graph().as_default():
        x = tf.compat.v1.placeholder(tf.float32, [LENGTH])
        loss = tf.reduce_sum(chain(tf, x, count))
        step = tf.compat.v1.Session().make_callable([loss, *tf.gradients(loss, x)], [x])
    return lambda: float(step(data)[0])


def _workload(name: str, title: str, chain: Chain, count: int) -> Workload:
    makers: dict[str, Callable[..., Step]] = {
        "pullback": with_pullback,
        "jax": with_jax,
        "tensorflow-graph": with_tensorflow_graph,
    }
    peers = {peer: partial(maker, chain=chain, count=count) for peer, maker in makers.items()}
    return Workload(f"{name}-{count}", f"{count:,} operations of generated code, {title}", data, peers)


WORKLOADS = [
    *[_workload("reroll", "sines and sums: value and derivative", sines, count) for count in COUNTS],
    *[_workload("reroll-chain", "one after the other: value and derivative", tangents, count) for count in COUNTS],
]
