"""GraphDef export of random numbers: TensorFlow draws others, of the same distributions."""

from __future__ import annotations

from typing import Any

import numpy as np

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
def drawn(body: Body, p: Any, *lengths: Ref) -> Any:
    shape = lengths_of(body, p.shape, lengths)
    return body.main(p.type, shape, dtype=body.op.outputs[0].dtype, **_seeds(p))


@writer(RandomUniformInt)
def integers(body: Body, p: Any, low: Ref, high: Ref, *lengths: Ref) -> Any:
    return body.main("RandomUniformInt", lengths_of(body, p.shape, lengths), low, high, **_seeds(p))


@writer(RandomGamma)
def gamma(body: Body, p: Any, alpha: Ref) -> Any:
    return body.main("RandomGamma", body.integers(np.zeros(0)), alpha, **_seeds(p))


@writer(RandomPoissonV2)
def poisson(body: Body, p: Any, means: Ref) -> Any:
    dtype = body.op.outputs[0].dtype
    return body.main("RandomPoissonV2", body.integers(np.zeros(0)), means, dtype=dtype, **_seeds(p))


@writer(Multinomial)
def multinomial(body: Body, p: Any, logits: Ref) -> Any:
    count, dtype = body.integers(p.num_samples), body.op.outputs[0].dtype
    return body.main("Multinomial", logits, count, output_dtype=dtype, **_seeds(p))


@writer(RandomOrder)
def order(body: Body, p: Any, x: Ref) -> Any:
    count = body.node("GatherV2", body.shape_of(x), body.integers(0), body.integers(0))
    numbers = body.node("Range", body.integers(0), count, body.integers(1))
    return body.main("RandomShuffle", numbers, **_seeds(p))


@writer(DropoutMask)
def dropout(body: Body, p: Any, *inputs: Ref) -> Any:
    """1 / (1 - rate) where an element stays, else 0."""
    wide, dtype = np.dtype(np.float32), body.op.outputs[0].dtype
    lengths = inputs if p.rate is not None else inputs[:-1]
    rate = body.constant(p.rate, wide) if p.rate is not None else inputs[-1]
    drawn = body.node("RandomUniform", lengths_of(body, p.shape, lengths), dtype=wide, **_seeds(p))
    scale = body.node("Reciprocal", body.node("Sub", body.constant(1.0, wide), rate))
    zero = body.constant(0.0, wide)
    return body.cast(body.node("SelectV2", body.node("GreaterEqual", drawn, rate), scale, zero), dtype)


@writer(StatelessRandomUniform, StatelessRandomNormal, StatelessTruncatedNormal)
def of_seed(body: Body, p: Any, seed: Ref, *lengths: Ref) -> Any:
    return body.main(p.type, lengths_of(body, p.shape, lengths), seed, dtype=body.op.outputs[0].dtype)


@writer(StatelessRandomUniformInt)
def integers_of_seed(body: Body, p: Any, seed: Ref, low: Ref, high: Ref, *lengths: Ref) -> Any:
    return body.main(p.type, lengths_of(body, p.shape, lengths), seed, low, high)


@writer(StatelessMultinomial)
def multinomial_of_seed(body: Body, p: Any, logits: Ref, seed: Ref) -> Any:
    return body.main(p.type, logits, body.integers(p.num_samples), seed, output_dtype=body.op.outputs[0].dtype)


@writer(StatelessRandomGammaV3)
def gamma_of_seed(body: Body, p: Any, seed: Ref, alpha: Ref) -> Any:
    return body.main("StatelessRandomGammaV2", body.shape_of(alpha), seed, alpha)


@writer(StatelessRandomPoisson)
def poisson_of_seed(body: Body, p: Any, seed: Ref, means: Ref) -> Any:
    return body.main(p.type, body.shape_of(means), seed, means, dtype=body.op.outputs[0].dtype)


def _seeds(p: Any) -> dict[str, int]:
    return {"seed": p.seed or 0, "seed2": p.seed2 or 0}
