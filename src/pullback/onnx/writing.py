"""ONNX writer: the operations of a graph, one by one, as nodes of a model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..core.dtypes import COMPLEX, FLOATING, float32, real_dtype
from ..core.errors import NotRecordedError
from ..core.function import Function, bind_shape, type_in
from ..core.lengths import Dimension, Length
from ..core.operation import Operation, Tensor
from ..core.provenance import is_told
from ..core.shape import TensorShape
from ..core.types import TensorType
from ..passes.fold import folded
from ..passes.merge import merged
from ..passes.view import View, inputs_of_run, view_of
from .hints import hint
from .nodes import NodeWriter
from .records import Body, Model, Value
from .registry import takes_pairs, takes_rows, writer_of

_REFUSED = (NotRecordedError, TypeError, ValueError, AttributeError)
"""What writers raise, and kernels that are traced, where they cannot say what ONNX is to do."""


class Writer(NodeWriter):
    """Writes operations into one graph of the model: the main one, or the body of a node in it."""

    def __init__(self, model: Model, outer: Writer | None = None) -> None:
        super().__init__(model, outer)
        self.values: dict[Tensor, Any] = {}
        self.view = View((), ())
        """The operations that are being written, and what stands for their outputs."""
        self.readers: set[Tensor] = set()
        self.aliases: dict[Tensor, list[Tensor]] = {}
        """For a tensor of them those that it stands for."""
        self.prefix = ""
        self._op: Operation | None = None
        self.bound: dict[Length, Dimension] = {}
        """The lengths in the model for those of the graph, or of the function, that is being written."""

    @property
    def op(self) -> Operation:
        """The operation that is written."""
        assert self._op is not None
        return self._op

    @contextmanager
    def writing(self, op: Operation) -> Iterator[None]:
        """The context in which `op`, which is not in the view, is written, and all its outputs are read."""
        outer, self._op = self._op, op
        self.readers.update(op.outputs)
        try:
            yield
        finally:
            self._op = outer
            self.readers.difference_update(op.outputs)

    def read(self, i: int) -> bool:
        """Whether somebody reads output `i` of the operation that is written."""
        return self.op.outputs[i] in self.readers

    def reads_finite(self) -> bool:
        """Whether the operation that is written reads finite numbers of float32, as far as its graph says."""
        xs = [x for x in self.op.inputs if x.dtype in FLOATING]
        return all(x.dtype == float32 and self.model.known.interval(x).finite for x in xs)

    def body(
        self,
        build: Callable[..., Sequence[Value]],
        types: Sequence[TensorType],
        names: Sequence[str] = (),
        *,
        again: bool = False,
    ) -> Body:
        """A graph inside a node: `build` is called with its writer and a value for each input.

        With `again`, what is equal to a node outside is computed again.
        """
        inner = Writer(self.model, None if again else self)
        inner.prefix, inner._op = self.prefix, self._op
        inputs = [self.model.new(t, names[i] if i < len(names) else "") for i, t in enumerate(types)]
        outputs: list[Value] = []
        results = build(inner, *inputs)
        own = {name for record in inner.records for name in record.outputs}
        for y in results:
            if y.name not in own:
                y = inner.handed_on(y)
            own.discard(y.name)
            outputs.append(y)
        return Body(inner.records, inputs, outputs, self.prefix + (self._op.name if self._op else "body"))

    def function(
        self, function: Function, args: Sequence[Any], numbers: Iterable[int] | None = None, prefix: str = ""
    ) -> list[Any]:
        """The values of a function's results, or of those of the `numbers`, for these arguments; written in place."""
        chosen = list(function.results) if numbers is None else [function.results[i] for i in numbers]
        view = view_of(chosen, function.effects, frozenset(function.parameters), inputs_of_run)
        saved = self.values, self.view, self.readers, self.aliases, self.prefix, self._op, self.bound
        self.values, self.bound = dict(zip(function.parameters, args, strict=True)), {}
        for x, value in zip(function.parameters, args, strict=True):
            bind_shape(self.bound, x.shape, value.type.shape)
        self.prefix = prefix or self.prefix
        try:
            self.begin(merged(folded(view)))
            for op in self.view.operations:
                self.operation(op)
            return [self.values[y] for y in chosen]
        finally:
            self.values, self.view, self.readers, self.aliases, self.prefix, self._op, self.bound = saved

    def begin(self, view: View) -> None:
        """Prepare for writing the operations of `view`."""
        self.view = view
        self.readers = {x for op in view.operations for x in view.inputs(op)} | set(map(view.stand_in, view.results))
        self.aliases = {}
        for x, y in view.same.items():
            self.aliases.setdefault(y, []).append(x)

    def forget(self) -> None:
        """Give back what only the writing of operations needs; after that none can be written."""
        for table in (self.records, self._known, self._vectors, self._of_shape, self.values, self.aliases):
            table.clear()
        self.view, self.readers = View((), ()), set()
        self.model.forget()

    def operation(self, op: Operation) -> None:
        """Write one operation; what its outputs stand for has their values from then on."""
        outputs, values, known = op.outputs, self.values, self.view.known
        if outputs and all(y in values for y in outputs):
            return
        if outputs and outputs[0] in known:
            for y in outputs:
                values[y] = _constant(self, known[y], self.prefix + op.name)
        else:
            self._write(op)
        for y in outputs if self.aliases else ():
            for x in self.aliases.get(y, ()):
                value = values.get(y)
                values[x] = self.told(x, value) if isinstance(value, Value) else value

    def _write(self, op: Operation) -> None:
        if _is_empty(op):
            self.values.update({y: self.constant(np.zeros(y.shape.known, y.dtype)) for y in op.outputs})
            return
        own = write = writer_of(op.primitive)
        if not takes_pairs(write) and _has_complex(op):
            write = None
        inputs = [self.values[x] for x in op.primitive.run_inputs(op.inputs)]
        outer, self._op = self._op, op
        first, count = len(self.records), len(self.model.types)
        if not takes_rows(write):
            inputs = [self.stacked(x) for x in inputs]
        try:
            found = write(self, op.primitive, *inputs) if write is not None else _traced(self, inputs)
        except _REFUSED as error:
            found = _by_parts(self, own, inputs) or _one_by_one(self, inputs)
            if found is None and self.model.strict:
                raise
            if found is None:
                self.model.failures.append((op, str(error)))
                found = [_stand_in(self, y) for y in op.outputs]
        self._op = outer
        values = found if isinstance(found, Sequence) else (found,)
        self._name(op, values, first, count)
        if self.model.tells and is_told(op.primitive):
            self._tell(op, inputs, values, len(self.records) - first)
        for y, value in zip(op.outputs, values, strict=False):
            self.values[y] = self.told(y, value) if isinstance(value, Value) else value

    def _tell(self, op: Operation, inputs: Sequence[Any], values: Sequence[Any], count: int) -> None:
        """Note at the last of the `count` nodes that an operation is written as what they stand for."""
        if not all(isinstance(x, Value) for x in inputs):
            return
        for i, y in enumerate(values):
            record = self.model.producers.get(y.name) if isinstance(y, Value) else None
            if record is not None and not record.provenance:
                record.provenance = hint(self.model, op, inputs, record, (i, record.outputs.index(y.name)), count)

    def _name(self, op: Operation, values: Sequence[Any], first: int, count: int) -> None:
        """Name the nodes from number `first` on, and the values from number `count` on, after the operation."""
        wanted, name = self.model.wanted, self.prefix + op.name
        for i, value in enumerate(values):
            if isinstance(value, Value) and int(value.name) >= count:
                wanted.setdefault(value.name, name if i == 0 else f"{name}:{i}")
        result = values[0].name if values and isinstance(values[0], Value) else ""
        made = self.records[first:]
        for record in made:
            if not record.name:
                whole = len(made) == 1 or result in record.outputs[:1]
                record.name = name if whole else f"{name}/{record.op_type}"
            for y in record.outputs:
                wanted.setdefault(y, record.name)

    def type_of(self, x: Tensor) -> TensorType:
        """The type of a tensor in the lengths of the model, None where it has none there yet."""
        return type_in(self.bound, x.type)

    def told(self, x: Tensor, value: Value) -> Value:
        """The value of a tensor, with what is known of the types of both."""
        of, shape = value.type, x.shape
        assert of.dtype == x.dtype, f"the writer of {x.op.type} made {of} for {x}"
        if shape.lengths == of.shape.lengths and self._is_of_model(shape):
            return value
        assert of.shape.is_compatible_with(shape), f"the writer of {x.op.type} made {of} for {x}"
        if not of.shape.is_fully_defined() or not shape.is_fully_defined():
            value = self.refined(value, _filled(self.type_of(x).shape, of.shape))
            bind_shape(self.bound, shape, value.type.shape)
        return value

    def _is_of_model(self, shape: TensorShape) -> bool:
        """Whether each length of a shape stands in the model for itself, as numbers do."""
        if shape.is_fully_defined():
            return True
        return all(self.bound.get(n) is n for n in shape.lengths or () if isinstance(n, Length))


