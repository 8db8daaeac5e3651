"""Mutations of graphs of nodes, of ONNX or TensorFlow: nodes that are missing, wired otherwise, or of another graph."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

from google.protobuf.descriptor import FieldDescriptor

from .protobuf import messages_of

HARD = (0, 1, -1, 2, -2, 2**31 - 1, 2**31, -(2**31), 2**32, 2**33, 2**40, 2**62, 2**63 - 1, -(2**63))
"""Numbers at the ends of what lengths, axes and counts can be, and beyond what memory can hold."""
HARD_FLOATS = (0.0, -1.0, 1e38, -1e38, 1e-45, float("inf"), float("-inf"), float("nan"))
_LEAST = {FieldDescriptor.CPPTYPE_INT32: -(2**31), FieldDescriptor.CPPTYPE_INT64: -(2**63)}
_MOST = {
    FieldDescriptor.CPPTYPE_INT32: 2**31 - 1,
    FieldDescriptor.CPPTYPE_UINT32: 2**32 - 1,
    FieldDescriptor.CPPTYPE_INT64: 2**63 - 1,
    FieldDescriptor.CPPTYPE_UINT64: 2**64 - 1,
}


def rewired(message: Any, lists: Any, others: Sequence[Any], random: Random) -> Any:
    """A copy of `message` with one to four things changed in its lists of nodes.

    `lists` gives the lists of nodes of a message: that of the graph, and those of functions and bodies. Nodes of the
    messages `others` are put among its own.
    """
    copy = type(message)()
    copy.CopyFrom(message)
    for _ in range(random.randint(1, 4)):
        found = [nodes for nodes in lists(copy) if len(nodes)]
        if found:
            foreign = [node for nodes in lists(random.choice(others)) for node in nodes]
            _rewire(random.choice(found), foreign, random)
    return copy


def _rewire(nodes: Any, foreign: Sequence[Any], random: Random) -> None:
    kind, i, j = random.randrange(8), random.randrange(len(nodes)), random.randrange(len(nodes))
    node, other = nodes[i], nodes[j]
    if kind == 0:
        del nodes[i]
    elif kind == 1 and len(node.input):
        node.input[random.randrange(len(node.input))] = _name(other, random)
    elif kind == 2 and len(node.input) > 1:
        node.input[:] = random.sample(list(node.input), len(node.input))
    elif kind == 3 and foreign:
        _splice(node, random.choice(foreign), random)
    elif kind == 4:
        node.input[:] = [*node.input, _name(other, random)] if random.random() < 0.5 else list(node.input)[:-1]
    else:
        harden(node, random)


def _name(node: Any, random: Random) -> str:
    """The name of a value that a node gives."""
    outputs = getattr(node, "output", None)
    if outputs is None:
        return str(node.name) + random.choice(["", "", "", ":1"])
    return str(random.choice(outputs)) if len(outputs) else ""


def _splice(node: Any, foreign: Any, random: Random) -> None:
    """Make a node one of another graph, with its own name and the inputs that it had, as far as they go."""
    kept = type(node)()
    kept.CopyFrom(node)
    node.CopyFrom(foreign)
    node.name = kept.name
    if kept.input:
        node.input[:] = [random.choice(kept.input) for _ in foreign.input]
    if "output" in kept.DESCRIPTOR.fields_by_name:
        node.output[:] = [*kept.output[: len(foreign.output)], *foreign.output[len(kept.output) :]]


def harden(message: Any, random: Random) -> None:
    """Change a number below `message` to a hard one, or a list to one without elements, or of many."""
    places, pending = [], [message]
    while pending:
        one = pending.pop()
        for field, value in one.ListFields():
            if field.cpp_type == FieldDescriptor.CPPTYPE_MESSAGE:
                if field.is_repeated:
                    places.append((one, field))
                pending.extend(messages_of(value, field))
            elif field.cpp_type in _MOST or field.cpp_type == FieldDescriptor.CPPTYPE_FLOAT or field.is_repeated:
                places.append((one, field))
    if places:
        _harden(*random.choice(places), random)


def _harden(message: Any, field: FieldDescriptor, random: Random) -> None:
    if field.cpp_type not in _MOST and field.cpp_type != FieldDescriptor.CPPTYPE_FLOAT:
        message.ClearField(field.name)
        return
    number = random.choice(HARD_FLOATS)
    if field.cpp_type in _MOST:
        number = min(max(random.choice(HARD), _LEAST.get(field.cpp_type, 0)), _MOST[field.cpp_type])
    if not field.is_repeated:
        setattr(message, field.name, number)
        return
    values, kind = getattr(message, field.name), random.randrange(4)
    if kind == 0:
        message.ClearField(field.name)
    elif kind == 1:
        values.append(number)
    else:
        values[random.randrange(len(values))] = number
