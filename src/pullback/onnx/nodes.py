"""ONNX nodes of a graph that is being written: each made once, and only where it does something.

Nodes are made lean at once: what small constants give is computed, equal nodes are made once, and what does nothing is
left out (`lean.py`). While a model is written a value has a number for a name; `assembly.py` gives it its own.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..core.dtypes import bool as bool_
from ..core.dtypes import int32, int64, uint64
from ..core.scopes import NOTHING
from ..core.shape import TensorShape, with_symbols
from ..core.types import TensorType
from . import lean, near_neutral, ordering
from .folding import fold
from .inference import Node, inferred
from .kernels import legal_dtypes
from .records import Model, Record, Rows, SequenceOf, Value, node_key

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


class NodeWriter:
    """Makes the nodes of one graph of the model: the main one, or the body of a node in it."""

    def __init__(self, model: Model, outer: NodeWriter | None = None) -> None:
        self.model = model
        self.outer = outer
        self.records: list[Record] = []
        self._known: defaultdict[str, dict[Any, Record]] = defaultdict(dict)
        """For each operator its nodes, by what equal ones have in common."""
        self._vectors: dict[Any, Value] = {}
        """Vectors of lengths by their elements."""
        self._of_shape: dict[Any, Value] = {}
        """The first value of each shape that only a run knows."""

    def node(
        self,
        op_type: str,
        *inputs: Value | None,
        dtype: Any = None,
        shape: Any = None,
        **attributes: Any,
    ) -> Value:
        """The output of a new node; inputs that are None are left out.

        `dtype` is by default that of the first input, or what the operator always gives; `shape` adds numbers to what
        is worked out.
        """
        given = _without_end(inputs)
        node = Node(self.model, op_type, given, attributes)
        out = _typed(given, self._dtype(node, dtype), self._shape(node, shape))
        given = lean.unexpanded(self, op_type, given)
        found = lean.simplified(self, op_type, given, attributes, out) or near_neutral.kept(self, op_type, given, out)
        if found is not None:
            return found
        elements = self.elements(node if given is node.inputs else node._replace(inputs=given), out.dtype)
        known = None if elements is None else self._vector_of(elements, out.dtype)
        if known is not None:
            return known
        made = ordering.in_order(self, op_type, given, attributes)
        if made is None:
            (made,) = self._legal(op_type, given, [out], attributes)
        if elements is not None:
            self.note_elements(made, elements)
        return made

    def nodes(
        self, op_type: str, *inputs: Value | None, dtypes: Sequence[Any], shapes: Sequence[Any], **attributes: Any
    ) -> list[Value]:
        """The outputs of a new node that has more than one, of these dtypes and shapes."""
        given = _without_end(inputs)
        node = Node(self.model, op_type, given, attributes)
        pairs = enumerate(zip(dtypes, shapes, strict=True))
        types = [TensorType(d, self._shape(node._replace(number=i), s)) for i, (d, s) in pairs]
        return self._legal(op_type, given, types, attributes)

    @staticmethod
    def _dtype(node: Node, dtype: Any) -> Any:
        if dtype is not None:
            return dtype
        if node.op_type in _TRUTHS:
            return bool_
        if node.op_type in _COUNTS:
            return int64
        if node.op_type == "Cast":
            return node.attributes["to"]
        return node.inputs[1 if node.op_type == "Where" else 0].type.dtype  # type: ignore[union-attr]

    @staticmethod
    def _shape(node: Node, shape: Any) -> TensorShape:
        """What is known of the shape of an output: what follows from the inputs, and the numbers among `shape`.

        Other lengths of `shape` may be those of a function, which stand for others at each call.
        """
        found = inferred(node)
        return found if shape is None else found.merge_with(TensorShape(shape).static)

    def elements(self, node: Node, dtype: Any) -> np.ndarray[Any, Any] | None:
        """What a node gives for constants and lengths; None where nothing of it is known."""
        if node.op_type == "Shape":
            lengths = node.lengths(0)
            bounds = node.attributes.get("start", 0), node.attributes.get("end")
            return None if lengths is None else _as_objects(lengths[slice(*bounds)])
        known = self.model.elements_of if dtype in (int32, int64) else self.static
        arrays = []
        for x in node.inputs:
            arrays.append(None if x is None else known(x))
            if x is not None and arrays[-1] is None:
                return None
        if not arrays:
            return None
        found = fold(node.op_type, arrays, node.attributes)
        return found if found is not None and found.dtype in (dtype, object) else None

    def _vector_of(self, elements: np.ndarray[Any, Any], dtype: Any) -> Value | None:
        """A constant of these elements, or a value that is known to have them."""
        if elements.dtype != object:
            return self.constant(elements)
        if all(type(n) is int for n in elements.flat):
            return self.constant(elements, dtype)
        found: Value | None = self._found("_vectors", (dtype, elements.shape, *elements.flat))
        return found

    def note_elements(self, made: Value, elements: np.ndarray[Any, Any]) -> None:
        """Remember which lengths the elements of an array of integers are."""
        self.model.elements[made.name] = elements
        if not any(n is None for n in elements.flat):
            self._vectors.setdefault((made.type.dtype, elements.shape, *elements.flat), made)

    def refined(self, x: Value, shape: TensorShape) -> Value:
        """`x`, which is known to have this shape."""
        if x.name in self.model.arrays or lean.is_of_shape(x, shape):
            return x
        found = Value(x.name, TensorType(x.type.dtype, with_symbols(shape)))
        self.model.types[x.name] = found.type
        self.note_shape(found)
        return found

    def note_shape(self, x: Value) -> None:
        """Remember that `x` has its shape, if it is the first one."""
        if not x.type.shape.is_fully_defined():
            self._of_shape.setdefault(_key(x.type.shape), x)

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
        if uint64 in given and ordering.compares(op_type, attributes):
            return self._signed(op_type, inputs, types, attributes)
        if taken != given:
            inputs = [None if x is None else self.cast(x, d) for x, d in zip(inputs, taken, strict=True)]
        if computed == made:
            return self._emit(op_type, inputs, types, attributes)
        inner = [TensorType(d, t.shape) for d, t in zip(computed, types, strict=True)]
        found = self._emit(op_type, inputs, inner, attributes)
        return [self.cast(y, t.dtype) for y, t in zip(found, types, strict=True)]

    def _signed(
        self, op_type: str, inputs: Sequence[Value | None], types: Sequence[TensorType], attributes: Mapping[str, Any]
    ) -> list[Value]:
        """What compares unsigned numbers of 64 bits compares signed ones."""
        signed = [ordering.to_signed(self, x) if x is not None and x.type.dtype == uint64 else x for x in inputs]
        inner = [TensorType(int64 if t.dtype == uint64 else t.dtype, t.shape) for t in types]
        found = self._emit(op_type, signed, inner, attributes)
        return [ordering.from_signed(self, y, t.dtype) for y, t in zip(found, types, strict=True)]

    def _emit(
        self, op_type: str, inputs: Sequence[Value | None], types: Sequence[TensorType], attributes: Mapping[str, Any]
    ) -> list[Value]:
        names = tuple(["" if x is None else x.name for x in inputs])
        key = None if op_type in _RANDOM else node_key(op_type, names, attributes, self.model.opset)
        record = None if key is None else self._equal_node(op_type, key)
        if record is None:
            record = Record(op_type, names, (), attributes or NOTHING)
            self.records.append(record)
            if key is not None:
                self._known[op_type][key] = record
        model = self.model
        found = [Value(name, model.types[name]) for name in record.outputs[: len(types)]]
        for t in types[len(found) :]:
            value = model.new(t)
            record.outputs += (value.name,)
            model.producers[value.name] = record
            self.note_shape(value)
            found.append(value)
        return found

    def _equal_node(self, op_type: str, key: Any) -> Record | None:
        """The node of this writer, or one around it, that is an equal one."""
        w: NodeWriter | None = self
        while w is not None:
            found = w._known[op_type].get(key)
            if found is not None:
                return found
            w = w.outer
        return None

    def _found(self, table: str, key: Any) -> Any:
        """What this writer, or one around it, has under a key in one of its tables."""
        w: NodeWriter | None = self
        while w is not None:
            found = getattr(w, table).get(key)
            if found is not None:
                return found
            w = w.outer
        return None

    def add_record(self, record: Record, key: Any = None) -> None:
        """Add a node that was made elsewhere."""
        self.records.append(record)
        for name in record.outputs:
            self.model.producers[name] = record
        if key is not None:
            self._known[record.op_type].setdefault(key, record)

    def further_output(self, record: Record, i: int, type: TensorType) -> Value:
        """Output `i` of a node that has been made, which so far may have been left out."""
        outputs = [*record.outputs, *[""] * (i + 1 - len(record.outputs))]
        if not outputs[i]:
            outputs[i] = self.model.new(type).name
            self.model.producers[outputs[i]] = record
            record.outputs = tuple(outputs)
        return Value(record.outputs[i], type)

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
        return self.node("Shape", self._found("_of_shape", _key(x.type.shape)) or x)

    def lengths(self, x: Value, axes: Sequence[int]) -> Value:
        """The lengths of `x` along `axes`, a vector of int64."""
        dims = x.type.shape.sizes
        if dims is not None:
            axes = [a % len(dims) for a in axes]
            if list(axes) == list(range(len(dims))):
                return self.shape(x)
        if list(axes) == list(range(axes[0], axes[0] + len(axes))) and axes[0] >= 0:
            source = self._found("_of_shape", _key(x.type.shape)) or x
            return self.node("Shape", source, start=axes[0], end=axes[-1] + 1)
        return self.gather(self.shape(x), self.vector(axes), 0)

    def cast(self, x: Value, dtype: Any) -> Value:
        """`x` in another dtype."""
        if x.type.dtype == dtype:
            return x
        return self.node("Cast", x, dtype=dtype, to=dtype)

    def reshape(self, x: Value, shape: Sequence[int | None] | Value) -> Value:
        """`x` in another shape: lengths, -1 for what is left and None for that of `x`; or a vector of int64 as ONNX
        has it, in which 0 is the length of `x`.
        """
        if isinstance(shape, Value):
            vector, exact = shape, not {-1, 0, None}.intersection(self.model.elements.get(shape.name, np.zeros(1)))
        else:
            exact = 0 in shape and -1 not in shape and None not in shape
            vector = self.vector([0 if n is None else n for n in shape])
        more = {"allowzero": 1} if exact else {}
        return self.node("Reshape", x, vector, **more)

    def reshape_to(self, x: Value, lengths: Value) -> Value:
        """`x` in the shape that a vector of int64 holds: all lengths, of which some may be 0."""
        return self.node("Reshape", x, lengths, allowzero=1)

    def transpose(self, x: Value, perm: Sequence[int]) -> Value:
        """`x` with its axes in another order."""
        return self.node("Transpose", x, perm=[int(p) for p in perm])

    def expand(self, x: Value, shape: Sequence[int] | Value) -> Value:
        """`x` repeated to a shape, by NumPy's rule."""
        return self.node("Expand", x, shape if isinstance(shape, Value) else self.vector(shape))

    def unsqueeze(self, x: Value, axes: Sequence[int]) -> Value:
        """`x` with axes of length one at `axes` of the result."""
        return self.node("Unsqueeze", x, self.vector(sorted(axes))) if axes else x

    def squeeze(self, x: Value, axes: Sequence[int]) -> Value:
        """`x` without its axes of length one at `axes`."""
        return self.node("Squeeze", x, self.vector(axes)) if axes else x

    def reduce(self, op_type: str, x: Value, axes: Sequence[int] | None, keep: Any) -> Value:
        """A reduction (ReduceSum, ReduceMax, ...) over static axes; None: all of them."""
        dims = x.type.shape.sizes
        if (axes is not None and not axes) or (axes is None and dims == ()):
            return x
        kept = {} if keep else {"keepdims": 0}
        if axes is not None and dims is not None:
            axes = [a % len(dims) for a in axes]
            axes = None if len(set(axes)) == len(dims) else axes
        listed = [] if axes is None else [self._from_the_front(axes, x)]
        return self.node(op_type, x, *listed, **kept)

    def _from_the_front(self, axes: Sequence[int], x: Value) -> Value:
        """A vector of axes of `x`: onnxruntime's reductions of no elements leave negative ones out."""
        if min(axes) >= 0:
            return self.vector(axes)
        rank = self.node("Size", self.shape(x))
        return self.concat([self.vector([a]) if a >= 0 else self.node("Add", self.vector([a]), rank) for a in axes], 0)

    def sum(self, x: Value, axes: Sequence[int] | None, keep: Any = False) -> Value:
        """The sum over axes."""
        return self.reduce("ReduceSum", x, axes, keep)

    def slice(self, x: Value, starts: Any, ends: Any, axes: Sequence[int], steps: Any = None) -> Value:
        """Parts of `x` along `axes`; `starts`, `ends` and `steps` are lists, or vectors of int64."""
        if not isinstance(starts, Value) and len(starts) == 0:
            return x
        vectors = [v if isinstance(v, Value) else self.vector(v) for v in (starts, ends)]
        stride = None if steps is None else steps if isinstance(steps, Value) else self.vector(steps)
        return self.node("Slice", x, *vectors, self.vector(axes), stride)

    def concat(self, values: Sequence[Value], axis: int) -> Value:
        """`values` one after the other along `axis`."""
        if len(values) == 1:
            return values[0]
        return self.node("Concat", *values, axis=axis)

    def gather(self, x: Value, indices: Value, axis: int = 0) -> Value:
        """Parts of `x` along `axis` by their numbers, which count from the end where they are negative."""
        if indices.type.dtype not in (int32, int64):
            indices = self.cast(indices, int64)
        return self.node("Gather", x, indices, axis=axis)

    def refuse(self, wrong: Value, x: Value) -> Value:
        """`x` [n], int64; where one of `wrong` [n] holds the runtime refuses to look up a place that is not there."""
        return self.node("Add", x, self.gather(self.vector([0]), self.cast(wrong, int64)))

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

    def handed_on(self, x: Value) -> Value:
        """`x` by a node of its own, which says what it is there for."""
        return self._emit_always("Identity", [x], [x.type])[0]

    def _emit_always(self, op_type: str, inputs: Sequence[Value], types: Sequence[TensorType]) -> list[Value]:
        outputs = [self.model.new(t) for t in types]
        self.add_record(Record(op_type, tuple([x.name for x in inputs]), tuple([y.name for y in outputs]), NOTHING))
        return outputs


def _typed(given: Sequence[Value | None], dtype: Any, shape: TensorShape) -> TensorType:
    """The type of that dtype and shape; most nodes give what is of the type of an input."""
    for x in given:
        if x is not None and x.type.shape is shape and x.type.dtype is dtype:
            return x.type
    return TensorType(dtype, shape)


def _key(shape: TensorShape) -> Any:
    """What stands for a shape: of unknown rank equal ones are one object."""
    return id(shape) if shape.lengths is None else shape.lengths


def _as_objects(elements: Sequence[Any]) -> np.ndarray[Any, Any]:
    """A vector of integers and lengths."""
    found = np.empty(len(elements), object)
    found[:] = elements
    return found


def _without_end(inputs: Sequence[Value | None]) -> Sequence[Value | None]:
    count = len(inputs)
    while count and inputs[count - 1] is None:
        count -= 1
    return inputs[:count]
