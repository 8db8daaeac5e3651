"""GraphDef export of random numbers: TensorFlow draws others, of the same distributions."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.graph import Operation
from ...primitives.random.discrete import RandomPoissonV2, StatelessRandomPoisson
from ...primitives.random.dropout import DropoutMask
from ...primitives.random.gamma import RandomGamma, StatelessRandomGammaV3
from ...primitives.random.stateful import (
    Multinomial,
    RandomOrder,
    RandomStandardNormal,
    RandomUniform,
    RandomUniformInt,
    TruncatedNormal,
)
from ...primitives.random.stateless import (
    StatelessMultinomial,
    StatelessRandomNormal,
    StatelessRandomUniform,
    StatelessRandomUniformInt,
    StatelessTruncatedNormal,
)
from ..body import Body, Ref
from ..exporting import writer
from .creation import lengths_of


@writer(RandomUniform, RandomStandardNormal, TruncatedNormal)
def drawn(body: Body, op: Operation, *lengths: Ref) -> Any:
    primitive: Any = op.primitive
    shape = lengths_of(body, primitive.shape, lengths)
    return body.main(op.type, shape, dtype=op.outputs[0].dtype, **_seeds(op))


@writer(RandomUniformInt)
def integers(body: Body, op: Operation, low: Ref, high: Ref, *lengths: Ref) -> Any:
    primitive: Any = op.primitive
    return body.main("RandomUniformInt", lengths_of(body, primitive.shape, lengths), low, high, **_seeds(op))


@writer(RandomGamma)
def gamma(body: Body, op: Operation, alpha: Ref) -> Any:
    return body.main("RandomGamma", body.integers(np.zeros(0)), alpha, **_seeds(op))


@writer(RandomPoissonV2)
def poisson(body: Body, op: Operation, means: Ref) -> Any:
    dtype = op.outputs[0].dtype
    return body.main("RandomPoissonV2", body.integers(np.zeros(0)), means, dtype=dtype, **_seeds(op))


@writer(Multinomial)
def multinomial(body: Body, op: Operation, logits: Ref) -> Any:
    primitive: Any = op.primitive
    count, dtype = body.integers(primitive.num_samples), op.outputs[0].dtype
    return body.main("Multinomial", logits, count, output_dtype=dtype, **_seeds(op))


@writer(RandomOrder)
def order(body: Body, op: Operation, x: Ref) -> Any:
    count = body.node("GatherV2", body.shape_of(x), body.integers(0), body.integers(0))
    numbers = body.node("Range", body.integers(0), count, body.integers(1))
    return body.main("RandomShuffle", numbers, **_seeds(op))


@writer(DropoutMask)
def dropout(body: Body, op: Operation, *inputs: Ref) -> Any:
    """1 / (1 - rate) where an element stays, else 0."""
    primitive: Any = op.primitive
    wide, dtype = np.dtype(np.float32), op.outputs[0].dtype
    lengths = inputs if primitive.rate is not None else inputs[:-1]
    rate = body.constant(primitive.rate, wide) if primitive.rate is not None else inputs[-1]
    drawn = body.node("RandomUniform", lengths_of(body, primitive.shape, lengths), dtype=wide, **_seeds(op))
    scale = body.node("Reciprocal", body.node("Sub", body.constant(1.0, wide), rate))
    zero = body.constant(0.0, wide)
    return body.cast(body.node("SelectV2", body.node("GreaterEqual", drawn, rate), scale, zero), dtype)


@writer(StatelessRandomUniform, StatelessRandomNormal, StatelessTruncatedNormal)
def of_seed(body: Body, op: Operation, seed: Ref, *lengths: Ref) -> Any:
    primitive: Any = op.primitive
    return body.main(op.type, lengths_of(body, primitive.shape, lengths), seed, dtype=op.outputs[0].dtype)


@writer(StatelessRandomUniformInt)
def integers_of_seed(body: Body, op: Operation, seed: Ref, low: Ref, high: Ref, *lengths: Ref) -> Any:
    primitive: Any = op.primitive
    return body.main(op.type, lengths_of(body, primitive.shape, lengths), seed, low, high)


@writer(StatelessMultinomial)
def multinomial_of_seed(body: Body, op: Operation, logits: Ref, seed: Ref) -> Any:
    primitive: Any = op.primitive
    return body.main(op.type, logits, body.integers(primitive.num_samples), seed, output_dtype=op.outputs[0].dtype)


@writer(StatelessRandomGammaV3)
def gamma_of_seed(body: Body, op: Operation, seed: Ref, alpha: Ref) -> Any:
    return body.main("StatelessRandomGammaV2", body.shape_of(alpha), seed, alpha)


@writer(StatelessRandomPoisson)
def poisson_of_seed(body: Body, op: Operation, seed: Ref, means: Ref) -> Any:
    return body.main(op.type, body.shape_of(means), seed, means, dtype=op.outputs[0].dtype)


def _seeds(op: Operation) -> dict[str, int]:
    primitive: Any = op.primitive
    return {"seed": primitive.seed or 0, "seed2": primitive.seed2 or 0}
