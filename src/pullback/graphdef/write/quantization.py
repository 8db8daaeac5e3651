"""GraphDef export of fake quantization."""

from __future__ import annotations

from typing import Any

from ...core.dtypes import float32
from ...primitives.quantization.fake_quant import FakeQuant
from ..body import Body, Ref
from ..exporting import writer


@writer(FakeQuant)
def fake_quant(body: Body, p: Any, x: Ref, low: Ref, high: Ref) -> Any:
    ranks = {bound.shape.rank for bound in body.op.inputs[1:]}
    if body.op.outputs[0].dtype != float32 or ranks not in ({0}, {1}):
        return body.refuse("its export is there for float32, with bounds that are scalars, or vectors")
    op_type = f"FakeQuantWithMinMaxVars{'PerChannel' if ranks == {1} else ''}"
    return body.main(op_type, x, low, high, num_bits=p.num_bits, narrow_range=p.narrow_range)
