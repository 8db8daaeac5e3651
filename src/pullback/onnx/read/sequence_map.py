"""ONNX import of SequenceMap: a body for each tensor of sequences, one by one, or as a loop over them."""

from __future__ import annotations

from typing import Any

from onnx import NodeProto, TensorProto, helper

from ...core.operation import Tensor
from ...primitives.identity.identity import identity
from ..element_types import dtype_of
from ..reading import Node, reader
from .control_flow import loop
from .packed import PackedSequence
from .sequence import Sequence, sequence_length


@reader("SequenceMap")
def sequence_map(node: Node, xs: Sequence | PackedSequence, *more: Any) -> Any:
    """The body once for each element; other sequences go along, tensors are the same each time."""
    body = node.attribute("body")
    elements = [entry.type.tensor_type.elem_type for entry in body.output]
    if any(isinstance(x, PackedSequence) for x in (xs, *more)):
        starts = [Sequence((), dtype_of(element)) for element in elements]
        return loop(_as_loop(node, (xs, *more)), sequence_length(node, xs), None, *starts)
    rows = []
    for i in range(len(xs.tensors)):
        rows.append(node.read_body(body, [v.tensors[i] if isinstance(v, Sequence) else v for v in (xs, *more)]))
    made = [Sequence(tuple([identity(row[k]) for row in rows]), dtype_of(e)) for k, e in enumerate(elements)]
    return tuple(made)


def _as_loop(node: Node, values: Any) -> Node:
    """The loop whose steps read what stands at one place of the sequences, and put the results behind others."""
    body = node.attribute("body")
    number, go_on, *made = [
        f"{node.outputs[0]} {word}" for word in ("number", "goes on", *map(str, range(len(body.output))))
    ]
    nodes: list[NodeProto] = []
    for entry, outer, value in zip(body.input, node.inputs, values, strict=True):
        if isinstance(value, Tensor):
            nodes.append(helper.make_node("Identity", [outer], [entry.name]))
        else:
            nodes.append(helper.make_node("SequenceAt", [outer, number], [entry.name]))
    nodes.extend(body.node)
    for entry, name in zip(body.output, made, strict=True):
        nodes.append(helper.make_node("SequenceInsert", [name, entry.name], [f"{name} after"]))
    unknown = helper.make_tensor_type_proto(TensorProto.FLOAT, None)
    inputs = [helper.make_value_info(name, unknown) for name in (number, go_on, *made)]
    outputs = [helper.make_value_info(name, unknown) for name in (go_on, *[f"{name} after" for name in made])]
    whole = helper.make_graph(nodes, body.name, inputs, outputs, body.initializer)
    return Node(helper.make_node("Loop", node.inputs, node.outputs, node.name, body=whole), node.names, node.number)
