"""Model validation: what onnx's checker leaves open, asked before anything is made of a model.

A model is what somebody else wrote. Names must be texts, element types and versions known, bodies within the limits of
reading; while nodes are read, their operands must be there and of a kind that the operator takes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from typing import Any, NamedTuple

import numpy as np
import onnx
from onnx import FunctionProto, GraphProto, ModelProto, NodeProto, TensorProto, TypeProto

from ..core.dtypes import COMPLEX, FLOATING, INTEGER, DType, string
from ..core.errors import DataLossError, InvalidArgumentError, UnimplementedError
from ..core.limits import reading
from .element_types import dtype_of, name_of
from .model import domain_of


class _Formal(NamedTuple):
    """An operand of an operator."""

    name: str
    option: str
    """Single, Optional or Variadic."""
    kinds: frozenset[str]
    """What it may be: tensor(float), seq, optional ..."""


_MOST_AXES = 64
"""Those of an array of NumPy's."""
_SHAPES = {
    "AffineGrid": (1,),
    "CenterCropPad": (1,),
    "Col2Im": (1, 2),
    "ConstantOfShape": (0,),
    "Expand": (1,),
    "MaxUnpool": (2,),
    "Reshape": (1,),
    "Resize": (2, 3),
    "Tile": (1,),
    "Unsqueeze": (1,),
    "Upsample": (1,),
}
"""The operands with an element for each axis of a result: onnx makes as many lengths as they are said to have."""
_ELEMENT_TYPES = frozenset(TensorProto.DataType.values())


def require_valid(model: ModelProto) -> set[tuple[str, str]]:
    """Raise unless the parts that onnx's own tools trust are what they should be.

    Returns the domains and types of all nodes, wherever they are.
    """
    kinds = set()
    _require_versions(model)
    _require_texts([entry.domain for entry in model.opset_import])
    long: dict[str, int] = {}
    pending: list[tuple[GraphProto | FunctionProto, int]] = [(model.graph, 0), *[(f, 0) for f in model.functions]]
    while pending:
        graph, depth = pending.pop()
        reading().takes_depth(depth)
        if isinstance(graph, GraphProto):
            _require_values(graph)
            long.update(_long_vectors(graph))
        else:
            _require_texts([graph.name, graph.domain, *graph.input, *graph.output])
        for node in graph.node:
            op_type, domain = node.op_type, node.domain
            _require_texts([node.name, op_type, domain, *node.input, *node.output])
            kinds.add((domain, op_type))
            if not node.output and not domain_of(domain):
                raise InvalidArgumentError(f"onnx.load: node '{node.name}' ({op_type}) has no outputs")
            if op_type == "Split":
                _require_outputs(node)
            if long and op_type in _SHAPES:
                _require_axes(node, long)
            for attribute in node.attribute:
                _require_texts([attribute.name])
                for tensor in [attribute.t] if attribute.HasField("t") else attribute.tensors:
                    _require_tensor(tensor)
                inner = [attribute.g] if attribute.HasField("g") else attribute.graphs
                pending.extend([(body, depth + 1) for body in inner])
    return {(domain_of(domain), op_type) for domain, op_type in kinds}


def _require_versions(model: ModelProto) -> None:
    sets = {(domain_of(entry.domain), entry.version) for entry in model.opset_import}
    if len({domain for domain, _ in sets}) < len(sets):
        raise InvalidArgumentError("onnx.load: the model is of two versions of the operators of one domain")
    for entry in [*model.opset_import, *[e for f in model.functions for e in f.opset_import]]:
        newest = _newest_versions().get(entry.domain or "")
        if newest is not None and entry.version > newest:
            name = entry.domain or "onnx"
            raise UnimplementedError(
                f"onnx.load: the model is of version {entry.version} of the operators of {name}; onnx "
                f"{onnx.__version__}, which is installed, knows them up to {newest}. Install a newer one, or export "
                "the model for an older one."
            )


@cache
def _newest_versions() -> Mapping[str, int]:
    """The newest version of each set of operators that onnx defines."""
    newest: dict[str, int] = {}
    for schema in onnx.defs.get_all_schemas():
        newest[schema.domain] = max(newest.get(schema.domain, 0), schema.since_version)
    return newest | {"ai.onnx": newest[""]}


def _require_values(graph: GraphProto) -> None:
    _require_texts([graph.name, *[t.name for t in graph.initializer]])
    valid = set()
    for entry in [*graph.input, *graph.output, *graph.value_info]:
        _require_texts([entry.name])
        type = entry.type.SerializeToString()
        if type not in valid:
            _require_type(entry.type, f"the value '{entry.name}'")
            valid.add(type)
    for tensor in [*graph.initializer, *[s.values for s in graph.sparse_initializer]]:
        _require_tensor(tensor)


def _require_type(of: TypeProto, what: str) -> None:
    depth = 0
    while (kind := of.WhichOneof("value")) in ("sequence_type", "optional_type"):
        of = of.sequence_type.elem_type if kind == "sequence_type" else of.optional_type.elem_type
        depth += 1
        reading().takes_depth(depth)
    if kind == "tensor_type":
        tensor = of.tensor_type
        _require_element_type(tensor.elem_type, what)
        _require_texts([dim.dim_param for dim in tensor.shape.dim])


def _require_tensor(tensor: TensorProto) -> None:
    _require_texts([tensor.name])
    _require_element_type(tensor.data_type, f"the tensor '{tensor.name}'")
    if any(n < 0 for n in tensor.dims):
        raise DataLossError(f"onnx.load: the tensor '{tensor.name}' has a negative length: {list(tensor.dims)}")


