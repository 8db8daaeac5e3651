"""GraphDef export of fake quantization."""

from __future__ import annotations

from typing import Any

from ...core.dtypes import float32
from ...core.graph import Operation
from ...primitives.quantization.fake_quant import FakeQuant
from ..body import Body, Ref
from ..exporting import writer


@writer(FakeQuant)
def fake_quant(body: Body, op: Operation, x: Ref, low: Ref, high: Ref) -> Any:
    primitive: Any = op.primitive
    ranks = {bound.shape.rank for bound in op.inputs[1:]}
    if op.outputs[0].dtype != float32 or ranks not in ({0}, {1}):
        return body.refuse("its export is there for float32, with bounds that are scalars, or vectors")
    op_type = f"FakeQuantWithMinMaxVars{'PerChannel' if ranks == {1} else ''}"
    return body.main(op_type, x, low, high, num_bits=primitive.num_bits, narrow_range=primitive.narrow_range)
