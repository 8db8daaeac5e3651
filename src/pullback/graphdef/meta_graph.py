"""MetaGraphDef import: a graph with its collections and its saver, as TensorFlow's `export_meta_graph` writes it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from types import MappingProxyType
from typing import Any

from ..checkpoints.saver import Saver
from ..core.graph import Graph, get_default_graph
from ..core.limits import limited
from ..primitives.variables.collections import GraphKeys
from ..primitives.variables.operations import VarHandleOp
from ..primitives.variables.variable import Variable
from .importing import imported
from .messages import as_message, parsed, read_file
from .restoring import Saved, holds_variables, name_of_variable, saved_variables, variables_by_name

_VALUES = ("bytes_list", "int64_list", "float_list")
_MESSAGES = (GraphKeys.COND_CONTEXT, GraphKeys.WHILE_CONTEXT, GraphKeys.QUEUE_RUNNERS, GraphKeys.SAVERS)
"""The collections whose bytes are protocol messages."""


def import_meta_graph(
    meta_graph_or_file: Any,
    clear_devices: bool = False,
    import_scope: str | None = None,
    input_map: dict[str, Any] | None = None,
) -> Saver | None:
    """Adds the graph of a MetaGraphDef to the default graph, with its collections; a `Saver` of its variables.

    `meta_graph_or_file` is one, or the path of a file `.meta`. Nodes have their names, below `import_scope` where it is
    given. The saver restores the checkpoints that TensorFlow's saver of that graph has written; it is None where there
    are no variables. `clear_devices` leaves devices out. `input_map` is that of `import_graph_def`. Collections of
    variables, tensors, operations and numbers are there again.

    Raises:
        NotFoundError: there is no such file. DataLossError: it is torn.
        Else what `import_graph_def` raises.

    >>> import pullback as pb
    >>> with pb.Graph().as_default():
    ...     v = pb.Variable([1.0, 2.0], name="v")
    ...     meta = pb.train.export_meta_graph()
    >>> saver = pb.train.import_meta_graph(meta)
    >>> pb.global_variables()
    [<Variable 'v:0' float32[2]>]
    """
    with limited("import_meta_graph"):
        meta = _meta_graph_def(meta_graph_or_file)
        found = add_meta_graph(meta, import_scope, input_map or {}, clear_devices=clear_devices)
    if not found:
        return None
    variables = {saved.key: variable for variable, saved in found.values()}
    kept = meta.collection_def.get(GraphKeys.SAVERS)
    for data in () if kept is None else kept.bytes_list.value:
        saver = Saver(variables, saver_def=parsed("SaverDef", data, "a saver of the collection"))
        get_default_graph().add_to_collection(GraphKeys.SAVERS, saver)
    return Saver(variables, saver_def=meta.saver_def) if meta.HasField("saver_def") else Saver(variables)


def _meta_graph_def(given: Any) -> Any:
    if isinstance(given, str | PathLike):
        return read_file(given, "MetaGraphDef")
    return as_message(given, "MetaGraphDef", "meta_graph_or_file")


def add_meta_graph(
    meta: Any,
    scope: str | None,
    input_map: dict[str, Any],
    *,
    clear_devices: bool = False,
    objects: Mapping[str, str] = MappingProxyType({}),
) -> dict[str, tuple[Variable, Saved]]:
    """The variables of the graph by name, with where a checkpoint has them, after it and its collections were added.

    `objects` is that of `saved_variables`.
    """
    graph_def = meta.graph_def
    if clear_devices:
        graph_def = type(graph_def).FromString(graph_def.SerializeToString())
        for node in graph_def.node:
            node.ClearField("device")
    saved = saved_variables(graph_def, objects)
    graph = get_default_graph()
    before = len(graph.operations)
    imported(graph_def, input_map, (), scope or "", variables_by_name(meta))
    prefix = f"{scope}/" if scope else ""
    handles = {op.name: op for op in graph.operations[before:] if isinstance(op.primitive, VarHandleOp)}
    variables = {name: Variable.from_handle(op) for name, op in handles.items()}
    _add_collections(graph, meta, prefix, variables)
    names = {name: saved.get(name.removeprefix(prefix), Saved(name.removeprefix(prefix))) for name in variables}
    kept = {name for name in names if name.removeprefix(prefix) in saved} if saved else set(names)
    return {name: (variables[name], names[name]) for name in variables if name in kept}


def add_constant_graph(meta: Any, values: dict[str, Any], elements: Sequence[str]) -> None:
    """Adds what the tensors `elements` of the graph are computed from, with constants for its variables."""
    imported(meta.graph_def, {}, elements, "", values=values)


def _add_collections(graph: Graph, meta: Any, prefix: str, variables: dict[str, Variable]) -> None:
    for key, collection in meta.collection_def.items():
        kind = collection.WhichOneof("kind")
        if key in _MESSAGES:
            continue
        if kind == "bytes_list" and holds_variables(key):
            for data in collection.bytes_list.value:
                name = name_of_variable(data)
                if prefix + name in variables:
                    graph.add_to_collection(key, variables[prefix + name])
        elif kind == "node_list":
            for name in collection.node_list.value:
                element = _element(graph, prefix + name)
                if element is not None:
                    graph.add_to_collection(key, element)
        elif kind in _VALUES:
            for value in getattr(collection, kind).value:
                graph.add_to_collection(key, value)


def _element(graph: Graph, name: str) -> Any:
    """The tensor or operation of that name; None where it was left out, or is inside a loop."""
    try:
        return graph.as_graph_element(name)
    except (KeyError, ValueError):
        return None
