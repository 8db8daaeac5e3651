"""Elementwise primitives: what all share, one dtype, NumPy's broadcasting, and the chain rule."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import cache, lru_cache, partial, wraps
from typing import Any, ClassVar

import numpy as np

from ...core.dtypes import DType, bfloat16, dtype_name, float16, float32
from ...core.dtypes import bool as bool_
from ...core.graph import Graph
from ...core.lengths import Dimension
from ...core.operation import AbstractTensorLike, Operation, Tensor
from ...core.primitive import ZERO, Primitive, no_gradient
from ...core.shape import TensorShape, broadcast_static_shape, same_length
from ...core.slices import IndexedSlices
from ...core.traits import ELEMENTWISE, Trait
from ...core.types import TensorType
from ..creation.constant import Const, as_array, convert_to_tensor, is_python_number
from ..reduction.sum import Sum, sum_like
from ..shape.reshape import reshape_like

_LITERALS = (int, float, complex, bool, np.ndarray, np.generic)
Entry = Any
"""One entry of a gradient: a Tensor, an IndexedSlices, None, or a function of no arguments that returns one."""


class AbstractElementwise(Primitive):
    """A function of each element. A subclass states `kernel` and `partials`.

    Each is holomorphic in all its inputs, but those of `complex.py`: `partials` conjugates what it multiplies with.
    """

    traits: ClassVar[tuple[Trait, ...]] = (ELEMENTWISE,)
    function: ClassVar[str] = ""
    """The name of the user's function, for messages; the op type in small letters where it is empty."""
    dtypes: ClassVar[frozenset[DType] | None] = None
    """The dtypes it takes; None where it takes all."""

    def infer(self, *types: TensorType) -> tuple[TensorType, ...]:
        check_count(self, len(types))
        first = types[0]
        if types[-1] is first and len(types) < 3 and (self.dtypes is None or first.dtype in self.dtypes):
            return (first,)
        return (infer_elementwise(self, types),)

    def partials(self, dy: Tensor, y: Tensor, /, *xs: Any, **_: Any) -> Sequence[Entry]:
        """`dy` times the (conjugate) derivative by each input, before broadcasting is undone."""
        raise LookupError(f"No gradient defined for operation'{y.op.name}' (op type: {self.type}).")

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Entry]:
        y = op.result
        assert type(y) is Tensor
        xs = op.inputs
        entries = self.partials(dy, y, *xs)
        if len(xs) == 1 or _all_of_shape(xs, y.type.shape):
            return entries
        return [undo_broadcast(entry, i, op) for i, entry in enumerate(entries)]


class AbstractPredicate(Primitive):
    """A yes or no for each element or pair of elements."""

    traits: ClassVar[tuple[Trait, ...]] = (ELEMENTWISE,)
    function: ClassVar[str] = ""
    dtypes: ClassVar[frozenset[DType] | None] = None

    def infer(self, *types: TensorType) -> tuple[TensorType, ...]:
        check_count(self, len(types))
        return (TensorType(bool_, infer_elementwise(self, types).shape),)

    gradient = no_gradient


def check_count(primitive: Primitive, count: int) -> None:
    """TypeError where an elementwise primitive does not take so many inputs."""
    wanted = _operand_count(type(primitive))  # type: ignore[arg-type]
    if count != wanted and (wanted is not None or not count):
        raise TypeError(f"{_function(primitive)}: it takes {wanted or 'one or more'} inputs, not {count}")


@cache
def _operand_count(cls: type[Primitive]) -> int | None:
    """How many inputs the kernel or the derivative takes; None for any number."""
    given = [(cls.kernel, 2), *([(cls.partials, 3)] if issubclass(cls, AbstractElementwise) else [])]
    for function, before in given:
        parameters = list(inspect.signature(function).parameters.values())[before:]
        if not any(p.kind is p.VAR_POSITIONAL for p in parameters):
            return len(parameters)
    return None


