"""A table of 1M rows of 64, 4096 look-ups of which some repeat: gradient and Adagrad step, on the rows looked up only.

The loss is the mean of the squares of the rows. All peers add the gradients of a repeated row before Adagrad squares
them. jax has no row-sparse gradients, so its step is a dense one, which is how one would write it there.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ..workload import Step, Workload

RATE, START = 0.1, 0.1
ROWS, WIDTH, LOOKUPS, REPEATED = 1_000_000, 64, 4096, 512

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Data:
    """The accumulators of Adagrad begin at `START`. Nobody may write to `table`, so that nobody needs a copy of it."""

    table: Array
    ids: Array


def data() -> Data:
    random = np.random.default_rng(0)
    table = random.standard_normal((ROWS, WIDTH), np.float32)
    table.setflags(write=False)
    ids = random.integers(0, ROWS, LOOKUPS).astype(np.int32)
    ids[:REPEATED] = random.integers(0, 64, REPEATED)
    return Data(table, ids)


def with_pullback(data: Data, engine: str) -> Step:
    import pullback as pb

    with pb.Graph().as_default():
        ids = pb.placeholder(pb.int32, data.ids.shape)
        table = pb.Variable(data.table)
        loss = pb.reduce_mean(pb.square(pb.nn.embedding_lookup(table, ids)))
        train = pb.train.AdagradOptimizer(RATE, START).minimize(loss)
        session = pb.Session(engine=engine)
        session.run(pb.global_variables_initializer())
        step = session.make_callable([loss, train], [ids])
    id_values = data.ids
    return lambda: step(id_values)[0]


def with_jax(data: Data) -> Step:
    import jax
    import jax.numpy as jnp

    def update(table: Any, sums: Any, ids: Any) -> Any:
        value, d = jax.value_and_grad(lambda table: jnp.mean(jnp.square(table[ids])))(table)
        sums = sums + d * d
        return value, table - RATE * d / jnp.sqrt(sums), sums

    update = jax.jit(update, donate_argnums=(0, 1))
    table, sums, ids = jnp.array(data.table), jnp.full_like(data.table, START), jnp.array(data.ids)
    update.lower(table, sums, ids)

    def step() -> float:
        nonlocal table, sums
        value, table, sums = update(table, sums, ids)
        table.block_until_ready()
        return value

    return step


def with_tensorflow(data: Data, compiled: bool) -> Step:
    import tensorflow as tf

    table, sums, ids = tf.Variable(data.table), tf.Variable(np.full_like(data.table, START)), tf.constant(data.ids)

    @tf.function(jit_compile=compiled)
    def update(ids: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(tf.gather(table, ids)))
        d = tape.gradient(loss, table)
        rows, place = tf.unique(d.indices)
        d = tf.math.unsorted_segment_sum(d.values, place, tf.size(rows))
        total = tf.gather(sums, rows) + d * d
        sums.scatter_update(tf.IndexedSlices(total, rows))
        table.scatter_sub(tf.IndexedSlices(RATE * d / tf.sqrt(total), rows))
        return loss

    update.get_concrete_function(ids)
    return lambda: update(ids).numpy()


def with_torch(data: Data) -> Step:
    import torch
    from torch.nn import functional as F

    table, sums = torch.tensor(data.table, requires_grad=True), torch.full(data.table.shape, START)
    ids = torch.tensor(data.ids).long()

    def step() -> float:
        loss = F.embedding(ids, table, sparse=True).square().mean()
        (gradient,) = torch.autograd.grad(loss, [table])
        with torch.no_grad():
            gradient = gradient.coalesce()
            rows, d = gradient.indices()[0], gradient.values()
            total = sums[rows] + d * d
            sums.index_copy_(0, rows, total)
            table.index_add_(0, rows, d / total.sqrt_(), alpha=-RATE)
        return loss.item()

    return step


def by_hand(data: Data) -> Step:
    table, sums, ids = data.table.copy(), np.full_like(data.table, START), data.ids

    def step() -> float:
        looked_up = table[ids]
        loss = np.mean(np.square(looked_up))
        order = np.argsort(ids, kind="stable")
        in_order = ids[order]
        starts = np.flatnonzero(np.r_[True, in_order[1:] != in_order[:-1]])
        rows = in_order[starts]
        d = np.add.reduceat((2 / looked_up.size) * looked_up[order], starts)
        total = sums[rows] + d * d
        sums[rows] = total
        table[rows] -= RATE * d / np.sqrt(total)
        return loss

    return step


WORKLOADS = [
    Workload(
        name="embedding",
        title="table of 1M x 64, 4096 look-ups, Adagrad",
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
