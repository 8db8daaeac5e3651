"""Derivatives of loops whose number of steps the program learns when it runs.

A recurrent network, y -> tanh(y w + x), for 10, 100 or 1000 steps, where the number is fed; the same to its fixed
point, to a tolerance; and Newton's iteration for cube roots, to a tolerance. States of 64 and of 256 x 256 numbers. The
loss is the sum of the squares of the last state, and the derivative is by all that the steps read.

jax has no derivative of such loops: its `scan` is given the number of steps when it compiles, without and with
`jax.checkpoint` of the step. equinox's checkpointed loop is told that there are at most 1024 steps; TensorFlow's
compiled loop, which must know as well, is told the number.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ..workload import Step, Workload

TOLERANCE = 1e-5
MOST_STEPS = 1024

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Data:
    """`parameters` are w and x, or a alone; with `to_tolerance`, `steps` are those that it takes."""

    start: Array
    parameters: tuple[Array, ...]
    steps: int
    to_tolerance: bool


def step_of(xp: Any, y: Any, parameters: Any) -> Any:
    """The next state, with any library that has `tanh` and operators."""
    if len(parameters) == 2:
        w, x = parameters
        return xp.tanh(y @ w + x)
    (a,) = parameters
    return y - (y * y * y - a) / (3.0 * y * y)


def recurrent(shape: tuple[int, int], steps: int | None) -> Data:
    """The network; None: to its fixed point."""
    random = np.random.default_rng(0)
    scale = (1.0 if steps else 0.4) / np.sqrt(shape[1])
    w = (random.standard_normal((shape[1], shape[1])) * scale).astype(np.float32)
    x = random.standard_normal(shape).astype(np.float32)
    return _counted(np.zeros(shape, np.float32), (w, x), steps)


def newton(shape: tuple[int, int]) -> Data:
    """Cube roots of numbers from 1 to 9."""
    a = np.random.default_rng(0).uniform(1.0, 9.0, shape).astype(np.float32)
    return _counted(a, (a,), None)


def _counted(start: Array, parameters: tuple[Array, ...], steps: int | None) -> Data:
    if steps is not None:
        return Data(start, parameters, steps, to_tolerance=False)
    y, count, error = start, 0, np.inf
    while error > TOLERANCE:
        following = step_of(np, y, parameters)
        y, error, count = following, np.max(np.abs(following - y)), count + 1
    return Data(start, parameters, count, to_tolerance=True)


def with_pullback(data: Data, engine: str) -> Step:
    import pullback as pb

    with pb.Graph().as_default():
        parameters = [pb.Variable(x) for x in data.parameters]
        steps = pb.placeholder(pb.int32, [])

        def body(i: Any, y: Any, error: Any) -> Any:
            following = step_of(pb, y, parameters)
            if data.to_tolerance:
                error = pb.reduce_max(pb.abs(following - y))
            return i + 1, following, error

        def going(i: Any, y: Any, error: Any) -> Any:
            return error > TOLERANCE if data.to_tolerance else i < steps

        y = pb.while_loop(going, body, (0, data.start, np.float32(np.inf)))[1]
        gradients = pb.gradients(pb.reduce_sum(pb.square(y)), parameters)
        session = pb.Session(engine=engine)
        session.run(pb.global_variables_initializer())
        run = session.make_callable(gradients, [steps])
    return lambda: _first(run(data.steps))


def _first(gradients: Any) -> float:
    return float(np.asarray(gradients[0]).ravel()[0])


def with_jax(data: Data, checkpoint: bool) -> Step:
    import jax
    import jax.numpy as jnp

    def loss(parameters: Any) -> Any:
        def body(y: Any, _: None) -> Any:
            return step_of(jnp, y, parameters), None

        body = jax.checkpoint(body) if checkpoint else body
        y, _ = jax.lax.scan(body, data.start, None, length=data.steps)
        return jnp.sum(jnp.square(y))

    return _with_jax(loss, data)


def with_equinox(data: Data) -> Step:
    import jax.numpy as jnp
    from equinox.internal import while_loop

    def loss(parameters: Any, steps: Any) -> Any:
        def body(state: Any) -> Any:
            i, y, error = state
            following = step_of(jnp, y, parameters)
            if data.to_tolerance:
                error = jnp.max(jnp.abs(following - y))
            return i + 1, following, error

        def going(state: Any) -> Any:
            return state[2] > TOLERANCE if data.to_tolerance else state[0] < steps

        state = (0, jnp.asarray(data.start), jnp.float32(np.inf))
        y = while_loop(going, body, state, max_steps=MOST_STEPS, kind="checkpointed")[1]
        return jnp.sum(jnp.square(y))

    return _with_jax(loss, data, data.steps)


def _with_jax(loss: Callable[..., Any], data: Data, *args: Any) -> Step:
    import jax

    gradient = jax.jit(jax.grad(loss))
    parameters = tuple(map(jax.numpy.asarray, data.parameters))
    gradient.lower(parameters, *args)
    return lambda: _first([np.asarray(x) for x in gradient(parameters, *args)])


def with_tensorflow(data: Data, compiled: bool) -> Step:
    import tensorflow as tf

    parameters, steps = [tf.constant(x) for x in data.parameters], tf.constant(data.steps)

    @tf.function(jit_compile=compiled)
    def gradient(steps: Any, *parameters: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(parameters)
            loss = _tensorflow_loss(tf, data, parameters, steps, data.steps if compiled else None)
        return tape.gradient(loss, parameters)

    gradient.get_concrete_function(steps, *parameters)
    return lambda: _first([x.numpy() for x in gradient(steps, *parameters)])


def with_tensorflow_graph(data: Data) -> Step:
    import tensorflow as tf

    v1 = tf.compat.v1
    with tf.Graph().as_default():
        v1.disable_control_flow_v2()
        parameters = [v1.placeholder(tf.float32, x.shape) for x in data.parameters]
        steps = v1.placeholder(tf.int32, [])
        gradients = v1.gradients(_tensorflow_loss(tf, data, parameters, steps, None), parameters)
        run = v1.Session().make_callable(gradients, [steps, *parameters])
    return lambda: _first(run(data.steps, *data.parameters))


def _tensorflow_loss(tf: Any, data: Data, parameters: Any, steps: Any, most: int | None) -> Any:
    def body(i: Any, y: Any, error: Any) -> Any:
        following = step_of(tf, y, parameters)
        if data.to_tolerance:
            error = tf.reduce_max(tf.abs(following - y))
        return i + 1, following, error

    def going(i: Any, y: Any, error: Any) -> Any:
        return error > TOLERANCE if data.to_tolerance else i < steps

    state = (tf.constant(0), tf.constant(data.start), tf.constant(np.float32(np.inf)))
    y = tf.compat.v1.while_loop(going, body, state, maximum_iterations=most)[1]
    return tf.reduce_sum(tf.square(y))


def with_torch(data: Data) -> Step:
    import torch

    parameters = [torch.tensor(x, requires_grad=True) for x in data.parameters]
    start = torch.tensor(data.start)

    def step() -> float:
        y, i, error = start, 0, np.inf
        while error > TOLERANCE if data.to_tolerance else i < data.steps:
            following = step_of(torch, y, parameters)
            if data.to_tolerance:
                error = (following - y).abs().max().item()
            y, i = following, i + 1
        return _first([x.numpy() for x in torch.autograd.grad(y.square().sum(), parameters)])

    return step


PEERS: dict[str, Callable[[Data], Step]] = {
    "pullback": partial(with_pullback, engine="xla"),
    "pullback-numpy": partial(with_pullback, engine="numpy"),
    "jax": partial(with_jax, checkpoint=False),
    "jax-checkpoint": partial(with_jax, checkpoint=True),
    "equinox": with_equinox,
    "tensorflow": partial(with_tensorflow, compiled=False),
    "tensorflow-graph": with_tensorflow_graph,
    "tensorflow-xla": partial(with_tensorflow, compiled=True),
    "torch": with_torch,
}
SHAPES = {"64": (1, 64), "256x256": (256, 256)}


def _workload(name: str, title: str, make: Callable[[], Data]) -> Workload:
    return Workload(name=f"loop-{name}", title=title, data=make, peers=PEERS)


WORKLOADS = [
    *[
        _workload(f"fixed-point-{name}", f"tanh(y w + x) to its fixed point, {name}", partial(recurrent, shape, None))
        for name, shape in SHAPES.items()
    ],
    *[
        _workload(f"newton-{name}", f"cube roots by Newton's iteration, {name}", partial(newton, shape))
        for name, shape in SHAPES.items()
    ],
    *[
        _workload(f"rnn-{name}-{n}", f"recurrent network of {n} steps, {name}", partial(recurrent, shape, n))
        for name, shape in SHAPES.items()
        for n in (10, 100, 1000)
    ],
]