def _all_of_shape(xs: Sequence[Tensor], shape: TensorShape) -> bool:
    """Whether all of `xs` are known to have `shape`, so that nothing is broadcast."""
    for x in xs:
        own = x.type.shape
        if own is not shape and own.lengths != shape.lengths:
            return False
    return shape.lengths is not None


def infer_elementwise(primitive: Any, types: Sequence[TensorType]) -> TensorType:
    """The type of an elementwise result; raises where dtypes differ or shapes do not broadcast."""
    result = first = types[0]
    for other in types:
        if other is result:
            continue
        if other[0] != first[0]:
            raise TypeError(f"{_function(primitive)}: dtypes differ: {_listed(types)}; convert one with pb.cast")
        try:
            shape = broadcast_static_shape(result[1], other[1])
        except ValueError:
            listed = _listed(types)
            raise ValueError(f"{_function(primitive)}: shapes do not broadcast together: {listed}") from None
        if shape is not result[1]:
            result = other if shape is other[1] else TensorType(first[0], shape)
    if primitive.dtypes is not None and first[0] not in primitive.dtypes:
        wanted = ", ".join(sorted(d.name for d in primitive.dtypes))
        raise TypeError(
            f"{_function(primitive)}: '{_first_argument(primitive)}' has DataType {dtype_name(first.dtype)} "
            f"not in list of allowed values: {wanted}; found {_listed(types)}"
        )
    return result


def _function(primitive: Any) -> str:
    return str(primitive.function or primitive.type.lower())


def _first_argument(primitive: Any) -> str:
    """Its name in the public function, which is that in the kernel."""
    _, name, *_ = inspect.signature(primitive.kernel).parameters
    return name


def _listed(types: Sequence[TensorType]) -> str:
    return " and ".join(map(str, types))


def undo_broadcast(entry: Entry, i: int, op: Operation) -> Entry:
    """`entry` summed over the axes along which input `i` of `op` was broadcast; as it is where that is none."""
    if entry is None or entry is ZERO:
        return entry
    x = op.inputs[i]
    axes = repeated_axes(x, op.inputs)
    if axes == ((), ()):
        return entry
    return partial(_sum_over, entry, x, axes)


def repeated_axes(x: Tensor, operands: Sequence[Tensor]) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    """The axes of the result along which `x` was repeated: those it lacks, those where it has length one.

    None where that depends on lengths unknown while the graph is built.
    """
    mine = x.shape.lengths
    others = [z.shape.lengths for z in operands if z is not x]
    if mine is None or None in others:
        return None
    known = [dims for dims in others if dims is not None]
    rank = max([len(mine), *map(len, known)])
    lead = rank - len(mine)
    ones = []
    for axis, n in enumerate(mine, start=lead):
        repeated = _is_repeated(n, [dims[axis - rank] for dims in known if rank - axis <= len(dims)])
        if repeated is None:
            return None
        if repeated:
            ones.append(axis)
    return tuple(range(lead)), tuple(ones)


def _is_repeated(n: Dimension | None, others: Sequence[Dimension | None]) -> bool | None:
    """Whether an axis of length `n` is repeated beside axes of the lengths `others`; None where that is not known.

    One of length one counts as repeated beside an unknown length: to sum over it is right if that is one as well.
    """
    if isinstance(n, int) and n != 1:
        return False
    if all(m == 1 or same_length(m, n) for m in others):
        return False
    return True if n == 1 else None


def _sum_over(entry: Entry, x: Tensor, axes: tuple[tuple[int, ...], tuple[int, ...]] | None) -> Tensor | None:
    dx: Tensor | None = entry() if callable(entry) else entry
    if dx is None:
        return None
    if axes is None:
        return sum_like(dx, x)
    lead, ones = axes
    if not lead or not ones:
        return Sum(lead or ones, keepdims=not lead)(dx)
    return reshape_like(Sum((*lead, *ones))(dx), x)


def unary(primitive: Primitive, x: Any, name: str | None = None) -> Tensor:
    """`primitive` applied to anything that converts to a tensor."""
    if type(x) is not Tensor:
        x = convert_to_tensor(x)
    return primitive(x, name=name)


