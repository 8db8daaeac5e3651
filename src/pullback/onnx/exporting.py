"""ONNX export: a graph, or part of one, as a model of standard operators."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from onnx import ModelProto

from ..core.dtypes import COMPLEX, bfloat16, float32
from ..core.errors import InvalidArgumentError, UnimplementedError
from ..core.function import bind_shape
from ..core.garbage import without_collection
from ..core.graph import Graph
from ..core.lengths import Length
from ..core.limits import limited
from ..core.needs import needed
from ..core.operation import AbstractTensorLike, Operation, Tensor
from ..core.slices import IndexedSlices
from ..core.types import TensorType
from ..passes.fold import folded
from ..passes.merge import merged
from ..passes.view import View, inputs_of_run, view_among
from ..primitives.creation.constant import Const
from ..primitives.creation.placeholders import Placeholder, PlaceholderWithDefault
from ..version import __version__
from .assembly import Assembly, is_tensor_dtype, read_nodes
from .files import Arrays, save
from .model import OnnxGraph
from .origin import Again, Origins
from .pairs import joined_pair, paired_type, split_pair
from .records import Model, Record, Value
from .write.random import draws
from .write.variables import handle_value
from .writing import Writer

DEFAULT_OPSET = 18
OPSETS = range(18, 27)
_RANDOM_OPSET = 21
"""The last opset whose random operators onnxruntime has kernels for."""
_IR_VERSION = 10
Item = Operation | Again
"""What is written as a step: an operation of ours, or a node of a loaded model as it was."""


def export(
    outputs: Any,
    inputs: Any = None,
    path: str | Path | None = None,
    *,
    opset: int | None = None,
    names: Mapping[Any, str] | None = None,
    session: Any = None,
    accept: Callable[[Path], object] | None = None,
) -> ModelProto:
    """The ONNX model that computes `outputs` from `inputs`; written to `path` if that is given.

    The model holds operators of the standard's own domain only, and runs on any runtime of its opset. Nodes of a loaded
    model are written as they were, and their weights stay in the files they are in if these are beside `path`.

    Args:
        outputs: a tensor, a list of them, or a dictionary from the names that they are to have; IndexedSlices become
            two outputs, `<name>/values` and `<name>/indices`; an operation that assigns variables adds an output
            `new/<variable>` for each of them.
        inputs: tensors in the same way, of any kind: what they would be computed from is left out. A constant becomes
            an input that has its value where none is given. All placeholders that are needed unless given.
        path: the file to write. More than 2 GB of constants are written to a file beside it.
        opset: the version of the operators, 18 to 26; that of a loaded model, at most 26, else 18, unless given. (At
            most 21 for one that draws random numbers: onnxruntime has no kernels for the later versions of that.)
        names: names of other values: a dictionary from tensors.
        session: where variables have their values. Without it each variable that is read is an input.
        accept: called with the path of the written model before it takes its place; what it raises leaves what was at
            `path` as it was.

    Raises:
        InvalidArgumentError: a name or an argument that cannot be, or an input that is not given.
        UnimplementedError: operations that cannot be written, all of them, each with the line that made it.
        ResourceExhaustedError: the memory is not enough, or functions are nested deeper than Python's stack.
        NestingError: more than 31 branches and loops lie in each other.

    >>> import pullback as pb
    >>> x = pb.placeholder(pb.float32, [3], name="x")
    >>> y = pb.reduce_sum(x * x, name="y")
    >>> model = pb.onnx.export({"y": y, "dx": pb.gradients(y, x)[0]})
    >>> [node.op_type for node in model.graph.node]
    ['Mul', 'ReduceSum', 'Add']
    """
    with limited("onnx.export"):
        return _exported(outputs, inputs, path, opset, names or {}, session, accept or _always)


def _exported(
    outputs: Any,
    inputs: Any,
    path: str | Path | None,
    opset: int | None,
    names: Mapping[Any, str],
    session: Any,
    accept: Callable[[Path], object],
) -> ModelProto:
    targets = _Targets(outputs)
    if not targets.tensors and not targets.operations:
        raise InvalidArgumentError("onnx.export: there are no outputs")
    graph = targets.graph
    given = None if inputs is None else _named_tensors(inputs, "inputs")
    version = _chosen_opset(graph, opset)
    with without_collection():
        model, arrays = _Exporter(graph, targets, given, version, names, session).write()
    if path is not None:
        save(model, Path(path), arrays, accept)
    else:
        arrays.embed(model)
    return model


def _always(path: Path) -> None:
    del path


@dataclass(frozen=True)
class Exported:
    """A model, and how it names the variables: those that it takes, and those that it gives back."""

    model: ModelProto
    states: dict[Operation, str]
    changed: dict[Operation, str]


def model_of(
    outputs: Mapping[str, Tensor],
    operations: Sequence[Operation],
    inputs: Mapping[str, Tensor],
    opset: int,
    handles: Mapping[Tensor, Operation],
) -> Exported:
    """The model of a plan, for an engine; bfloat16 crosses its border as float32."""
    targets = _Targets({})
    targets.tensors, targets.operations = dict(outputs), list(operations)
    if not outputs and not operations:
        return Exported(ModelProto(), {}, {})
    with without_collection():
        exporter = _Exporter(targets.graph, targets, dict(inputs), opset, {}, None, handles)
        model, arrays = exporter.write()
    arrays.embed(model)
    states = {op: op.name for op in exporter.model.initial}
    return Exported(model, states, {op: f"new/{op.name}" for op in exporter.changed})


def _chosen_opset(graph: Graph, opset: int | None) -> int:
    own = graph.opsets.get("") if isinstance(graph, OnnxGraph) else None
    version = opset or min(own or DEFAULT_OPSET, OPSETS[-1])
    if opset is None and version > _RANDOM_OPSET and any(draws(op) for op in graph.operations):
        version = _RANDOM_OPSET
    if version not in OPSETS:
        raise InvalidArgumentError(f"onnx.export: opset must be from 18 to 26, not {version}")
    return version


class _Targets:
    """What is to be computed: tensors by name, and operations to be run."""

    def __init__(self, outputs: Any) -> None:
        self.operations: list[Operation] = []
        self.tensors = _named_tensors(outputs, "outputs", self.operations)

    @property
    def graph(self) -> Graph:
        """The graph of all of them."""
        elements: list[Any] = [*self.tensors.values(), *self.operations]
        first: Graph = elements[0].graph
        for x in elements:
            if x.graph is not first:
                raise InvalidArgumentError(f"onnx.export: {x} is of another graph than {elements[0]}")
        return first


def _named_tensors(values: Any, what: str, operations: list[Operation] | None = None) -> dict[str, Tensor]:
    """Tensors by the names that they are to have in the model."""
    if isinstance(values, Mapping):
        pairs = list(values.items())
    else:
        listed = values if isinstance(values, list | tuple) else [values]
        pairs = [("", x) for x in listed]
    found: dict[str, Tensor] = {}
    for name, value in pairs:
        if isinstance(value, Operation) and operations is not None:
            operations.append(value)
            continue
        for own, x in _parts(name, value, what):
            if own in found and found[own] is not x:
                raise InvalidArgumentError(f"onnx.export: two of the {what} have the name '{own}'")
            found[own] = x
    return found


def _parts(name: str, value: Any, what: str) -> list[tuple[str, Tensor]]:
    if isinstance(value, IndexedSlices):
        label = name or _default_name(value.values)
        return [(f"{label}/values", value.values), (f"{label}/indices", value.indices)]
    if isinstance(value, AbstractTensorLike):
        value = value.graph_element()
    if not isinstance(value, Tensor):
        raise InvalidArgumentError(f"onnx.export: {what} must be tensors, not {value!r}")
    if not is_tensor_dtype(value.dtype):
        raise InvalidArgumentError(f"onnx.export: {value} cannot be one of the {what}: ONNX has no such tensors")
    return [(name or _default_name(value), value)]


def _default_name(x: Tensor) -> str:
    """The name in the model of a tensor that is given none."""
    own = x.graph.name_of(x) if isinstance(x.graph, OnnxGraph) else None
    return own or (x.op.name if x.value_index == 0 else x.name)


def _place(item: Item) -> int:
    """Where an item comes among all: nodes by their number behind the operation that they stand for."""
    return (item.place << 32) + item.node.number + 1 if isinstance(item, Again) else item.index << 32


class _Exporter:
    def __init__(
        self,
        graph: Graph,
        targets: _Targets,
        inputs: dict[str, Tensor] | None,
        opset: int,
        names: Mapping[Any, str],
        session: Any,
        handles: Mapping[Tensor, Operation] | None = None,
    ) -> None:
        self.graph = graph
        self.targets = targets
        self.session = session
        self.origins = Origins(graph, opset)
        self.inputs = inputs
        self.given: set[Tensor] = set((inputs or {}).values())
        self.model = Model(opset)
        self.model.session = session
        self.model.tells = handles is None
        self.writer = Writer(self.model)
        self.names = names
        self.arrays = Arrays()
        self.changed: dict[Operation, Value] = {}
        """The variables that are assigned to, with their new values."""
        self.entries: dict[str, Tensor] = {}
        """The tensors that the inputs stand for."""
        self.narrow = handles is not None
        """Whether bfloat16 crosses the border as float32."""
        for x, op in (handles or {}).items():
            self.writer.values[x] = handle_value(op)
        self.items = self._items()

    def _items(self) -> list[Item]:
        """What is to be written, in order."""
        wanted = [*self.targets.tensors.values(), *self.targets.operations]
        found = needed(self._made_by(wanted), self._before)
        if self.origins.yield_to(found):
            found = needed(self._made_by(wanted), self._before)
        return sorted(found, key=_place)

    def _before(self, item: Item) -> list[Item]:
        """What must be written before an item."""
        if isinstance(item, Again):
            return self._made_by(item.needs)
        if self._is_input(item):
            return []
        return self._made_by([*item.primitive.run_inputs(item.inputs), *item.controls])

    def _made_by(self, elements: Iterable[Any]) -> list[Item]:
        """What makes tensors that are not given; operations and nodes as they are."""
        return [(self.origins.of(x) or x.op) if isinstance(x, Tensor) else x for x in elements if x not in self.given]

    def _is_input(self, op: Operation) -> bool:
        """Whether an operation is an input of the model where no inputs were given."""
        if self.inputs is not None or not isinstance(op.primitive, Placeholder | PlaceholderWithDefault):
            return False
        return isinstance(op.primitive, Placeholder) or isinstance(op.inputs[0].op.primitive, Const)

    def write(self) -> tuple[ModelProto, Arrays]:
        """The model, and the constants that are yet to be put somewhere."""
        w, model = self.writer, self.model
        entries = [self._input(name, x) for name, x in self._inputs().items()]
        self._write_items()
        outputs = {name: self._output(w.values[x]) for name, x in self.targets.tensors.items()}
        self.changed = model.changed_states()
        outputs |= {f"new/{op.name}": self._output(value) for op, value in self.changed.items()}
        self._widen_states()
        return self._assembled(entries, outputs), self.arrays

    def _widen_states(self) -> None:
        """Let variables of bfloat16 be inputs of float32, where these cross the border as such."""
        for op, value in self.model.initial.items() if self.narrow else ():
            if value.type.dtype == bfloat16:
                wide = self.model.initial[op] = self.model.new(TensorType(float32, value.type.shape))
                self.writer.records.insert(0, Record("Cast", (wide.name,), (value.name,), {"to": bfloat16}))

    def _write_items(self) -> None:
        w, view = self.writer, self._view()
        w.begin(view)
        left = set(view.operations)
        for item in self.items:
            if isinstance(item, Again):
                self.origins.write(w, item)
                continue
            op = view.stands_for(item)
            if op in left:
                w.operation(op)
            self._keep_names(item)
        self._raise_failures()

    def _view(self) -> View:
        """The operations to be written; what the nodes of a loaded model read is read as results are."""
        ops = [item for item in self.items if isinstance(item, Operation)]
        nodes = [item for item in self.items if isinstance(item, Again)]
        read = [x for node in nodes for x in node.needs if isinstance(x, Tensor)]
        results = [*self.targets.tensors.values(), *read]
        given = {x for x in self.writer.values if x.op.graph is self.graph}
        given.update([y for node in nodes for y in self.origins.makes(node)])
        return merged(folded(view_among(ops, results, self.targets.operations, given, inputs_of_run)))

    def _output(self, value: Any) -> Value:
        """Complex numbers are real ones with a last axis of two."""
        value = self.writer.stacked(value)
        if not isinstance(value, Value):
            return joined_pair(self.writer, value)
        return self.writer.cast(value, float32) if self.narrow and value.type.dtype == bfloat16 else value

    def _keep_names(self, op: Operation) -> None:
        for y in op.outputs:
            name = self.names.get(y) or self.origins.name_of(y)
            value = self.writer.values.get(y)
            if name is not None and isinstance(value, Value):
                self.model.wanted[value.name] = name

    def _inputs(self) -> dict[str, Tensor]:
        if self.inputs is not None:
            missing = [op for op in self.items if isinstance(op, Operation) and isinstance(op.primitive, Placeholder)]
            if missing:
                listed = ", ".join(f"'{op.name}'" for op in missing)
                text = (
                    f"the outputs depend on {listed}, which {'is' if len(missing) == 1 else 'are'} not among the inputs"
                )
                raise InvalidArgumentError(f"onnx.export: {text}")
            return self.inputs
        own = [op for op in self.items if isinstance(op, Operation) and self._is_input(op)]
        return {_default_name(op.outputs[0]): op.outputs[0] for op in own}

    def _input(self, name: str, x: Tensor) -> tuple[str, Value]:
        """An input of the model; a constant gives it a value where none is given."""
        narrow = self.narrow and x.dtype == bfloat16
        type = paired_type(x.type) if x.dtype in COMPLEX else TensorType(float32, x.shape) if narrow else x.type
        value = self.model.new(type)
        inner = self.writer.cast(value, bfloat16) if narrow else value
        bind_shape(self.writer.bound, x.shape, value.type.shape)
        self.writer.note_shape(value)
        self.writer.values[x] = split_pair(self.writer, value) if x.dtype in COMPLEX else inner
        self.entries[value.name] = x
        return name, value

    def _raise_failures(self) -> None:
        """Raise what says of all operations together that they cannot be written."""
        if self.model.failures:
            lines: dict[str, list[tuple[Operation, str]]] = {}
            for op, text in self.model.failures:
                lines.setdefault(op.type, []).append((op, text))
            raise _unwritten(lines)

    def _assembled(self, entries: list[tuple[str, Value]], outputs: dict[str, Value]) -> ModelProto:
        model, w = self.model, self.writer
        states = [(op.name, op, value) for op, value in model.initial.items()]
        names, finals = self._outer_names([*entries, *[(name, value) for name, _, value in states]], outputs)
        lengths = self._declared_lengths()
        records, read = read_nodes(w.records, finals)
        present = {op: model.state_value(op) for _, op, _ in states}
        fed = [value for _, op, value in states if op in self.changed or present[op] is None]
        given = [value.name for value in (*[value for _, value in entries], *fed)]
        said = {*given, *finals, ""}
        between = [y for record in records for y in record.outputs if y not in said and self._is_typed(y)]
        self._forget()
        assembly = Assembly(model, names, lengths)
        made = ModelProto(ir_version=_IR_VERSION, producer_name="pullback", producer_version=__version__)
        made.opset_import.extend(self.origins.opset_imports(model.opset))
        graph = made.graph
        graph.name = self.graph.name or "pullback"
        assembly.add_nodes(graph, records)
        for infos, values in ((graph.input, given), (graph.output, finals), (graph.value_info, between)):
            for y in values:
                assembly.fill_info(infos.add(), y)
        for x in sorted(read & model.arrays.keys(), key=int):
            self._initializer(graph, assembly.name(x), model.arrays[x])
        for (name, _), default in zip(entries, self._defaults(entries), strict=True):
            if default is not None:
                self._initializer(graph, name, default)
        for name, op, _ in states:
            array = present[op]
            if array is not None:
                self._initializer(graph, name, array)
        self.origins.add_metadata(made)
        return made

    def _outer_names(
        self, inputs: Sequence[tuple[str, Value]], outputs: Mapping[str, Value]
    ) -> tuple[dict[str, str], list[str]]:
        """The names that are given, of inputs, outputs and nodes of a loaded model; and the values of the outputs."""
        names = {value.name: name for name, value in inputs}
        taken = set(names.values())
        if len(taken) != len(names):
            raise InvalidArgumentError("onnx.export: two of the inputs have one name")
        finals = []
        for name, value in outputs.items():
            own = names.get(value.name) or self.origins.fixed.get(value.name)
            free = own is None and value.name not in self.model.arrays
            if own != name and (not free or name in taken):
                if name in taken:
                    raise InvalidArgumentError(f"onnx.export: the output '{name}' has the name of another value")
                value = self.writer.handed_on(value)
            names[value.name] = name
            taken.add(name)
            finals.append(value.name)
        for value_name, name in self.origins.fixed.items():
            if name not in taken:
                names.setdefault(value_name, name)
        return names, finals

    def _is_typed(self, value: str) -> bool:
        """Whether the model says the type of a value."""
        of = self.model.types[value]
        return of.shape.lengths is not None and is_tensor_dtype(of.dtype)

    def _forget(self) -> None:
        """Give back what nodes were made with, before all of them are made once more, as protos."""
        self.items.clear()
        self.origins.forget()
        self.writer.forget()

    def _defaults(self, entries: list[tuple[str, Value]]) -> Iterable[Any]:
        for _, value in entries:
            op = self.entries[value.name].op
            source = op.inputs[0].op if isinstance(op.primitive, PlaceholderWithDefault) else op
            default = source.primitive.value if isinstance(source.primitive, Const) else None
            yield (
                default
                if default is None or default.dtype not in COMPLEX
                else np.stack([default.real, default.imag], -1)
            )

    def _initializer(self, graph: Any, name: str, array: np.ndarray[Any, Any]) -> None:
        self.arrays.add(graph, name, array, self.origins.external_of(array))

    def _declared_lengths(self) -> dict[Length, str]:
        """The names that a loaded model has for lengths that are known by no other."""
        found: dict[Length, str] = {}
        for name, dims in self.origins.dims.items():
            value = self.writer.values.get(self.origins.value_of(name))
            lengths = value.type.shape.lengths if isinstance(value, Value) else None
            for n, dim in zip(lengths or (), dims, strict=False):
                if isinstance(n, Length) and n.is_symbol and not n.name and isinstance(dim, str):
                    found.setdefault(n, dim)
        return found


def _unwritten(lines: Mapping[str, Sequence[tuple[Operation, str]]]) -> UnimplementedError:
    """The error that lists what cannot be written."""
    text = ["onnx.export: these operations cannot be written:"]
    for kind, ops in sorted(lines.items()):
        text.append(f"  {kind}: " + "; ".join(_shown(op, why) for op, why in ops[:4]))
        if len(ops) > 4:
            text[-1] += f"; and {len(ops) - 4} more"
    text.append("Leave them out, or write a writer for each: see pullback.onnx.writer.")
    return UnimplementedError("\n".join(text))


def _shown(op: Operation, why: str) -> str:
    site = "" if op.site is None else f" (made at {op.site})"
    return f"'{op.name}'{site}" + (f": {why}" if why else "")
