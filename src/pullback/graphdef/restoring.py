"""Checkpoint keys of variables: a graph that TensorFlow saved says them by its RestoreV2 nodes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from ..core.errors import InvalidArgumentError
from .attributes import array_of
from .flow import Flow
from .messages import parsed
from .section import Section
from .translation import Translation

_ASSIGNMENTS = ("Assign", "AssignVariableOp")


class Saved(NamedTuple):
    """Where a checkpoint has the value of a variable: a name, and, for a part of an array, which part."""

    key: str
    part: tuple[slice, ...] = ()

    def of(self, whole: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """The value, from the array of that name."""
        return whole[self.part] if self.part else whole


def saved_variables(graph_def: Any) -> dict[str, Saved]:
    """Where a checkpoint has the variables of a graph, by the names of their nodes; none where it has no saver."""
    translation = Translation(graph_def.library.function, None, {})
    section = Section(graph_def.node, "the graph")
    found = {}
    for target, saved in _restored(section):
        found[target] = saved
    for name, proto in section.protos.items():
        called = proto.attr["f"].func.name if "f" in proto.attr else ""
        if not translation.uses_files(called):
            continue
        inner = translation.flow_of(called).section
        given = dict(zip(inner.arguments or (), section.reads[name], strict=False))
        for target, saved in _restored(inner):
            if target in given:
                found[given[target].node] = saved
    return found


def _restored(section: Section) -> Iterator[tuple[str, Saved]]:
    """The nodes and parameters that are given what RestoreV2 nodes read."""
    restored = {name for name, proto in section.protos.items() if proto.op == "RestoreV2"}
    if not restored:
        return
    flow = Flow(section)
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
    return [text.decode(errors="replace") for text in array_of(proto.attr["value"].tensor).ravel().tolist()]


def _part(text: str) -> tuple[slice, ...]:
    """The part of an array that `text`, such as `10 4 0,5:-`, says; all of it where it is empty."""
    if not text:
        return ()
    slices = []
    for extent in text.split()[-1].split(":"):
        numbers = extent.split(",")
        if extent == "-":
            slices.append(slice(None))
        elif len(numbers) == 2 and all(n.isdecimal() for n in numbers):
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
    return found


def holds_variables(key: str) -> bool:
    """Whether a collection of that name holds variables."""
    return key.endswith("variables") or key == "global_step"


def name_of_variable(data: bytes) -> str:
    """The name of the node of the variable that a VariableDef describes."""
    name: str = parsed("VariableDef", data, "a collection of variables").variable_name
    return name.partition(":")[0]
