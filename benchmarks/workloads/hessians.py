"""Second derivatives: Hessians of a perceptron's loss and of a logistic regression, products with one, a sparse one."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ..workload import Step, Workload

PRODUCTS = 20
CHAIN = 100_000
LOGISTIC = {"": 400, "-100": 100, "-300": 300, "-1000": 1000}
"""Coefficients, by what their workload is called."""


class Perceptron(NamedTuple):
    """One hidden layer of tanh, mean squared error: the parameters as one vector, examples as rows."""

    sizes: tuple[int, int, int]
    vector: Any
    inputs: Any
    targets: Any


def perceptron(inner: int, batch: int) -> Perceptron:
    random = np.random.default_rng(0)
    sizes = (inner, inner, 10)
    count = sizes[0] * sizes[1] + sizes[1] * sizes[2]
    vector = (random.standard_normal(count) * 0.3).astype(np.float32)
    inputs = random.standard_normal((batch, sizes[0])).astype(np.float32)
    return Perceptron(sizes, vector, inputs, random.standard_normal((batch, sizes[2])).astype(np.float32))


class Logistic(NamedTuple):
    vector: Any
    inputs: Any
    labels: Any


def logistic(count: int) -> Logistic:
    random = np.random.default_rng(0)
    inputs = random.standard_normal((512, count)).astype(np.float32)
    return Logistic(
        (random.standard_normal(count) * 0.1).astype(np.float32), inputs, random.integers(0, 2, 512).astype(np.float32)
    )


def _perceptron_loss(xp: Any, tanh: Any, data: Perceptron, vector: Any, inputs: Any, targets: Any) -> Any:
    """The loss with the functions of `xp` that all peers share."""
    a, b, c = data.sizes
    first, second = vector[: a * b].reshape(a, b), vector[a * b :].reshape(b, c)
    error = tanh(inputs @ first) @ second - targets
    return xp.mean(error * error)


def perceptron_with_pullback(data: Perceptron, products: bool) -> Step:
    import pullback as pb

    a, b, c = data.sizes
    with pb.Graph().as_default():
        vector = pb.placeholder(pb.float32, data.vector.shape)
        inputs, targets = pb.constant(data.inputs), pb.constant(data.targets)
        first, second = pb.reshape(vector[: a * b], [a, b]), pb.reshape(vector[a * b :], [b, c])
        error = pb.matmul(pb.tanh(pb.matmul(inputs, first)), second) - targets
        loss = pb.reduce_mean(error * error)
        if products:
            v = pb.placeholder(pb.float32, data.vector.shape)
            (product,) = pb.hessian_vector_product(loss, vector, v)
            run = pb.Session().make_callable(pb.reduce_sum(product), [vector, v])
            return lambda: _many(lambda v: float(run(data.vector, v)), data.vector)
        run = pb.Session().make_callable(pb.reduce_sum(pb.hessians(loss, vector)[0]), [vector])
    return lambda: float(run(data.vector))


def perceptron_with_jax(data: Perceptron, products: bool) -> Step:
    import jax
    import jax.numpy as jnp

    inputs, targets = jnp.array(data.inputs), jnp.array(data.targets)

    def loss(vector: Any) -> Any:
        return _perceptron_loss(jnp, jnp.tanh, data, vector, inputs, targets)

    if products:
        product = jax.jit(lambda x, v: jnp.sum(jax.jvp(jax.grad(loss), (x,), (v,))[1]))
        return lambda: _many(lambda v: float(product(data.vector, v)), data.vector)
    hessian = jax.jit(lambda x: jnp.sum(jax.hessian(loss)(x)))
    return lambda: float(hessian(data.vector))


def perceptron_with_torch(data: Perceptron, products: bool) -> Step:
    import torch

    inputs, targets, vector = map(torch.tensor, (data.inputs, data.targets, data.vector))

    def loss(vector: Any) -> Any:
        return _perceptron_loss(torch, torch.tanh, data, vector, inputs, targets)

    if products:

        def product(v: Any) -> float:
            return float(torch.func.jvp(torch.func.grad(loss), (vector,), (torch.tensor(v),))[1].sum())

        return lambda: _many(product, data.vector)
    hessian = torch.func.hessian(loss)
    return lambda: float(hessian(vector).sum())


def _many(product: Any, vector: Any) -> float:
    """A fixed number of products, each with a vector that the one before does not decide."""
    total = 0.0
    for i in range(PRODUCTS):
        total += product(np.roll(vector, i))
    return total


def logistic_with_pullback(data: Logistic) -> Step:
    import pullback as pb

    with pb.Graph().as_default():
        w = pb.placeholder(pb.float32, data.vector.shape)
        logits = pb.linalg.matvec(pb.constant(data.inputs), w)
        losses = pb.nn.sigmoid_cross_entropy_with_logits(labels=pb.constant(data.labels), logits=logits)
        hessian = pb.hessians(pb.reduce_mean(losses), w)[0]
        run = pb.Session().make_callable(pb.reduce_sum(hessian), [w])
    return lambda: float(run(data.vector))


def logistic_with_jax(data: Logistic) -> Step:
    import jax
    import jax.numpy as jnp

    inputs, labels = jnp.array(data.inputs), jnp.array(data.labels)

    def loss(w: Any) -> Any:
        z = inputs @ w
        return jnp.mean(jnp.logaddexp(0.0, z) - z * labels)

    hessian = jax.jit(lambda w: jnp.sum(jax.hessian(loss)(w)))
    return lambda: float(hessian(data.vector))


def logistic_with_torch(data: Logistic) -> Step:
    import torch

    inputs, labels, w = map(torch.tensor, (data.inputs, data.labels, data.vector))

    def loss(w: Any) -> Any:
        return torch.nn.functional.binary_cross_entropy_with_logits(inputs @ w, labels)

    hessian = torch.func.hessian(loss)
    return lambda: float(hessian(w).sum())


def chain_with_pullback(n: int) -> Step:
    """All in: building, looking for the pattern, colouring, compiling, running."""
    import pullback as pb

    def step() -> float:
        with pb.Graph().as_default():
            x = pb.placeholder(pb.float64, [n])
            y = pb.reduce_sum(100.0 * pb.square(x[1:] - pb.square(x[:-1])) + pb.square(1.0 - x[:-1]))
            hessian = pb.sparse_hessian(y, x)
            return float(hessian.eval({x: np.linspace(-1.0, 1.0, n)}).sum())

    return step


def _weights(*shape: int) -> Any:
    return np.random.default_rng(0).normal(size=shape)


LAYERS: dict[str, Callable[[Any, Any], Any]] = {
    "none": lambda pb, x: x,
    "bias": lambda pb, x: pb.nn.bias_add(pb.reshape(x, [-1, 10]), _weights(10)),
    "conv1d": lambda pb, x: pb.nn.conv1d(pb.reshape(x, [1, -1, 1]), _weights(3, 1, 1), 1, "SAME"),
    "einsum": lambda pb, x: pb.einsum("bij,jk->bik", pb.reshape(x, [-1, 2, 5]), _weights(5, 5)),
    "softmax": lambda pb, x: pb.nn.softmax(pb.reshape(x, [-1, 5])),
    "cumsum": lambda pb, x: pb.cumsum(pb.reshape(x, [-1, 5]), axis=1),
    "matmul": lambda pb, x: pb.matmul(pb.reshape(x, [-1, 2, 2]), pb.reshape(x, [-1, 2, 2])),
}
"""What stands between 100,000 variables and a sum of squares; each mixes neighbours, or none, and not all."""


def layer_with_pullback(layer: str) -> Step:
    """All in, as the chain."""
    import pullback as pb

    def step() -> float:
        with pb.Graph().as_default():
            x = pb.placeholder(pb.float64, [CHAIN])
            hessian = pb.sparse_hessian(pb.reduce_sum(pb.square(LAYERS[layer](pb, x * x))), x)
            return float(hessian.eval({x: np.linspace(-1.0, 1.0, CHAIN)}).sum())

    return step


_SECOND = {
    "jax": perceptron_with_jax,
    "torch": perceptron_with_torch,
    "pullback": perceptron_with_pullback,
}
WORKLOADS = (
    [
        Workload(
            f"hessian-{inner * inner + inner * 10}",
            f"the Hessian of a perceptron's loss by all of its {inner * inner + inner * 10} parameters, batch {batch}",
            partial(perceptron, inner, batch),
            {peer: partial(function, products=False) for peer, function in _SECOND.items()},
        )
        for inner, batch in ((10, 64), (27, 256))
    ]
    + [
        *[
            Workload(
                f"hessian-logistic{suffix}",
                f"the Hessian of a logistic regression with {count} coefficients, 512 examples",
                partial(logistic, count),
                {"jax": logistic_with_jax, "torch": logistic_with_torch, "pullback": logistic_with_pullback},
            )
            for suffix, count in LOGISTIC.items()
        ],
        Workload(
            "hessian-products",
            f"{PRODUCTS} products of a Hessian with a vector, 100 thousand parameters, batch 64",
            partial(perceptron, 312, 64),
            {peer: partial(function, products=True) for peer, function in _SECOND.items()},
        ),
        Workload(
            "hessian-sparse",
            f"the sparse Hessian of a chained Rosenbrock function of {CHAIN} variables, from nothing",
            lambda: CHAIN,
            {"pullback": chain_with_pullback},
        ),
    ]
    + [
        Workload(
            f"hessian-sparse-{layer}",
            f"the sparse Hessian of a sum of squares of {CHAIN} variables behind {layer}, from nothing",
            partial(str, layer),
            {"pullback": layer_with_pullback},
        )
        for layer in LAYERS
    ]
)
