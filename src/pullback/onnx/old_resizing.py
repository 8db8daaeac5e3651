"""ONNX version conversion of Resize-10 and Upsample, whose default grid is another: onnx's converter forgets that."""

from __future__ import annotations

from collections.abc import Collection

from onnx import ModelProto, helper, numpy_helper

from .reading import all_nodes

OPERATORS = frozenset(["Resize", "Upsample"])
FIRST_OF_TODAY = 11
"""The first opset whose Resize says which grid is meant."""


def restore_grids(converted: ModelProto, outputs: Collection[str]) -> None:
    """Let the Resize nodes that make `outputs` divide places by the scale, and round them down, or up to shrink."""
    arrays = {tensor.name: numpy_helper.to_array(tensor) for tensor in converted.graph.initializer}
    for node in all_nodes(converted.graph):
        if node.op_type == "Constant" and node.attribute[0].name == "value":
            arrays[node.output[0]] = numpy_helper.to_array(node.attribute[0].t)
    for node in all_nodes(converted.graph):
        if node.op_type != "Resize" or node.output[0] not in outputs:
            continue
        scales = arrays.get(node.input[2])
        shrinks = scales is not None and bool((scales < 1).any())
        kept = [a for a in node.attribute if a.name == "mode"]
        del node.attribute[:]
        node.attribute.extend(kept)
        node.attribute.append(helper.make_attribute("coordinate_transformation_mode", "asymmetric"))
        node.attribute.append(helper.make_attribute("nearest_mode", "ceil" if shrinks else "floor"))
