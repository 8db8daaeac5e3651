"""What makes graphs lean while they are written: nodes that would do nothing are left out, shapes are known early."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.dtypes import bfloat16, float16, float32, float64
from ..core.shape import TensorShape, broadcast_static_shape
from ..core.types import TensorType
from .dimensions import lengths_of
from .operators import BROADCASTING, UNARY

if TYPE_CHECKING:
    from .records import Record, Value
    from .writing import Writer

Attributes = Mapping[str, Any]


def inferred_shape(op_type: str, inputs: Sequence[Value | None]) -> TensorShape:
    """What is known of the shape of a node's only output."""
    first = inputs[0] if inputs else None
    if op_type in UNARY and first is not None:
        return first.type.shape
    if op_type in BROADCASTING:
        shape = TensorShape.SCALAR
        for x in inputs:
            if x is not None and x.type.shape is not shape:
                shape = broadcast_static_shape(shape, x.type.shape) if shape.rank != 0 else x.type.shape
        return shape
    if op_type in ("Range", "Shape"):
        return TensorShape([None])
    return TensorShape.SCALAR if op_type == "Size" else TensorShape.UNKNOWN


def note_shape(w: Writer, op_type: str, inputs: Sequence[Value | None], made: Value) -> None:
    """Remember which earlier value has the shape of `made`."""
    if made.type.shape.is_fully_defined():
        return
    root = None
    if op_type in UNARY and inputs[0] is not None:
        root = inputs[0].name
    elif op_type in ("Expand", "Reshape") and inputs[1] is not None:
        root = shaping(w, inputs[1])
    elif op_type in BROADCASTING:
        given = [x for x in inputs if x is not None]
        root = next((x.name for x in given if all(covers(w, x, y) for y in given)), None)
    if root is not None:
        w.model.roots[made.name] = w.model.root(root)


def note_normalised(w: Writer, record: Record, inputs: Sequence[Value | None]) -> None:
    """Remember that a LayerNormalization can give the mean of its input, and one over the deviation."""
    x, attributes = inputs[0], record.attributes
    if x is None or x.type.dtype != float32 or x.type.shape.rank is None or attributes.get("stash_type", 1) != 1:
        return
    axis = attributes.get("axis", -1) % x.type.shape.rank
    w.model.normalised[x.name, axis, float(np.float32(attributes.get("epsilon", 1e-5)))] = record


def shaping(w: Writer, vector: Value) -> str | None:
    """The value whose whole shape `vector` is, or None."""
    record = w.model.producers.get(vector.name)
    if record is None or record.op_type != "Shape" or record.attributes:
        return None
    return record.inputs[0]


def same_shape(w: Writer, a: Value, b: Value) -> bool:
    """Whether both are known to have one shape."""
    if a.type.shape.is_fully_defined() and a.type.shape == b.type.shape:
        return True
    if w.model.root(a.name) == w.model.root(b.name):
        return True
    known = lengths_of(w.model, a.name)
    return known is not None and known == lengths_of(w.model, b.name)


def covers(w: Writer, x: Value, y: Value) -> bool:
    """Whether `x` keeps its shape when `y` is broadcast beside it."""
    if x is y or same_shape(w, x, y):
        return True
    if y.type.shape.rank == 0:
        return True
    mine, other = lengths_of(w.model, x.name), lengths_of(w.model, y.name)
    if mine is None or other is None or len(other) > len(mine):
        return False
    return all(n in (1, m) for m, n in zip(mine[len(mine) - len(other) :], other, strict=True))


def uniform(w: Writer, x: Value) -> Any:
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


Rule = Callable[["Writer", Sequence[Any], Attributes, TensorType], "Value | None"]


def simplified(
    w: Writer, op_type: str, inputs: Sequence[Value | None], attributes: Attributes, out: TensorType
) -> Value | None:
    """What stands for a node that would do nothing; None where it does something."""
    rule = _RULES.get(op_type)
    return None if rule is None else rule(w, inputs, attributes, out)


def unexpanded(w: Writer, op_type: str, inputs: Sequence[Value | None]) -> Sequence[Value | None]:
    """`inputs` of an elementwise node, without expansions that broadcasting makes anyway."""
    if op_type not in BROADCASTING or len(inputs) < 2:
        return inputs
    found = list(inputs)
    for i, x in enumerate(found):
        record = None if x is None else w.model.producers.get(x.name)
        if x is None or record is None or record.op_type != "Expand":
            continue
        if any(y is not None and y is not x and same_shape(w, x, y) for y in found):
            name = record.inputs[0]
            found[i] = _value(w, name)
    return found


def _value(w: Writer, name: str) -> Value:
    from .records import Value

    return Value(name, w.model.types[name])


def _record(w: Writer, x: Value, op_type: str) -> Record | None:
    record = w.model.producers.get(x.name)
    return record if record is not None and record.op_type == op_type else None


