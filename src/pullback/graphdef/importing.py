"""GraphDef import: `import_graph_def` adds what TensorFlow wrote to a graph, `load` makes a graph of a file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from os import PathLike
from types import MappingProxyType
from typing import Any

from ..core.errors import InvalidArgumentError, UnimplementedError
from ..core.graph import Graph, get_default_graph
from ..core.limits import limited, reading
from ..core.operation import Operation
from ..core.sites import user_site
from ..primitives.creation.constant import convert_to_tensor
from .flow import FLOW, Flow
from .messages import as_message, read_file
from .nodes import LeftOut, reader_of
from .section import Section, Source
from .translation import Region, Translation, as_value

_CALLERS = ("f", "cond", "body", "then_branch", "else_branch", "branches")
_MOST_LISTED = 10


def load(path: str | PathLike[str]) -> Graph:
    """The graph of a file that TensorFlow wrote: a frozen GraphDef, in bytes (`.pb`) or as text (`.pbtxt`).

    What is in it keeps its names: `graph.get_tensor_by_name("conv1/Relu:0")`.

    Raises:
        NotFoundError: there is no such file. DataLossError: it is torn, or something else.
        InvalidArgumentError: the graph is not valid.
        UnimplementedError: it holds what pullback does not read; all of that is listed.
        ResourceExhaustedError: reading it takes more than `pb.config.Limits` allow.
        ImportError: the package tensorboard, which has TensorFlow's messages, is not installed.

    >>> import pullback as pb, tempfile
    >>> with tempfile.NamedTemporaryFile("w", suffix=".pbtxt") as file:
    ...     _ = file.write('node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } }')
    ...     file.flush()
    ...     print(pb.graphdef.load(file.name))
    x: float32[...] = Placeholder[dtype=float32, shape=<unknown>]()
    """
    with limited("graphdef.load"):
        graph_def = read_file(path, "GraphDef")
    graph = Graph()
    with graph.as_default():
        import_graph_def(graph_def, name="")
    return graph


def import_graph_def(
    graph_def: Any,
    input_map: Mapping[str, Any] | None = None,
    return_elements: Sequence[str] | None = None,
    name: str | None = None,
    op_dict: object = None,
    producer_op_list: object = None,
) -> list[Any] | None:
    """Adds the nodes of `graph_def`, a GraphDef of TensorFlow or its bytes, to the default graph.

    Every node is an operation of its name, below the prefix `name` (`import` unless given; none where it is empty),
    with its control inputs, device and colocation; so `graph.get_tensor_by_name("import/scope/x:0")` is an x or a y for
    `gradients`. Calls of functions are taken apart: what is in them has a name too, `call/x`. Loops and conditionals of
    either version become operations of pullback's, which have derivatives; what is inside of them has no name outside.

    `input_map` says what stands for outputs of nodes (`"x:0"`, or `"x"`), or which operation is waited for in place of
    a node (`"^x"`). Returned are the tensors (`"x:0"`) and operations (`"x"`) that `return_elements` names. `op_dict`
    and `producer_op_list` are taken for TensorFlow's sake.

    What reads or writes files, tables and summaries is left out, with all that depends on it.

    Raises:
        TypeError: `graph_def` is no GraphDef, `return_elements` are no strings.
        ValueError: `input_map` or `return_elements` name what is not there.
        InvalidArgumentError: the graph is not valid.
        UnimplementedError: it has op types that pullback does not read; `pb.graphdef.reader` adds one.
        ResourceExhaustedError: reading it takes more than `pb.config.Limits` allow.
        ImportError: the package tensorboard, which has TensorFlow's messages, is not installed.

    >>> import pullback as pb
    >>> from google.protobuf import text_format
    >>> from tensorboard.compat.proto.graph_pb2 import GraphDef
    >>> text = '''
    ... node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } }
    ... node { name: "y" op: "Tanh" input: "x" }'''
    >>> y, = pb.import_graph_def(text_format.Parse(text, GraphDef()), {"x": pb.constant(0.0)}, ["y:0"])
    >>> y
    <Tensor 'import/y:0' float32[]>
    """
    del op_dict, producer_op_list
    with limited("import_graph_def"):
        found = imported(as_message(graph_def, "GraphDef", "graph_def"), input_map or {}, return_elements or (), name)
    return None if return_elements is None else found


def imported(
    graph_def: Any,
    input_map: Mapping[str, Any],
    return_elements: Sequence[str],
    name: str | None,
    variables: Mapping[str, Any] = MappingProxyType({}),
    values: Mapping[str, Any] = MappingProxyType({}),
) -> list[Any]:
    """What `import_graph_def` returns, within a reading that has begun; `variables`, `values` as of `Translation`."""
    load_readers()
    graph = get_default_graph().acting
    site = user_site()
    with graph.transaction(), graph.name_scope("import" if name is None else name or None) as prefix:
        translation = Translation(graph_def.library.function, site, variables, values)
        reading().expects_nodes(len(graph_def.node))
        section = Section(graph_def.node, "the graph")
        region = Region(translation, Flow(section), prefix)
        region.replaced = _replaced(section, input_map)
        region.asked = {section.source(text, "return_elements") for text in _known(section, return_elements)}
        # Of a graph whose variables are constants only that is made which is asked for: nothing can change them.
        targets = [source.node for source in region.asked] if values else region.flow.everywhere
        with graph.entered(graph.scope._replace(site=site)):
            region.evaluate(readable(region, targets))
            return [_element(region, text) for text in return_elements]


@cache
def load_readers() -> None:
    """Import the modules that register readers."""
    from .read import (  # noqa: F401
        activations,
        bitwise,
        casting,
        complex,
        control_flow,
        convolution,
        counting,
        creation,
        cumulative,
        debugging,
        elementwise,
        files,
        identity,
        image,
        indexing,
        linalg,
        logic,
        losses,
        normalization,
        optimizers,
        pooling,
        quantization,
        ragged,
        random,
        reduction,
        segment,
        sets,
        signal,
        sorting,
        sparse,
        special,
        strings,
        tensor_array,
        variables,
    )
    from .read.shape import (  # noqa: F401
        broadcast,
        shape,
    )


def _replaced(section: Section, input_map: Mapping[str, Any]) -> dict[Source, Any]:
    """What stands for outputs of nodes, and, under the number -1, for nodes that are waited for."""
    found: dict[Source, Any] = {}
    for text, value in input_map.items():
        name, _, number = text.removeprefix("^").partition(":")
        if name not in section.protos or not (number or "0").isdecimal():
            raise ValueError(f"import_graph_def: Attempted to map inputs that were not found in graph_def: [{text}]")
        if not text.startswith("^"):
            found[Source(name, int(number or 0))] = convert_to_tensor(value)
        else:
            found[Source(name, -1)] = value if isinstance(value, Operation) else convert_to_tensor(value).op
    return found


def _known(section: Section, return_elements: Sequence[str]) -> list[str]:
    for text in return_elements:
        if not isinstance(text, str):
            raise TypeError("import_graph_def: return_elements must be a list of strings.")
        if text.partition(":")[0] not in section.protos:
            raise ValueError(f"import_graph_def: Requested return_element {text!r} not found in graph_def.")
    return list(return_elements)


def _element(region: Region, text: str) -> Any:
    """The tensor, or the operation, of that name."""
    source = region.flow.section.source(text, "return_elements")
    made = region.find(source.node)
    if made is None:
        raise InvalidArgumentError(
            f"import_graph_def: '{text}' is inside a loop or a branch; ask for what comes out of it"
        )
    value = made.values[0] if made.values else None
    if isinstance(value, LeftOut):
        raise UnimplementedError(
            f"import_graph_def: '{text}' is left out, as it depends on node '{value.node}' ({value.op_type})"
        )
    return as_value(region.value(source)) if ":" in text else made.op


def readable(region: Region, targets: Sequence[str]) -> list[str]:
    """Those of `targets` to make: all, or, where some cannot be read, but those that only serve what is replaced.

    Raises:
        UnimplementedError: nodes that cannot be read are needed.
    """
    flow, mapped = region.flow, {source.node for source in region.replaced}
    unread = _unread(region, flow.section.protos)
    if not unread:
        return list(targets)
    read = {source.node for sources in flow.section.reads.values() for source in sources}
    asked = {source.node for source in region.asked}
    pending = [name for name in targets if name not in mapped and (name not in read or name in asked)]
    needed: set[str] = set()
    while pending:
        name = pending.pop()
        if name not in needed:
            needed.add(name)
            sources = [s.node for s in flow.section.reads[name] if s not in region.replaced]
            pending.extend([*sources, *[x for x in flow.section.waits[name] if x not in mapped]])
    left = {name: op_type for name, op_type in unread.items() if name in needed or name not in flow.section.protos}
    if left:
        raise UnimplementedError(_unread_text(left))
    return [name for name in targets if name in needed]


def _unread(region: Region, protos: Mapping[str, Any]) -> dict[str, str]:
    """The op types that nothing reads, by the names of nodes, in functions that are called too."""
    found: dict[str, str] = {}
    pending: list[tuple[str, Iterable[Any]]] = [("", protos.values())]
    seen: set[str] = set()
    while pending:
        where, nodes = pending.pop()
        for proto in nodes:
            if reader_of(proto.op) is None and proto.op not in FLOW:
                found[where + proto.name] = proto.op
            for called in _called(proto):
                function = region.translation.functions.get(called)
                if called not in seen and function is not None and not region.translation.uses_files(called):
                    seen.add(called)
                    pending.append((f"{called}: ", function.node_def))
    return found


def _called(proto: Any) -> list[str]:
    """The functions that a node names in its attributes."""
    values = [proto.attr[key] for key in _CALLERS if key in proto.attr]
    return [f.name for value in values for f in (value.list.func if value.HasField("list") else [value.func]) if f.name]


def _unread_text(unread: Mapping[str, str]) -> str:
    by_type: dict[str, list[str]] = {}
    for name, op_type in unread.items():
        by_type.setdefault(op_type, []).append(f"'{name}'")
    lines = []
    for op_type, names in sorted(by_type.items()):
        more = f" and {len(names) - _MOST_LISTED} more" if len(names) > _MOST_LISTED else ""
        lines.append(f"  {op_type}: {', '.join(names[:_MOST_LISTED])}{more}")
    return "\n".join(
        ["import_graph_def: there is no reader of these op types; add one with @pb.graphdef.reader:", *lines]
    )
