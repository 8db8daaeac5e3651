"""ONNX writer: makes the nodes of a model, operation by operation.

Nodes are made lean at once: what small constants give is computed, equal nodes are made once, and what does nothing is
left out (`lean.py`). While a model is written a value has a number for a name; `assembly.py` gives it its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ..core.dtypes import COMPLEX, bool, int32, int64, real_dtype
from ..core.function import Function
from ..core.operation import Operation, Tensor
from ..core.shape import TensorShape, broadcast_static_shape
from ..core.types import TensorType
from ..passes.fold import folded
from ..passes.merge import merged
from ..passes.view import View, inputs_of_run, view_of
from ..primitives.elementwise.add_n import AddN
from . import lean
from .dimensions import merge, note_lengths
from .folding import fold
from .kernels import legal_dtypes
from .records import Body, Model, Record, Rows, SequenceOf, Value, node_key
from .registry import takes_pairs, takes_rows, writer_of

_TRUTHS = frozenset(
    ["Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual", "And", "Or", "Xor", "Not", "IsNaN", "IsInf"]
)
_COUNTS = frozenset(["Shape", "Size", "NonZero", "ArgMax", "ArgMin"])
_RANDOM = frozenset(
    [
        "RandomNormal",
        "RandomNormalLike",
        "RandomUniform",
        "RandomUniformLike",
        "Multinomial",
        "Bernoulli",
        "Dropout",
        "If",
        "Loop",
        "Scan",
    ]
)
"""Nodes of these are never merged."""


class Writer:
    """Makes the nodes of one graph of the model: the main one, or the body of a node in it."""

    def __init__(self, model: Model, outer: Writer | None = None) -> None:
        self.model = model
        self.outer = outer
        self.records: list[Record] = []
        self.values: dict[Tensor, Any] = {}
        self.view = View((), ())
        """The operations that are being written, and what stands for their outputs."""
        self.readers: set[Tensor] = set()
        self.aliases: dict[Tensor, list[Tensor]] = {}
        """For a tensor of them those that it stands for."""
        self.prefix = ""
        self.op: Operation | None = None
        self._known: dict[Any, Record] = {}

    def node(
        self,
        op_type: str,
        *inputs: Value | None,
        dtype: Any = None,
        shape: Any = None,
        **attributes: Any,
    ) -> Value:
        """The output of a new node; inputs that are None are left out.

        `dtype` is by default that of the first input, or what the operator always gives; `shape` is worked out for
        elementwise operators, and unknown for others.
        """
        given = _without_end(inputs)
        out = self._type(op_type, given, dtype, shape, attributes)
        given = lean.unexpanded(self, op_type, given)
        found = lean.simplified(self, op_type, given, attributes, out)
        if found is not None:
            return found
        arrays = [None if x is None else self.model.arrays.get(x.name) for x in given]
        if given and all(x is None or a is not None for x, a in zip(given, arrays, strict=True)):
            folded = fold(op_type, arrays, attributes)
            if folded is not None and folded.dtype == out.dtype:
                return self.constant(folded)
        if op_type in ("Max", "Min") and len(given) == 2 and out.dtype == int64:
            # onnxruntime 1.31 takes 2**31 in the lower half of a number of 64 bits for something negative.
            first = self.node("Less" if op_type == "Min" else "Greater", *given)
            return self.where(first, given[0], given[1])  # type: ignore[arg-type]
        (made,) = self._legal(op_type, given, [out], attributes)
        lean.note_shape(self, op_type, given, made)
        return made

    def nodes(
        self, op_type: str, *inputs: Value | None, dtypes: Sequence[Any], shapes: Sequence[Any], **attributes: Any
    ) -> list[Value]:
        """The outputs of a new node that has more than one, of these dtypes and shapes."""
        types = [TensorType(d, TensorShape(s)) for d, s in zip(dtypes, shapes, strict=True)]
        return self._legal(op_type, _without_end(inputs), types, attributes)

    def _type(
        self, op_type: str, inputs: Sequence[Value | None], dtype: Any, shape: Any, attributes: Mapping[str, Any]
    ) -> TensorType:
        if dtype is None:
            if op_type in _TRUTHS:
                dtype = bool
            elif op_type in _COUNTS:
                dtype = int64
            elif op_type == "Cast":
                dtype = attributes["to"]
            elif op_type == "Where":
                dtype = inputs[1].type.dtype  # type: ignore[union-attr]
            else:
                dtype = inputs[0].type.dtype  # type: ignore[union-attr]
        known = lean.inferred_shape(op_type, inputs) if shape is None else TensorShape(shape)
        return TensorType(dtype, known)

    def emit(
        self, op_type: str, inputs: Sequence[Value | None], types: Sequence[TensorType], attributes: Mapping[str, Any]
    ) -> list[Value]:
        """The outputs of a new node of these types; nothing is worked out or simplified."""
        return self._emit(op_type, inputs, types, attributes)

    def _legal(
        self, op_type: str, inputs: Sequence[Value | None], types: Sequence[TensorType], attributes: Mapping[str, Any]
    ) -> list[Value]:
        """The outputs of a node, computed in other dtypes where there is no kernel for those."""
        given = tuple([None if x is None else x.type.dtype for x in inputs])
        made = tuple([t.dtype for t in types])
        taken, computed = legal_dtypes(op_type, self.model.opset, given, made, attributes)
        if taken != given:
            inputs = [None if x is None else self.cast(x, d) for x, d in zip(inputs, taken, strict=True)]
        if tuple(computed) == made:
            return self._emit(op_type, inputs, types, attributes)
        inner = [TensorType(d, t.shape) for d, t in zip(computed, types, strict=True)]
        found = self._emit(op_type, inputs, inner, attributes)
        return [self.cast(y, t.dtype) for y, t in zip(found, types, strict=True)]

    def _emit(
        self, op_type: str, inputs: Sequence[Value | None], types: Sequence[TensorType], attributes: Mapping[str, Any]
    ) -> list[Value]:
        names = ["" if x is None else x.name for x in inputs]
        key = None if op_type in _RANDOM else node_key(op_type, names, attributes, self.model.opset)
        record = None if key is None else self._find(key)
        if record is None:
            record = Record(op_type, names, [], attributes)
            self.records.append(record)
            if key is not None:
                self._known[key] = record
        for t in types[len(record.outputs) :]:
            value = self.model.new(t)
            record.outputs.append(value.name)
            self.model.producers[value.name] = record
        return [Value(name, self.model.types[name]) for name in record.outputs[: len(types)]]

    def _find(self, key: Any) -> Record | None:
        w: Writer | None = self
        while w is not None:
            record = w._known.get(key)
            if record is not None:
                return record
            w = w.outer
        return None

    def add_record(self, record: Record, key: Any = None) -> None:
        """Add a node that was made elsewhere."""
        self.records.append(record)
        for name in record.outputs:
            self.model.producers[name] = record
        if key is not None:
            self._known.setdefault(key, record)

    def further_output(self, record: Record, i: int, type: TensorType) -> Value:
        """Output `i` of a node that has been made, which so far may have been left out."""
        record.outputs.extend([""] * (i + 1 - len(record.outputs)))
        if not record.outputs[i]:
            record.outputs[i] = self.model.new(type).name
            self.model.producers[record.outputs[i]] = record
        return Value(record.outputs[i], type)

    def read(self, op: Operation, i: int) -> bool:  # type: ignore[valid-type]
        """Whether somebody reads output `i` of an operation."""
        return op.outputs[i] in self.readers

    def constant(self, value: Any, dtype: Any = None) -> Value:
        """A constant; numbers without a dtype become what NumPy makes of them."""
        return self.model.constant(np.asarray(value, dtype))

    def scalar(self, number: Any, like: Value) -> Value:
        """A constant of no axes, of the dtype of `like`."""
        return self.model.constant(np.asarray(number).astype(like.type.dtype))  # type: ignore[arg-type]

    def vector(self, numbers: Any) -> Value:
        """A constant vector of int64."""
        return self.model.constant(np.asarray(numbers, int64).reshape(-1))

    def static(self, x: Value) -> np.ndarray[Any, Any] | None:
        """The value of a constant; None where it is only known at run time."""
        return self.model.arrays.get(x.name)

    def shape(self, x: Value) -> Value:
        """The shape of `x`, a vector of int64."""
        if x.type.shape.is_fully_defined():
            return self.vector(x.type.shape.known)
        root = self.model.root(x.name)
        known = self.model.types[root].shape
        source = Value(root, self.model.types[root])
        return self.vector(known.known) if known.is_fully_defined() else self.node("Shape", source, shape=[known.rank])

    def lengths(self, x: Value, axes: Sequence[int]) -> Value:
        """The lengths of `x` along `axes`, a vector of int64."""
        dims = x.type.shape.dims
        if dims is not None and all(dims[a] is not None for a in axes):
            return self.vector([dims[a] for a in axes])
        if dims is not None:
            axes = [a % len(dims) for a in axes]
        if list(axes) == list(range(axes[0], axes[0] + len(axes))) and axes[0] >= 0:
            root = self.model.root(x.name)
            source = Value(root, self.model.types[root])
            bounds = {"start": axes[0], "end": axes[-1] + 1}
            if dims is not None and len(axes) == len(dims):
                bounds = {}
            return self.node("Shape", source, shape=[len(axes)], **bounds)
        return self.gather(self.shape(x), self.vector(axes), 0)

    def cast(self, x: Value, dtype: Any) -> Value:
        """`x` in another dtype."""
        if x.type.dtype == dtype:
            return x
        return self.node("Cast", x, dtype=dtype, shape=x.type.shape, to=dtype)

    def reshape(self, x: Value, shape: Sequence[int | None] | Value, result: Any = None) -> Value:
        """`x` in another shape: lengths, -1 for what is left and None for that of `x`; or a vector of int64 as ONNX
        has it, in which 0 is the length of `x`. `result` is what is known of the shape.
        """
        if isinstance(shape, Value):
            vector, exact = shape, lean.shaping(self, shape) is not None
        else:
            exact = 0 in shape and -1 not in shape and None not in shape
            vector = self.vector([0 if n is None else n for n in shape])
        if exact:
            return self.node("Reshape", x, vector, shape=lean.reshaped(self, x, vector, result, exact), allowzero=1)
        return self.node("Reshape", x, vector, shape=lean.reshaped(self, x, vector, result))

    def transpose(self, x: Value, perm: Sequence[int]) -> Value:
        """`x` with its axes in another order."""
        dims = x.type.shape.dims
        shape = None if dims is None else [dims[p] for p in perm]
        return self.node("Transpose", x, shape=shape, perm=[int(p) for p in perm])

    def expand(self, x: Value, shape: Sequence[int] | Value, result: Any = None) -> Value:
        """`x` repeated to a shape, by NumPy's rule."""
        vector = shape if isinstance(shape, Value) else self.vector(shape)
        known = self.static(vector)
        out = (
            TensorShape(result) if known is None else broadcast_static_shape(x.type.shape, TensorShape(known.tolist()))
        )
        return self.node("Expand", x, vector, shape=out)

    def unsqueeze(self, x: Value, axes: Sequence[int]) -> Value:
        """`x` with axes of length one at `axes` of the result."""
        dims, shape = x.type.shape.dims, None
        if dims is not None:
            rank = len(dims) + len(axes)
            ones, rest = {a % rank for a in axes}, iter(dims)
            shape = [1 if i in ones else next(rest) for i in range(rank)]
        return self.node("Unsqueeze", x, self.vector(sorted(axes)), shape=shape) if axes else x

    def squeeze(self, x: Value, axes: Sequence[int]) -> Value:
        """`x` without its axes of length one at `axes`."""
        dims, shape = x.type.shape.dims, None
        if dims is not None:
            gone = {a % len(dims) for a in axes}
            shape = [n for i, n in enumerate(dims) if i not in gone]
        return self.node("Squeeze", x, self.vector(axes), shape=shape) if axes else x

    def reduce(self, op_type: str, x: Value, axes: Sequence[int] | None, keep: Any) -> Value:
        """A reduction (ReduceSum, ReduceMax, ...) over static axes; None: all of them."""
        dims, shape = x.type.shape.dims, None
        if axes is not None and not axes:
            return x
        if dims is not None:
            gone = set(range(len(dims))) if axes is None else {a % len(dims) for a in axes}
            shape = [1 if i in gone else n for i, n in enumerate(dims) if keep or i not in gone]
        elif axes is None and not keep:
            shape = []
        if axes is None and dims == ():
            return x
        kept = {} if keep else {"keepdims": 0}
        if axes is not None and dims is not None and len({a % len(dims) for a in axes}) == len(dims):
            axes = None
        if op_type == "ReduceSum" or self.model.opset >= 18:
            listed = [] if axes is None else [self.vector(axes)]
            return self.node(op_type, x, *listed, shape=shape, **kept)
        if axes is not None:
            kept["axes"] = list(axes)  # type: ignore[assignment]
        return self.node(op_type, x, shape=shape, **kept)

    def sum(self, x: Value, axes: Sequence[int] | None, keep: Any = False) -> Value:
        """The sum over axes."""
        return self.reduce("ReduceSum", x, axes, keep)

    def slice(self, x: Value, starts: Any, ends: Any, axes: Sequence[int], steps: Any = None) -> Value:
        """Parts of `x` along `axes`; `starts`, `ends` and `steps` are lists, or vectors of int64."""
        if not isinstance(starts, Value) and len(starts) == 0:
            return x
        vectors = [v if isinstance(v, Value) else self.vector(v) for v in (starts, ends)]
        stride = None if steps is None else steps if isinstance(steps, Value) else self.vector(steps)
        shape = lean.sliced(self, x, vectors[0], vectors[1], axes, stride)
        if shape is not None and None not in shape and x.type.shape.dims == tuple(shape) and stride is None:
            return x
        return self.node("Slice", x, *vectors, self.vector(axes), stride, shape=shape)

    def concat(self, values: Sequence[Value], axis: int) -> Value:
        """`values` one after the other along `axis`."""
        if len(values) == 1:
            return values[0]
        return self.node("Concat", *values, shape=lean.concatenated(values, axis), axis=axis)

    def gather(self, x: Value, indices: Value, axis: int = 0) -> Value:
        """Parts of `x` along `axis` by their numbers, which count from the end where they are negative."""
        a, b, shape = x.type.shape.dims, indices.type.shape.dims, None
        if indices.type.dtype not in (int32, int64):
            indices = self.cast(indices, int64)
        if a is not None and b is not None:
            place = axis % len(a)
            shape = [*a[:place], *b, *a[place + 1 :]]
        return self.node("Gather", x, indices, shape=shape, axis=axis)

    def where(self, condition: Value, a: Value, b: Value) -> Value:
        """`a` where the condition holds, else `b`."""
        return self.node("Where", condition, a, b)

    def sequence(self, dtype: Any) -> TensorType:
        """The type of sequences of tensors of this dtype."""
        return TensorType(SequenceOf(dtype), TensorShape.UNKNOWN)  # type: ignore[arg-type]

    def stacked(self, x: Any) -> Any:
        """Rows as one array; any other value as it is."""
        if not isinstance(x, Rows):
            return x
        source = Value(x.name, self.model.types[x.name])
        return self._emit("ConcatFromSequence", [source], [x.type], {"axis": 0, "new_axis": 1})[0]

    def body(
        self, build: Callable[..., Sequence[Value]], types: Sequence[TensorType], names: Sequence[str] = ()
    ) -> Body:
        """A graph inside a node: `build` is called with its writer and a value for each input."""
        inner = Writer(self.model, self)
        inner.prefix, inner.op = self.prefix, self.op
        inputs = [self.model.new(t, names[i] if i < len(names) else "") for i, t in enumerate(types)]
        outputs: list[Value] = []
        results = build(inner, *inputs)
        own = {name for record in inner.records for name in record.outputs}
        for y in results:
            if y.name not in own:
                (y,) = inner._emit_always("Identity", [y], [y.type])
            own.discard(y.name)
            outputs.append(y)
        return Body(inner.records, inputs, outputs, self.prefix + (self.op.name if self.op else "body"))

    def _emit_always(self, op_type: str, inputs: Sequence[Value], types: Sequence[TensorType]) -> list[Value]:
        outputs = [self.model.new(t) for t in types]
        self.add_record(Record(op_type, [x.name for x in inputs], [y.name for y in outputs]))
        return outputs

    def function(
        self, function: Function, args: Sequence[Any], numbers: Iterable[int] | None = None, prefix: str = ""
    ) -> list[Any]:
        """The values of a function's results, or of those of the `numbers`, for these arguments; written in place."""
        chosen = list(function.results) if numbers is None else [function.results[i] for i in numbers]
        view = view_of(chosen, function.effects, frozenset(function.parameters), inputs_of_run)
        saved = self.values, self.view, self.readers, self.aliases, self.prefix, self.op
        self.values = dict(zip(function.parameters, args, strict=True))
        self.prefix = prefix or self.prefix
        try:
            self.begin(merged(folded(view)))
            for op in self.view.operations:
                self.operation(op)
            return [self.values[y] for y in chosen]
        finally:
            self.values, self.view, self.readers, self.aliases, self.prefix, self.op = saved

    def begin(self, view: View) -> None:
        """Prepare for writing the operations of `view`."""
        self.view = view
        self.readers = {x for op in view.operations for x in view.inputs(op)} | set(map(view.stand_in, view.results))
        self.aliases = {}
        for x, y in view.same.items():
            self.aliases.setdefault(y, []).append(x)

    def operation(self, op: Operation) -> None:
        """Write one operation; what its outputs stand for has their values from then on."""
        if op.outputs and all(y in self.values for y in op.outputs):
            return
        if op.outputs and op.outputs[0] in self.view.known:
            for y in op.outputs:
                self.values[y] = _constant(self, self.view.known[y], self.prefix + op.name)
        else:
            self._write(op)
        for y in op.outputs if self.aliases else ():
            self.values.update(dict.fromkeys(self.aliases.get(y, ()), self.values.get(y)))

    def _write(self, op: Operation) -> None:
        if _is_empty(op):
            self.values.update({y: self.constant(np.zeros(y.shape.known, y.dtype)) for y in op.outputs})
            return
        write = writer_of(op.primitive)
        if not takes_pairs(write) and _has_complex(op):
            write = None
        inputs = [self.values[x] for x in op.primitive.run_inputs(op.inputs)]
        outer, self.op = self.op, op
        first, count = len(self.records), len(self.model.types)
        if not takes_rows(write):
            inputs = [self.stacked(x) for x in inputs]
        try:
            found = write(self, op, *inputs) if write is not None else _traced(self, op, inputs)
        except (NotImplementedError, TypeError, ValueError, AttributeError) as error:
            if self.model.strict:
                raise
            self.model.failures.append((op, str(error)))
            found = [_stand_in(self, y) for y in op.outputs]
        self.op = outer
        values = found if isinstance(found, Sequence) else (found,)
        note_lengths(self.model, op.primitive, inputs, values)
        if isinstance(op.primitive, AddN) and self.outer is None and all(isinstance(x, Value) for x in inputs):
            # Not so in a body, which may never run.
            merge(self.model, [x.name for x in inputs])
        self._name(op, values, first, count)
        for i, (y, value) in enumerate(zip(op.outputs, values, strict=False)):
            self.values[y] = self._checked(op, i, value)

    def _name(self, op: Operation, values: Sequence[Any], first: int, count: int) -> None:
        """Name the nodes from number `first` on, and the values from number `count` on, after the operation."""
        wanted, name = self.model.wanted, self.prefix + op.name
        for i, value in enumerate(values):
            if isinstance(value, Value) and int(value.name) >= count:
                wanted.setdefault(value.name, name if i == 0 else f"{name}:{i}")
        result = values[0].name if values and isinstance(values[0], Value) else ""
        single = len(self.records) == first + 1
        for record in self.records[first:]:
            if not record.name:
                record.name = name if single or record.outputs[0] == result else f"{name}/{record.op_type}"
            for y in record.outputs:
                wanted.setdefault(y, record.name)

    def _checked(self, op: Operation, i: int, value: Any) -> Any:
        """The value with what is known of the type of the operation's output."""
        y = op.outputs[i]
        if not isinstance(value, Value):
            return value
        dtype, shape = value.type
        assert dtype == y.dtype, f"the writer of {op.type} made {value.type} for {y}"
        assert shape.is_compatible_with(y.shape), f"the writer of {op.type} made {value.type} for {y}"
        merged = shape.merge_with(y.shape)
        if merged is not shape:
            value = Value(value.name, TensorType(dtype, merged))
            if value.name not in self.model.arrays:
                self.model.types[value.name] = value.type
        return value


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
    if op.primitive.stateful or not op.outputs:
        return False
    return all(y.shape.is_fully_defined() and 0 in y.shape.known and y.dtype not in COMPLEX for y in op.outputs)


def _has_complex(op: Operation) -> Any:
    return any(y.type.dtype in COMPLEX for y in op.inputs) or any(y.type.dtype in COMPLEX for y in op.outputs)


def _traced(w: Writer, op: Operation, inputs: Sequence[Value]) -> Any:
    from .recording import record_kernel

    return record_kernel(w, op, inputs)


def _without_end(inputs: Sequence[Value | None]) -> Sequence[Value | None]:
    count = len(inputs)
    while count and inputs[count - 1] is None:
        count -= 1
    return inputs[:count]
