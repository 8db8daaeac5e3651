"""ONNX model normalisation: large initializers taken out, functions inlined, opset 21 or newer.

All that onnx's own tools do, they do to a skeleton: the large initializers are set aside, and stand in it as inputs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import onnx
from google.protobuf.json_format import ParseError as JsonError
from google.protobuf.message import DecodeError
from google.protobuf.text_format import ParseError as TextError
from onnx import (
    GraphProto,
    ModelProto,
    NodeProto,
    TensorProto,
    ValueInfoProto,
    checker,
    inliner,
    numpy_helper,
    shape_inference,
)
from onnx.parser import ParseError
from onnx.version_converter import ConvertError, convert_version

from ..core.errors import DataLossError, InvalidArgumentError, MissingFileError, UnimplementedError
from . import old_resizing
from .batched_scan import unbatched
from .leaving_out import leave_out_unread
from .model import domain_of
from .reading import all_nodes, first_name, is_read
from .validity import require_room, require_valid
from .weights import array_of, dense_of

OLDEST_READ = 21
Kind = tuple[str, str]
"""A domain and an operator."""
_WIDENED = frozenset(
    [
        "Cast",
        "Constant",
        "ConstantOfShape",
        "Equal",
        "Flatten",
        "Identity",
        "If",
        "Loop",
        "Reshape",
        "Scan",
        "Shape",
        "Size",
        "Squeeze",
        "Transpose",
        "Unsqueeze",
    ]
)
"""Operators to which opsets 14 to 21 added dtypes, and attributes whose default is what was before."""
_LARGEST_KEPT = 256
"""Initializers of more elements are set aside."""


@dataclass(frozen=True)
class Normalised:
    """A model without the initializers set aside, these by name, and the names of its true inputs."""

    model: ModelProto
    weights: Mapping[str, TensorProto]
    left_out: tuple[str, ...]
    """The outputs that cannot be read."""
    rank_of: Callable[[str], int | None]
    """How many axes a value of the main graph has, as far as the model or onnx's inference says it."""


def parse(path: Path) -> ModelProto:
    """The model in a file, without what it keeps in files beside it."""
    if not path.is_file():
        raise MissingFileError(f"onnx.load: there is no file '{path}'")
    try:
        return onnx.load(str(path), load_external_data=False)
    except (DecodeError, ParseError, JsonError, TextError, UnicodeDecodeError) as error:
        what = _said(error)
        raise DataLossError(f"onnx.load: '{path.name}' is torn, or is not an ONNX model ({what})") from None


def normalise(model: ModelProto, directory: Path | None, of: Sequence[str] = ()) -> Normalised:
    """`model`, not changed, as the readers want it: without what cannot be read and the values `of` do not need."""
    if not model.HasField("graph") or not model.opset_import:
        raise DataLossError("onnx.load: the model has no graph; the file is torn, or is not an ONNX model")
    kinds = require_valid(model)
    skeleton, weights = _set_aside(model, directory)
    del model
    _check(skeleton)
    if skeleton.functions:
        skeleton = _inlined(skeleton)
        kinds = _kinds(skeleton)
    skeleton, kinds = _converted(skeleton, kinds)
    skeleton, kinds = _with_bodies(skeleton, kinds)
    left_out = leave_out_unread(skeleton.graph, of) if of else ()
    kinds = _kinds(skeleton) if left_out else kinds
    unread = list(_unread(skeleton, kinds))
    if unread:
        raise UnimplementedError(
            "onnx.load: the model holds what pullback does not read:\n"
            + "\n".join(f"  {line}" for line in unread)
            + "\nTake these nodes out of the model, or write a reader for each: see pullback.onnx.reader."
        )
    skeleton.ir_version = max(skeleton.ir_version, 10)
    if not all(map(_is_typed, skeleton.graph.output)):
        _type_outputs(skeleton, kinds)
    inputs = _leave_true_inputs(skeleton.graph, weights)
    return Normalised(skeleton, weights, left_out, _ranks(skeleton, inputs, kinds))


def _kinds(model: ModelProto) -> set[Kind]:
    return {_kind(node) for node in all_nodes(model.graph)}


def _kind(node: NodeProto) -> Kind:
    return domain_of(node.domain), node.op_type