def _neutral(number: float, *, right_only: bool = False) -> Rule:
    def rule(w: Writer, inputs: Sequence[Value], attributes: Attributes, out: TensorType) -> Value | None:
        del attributes
        x, y = inputs
        if y.type.dtype == out.dtype and uniform(w, y) == number and covers(w, x, y):
            return x
        if not right_only and uniform(w, x) == number and covers(w, y, x):
            return y
        return None

    return rule


def _add(w: Writer, inputs: Sequence[Value], attributes: Attributes, out: TensorType) -> Value | None:
    found = _neutral(0)(w, inputs, attributes, out)
    if found is not None:
        return found
    for i, x in enumerate(inputs):
        record = _record(w, x, "Neg")
        if record is not None:
            result: Value = w.node("Sub", inputs[1 - i], _value(w, record.inputs[0]), shape=out.shape)
            return result
    return _twice(w, inputs, out)


def _twice(w: Writer, inputs: Sequence[Value], out: TensorType) -> Value | None:
    """The sum of a multiple with itself: another multiple."""
    record = _record(w, inputs[0], "Mul")
    if record is None or inputs[0].name != inputs[1].name or out.dtype not in (float32, float64):
        return None
    factors = [_value(w, name) for name in record.inputs]
    for i, x in enumerate(factors):
        number = uniform(w, x)
        if number is not None and x.name in w.model.arrays and x.type.shape.rank == 0:
            result: Value = w.node("Mul", w.scalar(2 * number, x), factors[1 - i], shape=out.shape)
            return result
    return None


def _sub(w: Writer, inputs: Sequence[Value], attributes: Attributes, out: TensorType) -> Value | None:
    found = _neutral(0, right_only=True)(w, inputs, attributes, out)
    if found is not None:
        return found
    record = _record(w, inputs[1], "Neg")
    if record is None:
        return None
    result: Value = w.node("Add", inputs[0], _value(w, record.inputs[0]), shape=out.shape)
    return result


def _mul(w: Writer, inputs: Sequence[Value], attributes: Attributes, out: TensorType) -> Value | None:
    found = _neutral(1)(w, inputs, attributes, out)
    if found is not None:
        return found
    for i, x in enumerate(inputs):
        if uniform(w, x) == -1 and covers(w, inputs[1 - i], x) and out.dtype.kind != "u":
            result: Value = w.node("Neg", inputs[1 - i])
            return result
    return None


def _neg(w: Writer, inputs: Sequence[Value], attributes: Attributes, out: TensorType) -> Value | None:
    del attributes, out
    record = _record(w, inputs[0], "Neg")
    return None if record is None else _value(w, record.inputs[0])


def _identity(w: Writer, inputs: Sequence[Value], attributes: Attributes, out: TensorType) -> Value | None:
    del w, attributes, out
    return inputs[0]


def _transpose(w: Writer, inputs: Sequence[Value], attributes: Attributes, out: TensorType) -> Value | None:
    x, perm = inputs[0], list(attributes["perm"])
    if perm == list(range(len(perm))):
        return x
    record = _record(w, x, "Transpose")
    if record is not None:
        first = record.attributes.get("perm") or list(reversed(range(len(perm))))
        return w.transpose(_value(w, record.inputs[0]), [first[p] for p in perm])
    dims = x.type.shape.dims
    if dims is not None and None not in dims and 0 not in dims:
        moved = [p for p in perm if dims[p] != 1]
        if moved == sorted(moved):
            return w.reshape(x, out.shape.known)
    return None


def _reshape(w: Writer, inputs: Sequence[Value], attributes: Attributes, out: TensorType) -> Value | None:
    x, vector = inputs
    exact = attributes.get("allowzero", 0)
    if x.type.shape.is_fully_defined() and x.type.shape == out.shape:
        return x
    root = shaping(w, vector)
    if root is not None and w.model.root(root) == w.model.root(x.name):
        return x
    shape = w.static(vector)
    zeros = shape is not None and (shape == 0).any()
    if shape is not None and not (zeros and exact) and _keeps(x.type.shape, shape):
        return x
    record = _record(w, x, "Reshape")
    if record is None or (zeros and not exact and not out.shape.is_fully_defined()):
        return None
    source = _value(w, record.inputs[0])
    if zeros and not exact:
        found: Value = w.reshape(source, out.shape.known)
        return found
    result: Value = w.node("Reshape", source, vector, shape=out.shape, **attributes)
    return result


def _keeps(own: TensorShape, shape: np.ndarray[Any, Any]) -> bool:
    """Whether a reshape to `shape` keeps each length: all but one are the same, or copied."""
    if own.rank != len(shape):
        return False
    dims = own.as_list()
    unequal = [n for m, n in zip(dims, shape.tolist(), strict=True) if n != 0 and n != m]
    return not unequal or (unequal == [-1] and 0 not in dims)


def _cast(w: Writer, inputs: Sequence[Value], attributes: Attributes, out: TensorType) -> Value | None:
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


