"""Building a graph of elementwise operations and its gradient: no array is computed, except by torch, which must.

A step makes the whole graph anew and differentiates it once; time and memory are per operation of the forward graph.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..workload import Step, Workload

# Ten times as many take TensorFlow 40 seconds and jax 20, for each of many steps.
LARGEST = {"tensorflow-graph": 10_000, "jax": 10_000}


def chain(x: Any, a: Any, b: Any, count: int, tanh: Callable[[Any], Any]) -> Any:
    """`count` operations in a row: multiply, add, tanh, multiply, ..."""
    y = x
    for i in range(count):
        if i % 3 == 0:
            y = y * a
        elif i % 3 == 1:
            y = y + b
        else:
            y = tanh(y)
    return y


def wide(x: Any, a: Any, b: Any, count: int, tanh: Callable[[Any], Any]) -> Any:
    """x read by half of the `count` operations; the other half adds the results in pairs, as a tree."""
    del b, tanh
    terms: Sequence[Any] = [x * a for _ in range(count // 2)]
    while len(terms) > 1:
        left = terms[len(terms) // 2 * 2 :]
        terms = [terms[i] + terms[i + 1] for i in range(0, len(terms) - 1, 2)] + list(left)
    return terms[0]


def with_pullback(model: Callable[..., Any], count: int) -> Step:
    import pullback as pb

    def step() -> None:
        with pb.Graph().as_default():
            x, a, b = (pb.placeholder(pb.float32, [8]) for _ in range(3))
            pb.gradients(model(x, a, b, count, pb.tanh), x)

    return step


def with_tensorflow(model: Callable[..., Any], count: int) -> Step:
    import tensorflow as tf

    def step() -> None:
        with tf.Graph().as_default():
            x, a, b = (tf.compat.v1.placeholder(tf.float32, [8]) for _ in range(3))
            tf.gradients(model(x, a, b, count, tf.tanh), x)

    return step


def with_jax(model: Callable[..., Any], count: int) -> Step:
    import jax
    import jax.numpy as jnp

    x, a, b = jnp.zeros(8), jnp.ones(8), jnp.zeros(8)

    def step() -> None:
        jax.make_jaxpr(jax.grad(lambda x, a, b: model(x, a, b, count, jnp.tanh).sum()))(x, a, b)

    return step


def with_torch(model: Callable[..., Any], count: int) -> Step:
    import torch

    x, a, b = torch.zeros(8, requires_grad=True), torch.ones(8), torch.zeros(8)

    def step() -> None:
        torch.autograd.grad(model(x, a, b, count, torch.tanh).sum(), x, create_graph=True)

    return step


MAKERS = {"pullback": with_pullback, "tensorflow-graph": with_tensorflow, "jax": with_jax, "torch": with_torch}


def _workload(model: Callable[..., Any], count: int) -> Workload:
    def of(make: Callable[[Callable[..., Any], int], Step]) -> Callable[[None], Step]:
        return lambda data: make(model, count)

    return Workload(
        name=f"graph-{model.__name__}-{count}",
        title=f"build and differentiate {count} operations ({model.__name__})",
        data=lambda: None,
        peers={name: of(make) for name, make in MAKERS.items() if count <= LARGEST.get(name, count)},
        per=count,
        of="operation",
        collect=True,
    )


WORKLOADS = [_workload(model, count) for model in (chain, wide) for count in (100, 1_000, 10_000, 100_000)]
