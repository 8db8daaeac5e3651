"""GraphDef import of quantization that derivatives look through."""

from __future__ import annotations

from typing import Any

from ...core.operation import Tensor
from ...primitives.quantization import fake_quant
from ..nodes import Node, reader


@reader("FakeQuantWithMinMaxArgs")
def by_numbers(node: Node, x: Tensor) -> Any:
    low, high = node.attribute("min", -6.0), node.attribute("max", 6.0)
    return fake_quant.fake_quant_with_min_max_args(x, low, high, *_bits(node), name=node.exactly)


@reader("FakeQuantWithMinMaxVars")
def by_tensors(node: Node, x: Tensor, low: Tensor, high: Tensor) -> Any:
    return fake_quant.fake_quant_with_min_max_vars(x, low, high, *_bits(node), name=node.exactly)


@reader("FakeQuantWithMinMaxVarsPerChannel")
def by_channel(node: Node, x: Tensor, low: Tensor, high: Tensor) -> Any:
    return fake_quant.fake_quant_with_min_max_vars_per_channel(x, low, high, *_bits(node), name=node.exactly)


def _bits(node: Node) -> tuple[int, bool]:
    return node.attribute("num_bits", 8), node.attribute("narrow_range", False)


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