def _expand(w: Writer, inputs: Sequence[Value], attributes: Attributes, out: TensorType) -> Value | None:
    del attributes
    x, vector = inputs
    if x.type.shape.is_fully_defined() and x.type.shape == out.shape:
        return x
    shape = w.static(vector)
    if shape is not None and (shape == 1).all() and x.type.shape.rank is not None and x.type.shape.rank >= len(shape):
        return x
    root = shaping(w, vector)
    if root is not None and w.model.root(root) == w.model.root(x.name):
        return x
    record = _record(w, x, "Expand")
    if record is None or not out.shape.is_fully_defined():
        return None
    result: Value = w.node("Expand", _value(w, record.inputs[0]), vector, shape=out.shape)
    return result


def _not(w: Writer, inputs: Sequence[Value], attributes: Attributes, out: TensorType) -> Value | None:
    del attributes, out
    record = _record(w, inputs[0], "Not")
    return None if record is None else _value(w, record.inputs[0])


def _of_one(w: Writer, inputs: Sequence[Value], attributes: Attributes, out: TensorType) -> Value | None:
    """Variadic operators of one operand."""
    del w, attributes, out
    return inputs[0] if len(inputs) == 1 else None


def _reduced(w: Writer, inputs: Sequence[Value], attributes: Attributes, out: TensorType) -> Value | None:
    """Sums over axes that all have length one."""
    x = inputs[0]
    if not x.type.shape.is_fully_defined() or not out.shape.is_fully_defined() or len(inputs) < 2:
        return None
    if x.type.shape.num_elements() != out.shape.num_elements() or attributes.get("noop_with_empty_axes"):
        return None
    if 0 in out.shape.known:
        return None
    return w.reshape(x, out.shape.known)


_RULES: dict[str, Rule] = {
    "Add": _add,
    "Cast": _cast,
    "Div": _neutral(1, right_only=True),
    "Expand": _expand,
    "Identity": _identity,
    "Max": _of_one,
    "Min": _of_one,
    "Mul": _mul,
    "Neg": _neg,
    "Not": _not,
    "Pow": _neutral(1, right_only=True),
    "ReduceSum": _reduced,
    "Reshape": _reshape,
    "Sub": _sub,
    "Transpose": _transpose,
}


def reshaped(w: Writer, x: Value, vector: Value, result: Any, exact: bool = False) -> TensorShape:
    """What is known of the shape after a reshape; with `exact` a length of 0 is one."""
    known = TensorShape(result) if not isinstance(result, TensorShape) else result
    shape = w.static(vector)
    if shape is None:
        root = shaping(w, vector)
        own = w.model.types[root].shape if root is not None else TensorShape.UNKNOWN
        if own.rank is None:
            length = vector.type.shape.dims
            own = TensorShape([None] * length[0]) if length and length[0] is not None else own
        return own.merge_with(known)
    if exact:
        return TensorShape(shape.tolist()).merge_with(known)
    dims = x.type.shape.dims
    lengths: list[int | None] = []
    for i, n in enumerate(shape.tolist()):
        lengths.append(n if n > 0 else None if n < 0 or dims is None or i >= len(dims) else dims[i])
    size = x.type.shape.num_elements()
    rest = TensorShape([n for n in lengths if n is not None]).num_elements()
    if size is not None and lengths.count(None) == 1 and rest:
        lengths = [size // rest if n is None else n for n in lengths]
    return TensorShape(lengths).merge_with(known)


def sliced(w: Writer, x: Value, starts: Value, ends: Value, axes: Sequence[int], steps: Value | None) -> Any:
    """The lengths of a slice as far as they are known; None where not even the rank is."""
    if x.type.shape.dims is None:
        return None
    dims: list[int | None] = list(x.type.shape.dims)
    given = [w.static(v) for v in (starts, ends)]
    strides = None if steps is None else w.static(steps)
    for i, axis in enumerate(axes):
        n = dims[axis]
        unknown = (
            n is None or None in [None if g is None else 0 for g in given] or (steps is not None and strides is None)
        )
        if unknown:
            dims[axis] = None
            continue
        step = 1 if strides is None else int(strides[i])
        a, b = int(given[0][i]), int(given[1][i])  # type: ignore[index]
        assert n is not None
        a, b = a + n if a < 0 else a, b + n if b < 0 else b
        if step > 0:
            dims[axis] = len(range(min(max(a, 0), n), min(max(b, 0), n), step))
        else:
            dims[axis] = len(range(min(max(a, 0), n - 1), min(max(b, -1), n - 1), step))
    return dims


def concatenated(values: Sequence[Value], axis: int) -> Any:
    """The lengths of a concatenation as far as they are known."""
    shapes = [v.type.shape.dims for v in values]
    known = [dims for dims in shapes if dims is not None]
    if not known:
        return None
    place = axis % len(known[0])
    columns = zip(*known, strict=True)
    lengths = [next((n for n in column if n is not None), None) for column in columns]
    along = [None if dims is None else dims[place] for dims in shapes]
    lengths[place] = None if None in along else sum([n for n in along if n is not None])
    return lengths
