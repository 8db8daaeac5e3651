"""Checkpoint keys of variables: a graph that TensorFlow saved says them by its RestoreV2 nodes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

import numpy as np

from ..core.errors import DataLossError, InvalidArgumentError
from .attributes import array_of
from .flow import Flow
from .messages import parsed
from .section import Section
from .translation import Translation

HANDLES = ("VarHandleOp", "VariableV2", "Variable")
_ASSIGNMENTS = ("Assign", "AssignVariableOp")
_ANONYMOUS = "cd2c89b7-88b7-44c8-ad83-06c2a9158347"
"""What TensorFlow says in place of a name of variables that are not shared."""
_MOST_DIGITS = 18
"""Of the numbers that say a part of an array."""
T = TypeVar("T")


class Saved(NamedTuple):
    """Where a checkpoint has the value of a variable: a name, and, for a part of an array, which part."""

    key: str
    part: tuple[slice, ...] = ()

    def of(self, whole: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """The value, from the array of that name."""
        if len(self.part) > whole.ndim:
            raise DataLossError(f"'{self.key}' has {whole.ndim} axes, but a part of it has {len(self.part)}")
        return whole[self.part] if self.part else whole


def saved_variables(graph_def: Any, objects: Mapping[str, str] = MappingProxyType({})) -> dict[str, Saved]:
    """Where a checkpoint has the variables of a graph, by the names of their nodes; none where it has no saver.

    `objects` are keys by the names of variables, for those that the graph's saver does not restore.
    """
    translation = Translation(graph_def.library.function, None, {})
    section = Section(graph_def.node, "the graph")
    named = {node.name: shared_name(node) for node in graph_def.node if node.op in HANDLES}
    found = {name: Saved(objects[shared]) for name, shared in named.items() if shared in objects}
    found.update(_restored(section))
    for name, proto in section.protos.items():
        called = proto.attr["f"].func.name if "f" in proto.attr else ""
        if not translation.uses_files(called):
            continue
        inner = translation.flow_of(called).section
        given = dict(zip(inner.arguments or (), section.reads[name], strict=False))
        for target, saved in _restored(inner):
            if target in given:
                found[given[target].node] = saved
    return _shared(graph_def, found)


def _shared(graph_def: Any, found: Mapping[str, T]) -> dict[str, T]:
    """`found` with what it has of a variable for all nodes that are handles of it."""
    handles = {node.name: shared_name(node) for node in graph_def.node if node.op in HANDLES}
    known = {handles[name]: value for name, value in found.items() if name in handles}
    return {name: known[shared] for name, shared in handles.items() if shared in known}


def shared_name(proto: Any) -> str:
    """The name by which nodes that are handles of one variable know it; that of the node itself where there is none."""
    name: str = proto.attr["shared_name"].s.decode(errors="replace") if "shared_name" in proto.attr else ""
    return proto.name if name in ("", _ANONYMOUS) else name


def _restored(section: Section) -> Iterator[tuple[str, Saved]]:
    """The nodes and parameters that are given what RestoreV2 nodes read."""
    restored = {name for name, proto in section.protos.items() if proto.op == "RestoreV2"}
    if not restored:
        return
    flow = Flow(section)
    for name in restored:
        if len(section.reads[name]) != 3:
            raise InvalidArgumentError(
                f"import_graph_def: node '{name}' (RestoreV2) takes 3 inputs, not {len(section.reads[name])}"
            )
    texts = {name: [_texts(section, source.node) for source in section.reads[name][1:3]] for name in restored}
    for name, proto in section.protos.items():
        if proto.op not in _ASSIGNMENTS or len(section.reads[name]) != 2:
            continue
        target, value = [flow.origin(source) for source in section.reads[name]]
        if value.node in restored:
            keys, parts = texts[value.node]
            if value.number >= min(len(keys), len(parts)):
                raise InvalidArgumentError(f"import_graph_def: node '{value.node}' (RestoreV2) has too few names")
            yield target.node, Saved(keys[value.number], _part(parts[value.number]))


def _texts(section: Section, name: str) -> list[str]:
    proto = section.protos.get(name)
    if proto is None or proto.op != "Const":
        raise InvalidArgumentError(f"import_graph_def: '{name}', which a RestoreV2 node reads, is no constant")
    texts = array_of(proto.attr["value"].tensor)
    if texts.dtype != object:
        raise InvalidArgumentError(f"import_graph_def: '{name}', which a RestoreV2 node reads, are no texts")
    return [text.decode(errors="replace") for text in texts.ravel().tolist()]


def _part(text: str) -> tuple[slice, ...]:
    """The part of an array that `text`, such as `10 4 0,5:-`, says; all of it where it is empty."""
    if not text:
        return ()
    slices = []
    for extent in text.split()[-1].split(":"):
        numbers = extent.split(",")
        if extent == "-":
            slices.append(slice(None))
        elif len(numbers) == 2 and all(n.isdecimal() and len(n) <= _MOST_DIGITS for n in numbers):
            start, length = map(int, numbers)
            slices.append(slice(start, start + length))
        else:
            raise InvalidArgumentError(f"import_graph_def: '{text}' is no part of an array")
    return tuple(slices)


def variables_by_name(meta_graph_def: Any) -> Mapping[str, tuple[bool, tuple[str, ...]]]:
    """For the name of each variable's node whether it is trainable, and the collections that it is in."""
    found: dict[str, tuple[bool, tuple[str, ...]]] = {}
    for key, collection in meta_graph_def.collection_def.items():
        if not holds_variables(key):
            continue
        for data in collection.bytes_list.value:
            name = name_of_variable(data)
            trainable, keys = found.get(name, (False, ()))
            found[name] = trainable or key == "trainable_variables", (*keys, key)
    return _shared(meta_graph_def.graph_def, found)


def holds_variables(key: str) -> bool:
    """Whether a collection of that name holds variables."""
    return key.endswith("variables") or key == "global_step"


def name_of_variable(data: bytes) -> str:
    """The name of the node of the variable that a VariableDef describes."""
    name: str = parsed("VariableDef", data, "a collection of variables").variable_name
    return name.partition(":")[0]
