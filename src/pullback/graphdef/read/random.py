"""GraphDef import of random numbers. What is drawn has TensorFlow's distribution, not its very numbers."""

from __future__ import annotations

from typing import Any

from ...core.operation import Tensor
from ...primitives.creation.constant import constant
from ...primitives.random.discrete import random_poisson, stateless_parameterized_truncated_normal, stateless_poisson
from ...primitives.random.gamma import random_gamma, stateless_gamma
from ...primitives.random.stateful import categorical, random_normal, random_shuffle, random_uniform, truncated_normal
from ...primitives.random.stateless import (
    stateless_categorical,
    stateless_normal,
    stateless_truncated_normal,
    stateless_uniform,
)
from ..nodes import Node, calling, reader

reader("StatelessRandomPoisson")(calling(stateless_poisson, 3, dtype="int64"))


def _seed(node: Node) -> int | None:
    """One seed for the two of a node; None where it has none."""
    first, second = node.attribute("seed", 0), node.attribute("seed2", 0)
    return (first * 1_000_003 + second) % 2**31 if first or second else None


@reader("RandomUniform")
def uniform(node: Node, shape: Tensor) -> Any:
    return random_uniform(shape, dtype=node.attribute("dtype"), seed=_seed(node), name=node.exactly)


@reader("RandomUniformInt")
def uniform_int(node: Node, shape: Tensor, low: Tensor, high: Tensor) -> Any:
    return random_uniform(shape, low, high, low.dtype, _seed(node), node.exactly)


@reader("RandomStandardNormal")
def normal(node: Node, shape: Tensor) -> Any:
    return random_normal(shape, dtype=node.attribute("dtype"), seed=_seed(node), name=node.exactly)


@reader("TruncatedNormal")
def truncated(node: Node, shape: Tensor) -> Any:
    return truncated_normal(shape, dtype=node.attribute("dtype"), seed=_seed(node), name=node.exactly)


@reader("RandomGamma")
def gamma(node: Node, shape: Tensor, alpha: Tensor) -> Any:
    return random_gamma(shape, alpha, dtype=alpha.dtype, seed=_seed(node), name=node.exactly)


@reader("RandomPoissonV2")
def poisson(node: Node, shape: Tensor, rate: Tensor) -> Any:
    return random_poisson(shape, rate, node.attribute("dtype", "int64"), _seed(node), node.exactly)


@reader("RandomShuffle")
def shuffle(node: Node, x: Tensor) -> Any:
    return random_shuffle(x, _seed(node), node.exactly)


@reader("Multinomial")
def multinomial(node: Node, logits: Tensor, count: Tensor) -> Any:
    (n,) = node.integers(count, "the number of samples")
    return categorical(logits, n, node.attribute("output_dtype", "int64"), _seed(node), node.exactly)


_DRAWS: dict[str, Any] = {
    "StatelessRandomUniform": stateless_uniform,
    "StatelessRandomNormal": stateless_normal,
    "StatelessTruncatedNormal": stateless_truncated_normal,
}


@reader(*_DRAWS, *[f"{name}V2" for name in _DRAWS])
def stateless(node: Node, shape: Tensor, seed: Tensor, *more: Tensor) -> Any:
    """With what StatelessRandomGetKeyCounter gives, the seed is the key."""
    del more
    draw = _DRAWS[node.op_type.removesuffix("V2")]
    return draw(shape, seed, dtype=node.attribute("dtype", "float32"), name=node.exactly)


@reader("StatelessRandomUniformInt")
def integers_of_seed(node: Node, shape: Tensor, seed: Tensor, low: Tensor, high: Tensor) -> Any:
    return stateless_uniform(shape, seed, low, high, low.dtype, node.exactly)


@reader("StatelessMultinomial")
def multinomial_of_seed(node: Node, logits: Tensor, count: Tensor, seed: Tensor) -> Any:
    (n,) = node.integers(count, "the number of samples")
    return stateless_categorical(logits, n, seed, node.attribute("output_dtype", "int64"), node.exactly)


@reader("StatelessRandomGetKeyCounter", outputs=("key", "counter"))
def key_and_counter(node: Node, seed: Tensor) -> Any:
    """The seed in place of both: generators here begin with it."""
    del node
    return seed, seed


@reader("StatelessRandomGetAlg")
def algorithm(node: Node) -> Any:
    return constant(1, name=node.exactly)


@reader("StatelessRandomGammaV2")
def gamma_of_seed(node: Node, shape: Tensor, seed: Tensor, alpha: Tensor) -> Any:
    del node
    return stateless_gamma(shape, seed, alpha, dtype=alpha.dtype)


@reader("StatelessRandomGammaV3")
def gamma_of_key(node: Node, shape: Tensor, key: Tensor, counter: Tensor, alg: Tensor, alpha: Tensor) -> Any:
    del node, counter, alg
    return stateless_gamma(shape, key, alpha, dtype=alpha.dtype)


@reader("StatelessParameterizedTruncatedNormal")
def parameterized(
    node: Node, shape: Tensor, seed: Tensor, mean: Tensor, deviation: Tensor, low: Tensor, high: Tensor
) -> Any:
    del node
    return stateless_parameterized_truncated_normal(shape, seed, mean, deviation, low, high)
