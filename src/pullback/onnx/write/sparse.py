"""ONNX export of sums of rows with equal numbers."""

from __future__ import annotations

from typing import Any

from ...core.dtypes import int64
from ...primitives.sparse.unique_rows import SumEqualRows
from ..records import Value
from ..registry import writer
from ..writing import Writer


@writer(SumEqualRows)
def sum_equal_rows(w: Writer, p: Any, numbers: Value, values: Value) -> list[Value]:
    some, rest = (None,), (values.type.shape.sizes or (None,))[1:]
    distinct, _, places, _ = w.nodes(
        "Unique", numbers, dtypes=(numbers.type.dtype, int64, int64, int64), shapes=(some,) * 4, sorted=1
    )
    dims = (
        w.concat([w.shape(distinct), w.lengths(values, list(range(1, len(rest) + 1)))], 0)
        if rest
        else w.shape(distinct)
    )
    zeros = w.expand(w.scalar(0, values), dims)
    sums = w.node("ScatterND", zeros, w.unsqueeze(places, [1]), values, reduction="add")
    return [distinct, sums, w.cast(places, w.op.outputs[2].dtype)]
