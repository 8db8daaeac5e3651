"""The gradient of a chain of 100 operations on 1,000 numbers: a call, and a little arithmetic."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..workload import Step, Workload

OPERATIONS, NUMBERS = 100, 1000

Array = np.ndarray[Any, Any]


def data() -> Array:
    return np.linspace(-1, 1, NUMBERS, dtype=np.float32)


def model(xp: Any, x: Any) -> Any:
    y = x
    for i in range(OPERATIONS - 1):
        y = xp.sin(y) if i % 3 == 0 else y * x if i % 3 == 1 else y + x
    return y


def with_pullback(data: Array) -> Step:
    import pullback as pb

    with pb.Graph().as_default():
        x = pb.placeholder(pb.float32, data.shape)
        y = pb.reduce_sum(model(pb, x))
        call = pb.Session().make_callable([y, *pb.gradients(y, x)], [x])
    return lambda: float(call(data)[0])


def with_jax(data: Array) -> Step:
    import jax
    import jax.numpy as jnp

    call = jax.jit(jax.value_and_grad(lambda x: jnp.sum(model(jnp, x))))

    def step() -> float:
        value, slope = call(data)
        np.asarray(slope)
        return float(value)

    return step


def with_tensorflow(data: Array) -> Step:
    import tensorflow as tf

    @tf.function(jit_compile=True)
    def call(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(model(tf, x))
        return y, tape.gradient(y, x)

    def step() -> float:
        value, slope = call(tf.constant(data))
        slope.numpy()
        return float(value)

    return step


WORKLOADS = [
    Workload(
        "chain-100",
        f"the gradient of {OPERATIONS} operations on {NUMBERS:,} numbers, from and to NumPy",
        data,
        {"pullback": with_pullback, "jax": with_jax, "tensorflow-xla": with_tensorflow},
        of="call",
    )
]