def _set_aside(model: ModelProto, directory: Path | None) -> tuple[ModelProto, dict[str, TensorProto]]:
    """The model with inputs in place of its large initializers and constants, and these."""
    skeleton = ModelProto()
    for field, _ in model.ListFields():
        if field.name not in ("graph", "opset_import"):
            _copy_field(model, skeleton, field.name)
    for domain, version in dict.fromkeys((entry.domain, entry.version) for entry in model.opset_import):
        skeleton.opset_import.add(domain=domain, version=version)
    large = [node for node in model.graph.node if _is_large_constant(node)]
    for field, _ in model.graph.ListFields():
        if field.name not in ("initializer", "sparse_initializer") and not (large and field.name == "node"):
            _copy_field(model.graph, skeleton.graph, field.name)
    if large:
        skeleton.graph.node.extend([node for node in model.graph.node if not _is_large_constant(node)])
    sparse = [numpy_helper.from_array(dense_of(x), x.values.name) for x in model.graph.sparse_initializer]
    weights = {}
    inputs = {entry.name for entry in skeleton.graph.input}
    for tensor in [*model.graph.initializer, *sparse, *map(_constant_of, large)]:
        if _elements(tensor) > _LARGEST_KEPT:
            weights[tensor.name] = tensor
            if tensor.name not in inputs:
                entry = onnx.helper.make_tensor_value_info(tensor.name, tensor.data_type, list(tensor.dims))
                skeleton.graph.input.append(entry)
        elif tensor.data_location == TensorProto.EXTERNAL:
            skeleton.graph.initializer.append(numpy_helper.from_array(array_of(tensor, directory), tensor.name))
        else:
            skeleton.graph.initializer.append(tensor)
    return skeleton, weights


def _is_large_constant(node: NodeProto) -> bool:
    if node.op_type != "Constant":
        return False
    return any(a.name == "value" and _elements(a.t) > _LARGEST_KEPT for a in node.attribute)


def _constant_of(node: NodeProto) -> TensorProto:
    """The tensor that a Constant node gives, under the name of its output."""
    tensor = TensorProto()
    tensor.CopyFrom(next(a.t for a in node.attribute if a.name == "value"))
    tensor.name = node.output[0]
    return tensor


def _copy_field(source: ModelProto | GraphProto, target: ModelProto | GraphProto, name: str) -> None:
    value = getattr(source, name)
    if isinstance(value, bytes):
        value = value.decode(errors="replace")
    if isinstance(value, str | int):
        setattr(target, name, value)
    else:
        getattr(target, name).MergeFrom(value)


def _elements(tensor: TensorProto) -> int:
    count = 1
    for n in tensor.dims:
        count *= n
    return count


def _check(skeleton: ModelProto) -> None:
    """InvalidArgumentError unless onnx's checker is content; runtimes need no declared ranks, and nor do we."""
    entries = [*skeleton.graph.input, *skeleton.graph.output]
    tensors = [entry.type.tensor_type for entry in entries if entry.type.HasField("tensor_type")]
    unranked = [tensor for tensor in tensors if not tensor.HasField("shape")]
    for tensor in unranked:
        tensor.shape.SetInParent()
    try:
        checker.check_model(skeleton)
    except (checker.ValidationError, ValueError) as error:
        raise InvalidArgumentError(f"onnx.load: the model is not valid: {_said(error)}") from None
    for tensor in unranked:
        tensor.ClearField("shape")


def _said(error: Exception) -> str:
    """What an error of onnx's tools says, in one line."""
    text, _, context = str(error).partition("==> Context:")
    said, where = " ".join(text.split()), " ".join(context.split())
    return f"{said} ({where})" if where else said


def _inlined(skeleton: ModelProto) -> ModelProto:
    """The model with the bodies of its functions in place of their calls."""
    require_room(skeleton)
    _align_functions(skeleton)
    try:
        return inliner.inline_local_functions(skeleton)
    except (RuntimeError, ValueError) as error:
        raise InvalidArgumentError(f"onnx.load: the functions cannot be inlined: {_said(error)}") from None


