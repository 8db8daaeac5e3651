"""A million numbers in order, all in a row or by rows, as losses of ranks have them: values and gradient."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ..workload import Step, Workload

SHAPES = {"sort": [1_000_000], "sort-rows": [1000, 1000]}
Array = np.ndarray[Any, Any]


def data(shape: list[int]) -> list[Array]:
    """The numbers, and their weights by rank."""
    random = np.random.default_rng(0)
    return [random.standard_normal(shape).astype(np.float32) for _ in range(2)]


def with_pullback(data: list[Array], engine: str) -> Step:
    import pullback as pb

    with pb.Graph().as_default():
        x, weights = [pb.placeholder(pb.float32, array.shape) for array in data]
        y = pb.reduce_sum(pb.sort(x) * weights)
        run = pb.Session(engine=engine).make_callable([y, pb.gradients(y, x)[0]], [x, weights], to_host=False)
    return lambda: float(np.asarray(run(*data)[0]))


def with_jax(data: list[Array]) -> Step:
    import jax
    import jax.numpy as jnp

    step = jax.jit(jax.value_and_grad(lambda x, weights: jnp.sum(jnp.sort(x) * weights)))
    return lambda: float(step(*data)[0])


def with_tensorflow(data: list[Array]) -> Step:
    import tensorflow as tf

    @tf.function
    def step(x: Any, weights: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(tf.sort(x) * weights)
        return y, tape.gradient(y, x)

    tensors = [tf.constant(array) for array in data]
    return lambda: float(step(*tensors)[0])


def with_torch(data: list[Array]) -> Step:
    import torch

    x, weights = [torch.from_numpy(array) for array in data]
    x.requires_grad_()

    def step() -> float:
        y = (torch.sort(x)[0] * weights).sum()
        torch.autograd.grad(y, x)
        return float(y.detach())

    return step


WORKLOADS = [
    Workload(
        name,
        f"numbers in order, {' x '.join(f'{n:,}' for n in shape)}, and the gradient of what is made of them",
        partial(data, shape),
        {
            "pullback": partial(with_pullback, engine="xla"),
            "pullback-numpy": partial(with_pullback, engine="numpy"),
            "jax": with_jax,
            "tensorflow": with_tensorflow,
            "torch": with_torch,
        },
    )
    for name, shape in SHAPES.items()
]
