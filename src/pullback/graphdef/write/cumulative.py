"""GraphDef export of cumulative sums, products and logarithms of sums."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...primitives.cumulative.cumsum import Cumprod, Cumsum, Shift
from ...primitives.cumulative.logsumexp import CumulativeLogsumexp
from ..body import Body, Ref
from ..exporting import writer


@writer(Cumsum, Cumprod, CumulativeLogsumexp)
def cumulative(body: Body, p: Any, x: Ref) -> Any:
    settings = {"exclusive": p.exclusive, "reverse": p.reverse}
    return body.main(p.type, x, body.integers(p.axis), **settings)


@writer(Shift)
def shift(body: Body, p: Any, x: Ref) -> Any:
    """A row before all, or behind them, and as many rows as there were."""
    rank = body.known_rank(0)
    axis = p.axis % rank
    at = np.arange(rank) == axis
    shape = body.shape_of(x)
    single = body.node("SelectV2", body.constant(at), body.constant(np.ones(rank), np.int32), shape)
    row = body.node("Fill", single, body.constant(p.first, x.dtype))
    joined = body.node("ConcatV2", [x, row] if p.reverse else [row, x], body.integers(axis))
    begin = body.constant(at if p.reverse else np.zeros(rank), np.int32)
    return body.main("Slice", joined, begin, shape)