def binary(primitive: Primitive, a: Any, b: Any, name: str | None = None) -> Tensor:
    """`primitive` applied to two things of which one may be a number or an array that adopts the other's dtype.

    Beside a tensor they become a constant named `x` or `y` below the operation's name.
    """
    if type(a) is Tensor:
        if type(b) is Tensor:
            return primitive(a, b, name=name)
        if isinstance(b, _LITERALS):
            return _beside_literal(primitive, a, b, name, swapped=False)
    elif type(b) is Tensor and isinstance(a, _LITERALS):
        return _beside_literal(primitive, b, a, name, swapped=True)
    a, b = operands(a, b)
    return primitive(a, b, name=name)


def _beside_literal(primitive: Primitive, x: Tensor, literal: Any, name: str | None, *, swapped: bool) -> Tensor:
    graph = x.op.graph
    exact = name is not None and name.endswith("/")
    full = name[:-1] if name and exact else graph.unique_name(name or primitive.type)
    below = graph.unique_full_name(f"{full}/{'x' if swapped else 'y'}")
    constant = _adopt(literal, x.type.dtype, graph, below + "/")
    return primitive(*((constant, x) if swapped else (x, constant)), name=full + "/")


def operands(*values: Any) -> list[Tensor]:
    """Tensors of one graph for `values`; what is not a tensor adopts the dtype of the first tensor where it can.

    Without a tensor the first value that is no Python number says the dtype.
    """
    tensors = [
        convert_to_tensor(v) if isinstance(v, Tensor | AbstractTensorLike | IndexedSlices) else None for v in values
    ]
    first = next((t for t in tensors if t is not None), None)
    if first is None:
        i = next((i for i, v in enumerate(values) if not is_python_number(v)), 0)
        tensors[i] = first = convert_to_tensor(values[i])
    dtype, graph = first.type.dtype, first.op.graph
    return [t if t is not None else _adopt(v, dtype, graph) for t, v in zip(tensors, values, strict=True)]


def _adopt(value: Any, dtype: DType, graph: Graph, name: str | None = None) -> Tensor:
    """`value` as a constant of `dtype`, or, where it does not fit, of its own: the primitive then says what differs."""
    try:
        if type(value) in (int, float):
            return graph.add(_number(value, dtype), (), name).outputs[0]
        if not isinstance(value, bool | np.bool_):
            return convert_to_tensor(value, dtype, name=name, graph=graph)
    except TypeError:
        pass
    return convert_to_tensor(value, name=name, graph=graph)


@lru_cache(typed=True)
def _kept_number(value: Any, dtype: DType) -> Const:
    array = np.array(as_array(value, dtype))
    array.setflags(write=False)
    return Const(array)


def _number(value: Any, dtype: DType) -> Const:
    """The constant that a Python number becomes. Zeros are not kept: 0.0 and -0.0 would be one."""
    return _kept_number(value, dtype) if value else _kept_number.__wrapped__(value, dtype)


def unary_kernel(name: str) -> Callable[..., Any]:
    """A kernel that is the function of that name in the array namespace."""

    def kernel(self: Primitive, xp: Any, x: Any) -> Any:
        return getattr(xp, name)(x)

    return kernel


def binary_kernel(name: str) -> Callable[..., Any]:
    """A kernel that is the function of that name in the array namespace, of two arrays."""

    def kernel(self: Primitive, xp: Any, a: Any, b: Any) -> Any:
        return getattr(xp, name)(a, b)

    return kernel


def in_float32(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """A kernel of several steps that takes 16-bit floats as float32 and rounds its result once."""

    @wraps(kernel)
    def wide(self: Any, xp: Any, *arrays: Any) -> Any:
        dtype = arrays[0].dtype
        if dtype.itemsize != 2 or dtype not in (float16, bfloat16):
            return kernel(self, xp, *arrays)
        return kernel(self, xp, *[x.astype(float32) if x.dtype == dtype else x for x in arrays]).astype(dtype)

    return wide
