"""GraphDef import of quantization that derivatives look through."""

from __future__ import annotations

from typing import Any

from ...core.operation import Tensor
from ...primitives.quantization import fake_quant
from ..nodes import Node, calling, reader

_BITS = {"num_bits": 8, "narrow_range": False}

reader("FakeQuantWithMinMaxArgs")(calling(fake_quant.fake_quant_with_min_max_args, 1, min=-6.0, max=6.0, **_BITS))
reader("FakeQuantWithMinMaxVars")(calling(fake_quant.fake_quant_with_min_max_vars, 3, **_BITS))
reader("FakeQuantWithMinMaxVarsPerChannel")(calling(fake_quant.fake_quant_with_min_max_vars_per_channel, 3, **_BITS))


@reader("QuantizeAndDequantizeV2", "QuantizeAndDequantizeV4")
def there_and_back(node: Node, x: Tensor, low: Tensor, high: Tensor) -> Any:
    axis = node.attribute("axis", -1)
    found = fake_quant.quantize_and_dequantize_v2
    if node.op_type == "QuantizeAndDequantizeV2":
        found = fake_quant.quantize_and_dequantize
    return found(
        x,
        low,
        high,
        node.attribute("signed_input", True),
        node.attribute("num_bits", 8),
        node.attribute("range_given", False),
        node.text("round_mode", "HALF_TO_EVEN"),
        node.exactly,
        node.attribute("narrow_range", False),
        None if axis < 0 else axis,
    )