def _align_functions(skeleton: ModelProto) -> None:
    """Give functions the opset of the model, where that means the same: onnx leaves calls of all others as they are.

    To convert them is no way: the converter of onnx 1.23 ends the process where it does not know a type.
    """
    versions = [entry.version for entry in skeleton.opset_import if domain_of(entry.domain) == ""]
    for function in skeleton.functions if versions else ():
        kinds = {node.op_type for node in all_nodes(function) if domain_of(node.domain) == ""}
        for entry in function.opset_import:
            if domain_of(entry.domain) == "" and all(_means_the_same(k, entry.version, versions[0]) for k in kinds):
                entry.version = versions[0]


def _converted(skeleton: ModelProto, kinds: set[Kind]) -> tuple[ModelProto, set[Kind]]:
    """The model at opset 21, if it is at an older one, and its kinds."""
    versions = [entry.version for entry in skeleton.opset_import if domain_of(entry.domain) == ""]
    if not versions or versions[0] >= OLDEST_READ:
        return skeleton, kinds
    if all(_means_the_same(op_type, versions[0]) for domain, op_type in kinds if not domain):
        for entry in skeleton.opset_import:
            entry.version = OLDEST_READ if domain_of(entry.domain) == "" else entry.version
        return skeleton, kinds
    batched = [n.output[0] for n in all_nodes(skeleton.graph) if n.op_type == "Scan"] if versions[0] < 9 else []
    resized = {n.output[0] for n in all_nodes(skeleton.graph) if n.op_type in old_resizing.OPERATORS}
    try:
        converted = convert_version(skeleton, OLDEST_READ)
    except (ConvertError, RuntimeError, shape_inference.InferenceError) as error:
        raise UnimplementedError(
            f"onnx.load: a model of opset {versions[0]} could not be converted to {OLDEST_READ}: {_said(error)}"
        ) from None
    for node in [n for n in all_nodes(converted.graph) if n.op_type == "Scan" and n.output[0] in batched]:
        unbatched(node)
    if versions[0] < old_resizing.FIRST_OF_TODAY and resized:
        old_resizing.restore_grids(converted, resized)
    if batched:
        _restore_types(converted.graph, skeleton.graph)
    _restore_metadata(converted.graph, skeleton.graph)
    return converted, _kinds(converted)


def _restore_types(converted: GraphProto, before: GraphProto) -> None:
    """The declared types again, which onnx took for those of a Scan without a batch."""
    declared = {entry.name: entry.type for entry in [*before.input, *before.output]}
    for entry in [*converted.input, *converted.output]:
        entry.type.CopyFrom(declared[entry.name])
    del converted.value_info[:]


def _restore_metadata(converted: GraphProto, before: GraphProto) -> None:
    """What nodes say of themselves, which onnx's converter drops."""
    said = {node.output[0]: node.metadata_props for node in all_nodes(before) if node.metadata_props and node.output}
    for node in all_nodes(converted) if said else ():
        if node.output and node.output[0] in said and not node.metadata_props:
            node.metadata_props.extend(said[node.output[0]])


def _means_the_same(op_type: str, version: int, other: int = OLDEST_READ) -> bool:
    """Whether a node of this opset is the same at another, but for the dtypes that it may have."""
    if min(version, other) >= 13 and max(version, other) <= OLDEST_READ and op_type in _WIDENED:
        return True
    if not onnx.defs.has(op_type):
        return False
    return _since(op_type, version) == _since(op_type, other)


def _since(op_type: str, version: int) -> int:
    """The opset that an operator is of; 0 where there is none so old."""
    try:
        return int(onnx.defs.get_schema(op_type, version).since_version)
    except onnx.defs.SchemaError:
        return 0


def _with_bodies(skeleton: ModelProto, kinds: set[Kind]) -> tuple[ModelProto, set[Kind]]:
    """The model with the bodies of the standard's own functions, where there is no reader of them, and its kinds."""
    versions = {domain_of(entry.domain): entry.version for entry in skeleton.opset_import}
    bodied = {kind for kind in kinds if not is_read(*kind) and _has_body(kind, versions)}
    if not bodied:
        return skeleton, kinds
    functions = list({(n.domain, n.op_type) for n in all_nodes(skeleton.graph) if _kind(n) in bodied})
    inferred = _inferred(skeleton, kinds)
    found = inliner.inline_selected_functions(inferred, functions, False, inline_schema_functions=True)
    return found, _kinds(found)


