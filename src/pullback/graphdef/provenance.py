"""Provenance of nodes of a GraphDef: which operation of ours several nodes stand for, as it is written and read.

What TensorFlow has no op type for is written as a formula, whose derivatives at kinks, poles and zeros may be others
than those of the operation. An attribute of the node that has the operation's name says what it is. That is a hint:
the operation is written once more, and taken only where the nodes are the same.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..core.deserialize import primitive_from_dict
from ..core.graph import Graph
from ..core.operation import Operation, Tensor
from ..core.primitive import Primitive
from ..core.provenance import FAILURES, LONGEST, is_small, is_told
from ..core.serialize import attribute_to_dict
from ..primitives.creation.constant import constant, constant_value
from ..primitives.creation.placeholders import placeholder
from .section import Section, Source

HINT = "_pullback_operation"


def hint(op: Operation, nodes: Sequence[Any], operands: Sequence[str]) -> str:
    """What the last of `nodes`, which are those of an operation, says of it; nothing of one of that type.

    `operands` is how nodes name the operation's inputs. A hint says where each is: the number of an input of a node,
    then that of an input of the node that gives it, and so on.
    """
    own = {node.name: node for node in nodes}
    alone = sum(node.op != "Const" for node in nodes) < 2 and own[op.name].op == op.type
    if not is_told(op.primitive) or alone:
        return ""
    paths: dict[str, list[int]] = {}
    pending: list[tuple[Any, list[int]]] = [(own.pop(op.name), [])]
    for node, path in pending:
        for i, text in enumerate(node.input):
            if text in operands:
                paths.setdefault(text, [*path, i])
            elif (before := own.pop(text.partition(":")[0], None)) is not None:
                pending.append((before, [*path, i]))
    if not all(text in paths for text in operands):
        return ""
    said: dict[str, Any] = {"type": op.type, "inputs": [paths[text] for text in operands]}
    if op.primitive.attributes:
        said["attributes"] = {key: attribute_to_dict(value) for key, value in op.primitive.attributes.items()}
    return json.dumps(said, separators=(",", ":"))


def operation_of(proto: Any, section: Section, region: Any) -> tuple[Primitive, list[Tensor]] | None:
    """The operation that a node is the last of, and its inputs; None where there is none."""
    said = proto.attr[HINT].s.decode(errors="replace") if HINT in proto.attr else ""
    if not 0 < len(said) <= LONGEST:
        return None
    try:
        entry = json.loads(said)
        primitive = primitive_from_dict({"primitive": entry["type"], "attributes": entry.get("attributes", {})}, HINT)
        if not is_told(primitive) or not is_small(primitive):
            return None
        sources = [_operand(path, proto, section) for path in entry["inputs"]]
        xs = [region.value(source) for source in sources]
        written, inputs, end = _written(primitive, xs)
        if _is_same(
            written, {Source(x, 0): source for x, source in zip(inputs, sources, strict=True)}, end, section, proto
        ):
            return primitive, xs
    except FAILURES:
        return None
    return None


def _operand(path: Iterable[int], proto: Any, section: Section) -> Source:
    *before, last = path
    for step in before:
        proto = section.protos[section.reads[proto.name][step].node]
    return section.reads[proto.name][last]


def _written(primitive: Primitive, xs: Sequence[Any]) -> tuple[Section, list[str], str]:
    """The nodes of an operation of inputs of these types, the names of those, and of the node that has its name."""
    from .exporting import export

    with Graph().as_default() as graph:
        inputs = [_again(x) for x in xs]
        op = primitive.operation(*inputs)
        return Section(export(graph).node, "a formula"), [x.op.name for x in inputs], op.name


def _again(x: Any) -> Tensor:
    """Something of the type of `x`, or the constant that it is."""
    if not isinstance(x, Tensor):
        raise TypeError
    known = constant_value(x)
    return placeholder(x.dtype, x.shape) if known is None else constant(known)


def _is_same(mine: Section, bound: Mapping[Source, Source], end: str, theirs: Section, last: Any) -> bool:
    """Whether the nodes of `theirs` up to `last` are those of `mine` up to `end`, for operands that are `bound`."""
    found: dict[str, str] = {}
    pending = [(end, str(last.name))]
    while pending:
        name, other = pending.pop()
        if found.setdefault(name, other) != other:
            return False
        a, b = mine.protos[name], theirs.protos[other]
        if a.op != b.op or _attributes(a) != _attributes(b) or len(mine.reads[name]) != len(theirs.reads[other]):
            return False
        for x, y in zip(mine.reads[name], theirs.reads[other], strict=True):
            if x in bound:
                if bound[x] != y:
                    return False
            elif x.number != y.number:
                return False
            elif found.get(x.node) != y.node:
                pending.append((x.node, y.node))
    return True


def _attributes(proto: Any) -> dict[str, Any]:
    """What a node states, but for what every op type may have."""
    return {key: value for key, value in proto.attr.items() if not key.startswith("_")}