def _require_element_type(element_type: int, what: str) -> None:
    if element_type not in _ELEMENT_TYPES:
        raise UnimplementedError(f"onnx.load: {what} is of {name_of(element_type)}, which onnx does not define")


def _require_outputs(node: NodeProto) -> None:
    """Of a Split: onnx's inference makes as many types as it says, whether or not anything has them."""
    wanted = next((a.i for a in node.attribute if a.name == "num_outputs"), len(node.output))
    if wanted != len(node.output):
        raise InvalidArgumentError(
            f"onnx.load: node '{node.name or ''.join(node.output[:1])}' (Split) has num_outputs={wanted}, but "
            f"{len(node.output)} outputs"
        )


def _long_vectors(graph: GraphProto) -> Iterator[tuple[str, int]]:
    """The values that are said to be vectors of more elements than an array has axes, and of how many."""
    for entry in [*graph.input, *graph.value_info]:
        dims = entry.type.tensor_type.shape.dim
        if len(dims) == 1 and dims[0].dim_value > _MOST_AXES:
            yield entry.name, dims[0].dim_value
    for tensor in graph.initializer:
        if len(tensor.dims) == 1 and tensor.dims[0] > _MOST_AXES:
            yield tensor.name, tensor.dims[0]


def _require_axes(node: NodeProto, long: Mapping[str, int]) -> None:
    """Of what takes a shape: onnx's inference makes as many lengths as that has elements, before anybody has them."""
    for i in _SHAPES[node.op_type]:
        if len(node.input) > i and node.input[i] in long:
            raise InvalidArgumentError(
                f"onnx.load: node '{node.name or ''.join(node.output[:1])}' ({node.op_type}) would have an array of "
                f"{long[node.input[i]]} axes: so many elements has '{node.input[i]}', and {_MOST_AXES} are the most"
            )


def _require_texts(names: Sequence[Any]) -> None:
    """Raise unless all are texts: protobuf gives bytes for what is not UTF-8."""
    try:
        "".join(names)
    except TypeError:
        wrong = next(name for name in names if not isinstance(name, str))
        raise DataLossError(f"onnx.load: a name in the model is no text (UTF-8): {wrong!r}") from None


def require_room(model: ModelProto) -> None:
    """Raise where there would be too many nodes when functions have been expanded; they are counted, not expanded.

    The model is one that onnx's checker has passed: no function calls itself.
    """
    functions = {(f.domain, f.name, f.overload): f for f in model.functions}
    counts: dict[tuple[str, str, str], int] = {}
    pending = list(functions)
    while pending:
        key = pending[-1]
        called = [_callee(node) for node in _nodes(functions[key])]
        missing = [c for c in called if c in functions and c not in counts]
        if missing:
            pending.extend(missing)
            continue
        pending.pop()
        counts[key] = sum(counts.get(c, 1) for c in called)
    reading().expects_nodes(sum(counts.get(_callee(node), 1) for node in _nodes(model.graph)))


def _callee(node: NodeProto) -> tuple[str, str, str]:
    return node.domain, node.op_type, node.overload


def _nodes(graph: GraphProto | FunctionProto) -> Iterator[NodeProto]:
    """The nodes of a graph or function, and of the graphs that they hold."""
    pending: list[Any] = [graph]
    while pending:
        for node in pending.pop().node:
            yield node
            for attribute in node.attribute:
                pending.extend([attribute.g] if attribute.HasField("g") else attribute.graphs)


@cache
def kind_of(dtype: DType) -> str:
    """What tensors of a dtype are, as far as operators care: floats are taken for each other, and so are integers."""
    if dtype == np.bool_ or dtype in COMPLEX:
        return "tensor(bool)" if dtype == np.bool_ else "tensor(complex)"
    if dtype == string:
        return "tensor(string)"
    return "tensor(float)" if dtype in FLOATING else "tensor(int)" if dtype in INTEGER else "tensor(narrow)"


@cache
def _formals(domain: str, op_type: str, version: int) -> Sequence[_Formal] | None:
    """The operands of an operator; None for one that onnx does not define."""
    try:
        schema: Any = onnx.defs.get_schema(op_type, version, domain)
    except onnx.defs.SchemaError:
        return None
    allowed = {c.type_param_str: c.allowed_type_strs for c in schema.type_constraints}
    return [
        _Formal(f.name, f.option.name, frozenset(map(_kind, allowed.get(f.type_str, [f.type_str]))))
        for f in schema.inputs
    ]


def _kind(type_text: str) -> str:
    """Of a name of a type, as tensor(float16) or seq(tensor(float)), what it is, and of what kind its numbers are."""
    kind, _, inner = type_text.partition("(")
    if kind != "tensor":
        return kind
    try:
        return kind_of(dtype_of(TensorProto.DataType.Value(inner[:-1].upper())))
    except UnimplementedError:
        return type_text


@lru_cache(maxsize=4096)
def require_operands(domain: str, op_type: str, version: int, kinds: tuple[str | None, ...]) -> None:
    """Raise unless the operands of a node, None for those left out, are those that the operator takes."""
    formals = _formals(domain, op_type, version)
    if formals is None:
        return
    for i, formal in enumerate(formals):
        if formal.option == "Single" and (i >= len(kinds) or kinds[i] is None):
            raise InvalidArgumentError(f"its input '{formal.name}' is missing")
    if kinds and not formals:
        raise InvalidArgumentError("it takes no inputs")
    for i, kind in enumerate(kinds):
        name, option, allowed = formals[min(i, len(formals) - 1)]
        if kind is None and option == "Variadic":
            raise InvalidArgumentError(f"its input {i} ('{name}') is missing")
        if kind is not None and kind not in allowed:
            raise InvalidArgumentError(f"its input '{name}' is {kind}, and must be {' or '.join(sorted(allowed))}")