def _has_body(name: Kind, versions: Mapping[str, int]) -> bool:
    domain, op_type = name
    if domain not in versions or not onnx.defs.has(op_type, domain):
        return False
    schema: Any = onnx.defs.get_schema(op_type, versions[domain], domain)
    return bool(schema.has_function or schema.has_context_dependent_function)


def _inferred(skeleton: ModelProto, kinds: set[Kind]) -> ModelProto:
    """The model with the types of all values, as far as onnx can tell them.

    The inference of onnx 1.23 ends the process at an EyeLike of something whose rank it does not know.
    """
    if ("", "EyeLike") in kinds:
        return skeleton
    try:
        return shape_inference.infer_shapes(skeleton, data_prop=_has_vectors(skeleton, kinds))
    except shape_inference.InferenceError as error:
        raise InvalidArgumentError(f"onnx.load: the model is not valid: {_said(error)}") from None


def _has_vectors(skeleton: ModelProto, kinds: set[Kind]) -> bool:
    """Whether there is a vector of integers that a shape may be computed from: looking for them takes half the time."""
    if not kinds.isdisjoint([("", op_type) for op_type in ("Constant", "Shape", "Size")]):
        return True
    return any(tensor.data_type in (TensorProto.INT32, TensorProto.INT64) for tensor in skeleton.graph.initializer)


def _is_typed(entry: ValueInfoProto) -> bool:
    of = entry.type.tensor_type if entry.type.HasField("tensor_type") else None
    return of is not None and bool(of.HasField("shape"))


def _type_outputs(skeleton: ModelProto, kinds: set[Kind]) -> None:
    """What onnx's inference says of the outputs becomes part of the model."""
    for entry, told in zip(skeleton.graph.output, _inferred(skeleton, kinds).graph.output, strict=True):
        entry.CopyFrom(told)


def _ranks(skeleton: ModelProto, inputs: Sequence[ValueInfoProto], kinds: set[Kind]) -> Callable[[str], int | None]:
    """The rank of a value, as far as onnx can tell it of the model, which once had these inputs too.

    Few readers ask: that is when onnx infers. Its types, which take more than the model itself, are not kept.
    """

    @cache
    def ranks() -> dict[str, int]:
        whole = ModelProto()
        whole.CopyFrom(skeleton)
        whole.graph.input.extend(inputs)
        inferred = _inferred(whole, kinds).graph
        types = [(entry.name, entry.type.tensor_type) for entry in [*inferred.value_info, *inferred.output]]
        return {name: len(of.shape.dim) for name, of in types if of.HasField("shape")}

    return lambda name: ranks().get(name)


def _unread(skeleton: ModelProto, kinds: set[Kind]) -> Iterator[str]:
    """A line for each operator without a reader."""
    versions = {domain_of(entry.domain): entry.version for entry in skeleton.opset_import}
    missing: dict[Kind, list[str]] = {kind: [] for kind in kinds if not is_read(*kind)}
    for node in all_nodes(skeleton.graph) if missing else ():
        if _kind(node) in missing:
            missing[_kind(node)].append(f"'{node.name or first_name(node.output)}'")
    for (domain, op_type), names in sorted(missing.items()):
        known = domain in versions and onnx.defs.has(op_type, domain)
        full = f"{domain}::{op_type}" if domain else op_type
        what = f"opset {versions[domain]}" if known else "an operator that onnx does not define"
        yield f"{full} ({what}): {_listed(names)}"


def _listed(names: Sequence[str]) -> str:
    return f"{'node' if len(names) == 1 else 'nodes'} {_some(names)}"


def _some(names: Sequence[str], most: int = 5) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def _leave_true_inputs(graph: GraphProto, weights: Mapping[str, TensorProto]) -> list[ValueInfoProto]:
    """Leave out the inputs that initializers give: constants, for us. Returns those of the weights."""
    given = {tensor.name for tensor in graph.initializer}
    kept = [entry for entry in graph.input if entry.name not in given and entry.name not in weights]
    left_out = [entry for entry in graph.input if entry.name in weights]
    del graph.input[:]
    graph.input.extend(kept)
    return left_out
