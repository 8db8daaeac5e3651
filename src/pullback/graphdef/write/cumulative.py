"""GraphDef export of cumulative sums, products and logarithms of sums."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.graph import Operation
from ...primitives.cumulative.cumsum import Cumprod, Cumsum, Shift
from ...primitives.cumulative.logsumexp import CumulativeLogsumexp
from ..body import Body, Ref
from ..exporting import writer


@writer(Cumsum, Cumprod, CumulativeLogsumexp)
def cumulative(body: Body, op: Operation, x: Ref) -> Any:
    primitive: Any = op.primitive
    settings = {"exclusive": primitive.exclusive, "reverse": primitive.reverse}
    return body.main(op.type, x, body.integers(primitive.axis), **settings)


@writer(Shift)
def shift(body: Body, op: Operation, x: Ref) -> Any:
    """A row before all, or behind them, and as many rows as there were."""
    primitive: Any = op.primitive
    rank = op.inputs[0].shape.rank
    if rank is None:
        return body.refuse("the rank of its input must be known")
    axis = primitive.axis % rank
    at = np.arange(rank) == axis
    shape = body.shape_of(x)
    single = body.node("SelectV2", body.constant(at), body.constant(np.ones(rank), np.int32), shape)
    row = body.node("Fill", single, body.constant(primitive.first, x.dtype))
    joined = body.node("ConcatV2", [x, row] if primitive.reverse else [row, x], body.integers(axis))
    begin = body.constant(at if primitive.reverse else np.zeros(rank), np.int32)
    return body.main("Slice", joined, begin, shape)
