"""ONNX model optimisation: outputs rewritten all together, where that leaves fewer nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..core.graph import Tensor
from ..passes.optimize import optimized
from ..passes.report import Report
from ..passes.ruleset import Rules, as_rules
from .exporting import export

Tensors = Mapping[str, Tensor]


def optimized_outputs(outputs: Tensors, inputs: Tensors, rules: Rules | str) -> tuple[dict[str, Tensor], Report]:
    """`outputs` of a model optimised all together, and what was rewritten; `inputs` stay the same."""
    given = frozenset(inputs.values())
    found, report = optimized(list(outputs.values()), as_rules(rules), given, frozenset(), "optimized")
    return dict(zip(outputs, found, strict=True)), report


def fewest_nodes(choices: Sequence[tuple[Tensors, Tensors]], opset: int | None = None) -> int:
    """The number of the outputs and inputs, among `choices`, whose model has fewest nodes; the first of several.

    A graph of fewer operations may be a model of more nodes: not each operation is one, nor each node.
    """
    counts = [len(export(dict(outputs), dict(inputs), opset=opset).graph.node) for outputs, inputs in choices]
    return counts.index(min(counts))
