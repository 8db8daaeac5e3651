"""What a call costs beside the arithmetic: a graph of 50 operations on arrays of 8 numbers."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ..workload import Step, Workload

OPERATIONS = 50

Array = np.ndarray[Any, Any]


def data() -> Array:
    return np.linspace(-1, 1, 8, dtype=np.float32)


def model(x: Any, tanh: Callable[[Any], Any]) -> Any:
    """`OPERATIONS` operations on x."""
    y = x
    for i in range(OPERATIONS):
        if i % 3 == 0:
            y = y * x
        elif i % 3 == 1:
            y = y + x
        else:
            y = tanh(y)
    return y


def with_pullback(data: Array, engine: str) -> Step:
    import pullback as pb

    with pb.Graph().as_default():
        x = pb.placeholder(pb.float32, data.shape)
        call = pb.Session(engine=engine).make_callable(model(x, pb.tanh), [x])
    return lambda: call(data)[0]


def with_jax(data: Array) -> Step:
    import jax
    import jax.numpy as jnp

    call = jax.jit(lambda x: model(x, jnp.tanh))
    call.lower(data)
    return lambda: np.asarray(call(data))[0]


def with_tensorflow(data: Array) -> Step:
    import tensorflow as tf

    call = tf.function(lambda x: model(x, tf.tanh))
    call.get_concrete_function(tf.constant(data))
    return lambda: call(tf.constant(data)).numpy()[0]


def with_torch(data: Array) -> Step:
    import torch

    return lambda: model(torch.from_numpy(data), torch.tanh).numpy()[0]


def by_hand(data: Array) -> Step:
    return lambda: model(data, np.tanh)[0]


WORKLOADS = [
    Workload(
        name="dispatch",
        title="a call of 50 operations on 8 numbers, from and to NumPy",
        data=data,
        peers={
            "pullback-numpy": partial(with_pullback, engine="numpy"),
            "pullback": partial(with_pullback, engine="xla"),
            "jax": with_jax,
            "tensorflow": with_tensorflow,
            "torch": with_torch,
            "numpy": by_hand,
        },
        of="call",
        reference="pullback-numpy",
    )
]
