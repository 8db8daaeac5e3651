"""ONNX version conversion of Scan: opset 8's, which runs over a batch, as opset 9's with another one inside."""

from __future__ import annotations

from onnx import GraphProto, NodeProto, ValueInfoProto, helper


def unbatched(node: NodeProto) -> None:
    """Change a Scan node of opset 8: the axis 0 of its inputs is that of the batch, the axis 1 is scanned.

    onnx's converter has refused sequences of several lengths by then.
    """
    attributes = {attribute.name: helper.get_attribute_value(attribute) for attribute in node.attribute}
    body: GraphProto = attributes["body"]
    given = list(node.input[len(node.input) - len(body.input) :])
    count = attributes["num_scan_inputs"]
    names = [f"{entry.name}_of_one" for entry in body.input]
    outputs = [f"{entry.name}_of_one" for entry in body.output]
    inner = helper.make_node(
        "Scan",
        names,
        outputs,
        name=node.name,
        body=body,
        num_scan_inputs=count,
        scan_input_directions=attributes.get("directions", [0] * count),
    )
    outer = helper.make_graph(
        [inner],
        "one_of_the_batch",
        [_of_type(name, entry) for name, entry in zip(names, body.input, strict=True)],
        [_of_type(name, entry) for name, entry in zip(outputs, body.output, strict=True)],
    )
    changed = helper.make_node("Scan", given, node.output, name=node.name, body=outer, num_scan_inputs=len(names))
    node.CopyFrom(changed)


def _of_type(name: str, like: ValueInfoProto) -> ValueInfoProto:
    """A value of the dtype of `like`; its shape has one more axis where it is scanned."""
    return helper.make_tensor_value_info(name, like.type.tensor_type.elem_type, None)
