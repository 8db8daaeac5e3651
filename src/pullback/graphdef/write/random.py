"""GraphDef export of random numbers: TensorFlow draws others, of the same distribution."""

from __future__ import annotations

from typing import Any

from ...core.graph import Operation
from ...primitives.random.stateful import RandomStandardNormal, RandomUniform, TruncatedNormal
from ..body import Body, Ref
from ..exporting import writer
from .creation import lengths_of


@writer(RandomUniform, RandomStandardNormal, TruncatedNormal)
def drawn(body: Body, op: Operation, *lengths: Ref) -> Any:
    primitive: Any = op.primitive
    shape = lengths_of(body, primitive.shape, lengths)
    seeds = {"seed": primitive.seed or 0, "seed2": primitive.seed2 or 0}
    return body.main(op.type, shape, dtype=op.outputs[0].dtype, **seeds)
