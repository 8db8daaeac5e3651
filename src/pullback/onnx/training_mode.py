"""Training mode of ONNX models: batch normalisation by the batch's moments, dropout that drops."""

from __future__ import annotations

from onnx import ModelProto, NodeProto, TensorProto, helper

_TRUE = "training_mode"


def turn_on_training(model: ModelProto) -> dict[str, str]:
    """Changes the nodes of `model`; for each running mean or variance the name of the value that replaces it."""
    replaced: dict[str, str] = {}
    taken = {name for node in model.graph.node for name in (*node.input, *node.output)}
    taken.update(entry.name for entry in (*model.graph.input, *model.graph.initializer))
    flag = _unused(_TRUE, taken)
    for node in model.graph.node:
        if node.domain not in ("", "ai.onnx"):
            continue
        if node.op_type == "BatchNormalization":
            replaced |= _normalise_by_the_batch(node, taken)
        elif node.op_type == "Dropout":
            _drop(node, flag, taken)
    if any(flag in node.input for node in model.graph.node):
        model.graph.initializer.append(helper.make_tensor(flag, TensorProto.BOOL, [], [True]))
    return replaced


def _normalise_by_the_batch(node: NodeProto, taken: set[str]) -> dict[str, str]:
    kept = [attribute for attribute in node.attribute if attribute.name != "training_mode"]
    del node.attribute[:]
    node.attribute.extend([*kept, helper.make_attribute("training_mode", 1)])
    _, _, _, *running = node.input
    names = [_unused(f"{name}/next", taken) for name in running]
    node.output[:] = [node.output[0], *names]
    return dict(zip(running, names, strict=True))


def _drop(node: NodeProto, flag: str, taken: set[str]) -> None:
    """The mask is an output too: the derivative needs the one that was drawn."""
    node.input[:] = [*node.input, "", ""][:2]
    node.input.append(flag)
    if len(node.output) < 2 or not node.output[1]:
        node.output[:] = [node.output[0], _unused(f"{node.output[0]}/mask", taken)]


def _unused(name: str, taken: set[str]) -> str:
    """`name`, or the first of it with a number that nobody has; it is taken then."""
    number, chosen = 0, name
    while chosen in taken:
        number += 1
        chosen = f"{name}_{number}"
    taken.add(chosen)
    return chosen
