"""Products of twenty stacks of 4 x 4, as of the transforms along an arm for several poses: value and gradients."""

from __future__ import annotations

from functools import partial, reduce
from typing import Any

import numpy as np

from ..workload import Step, Workload

STACKS, SIDE = 20, 4
COUNTS = (8, 128, 1000)
"""The matrices of a stack."""
Array = np.ndarray[Any, Any]


def data(count: int) -> list[Array]:
    random = np.random.default_rng(0)
    return [random.standard_normal([count, SIDE, SIDE]).astype(np.float32) * 0.5 for _ in range(STACKS)]


def with_pullback(data: list[Array], engine: str) -> Step:
    import pullback as pb

    with pb.Graph().as_default():
        stacks = [pb.placeholder(pb.float32, array.shape) for array in data]
        y = pb.reduce_sum(pb.square(reduce(pb.matmul, stacks)))
        fetches = [y, *pb.gradients(y, stacks)]
        run = pb.Session(engine=engine).make_callable(fetches, stacks, to_host=False)
    return lambda: float(np.asarray(run(*data)[0]))


def with_jax(data: list[Array]) -> Step:
    import jax
    import jax.numpy as jnp

    step = jax.jit(jax.value_and_grad(lambda stacks: jnp.sum(jnp.square(reduce(jnp.matmul, stacks)))))
    return lambda: float(step(data)[0])


def with_tensorflow(data: list[Array]) -> Step:
    import tensorflow as tf

    @tf.function
    def step(*stacks: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(stacks)
            y = tf.reduce_sum(tf.square(reduce(tf.matmul, stacks)))
        return y, tape.gradient(y, stacks)

    tensors = [tf.constant(array) for array in data]
    return lambda: float(step(*tensors)[0])


def with_torch(data: list[Array]) -> Step:
    import torch

    stacks = [torch.from_numpy(array).requires_grad_() for array in data]

    def step() -> float:
        y = reduce(torch.matmul, stacks).square().sum()
        torch.autograd.grad(y, stacks)
        return float(y.detach())

    return step


WORKLOADS = [
    Workload(
        f"matrices-{count}",
        f"the product of {STACKS} stacks of {count:,} matrices {SIDE} x {SIDE}, and its gradients by all of them",
        partial(data, count),
        {
            "pullback": partial(with_pullback, engine="xla"),
            "pullback-numpy": partial(with_pullback, engine="numpy"),
            "jax": with_jax,
            "tensorflow": with_tensorflow,
            "torch": with_torch,
        },
    )
    for count in COUNTS
]
