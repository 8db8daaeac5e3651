"""ONNX import: `load` makes a graph of a model."""

from __future__ import annotations

import re
from collections.abc import Mapping
from collections.abc import Sequence as Sequence_
from functools import cache
from os import PathLike
from pathlib import Path
from typing import Any

from onnx import ModelProto, TensorProto, TensorShapeProto, TypeProto, ValueInfoProto

from ..core.dtypes import bool as bool_
from ..core.dtypes import int64
from ..core.errors import InvalidArgumentError, UnimplementedError
from ..core.garbage import without_collection
from ..core.graph import Tensor
from ..core.lengths import Dimension, Length, is_name, named, symbol
from ..core.limits import limited
from ..core.shape import TensorShape
from ..core.sites import user_site
from ..primitives.creation.constant import constant_in
from ..primitives.creation.placeholders import placeholder
from .element_types import dtype_of
from .model import Dims, OnnxGraph
from .normalise import Normalised, normalise, parse
from .read.packed import PackedSequence
from .read.sequence import Optional, Sequence
from .reading import Names, read_nodes, require_possible, valid_name
from .training_mode import turn_on_training
from .weights import array_of, external_of

_NAMELESS = re.compile(r"|\?|-1|None|dynamic|unk.*")
"""What exporters write for any length that is open: two of these may differ."""


def load(
    model: str | PathLike[str] | ModelProto,
    directory: str | PathLike[str] | None = None,
    elements: Mapping[str, int | None] | None = None,
    *,
    training: bool = False,
    watch: Sequence_[str] = (),
    of: Sequence_[str] = (),
) -> OnnxGraph:
    """The graph of an ONNX model: a path, or a `ModelProto`, which is not changed.

    Opsets 6 to 28 are read. Functions of the model are inlined; initializers are constants, and those in files beside
    the model are mapped into memory, not read. These files are in `directory`, or, unless it is given, beside the
    model. Every value keeps its name: `graph["name"]`. With `training`, batch normalisations use the moments of the
    batch, and dropouts drop. `watch` names values inside the model's loops: `graph["name"]` is then what such a value
    was at each step, [steps, ...], and `differentiate` gives derivatives by each of these.

    With `of`, names of values, what these do not depend on is left out where it cannot be read; `graph.left_out` names
    the outputs that are missing for that.

    Of an input that is a sequence, `elements` says how many tensors it has; of one that is optional None says that it
    is left out. A run decides what it does not say. `graph["sequence"].feeds([a, b])` is what to feed for such an
    input; `y.arrays(*session.run(list(y.tensors)))` are the arrays of a value y that is a sequence or optional.

    Raises:
        NotFoundError: there is no such file, or one beside it is missing.
        DataLossError: the file is torn, or no model.
        InvalidArgumentError: the model is not valid, or has no such value to watch.
        UnimplementedError: it holds what pullback does not read; all of that is listed.
        ResourceExhaustedError: reading it takes more than `pb.config.Limits` allow.

    >>> import onnx, pullback as pb
    >>> text = '''<ir_version: 10, opset_import: ["" : 21]>
    ... double (float[batch, 3] x) => (float[batch, 3] y) { h = Tanh(x)  y = Add(h, h) }'''
    >>> graph = pb.onnx.load(onnx.parser.parse_model(text))
    >>> graph["h"], graph.outputs
    (<Tensor 'Tanh/Tanh:0' float32[batch,3]>, (<Tensor 'Add/Add:0' float32[batch,3]>,))
    >>> with graph.as_default():
    ...     dx, = pb.gradients(graph["y"], graph["x"])
    >>> pb.Session(graph=graph).run(dx, {graph["x"]: [[0.0, 0.0, 0.0]]})
    array([[2., 2., 2.]], dtype=float32)
    """
    _load_readers()
    path = None if isinstance(model, ModelProto) else Path(model)
    folder = Path(directory) if directory is not None else None if path is None else path.parent
    with limited("onnx.load"), without_collection():
        # What is parsed here has no name: it is given back when its copy has been made.
        normalised = normalise(model if isinstance(model, ModelProto) else parse(Path(model)), folder, of)
        return _loaded(normalised, folder, elements or {}, training, watch)


def _loaded(
    normalised: Normalised,
    folder: Path | None,
    elements: Mapping[str, int | None],
    training: bool,
    watch: Sequence_[str],
) -> OnnxGraph:
    replaced = turn_on_training(normalised.model) if training else {}
    graph = OnnxGraph(normalised.model, normalised.rank_of)
    graph.left_out = normalised.left_out
    graph.watched = tuple(watch)
    for name in watch:
        if name not in graph.inner_names:
            raise InvalidArgumentError(f"onnx.load: watch: no loop of the model has a value '{name}'")
    graph.read_at = user_site()
    with graph.as_default(), graph.entered(graph.scope._replace(site=graph.read_at)):
        _read_main(graph, normalised.weights, folder, elements)
    graph.updates = {name: graph.values[now] for name, now in replaced.items()}
    return graph


