"""Provenance of nodes, as it is written: which operation of ours several nodes of a model stand for.

Many functions are no operators of ONNX, or have no kernel of their dtype: they are written as formulas, whose
derivatives at kinks, poles and zeros are not those of the function. A model says of such a formula what it is written
for, and where its operands are, in the metadata of the node that gives its value. `provenance.py` reads that.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from ..core.operation import Operation
from ..core.provenance import LARGEST
from ..core.serialize import attribute_to_dict
from .records import Body, Model, Record, Value

HINT = "pullback.operation"
"""The name of the metadata."""
_SHARED = 32
"""Nodes that an operation may have in common with others."""
Path = list[int]
"""Where an operand is: the number of an input of a node, then that of an input of the node that gives it, and so on;
`-1 - n` is node `n` of the body of the node before."""


def hint(
    model: Model, op: Operation, inputs: Sequence[Value], record: Record, places: tuple[int, int], made: int
) -> str:
    """What a model says of `record`, the last of the nodes that give an output of `op`; of a single one if it hands on.

    `places` are the numbers of the output among those of the operation and among those of the node. So many nodes were
    `made` for the operation; others may be equal to some that were there.
    """
    names = [x.name for x in inputs]
    hands_on = record.op_type == "Identity"
    if names == list(record.inputs) and not hands_on and not _body_of(record.attributes):
        return ""
    paths, count = _paths(model, record, set(names), made + _SHARED)
    if count < 2 and not hands_on:
        return ""
    operands: list[Any] = []
    for x in inputs:
        array = model.arrays.get(x.name)
        if x.name in paths:
            operands.append(paths[x.name])
        elif array is not None and array.size <= LARGEST:
            operands.append(attribute_to_dict(array))
        else:
            return ""
    said: dict[str, Any] = {"type": op.type, "inputs": operands, "opset": model.opset}
    if any(places):
        said["output"] = places
    if op.primitive.attributes:
        said["attributes"] = {key: attribute_to_dict(value) for key, value in op.primitive.attributes.items()}
    return json.dumps(said, separators=(",", ":"))


def _body_of(attributes: Mapping[str, Any]) -> list[Record]:
    """The nodes of the body of a loop."""
    body = attributes.get("body")
    return body.records if isinstance(body, Body) else []


def _paths(model: Model, record: Record, wanted: set[str], most: int) -> tuple[dict[str, Path], int]:
    """A shortest way to each value of `wanted` from a node on, and how many nodes were seen, at most so many."""
    found: dict[str, Path] = {}
    seen = {id(record)}
    pending: list[tuple[Record, Path]] = [(record, [])]
    for made, path in pending:
        if len(seen) > most or (len(seen) > 1 and len(found) == len(wanted)):
            break
        for i, name in enumerate(made.inputs):
            if name in wanted:
                found.setdefault(name, [*path, i])
                continue
            before = model.producers.get(name)
            if before is not None and id(before) not in seen:
                seen.add(id(before))
                pending.append((before, [*path, i]))
        inside = _body_of(made.attributes)
        most += len(inside)
        seen.update(map(id, inside))
        pending += [(inner, [*path, -1 - n]) for n, inner in enumerate(inside)]
    return found, len(seen)
