"""ONNX model optimisation: outputs rewritten all together, where that leaves fewer nodes."""

from __future__ import annotations

from collections.abc import Mapping

from ..core.graph import Tensor
from ..passes.optimize import optimized
from ..passes.report import Report
from ..passes.ruleset import Rules, as_rules
from .exporting import export


def optimized_outputs(
    outputs: Mapping[str, Tensor], inputs: Mapping[str, Tensor], rules: Rules | str, opset: int | None = None
) -> tuple[dict[str, Tensor], Report]:
    """`outputs` optimised all together, and what was rewritten; nothing, where the model would have more nodes then.

    A node that is several operations is written as it was only where none of them was rewritten.
    """
    given = frozenset(inputs.values())
    found, report = optimized(list(outputs.values()), as_rules(rules), given, frozenset(), "optimized")
    lean = dict(zip(outputs, found, strict=True))
    if _nodes(lean, inputs, opset) > _nodes(outputs, inputs, opset):
        return dict(outputs), Report.of([], [], [])
    return lean, report


def _nodes(outputs: Mapping[str, Tensor], inputs: Mapping[str, Tensor], opset: int | None) -> int:
    return len(export(dict(outputs), dict(inputs), opset=opset).graph.node)
