"""Peephole optimisation of ONNX graphs while they are written: nodes that would do nothing are left out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core import shape as shapes
from ..core.dtypes import bfloat16, float16, float32, float64
from ..core.shape import TensorShape, fit
from ..core.types import TensorType
from .operators import BROADCASTING

if TYPE_CHECKING:
    from .nodes import NodeWriter
    from .records import Record, Value

Attributes = Mapping[str, Any]


def note_normalised(w: NodeWriter, record: Record, inputs: Sequence[Value | None]) -> None:
    """Remember that a LayerNormalization can give the mean of its input, and one over the deviation."""
    x, attributes = inputs[0], record.attributes
    if x is None or x.type.dtype != float32 or x.type.shape.rank is None or attributes.get("stash_type", 1) != 1:
        return
    axis = attributes.get("axis", -1) % x.type.shape.rank
    w.model.normalised[x.name, axis, float(np.float32(attributes.get("epsilon", 1e-5)))] = record


def same_shape(x: Value, y: Value) -> bool:
    """Whether two values are known to have one shape."""
    return is_of_shape(x, y.type.shape)


def is_of_shape(x: Value, shape: TensorShape) -> bool:
    """Whether a value is known to have that shape; of unknown rank it is one object for each that may be another."""
    return x.type.shape is shape or shapes.same_shape(x.type.shape, shape)


def covers(x: Value, y: Value) -> bool:
    """Whether `x` keeps its shape when `y` is broadcast beside it."""
    mine, other = x.type.shape.lengths, y.type.shape.lengths
    if x is y or other == ():
        return True
    if mine is None or other is None or len(other) > len(mine):
        return False
    return all(n == 1 or fit(m, n) for m, n in zip(mine[len(mine) - len(other) :], other, strict=True))


def uniform(w: NodeWriter, x: Value) -> Any:
    """The number that all elements of `x` are; None where they are not, or that is not known."""
    seen = x.name
    record = w.model.producers.get(seen)
    while record is not None and record.op_type in ("Expand", "Reshape"):
        seen = record.inputs[0]
        record = w.model.producers.get(seen)
    if record is not None or seen not in w.model.arrays:
        return None
    if seen not in w.model.uniform:
        w.model.uniform[seen] = _same_everywhere(w.model.arrays[seen])
    return w.model.uniform[seen]


def _same_everywhere(array: np.ndarray[Any, Any]) -> Any:
    flat = array.reshape(-1)
    return flat[0].item() if flat.size and flat.size <= 1024 and (flat == flat[0]).all() else None


Rule = Callable[["NodeWriter", Sequence[Any], Attributes, TensorType], "Value | None"]


def simplified(
    w: NodeWriter, op_type: str, inputs: Sequence[Value | None], attributes: Attributes, out: TensorType
) -> Value | None:
    """What stands for a node that would do nothing; None where it does something."""
    rule = _RULES.get(op_type)
    return None if rule is None else rule(w, inputs, attributes, out)


def unexpanded(w: NodeWriter, op_type: str, inputs: Sequence[Value | None]) -> Sequence[Value | None]:
    """`inputs` of an elementwise node, without expansions that broadcasting makes anyway."""
    if len(inputs) < 2 or op_type not in BROADCASTING:
        return inputs
    producers = w.model.producers
    found: Sequence[Value | None] = inputs
    for i, x in enumerate(inputs):
        record = None if x is None else producers.get(x.name)
        if x is None or record is None or record.op_type != "Expand":
            continue
        if any(y is not None and y is not x and same_shape(x, y) for y in found):
            found = [*found[:i], _value(w, record.inputs[0]), *found[i + 1 :]]
    return found


def _value(w: NodeWriter, name: str) -> Value:
    from .records import Value

    return Value(name, w.model.types[name])


def _record(w: NodeWriter, x: Value, op_type: str) -> Record | None:
    record = w.model.producers.get(x.name)
    return record if record is not None and record.op_type == op_type else None


def _one_left(numbers: Sequence[Any], neutral: float, inputs: Sequence[Value], out: TensorType) -> Value | None:
    """The operand that is the result, as the other is of a neutral number; `numbers` are what the operands are of."""
    x, y = inputs
    if numbers[1] == neutral and y.type.dtype == out.dtype and covers(x, y):
        return x
    return y if numbers[0] == neutral and covers(y, x) else None


def _right_neutral(number: float) -> Rule:
    def rule(w: NodeWriter, inputs: Sequence[Value], attributes: Attributes, out: TensorType) -> Value | None:
        del attributes
        return _one_left((None, uniform(w, inputs[1])), number, inputs, out)

    return rule


def _add(w: NodeWriter, inputs: Sequence[Value], attributes: Attributes, out: TensorType) -> Value | None:
    del attributes
    found = _one_left([uniform(w, x) for x in inputs], 0, inputs, out)
    if found is not None:
        return found
    for i, x in enumerate(inputs):
        record = _record(w, x, "Neg")
        if record is not None:
            result: Value = w.node("Sub", inputs[1 - i], _value(w, record.inputs[0]))
            return result
    return _twice(w, inputs, out)


def _twice(w: NodeWriter, inputs: Sequence[Value], out: TensorType) -> Value | None:
    """The sum of a multiple with itself: another multiple."""
    record = _record(w, inputs[0], "Mul")
    if record is None or inputs[0].name != inputs[1].name or out.dtype not in (float32, float64):
        return None
    factors = [_value(w, name) for name in record.inputs]
    for i, x in enumerate(factors):
        number = uniform(w, x)
        if number is not None and x.name in w.model.arrays and x.type.shape.rank == 0:
            result: Value = w.node("Mul", w.scalar(2 * number, x), factors[1 - i])
            return result
    return None


def _sub(w: NodeWriter, inputs: Sequence[Value], attributes: Attributes, out: TensorType) -> Value | None:
    del attributes
    found = _one_left((None, uniform(w, inputs[1])), 0, inputs, out)
    if found is not None:
        return found
    record = _record(w, inputs[1], "Neg")
    if record is None:
        return None
    result: Value = w.node("Add", inputs[0], _value(w, record.inputs[0]))
    return result


def _mul(w: NodeWriter, inputs: Sequence[Value], attributes: Attributes, out: TensorType) -> Value | None:
    del attributes
    numbers = [uniform(w, x) for x in inputs]
    found = _one_left(numbers, 1, inputs, out)
    if found is not None:
        return found
    for i, x in enumerate(inputs):
        if numbers[i] == -1 and covers(inputs[1 - i], x) and out.dtype.kind != "u":
            result: Value = w.node("Neg", inputs[1 - i])
            return result
    return _of_numbers(w, numbers, inputs, out)


def _of_numbers(w: NodeWriter, numbers: Sequence[Any], inputs: Sequence[Value], out: TensorType) -> Value | None:
    """The product of two numbers, repeated: one number, repeated."""
    if None in numbers or out.dtype not in (float32, float64):
        return None
    for i, x in enumerate(inputs):
        record = _record(w, x, "Expand")
        if record is not None and covers(x, inputs[1 - i]):
            repeats = _value(w, record.inputs[1])
            result: Value = w.node("Expand", w.scalar(numbers[0] * numbers[1], x), repeats, shape=out.shape)
            return result
    return None


def _neg(w: NodeWriter, inputs: Sequence[Value], attributes: Attributes, out: TensorType) -> Value | None:
    del attributes, out
    record = _record(w, inputs[0], "Neg")
    return None if record is None else _value(w, record.inputs[0])


def _identity(w: NodeWriter, inputs: Sequence[Value], attributes: Attributes, out: TensorType) -> Value | None:
    del w, attributes, out
    return inputs[0]


def _transpose(w: NodeWriter, inputs: Sequence[Value], attributes: Attributes, out: TensorType) -> Value | None:
    if "perm" not in attributes:
        return None
    x, perm = inputs[0], list(attributes["perm"])
    if perm == list(range(len(perm))):
        return x
    record = _record(w, x, "Transpose")
    if record is not None:
        first = record.attributes.get("perm") or list(reversed(range(len(perm))))
        return w.transpose(_value(w, record.inputs[0]), [first[p] for p in perm])
    dims = x.type.shape.sizes
    if dims is not None and None not in dims and 0 not in dims:
        moved = [p for p in perm if dims[p] != 1]
        if moved == sorted(moved):
            return w.reshape(x, out.shape.known)
    return None


def _reshape(w: NodeWriter, inputs: Sequence[Value], attributes: Attributes, out: TensorType) -> Value | None:
    x, vector = inputs
    if is_of_shape(x, out.shape):
        return x
    shape = w.static(vector)
    zeros = shape is not None and (shape == 0).any() and not attributes.get("allowzero", 0)
    record = _record(w, x, "Reshape")
    if record is None or (zeros and not out.shape.is_fully_defined()):
        return None
    source = _value(w, record.inputs[0])
    if zeros:
        found: Value = w.reshape(source, out.shape.known)
        return found
    result: Value = w.node("Reshape", source, vector, shape=out.shape, **attributes)
    return result


def _cast(w: NodeWriter, inputs: Sequence[Value], attributes: Attributes, out: TensorType) -> Value | None:
    x = inputs[0]
    if x.type.dtype == attributes["to"]:
        return x
    record = _record(w, x, "Cast")
    if record is None:
        return None
    source = _value(w, record.inputs[0])
    if not _holds(x.type.dtype, source.type.dtype):
        return None
    return w.cast(source, attributes["to"])


def _holds(wide: Any, narrow: Any) -> bool:
    """Whether `wide` holds all numbers of `narrow`."""
    order = [float16, float32, float64]
    if narrow == bfloat16:
        return wide in (float32, float64)
    if narrow in order and wide in order:
        return order.index(narrow) <= order.index(wide)
    if narrow.kind == "b":
        return True
    return narrow.kind in "iu" and wide.kind in "iuf" and bool(np.can_cast(narrow, wide))


def _expand(w: NodeWriter, inputs: Sequence[Value], attributes: Attributes, out: TensorType) -> Value | None:
    del attributes
    x, vector = inputs
    if is_of_shape(x, out.shape):
        return x
    record = _record(w, x, "Expand")
    if record is None or not out.shape.is_fully_defined():
        return None
    result: Value = w.node("Expand", _value(w, record.inputs[0]), vector, shape=out.shape)
    return result


def _not(w: NodeWriter, inputs: Sequence[Value], attributes: Attributes, out: TensorType) -> Value | None:
    del attributes, out
    record = _record(w, inputs[0], "Not")
    return None if record is None else _value(w, record.inputs[0])


def _of_one(w: NodeWriter, inputs: Sequence[Value], attributes: Attributes, out: TensorType) -> Value | None:
    """Variadic operators of one operand."""
    del w, attributes, out
    return inputs[0] if len(inputs) == 1 else None


def _reduced(w: NodeWriter, inputs: Sequence[Value], attributes: Attributes, out: TensorType) -> Value | None:
    """Sums over axes that all have length one."""
    x = inputs[0]
    if not x.type.shape.is_fully_defined() or not out.shape.is_fully_defined() or len(inputs) < 2:
        return None
    if x.type.shape.num_elements() != out.shape.num_elements() or attributes.get("noop_with_empty_axes"):
        return None
    if 0 in out.shape.known:
        return None
    return w.reshape(x, out.shape.known)


def _matmul(w: NodeWriter, inputs: Sequence[Value], attributes: Attributes, out: TensorType) -> Value | None:
    """Zeros where nothing is added up: onnxruntime does not repeat a stack of one such matrix."""
    del attributes
    if not out.shape.is_fully_defined() or 0 not in (inputs[0].type.shape.sizes or ())[-1:]:
        return None
    result: Value = w.expand(w.constant(np.zeros((), out.dtype)), out.shape.known)
    return result


_RULES: dict[str, Rule] = {
    "Add": _add,
    "Cast": _cast,
    "Div": _right_neutral(1),
    "Expand": _expand,
    "Identity": _identity,
    "MatMul": _matmul,
    "Max": _of_one,
    "Min": _of_one,
    "Mul": _mul,
    "Neg": _neg,
    "Not": _not,
    "Pow": _right_neutral(1),
    "ReduceSum": _reduced,
    "Reshape": _reshape,
    "Sub": _sub,
    "Transpose": _transpose,
}