@cache
def _load_readers() -> None:
    """Import the modules that register readers."""
    from .read import (  # noqa: F401
        activations,
        attention,
        bitwise,
        casting,
        categories,
        control_flow,
        convolution,
        creation,
        cumulative,
        dictionaries,
        elementwise,
        fused,
        fused_attention,
        fused_quantization,
        identity,
        indexing,
        linalg,
        logic,
        losses,
        normalization,
        pooling,
        quantization,
        random,
        reduction,
        rnn,
        sequence,
        sequence_map,
        sets,
        signal,
        sorting,
        strings,
        support_vectors,
        tabular,
        training,
        trees,
    )
    from .read.image import (  # noqa: F401
        boxes,
        resizing,
        sampling,
    )
    from .read.shape import (  # noqa: F401
        pad,
        shape,
    )


def _read_main(
    graph: OnnxGraph, weights: Mapping[str, TensorProto], directory: Path | None, elements: Mapping[str, int | None]
) -> None:
    proto = graph.model.graph
    names = Names(graph, graph.values)
    lengths: dict[str, Length] = {}
    for entry in proto.input:
        made = graph.values[entry.name] = _input(entry, elements, lengths)
        if isinstance(made, Tensor):
            require_possible("input", entry.name, made)
    for tensor in [*proto.initializer, *weights.values()]:
        _add_initializer(graph, tensor, directory)
    read_nodes(proto.node, names)
    graph.rank_of = None
    graph.inputs = tuple([graph.values[entry.name] for entry in proto.input])
    graph.outputs = tuple([names[entry.name] for entry in proto.output])
    for name, x in {**graph.input_tensors, **graph.output_tensors}.items():
        graph.values.setdefault(name, x)
    graph.dims = {entry.name: dims_of(entry.type) for entry in [*proto.input, *proto.output]}


def _input(entry: ValueInfoProto, elements: Mapping[str, int | None], lengths: dict[str, Length]) -> Any:
    name = valid_name(entry.name)
    kind = entry.type.WhichOneof("value")
    if kind == "tensor_type":
        return _placeholder(entry.type.tensor_type, name, lengths)
    if kind not in ("sequence_type", "optional_type"):
        raise UnimplementedError(f"onnx.load: the input '{entry.name}' is neither a tensor nor a sequence of tensors")
    if entry.name in elements:
        return _given(entry.type, name, elements[entry.name], lengths)
    optional = entry.type.optional_type.elem_type if kind == "optional_type" else None
    inner = optional or entry.type
    of_sequence = inner.HasField("sequence_type")
    made = _packed((inner.sequence_type.elem_type if of_sequence else inner).tensor_type, entry.name)
    return made if optional is None else Optional(made, placeholder(bool_, [], f"{name}_there"), of_sequence)


def _packed(of: TypeProto.Tensor, name: str) -> PackedSequence:
    """Placeholders for as many tensors as a run gives."""
    if not of.HasField("shape"):
        raise InvalidArgumentError(
            f"onnx.load: the input '{name}' is a sequence, or optional, and the number of axes of its tensors is not "
            f"known; say how many tensors it has: elements={{'{name}': 3}}, or None for none"
        )
    shape = TensorShape([_known(d) for d in of.shape.dim])
    values = placeholder(dtype_of(of.elem_type), [None], valid_name(f"{name}_values"))
    return PackedSequence(values, placeholder(int64, [None, len(shape)], valid_name(f"{name}_dims")), shape)


def _given(of: TypeProto, name: str, count: int | None, lengths: dict[str, Length]) -> Any:
    """Placeholders for an input of that type that has `count` tensors."""
    kind = of.WhichOneof("value")
    if kind == "tensor_type":
        return _placeholder(of.tensor_type, name, lengths)
    if kind == "optional_type":
        return Optional(None if count is None else _given(of.optional_type.elem_type, name, count, lengths))
    element = of.sequence_type.elem_type.tensor_type
    # The tensors of a sequence may differ in a length that has one name for all of them.
    made = tuple([_placeholder(element, f"{name}_{i}", None) for i in range(count or 0)])
    return Sequence(made, dtype_of(element.elem_type))


def _placeholder(of: TypeProto.Tensor, name: str, lengths: dict[str, Length] | None) -> Tensor:
    dims = [_length(d, lengths) for d in of.shape.dim]
    shape = TensorShape(dims) if of.HasField("shape") else TensorShape.UNKNOWN
    return placeholder(dtype_of(of.elem_type), shape, name or None)


def _length(dim: TensorShapeProto.Dimension, lengths: dict[str, Length] | None) -> Dimension | None:
    """A declared length: a number, the one of that name among `lengths`, or None for one without."""
    name = dim.dim_param
    if lengths is None or dim.HasField("dim_value") or _NAMELESS.fullmatch(name):
        return _known(dim)
    if name not in lengths:
        lengths[name] = named(name) if is_name(name) else symbol(name)
    return lengths[name]


def dims_of(of: TypeProto) -> Dims:
    """The lengths of a declared type: numbers, names, or None."""
    return tuple([n if (n := _known(d)) is not None else d.dim_param or None for d in of.tensor_type.shape.dim])


def _known(dim: TensorShapeProto.Dimension) -> int | None:
    """A length, where it is said; some exporters write -1 for one that is open."""
    return int(dim.dim_value) if dim.HasField("dim_value") and dim.dim_value >= 0 else None


def _add_initializer(graph: OnnxGraph, tensor: TensorProto, directory: Path | None) -> None:
    made = constant_in(graph, array_of(tensor, directory), valid_name(tensor.name) or "Const")
    graph.values[tensor.name] = graph.initializers[tensor.name] = made
    where: Any = external_of(tensor, directory)
    if where is not None:
        graph.external[made] = where
