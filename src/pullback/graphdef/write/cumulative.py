"""GraphDef export of cumulative sums, products and logarithms of sums."""

from __future__ import annotations

from typing import Any

from ...core.graph import Operation
from ...primitives.cumulative.cumsum import Cumprod, Cumsum
from ...primitives.cumulative.logsumexp import CumulativeLogsumexp
from ..body import Body, Ref
from ..exporting import writer


@writer(Cumsum, Cumprod, CumulativeLogsumexp)
def cumulative(body: Body, op: Operation, x: Ref) -> Any:
    primitive: Any = op.primitive
    settings = {"exclusive": primitive.exclusive, "reverse": primitive.reverse}
    return body.main(op.type, x, body.integers(primitive.axis), **settings)
