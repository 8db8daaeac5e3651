"""Complex numbers in ONNX: kernels as nodes, where a complex value is a pair of real ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core.dtypes import COMPLEX, int64, real_dtype
from ..core.dtypes import bool as bool_
from ..core.types import TensorType, tensor_type
from .namespace import Namespace
from .records import Value
from .tracing import Traced, TracedComplex, as_traced
from .writing import Writer


@dataclass(frozen=True, slots=True)
class Pair:
    """The real and the imaginary part of a complex value of the graph."""

    re: Value
    im: Value

    @property
    def type(self) -> Any:
        """The type of the complex value."""
        dtype = np.complex64 if self.re.type.dtype == np.float32 else np.complex128
        return tensor_type(dtype, self.re.type.shape)


def parts(values: Sequence[Any]) -> list[Value]:
    """`values` as a node has them: complex ones are two."""
    return [part for v in values for part in ((v.re, v.im) if isinstance(v, Pair) else (v,))]


def part_types(types: Sequence[TensorType]) -> list[TensorType]:
    """The types of the parts of values of these types."""
    return [TensorType(real_dtype(t.dtype), t.shape) for t in types for _ in range(2 if t.dtype in COMPLEX else 1)]


def grouped(values: Sequence[Value], types: Sequence[TensorType]) -> list[Any]:
    """Values of these types from their parts."""
    rest = iter(values)
    return [Pair(next(rest), next(rest)) if t.dtype in COMPLEX else next(rest) for t in types]


def as_array(w: Writer, value: Value | Pair) -> Any:
    """The traced array of a value."""
    if isinstance(value, Pair):
        return TracedComplex(Traced(w, value.re), Traced(w, value.im))
    return Traced(w, value)


def as_value(w: Writer, x: Any, dtype: Any) -> Value | Pair:
    """The value, or the pair of them, of an array."""
    traced = as_traced(w, x, dtype)
    return Pair(traced.re.value, traced.im.value) if isinstance(traced, TracedComplex) else traced.value


def trace_kernel(w: Writer, inputs: Sequence[Any]) -> list[Any]:
    """The outputs of the operation that is written, by tracing its kernel."""
    made = w.op.primitive.kernel(Namespace(w), *[as_array(w, v) for v in inputs])
    values = made if isinstance(made, tuple | list) else (made,)
    return [as_value(w, value, output.dtype) for value, output in zip(values, w.op.outputs, strict=True)]


def repeated(w: Writer, times: Any, step: Callable[..., Sequence[Any]], *arrays: Any) -> list[Any]:
    """`step(xp, *arrays)`, which gives new arrays of the same shapes, done `times` times: a loop in the model.

    It must read no other traced arrays.
    """
    flat: list[Value] = []
    for x in arrays:
        flat += [x.re.value, x.im.value] if isinstance(x, TracedComplex) else [x.value]
    types = [v.type for v in flat]

    def build(inner: Writer, number: Value, going: Value, *values: Value) -> list[Value]:
        del number
        made = step(Namespace(inner), *_gathered(inner, values, arrays))
        parts: list[Value] = []
        for x, old in zip(made, arrays, strict=True):
            new = as_traced(inner, x, old.dtype)
            parts += [new.re.value, new.im.value] if isinstance(new, TracedComplex) else [new.value]
        return [going, *parts]

    body = w.body(build, [tensor_type(int64, []), tensor_type(bool_, []), *types], ["step", "going"])
    count = times.value if isinstance(times, Traced) else w.constant(np.asarray(times, int64))
    found = w.emit("Loop", [count, w.constant(np.asarray(True)), *flat], types, {"body": body})
    return _gathered(w, found, arrays)


def _gathered(w: Writer, values: Sequence[Value], like: Sequence[Any]) -> list[Any]:
    """Arrays of `values`, of which the complex ones of `like` have two."""
    rest, found = iter(values), []
    for x in like:
        first = Traced(w, next(rest))
        found.append(TracedComplex(first, Traced(w, next(rest))) if isinstance(x, TracedComplex) else first)
    return found


def paired_type(type: Any) -> Any:
    """The type of complex numbers as real ones with a last axis of two."""
    part = np.float32 if type.dtype == np.complex64 else np.float64
    return tensor_type(np.dtype(part), type.shape.concatenate([2]))


def split_pair(w: Writer, x: Value) -> Pair:
    """The parts of complex numbers that come as a last axis of two."""
    axis = -1 if x.type.shape.rank is None else x.type.shape.rank - 1
    re, im = [w.gather(x, w.constant(np.asarray(i, int64)), axis) for i in range(2)]
    return Pair(re, im)


def joined_pair(w: Writer, pair: Pair) -> Value:
    """Complex numbers as real ones with a last axis of two."""
    rank = pair.re.type.shape.rank
    axis = -1 if rank is None else rank
    return w.concat([w.unsqueeze(part, [axis]) for part in (pair.re, pair.im)], axis)
