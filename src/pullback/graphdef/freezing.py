"""Freezing: the variables of a GraphDef as constants, and the part of one that some nodes need."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from ..core.data_types import NUMBERS
from ..core.errors import UnimplementedError
from ..core.needs import needed
from ..engines.session import Session
from .body import set_tensor
from .restoring import HANDLES
from .signatures import SIGNATURES


def convert_variables_to_constants(
    sess: Session,
    input_graph_def: Any,
    output_node_names: Sequence[str],
    variable_names_whitelist: Collection[str] | None = None,
    variable_names_blacklist: Collection[str] | None = None,
) -> Any:
    """A GraphDef of what `output_node_names` need, in which the values that variables have in `sess` are constants.

    A constant has the name of its variable; what reads it there, also in functions, loops and branches, is an Identity.
    Variables that are not on the white list, or that are on the black one, stay.

    Raises:
        ValueError: there is no such node, or a variable is not one of the session's. UnimplementedError: a node changes
        a variable. FailedPreconditionError: a variable has no value.

    >>> import pullback as pb
    >>> w = pb.Variable([1.0, 2.0], name="w")
    >>> y = pb.multiply(w, pb.placeholder(pb.float32, [2], name="x"), name="y")
    >>> session = pb.Session()
    >>> session.run(w.initializer)
    >>> frozen = convert_variables_to_constants(session, session.graph.as_graph_def(), ["y"])
    >>> [(node.name, node.op) for node in frozen.node]
    [('w', 'Const'), ('x', 'Placeholder'), ('ReadVariableOp', 'Identity'), ('y', 'Mul')]
    """
    frozen = extract_sub_graph(input_graph_def, output_node_names)
    names = {
        node.name
        for node in frozen.node
        if node.op in HANDLES
        and (variable_names_whitelist is None or node.name in variable_names_whitelist)
        and node.name not in (variable_names_blacklist or ())
    }
    variables = {v.op.name: v for v in sess.graph.get_collection("variables")}
    for name in sorted(names - variables.keys()):
        raise ValueError(
            f"convert_variables_to_constants: the graph of the session has no variable {name!r}; give the session that "
            "has its value, or leave it out with variable_names_blacklist"
        )
    values = {name: sess.read_variable(variables[name].op) for name in sorted(names)}
    _Freezing(frozen.library).variables(frozen.node, values)
    return frozen


def extract_sub_graph(graph_def: Any, dest_nodes: Sequence[str]) -> Any:
    """A GraphDef with the nodes that `dest_nodes` need, in the order in which they were.

    Raises:
        ValueError: there is no such node. TypeError: `dest_nodes` is a text.

    >>> import pullback as pb
    >>> x = pb.placeholder(pb.float32, [], name="x")
    >>> y, z = pb.sin(x, name="y"), pb.cos(x, name="z")
    >>> [node.name for node in extract_sub_graph(x.graph.as_graph_def(), ["z"]).node]
    ['x', 'z']
    """
    if isinstance(dest_nodes, str):
        raise TypeError(f"extract_sub_graph: dest_nodes is a list of names, not {dest_nodes!r}")
    nodes = {node.name: node for node in graph_def.node}
    for name in dest_nodes:
        if name not in nodes:
            raise ValueError(f"extract_sub_graph: there is no node {name!r} in the graph")
    found = needed(dest_nodes, lambda name: _before(nodes, name))
    made = type(graph_def)()
    made.CopyFrom(graph_def)
    del made.node[:]
    made.node.extend([node for node in graph_def.node if node.name in found])
    return made


def remove_training_nodes(input_graph: Any, protected_nodes: Collection[str] | None = None) -> Any:
    """A GraphDef without the nodes that only hand their input on: Identity and CheckNumerics.

    Nodes that are protected stay, those that others wait for, and those that wait for others.

    >>> import pullback as pb
    >>> x = pb.placeholder(pb.float32, [], name="x")
    >>> y = pb.sin(pb.identity(x), name="y")
    >>> [(node.name, list(node.input)) for node in remove_training_nodes(x.graph.as_graph_def()).node]
    [('x', []), ('y', ['x'])]
    """
    waited_for = {i[1:] for node in input_graph.node for i in node.input if i.startswith("^")}
    kept = waited_for | set(protected_nodes or ())
    given = {
        node.name: node.input[0]
        for node in input_graph.node
        if node.op in ("Identity", "CheckNumerics") and node.name not in kept and len(node.input) == 1
    }
    made = type(input_graph)()
    made.CopyFrom(input_graph)
    del made.node[:]
    for node in input_graph.node:
        if node.name not in given:
            copy = made.node.add()
            copy.CopyFrom(node)
            copy.input[:] = [_source(i, given) for i in node.input]
    return made


def _before(nodes: Mapping[str, Any], name: str) -> list[str]:
    """The nodes that a node reads or waits for."""
    names = [_node_of(x) for x in nodes[name].input]
    for x in names:
        if x not in nodes:
            raise ValueError(f"extract_sub_graph: node {name!r} reads {x!r}, which is not in the graph")
    return names


def _source(name: str, given: dict[str, str]) -> str:
    while name.removesuffix(":0") in given:
        name = given[name.removesuffix(":0")]
    return name


def _node_of(reference: str) -> str:
    """The node of an input: "a" of "a:1" and of "^a"."""
    return reference.removeprefix("^").partition(":")[0]


class _Freezing:
    """Constants in place of handles, in a graph and in the functions of its library."""

    def __init__(self, library: Any) -> None:
        self._library = library
        self._functions = {f.signature.name: f for f in library.function}
        self._made: dict[tuple[str, frozenset[tuple[int, int]]], str] = {}

    def variables(self, nodes: Any, values: dict[str, np.ndarray[Any, Any]]) -> None:
        """Makes constants of the variables among `nodes`."""
        handles = {}
        for node in nodes:
            if node.name in values:
                value = values[node.name]
                if node.op == "VarHandleOp":
                    handles[node.name] = NUMBERS[value.dtype]
                _become(node, "Const", dtype=NUMBERS[value.dtype])
                set_tensor(node.attr["value"].tensor, value)
        self._read(nodes, handles, "")

    def _read(self, nodes: Any, values: dict[str, int], port: str) -> None:
        """Makes what reads the handles of that name, now values of these dtypes, read values.

        `port` stands between the name of a node and the number of its output.
        """
        added = []
        for node in nodes:
            read = [values.get(x.removesuffix(":0")) for x in node.input]
            found = {i: dtype for i, dtype in enumerate(read) if dtype is not None}
            if not found:
                continue
            dtype = found.get(0, 0)
            if node.op == "ReadVariableOp":
                _become(node, "Identity", T=dtype)
            elif node.op == "Identity":
                node.attr["T"].type = values[node.name + port] = dtype
            elif node.op == "VariableShape":
                _become(node, "Shape", T=dtype, out_type=node.attr["out_type"].type or NUMBERS[np.dtype(np.int32)])
            elif node.op == "ResourceGather":
                added.append(_gathered(node, dtype, port))
            elif node.op in SIGNATURES and any(a.HasField("func") or a.list.func for a in node.attr.values()):
                self._call(node, found)
            else:
                raise UnimplementedError(
                    f"convert_variables_to_constants: node {node.name!r} ({node.op}) does more with a variable than to "
                    "read it; name outputs that do without it, or leave the variable out with variable_names_blacklist"
                )
        nodes.extend(added)

    def _call(self, node: Any, found: dict[int, int]) -> None:
        """Makes a node that calls functions hand them values."""
        first = next(i for i, kind in enumerate(SIGNATURES[node.op][0]) if kind.endswith("[]"))
        types = {i - first: dtype for i, dtype in found.items()}
        for kinds in [a.list.type for key, a in node.attr.items() if key in ("T", "Tin")]:
            for i, dtype in types.items():
                kinds[i] = dtype
        for attribute in node.attr.values():
            for function in [*([attribute.func] if attribute.HasField("func") else []), *attribute.list.func]:
                function.name = self._function(function.name, types)

    def _function(self, name: str, types: dict[int, int]) -> str:
        """The name of a copy of a function whose arguments at these places are values."""
        key = (name, frozenset(types.items()))
        if key not in self._made:
            made = self._library.function.add()
            made.CopyFrom(self._functions[name])
            made.signature.name = self._made[key] = f"{name}_frozen_{len(self._made)}"
            values = {}
            for i, dtype in types.items():
                made.signature.input_arg[i].type = values[made.signature.input_arg[i].name] = dtype
                made.arg_attr.pop(i, None)
            reads = {f"{n.name}:value:0": f"{n.name}:output:0" for n in made.node_def if n.op == "ReadVariableOp"}
            self._read(made.node_def, values, ":output")
            kept = {f"{n.name}:value:0" for n in made.node_def if n.op == "ReadVariableOp"}
            for node in made.node_def:
                node.input[:] = [x if x in kept else reads.get(x, x) for x in node.input]
            for output in made.signature.output_arg:
                given = made.ret[output.name]
                made.ret[output.name] = given if given in kept else reads.get(given, given)
                output.type = values.get(given.removesuffix(":0"), output.type)
        return self._made[key]


def _become(node: Any, op_type: str, **types: int) -> None:
    """Makes a node of another op type of a node; it keeps its name and inputs."""
    node.op = op_type
    node.attr.clear()
    if op_type == "Const":
        del node.input[:]
    for key, number in types.items():
        node.attr[key].type = number


def _gathered(node: Any, dtype: int, port: str) -> Any:
    """Makes the lookup of a variable's rows one of a constant's; the node of its axis."""
    int32 = NUMBERS[np.dtype(np.int32)]
    axis = type(node)(name=f"{node.name}/axis", op="Const")
    axis.attr["dtype"].type = int32
    set_tensor(axis.attr["value"].tensor, np.zeros((), np.int32))
    _become(node, "GatherV2", Tparams=dtype, Tindices=node.attr["Tindices"].type, Taxis=int32)
    node.input.insert(2, f"{axis.name}:output:0" if port else axis.name)
    return axis