def _filled(shape: TensorShape, other: TensorShape) -> TensorShape:
    """`shape` with the lengths of `other` where it has none."""
    if shape.lengths is None or other.lengths is None:
        return other if shape.lengths is None else shape
    return TensorShape([n if m is None else m for m, n in zip(shape.lengths, other.lengths, strict=True)])


def _constant(w: Writer, array: np.ndarray[Any, Any], name: str) -> Any:
    """The value of a constant, or the pair of them."""
    from .pairs import Pair

    if array.dtype not in COMPLEX:
        return w.model.constant(array, name)
    return Pair(w.model.constant(array.real, name), w.model.constant(array.imag, name))


def _stand_in(w: Writer, y: Tensor) -> Any:
    """A value of the type of `y`, which could not be written, so that all that cannot be is found."""
    from .pairs import Pair

    if y.type.dtype not in COMPLEX:
        return w.model.new(y.type)
    part = TensorType(real_dtype(y.type.dtype), y.type.shape)
    return Pair(w.model.new(part), w.model.new(part))


def _is_empty(op: Operation) -> Any:
    """Whether all that an operation does is to make arrays without elements."""
    outputs = op.outputs
    if not outputs or outputs[0].shape.num_elements() != 0 or op.primitive.stateful:
        return False
    return all(y.shape.num_elements() == 0 and y.dtype not in COMPLEX for y in outputs)


def _has_complex(op: Operation) -> bool:
    return not COMPLEX.isdisjoint([x.type.dtype for x in (*op.inputs, *op.outputs)])


def _traced(w: Writer, inputs: Sequence[Value]) -> Any:
    from .recording import record_kernel

    return record_kernel(w, inputs)


def _by_parts(w: Writer, write: Any, inputs: Sequence[Any]) -> Any:
    from .linear_parts import write_by_parts

    if write is None or not _has_complex(w.op):
        return None
    try:
        return write_by_parts(w, write, inputs)
    except _REFUSED:
        return None


def _one_by_one(w: Writer, inputs: Sequence[Value]) -> Any:
    from .recording import record_one_by_one

    try:
        return record_one_by_one(w, inputs)
    except _REFUSED:
        return None
