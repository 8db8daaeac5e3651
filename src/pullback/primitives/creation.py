"""Tensor creation from a shape or a number: zeros, ones, filled, ranges, identity matrices, one-hot vectors."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np

from ..core.dtypes import (
    FLOATING,
    INTEGER,
    DType,
    TokenType,
    as_dtype,
    bfloat16,
    float16,
    float32,
    float64,
    int32,
    int64,
)
from ..core.dtypes import (
    bool as bool_,
)
from ..core.graph import get_default_graph
from ..core.operation import AbstractTensorLike, Operation, Tensor
from ..core.primitive import Primitive, no_gradient
from ..core.shape import TensorShape
from ..core.traits import ELEMENTWISE, MOVES, Links, inserted_axes
from ..core.types import TensorType, shape_to_infer
from ..core.typing import AxisLike, DTypeLike, ShapeLike, TensorLike
from .axes import as_axis
from .casting import cast
from .constant import constant_in, constant_value, convert_to_tensor, is_python_number
from .elementwise import operands
from .reshaping import Sum, broadcast_to, reshape, shape_to_use, split_shape, sum_like
from .reshaping import shape as shape_of
from .stacking import concat

_LARGEST_CONSTANT = 64


def zeros(shape: ShapeLike, dtype: DTypeLike = float32, name: str | None = None) -> Tensor:
    """Zeros in the shape `shape`.

    Shapes: `shape`, a sequence of integers or an integer vector. Dtypes: any.

    Raises:
        TypeError: a length is no integer.

    >>> import pullback as pb
    >>> pb.Session().run(pb.zeros([2], pb.int32))
    array([0, 0], dtype=int32)
    """
    return _filled(shape, 0, dtype, name or "zeros")


def ones(shape: ShapeLike, dtype: DTypeLike = float32, name: str | None = None) -> Tensor:
    """Ones in the shape `shape`.

    Shapes: `shape`, a sequence of integers or an integer vector. Dtypes: any.

    Raises:
        TypeError: a length is no integer.

    >>> import pullback as pb
    >>> pb.Session().run(pb.ones([2]))
    array([1., 1.], dtype=float32)
    """
    return _filled(shape, 1, dtype, name or "ones")


def _filled(shape: Any, value: int, dtype: Any, name: str) -> Tensor:
    wanted = as_dtype(dtype)
    if isinstance(wanted, TokenType):
        raise TypeError(f"{name}: there are no elements of dtype {wanted}")
    dims, lengths = split_shape(shape)
    if lengths is not None:
        return Filled(value, wanted, dims)(lengths, name=name)
    array = _small_constant(dims, value, wanted)
    if array is not None:
        return constant_in(get_default_graph(), array, name)
    return get_default_graph().add(Filled(value, wanted, dims), (), name).outputs[0]


def _small_constant(dims: Any, value: int, dtype: Any) -> np.ndarray[Any, Any] | None:
    """A constant array, where it is small enough to be one."""
    size = TensorShape(dims).num_elements()
    if size is None or size > _LARGEST_CONSTANT:
        return None
    array = np.full(dims, value, dtype)
    array.setflags(write=False)
    return array


class Filled(Primitive):
    """One number, known while the graph is built, in every place of a shape."""

    type = "Filled"
    shape_inputs = length_inputs = (0,)

    value: float
    dtype: DType
    shape: tuple[int | None, ...] | None

    def infer(self, lengths: TensorType | None = None) -> tuple[TensorType, ...]:
        return (TensorType(self.dtype, shape_to_infer(self.shape, lengths)),)

    def kernel(self, xp: Any, lengths: Any = None) -> Any:
        return xp.full(shape_to_use(self.shape, lengths), self.value, self.dtype)

    gradient = no_gradient


def zeros_like(input: TensorLike, dtype: DTypeLike | None = None, name: str | None = None) -> Tensor:
    """Zeros in the shape of `input`, of its dtype or of `dtype`.

    Shapes, dtypes: any.

    >>> import pullback as pb
    >>> pb.Session().run(pb.zeros_like([1.0, 2.0]))
    array([0., 0.], dtype=float32)
    """
    return _filled_like(input, 0, dtype, name)


def ones_like(input: TensorLike, dtype: DTypeLike | None = None, name: str | None = None) -> Tensor:
    """Ones in the shape of `input`, of its dtype or of `dtype`.

    Shapes, dtypes: any.

    >>> import pullback as pb
    >>> pb.Session().run(pb.ones_like([1.0, 2.0]))
    array([1., 1.], dtype=float32)
    """
    return _filled_like(input, 1, dtype, name)


def _filled_like(input: Any, value: int, dtype: Any, name: str | None) -> Tensor:
    x = convert_to_tensor(input)
    wanted = x.dtype if dtype is None else as_dtype(dtype)
    if isinstance(wanted, TokenType):
        raise TypeError(f"{x} has no elements to be like; pass dtype=")
    array = _small_constant(x.shape.dims, value, wanted) if x.shape.is_fully_defined() else None
    if array is not None:
        return constant_in(x.graph, array, name)
    return FillLike(value, wanted)(x, name=name)


class FillLike(Primitive):
    type = "FillLike"
    traits = (ELEMENTWISE,)
    reads_values = False

    value: int
    dtype: np.dtype[Any]

    def infer(self, x: TensorType) -> tuple[TensorType, ...]:
        return (x if x.dtype == self.dtype else TensorType(self.dtype, x.shape),)

    def kernel(self, xp: Any, x: Any) -> Any:
        return xp.full(x.shape, self.value, self.dtype)

    gradient = no_gradient


def fill(dims: ShapeLike, value: TensorLike, name: str | None = None) -> Tensor:
    """The scalar `value` in every place of the shape `dims`.

    Shapes: `dims`, a sequence of integers or an integer vector. Dtypes: any.

    Derivative: dvalue = sum(dy).

    Raises:
        ValueError: `value` is no scalar.

    >>> import pullback as pb
    >>> pb.Session().run(pb.fill([2], 9))
    array([9, 9], dtype=int32)
    """
    x = convert_to_tensor(value)
    if x.shape.rank not in (0, None):
        raise ValueError(f"fill: value must be a scalar, not {x}")
    lengths, vector = split_shape(dims)
    inputs = (x,) if vector is None else (x, vector)
    return Fill(lengths)(*inputs, name=name)


class Fill(Primitive):
    type = "Fill"
    traits = (MOVES,)
    shape_inputs = length_inputs = (1,)

    shape: tuple[int | None, ...] | None

    def infer(self, x: TensorType, lengths: TensorType | None = None) -> tuple[TensorType, ...]:
        del lengths
        return (TensorType(x.dtype, TensorShape(self.shape)),)

    def kernel(self, xp: Any, x: Any, lengths: Any = None) -> Any:
        return xp.broadcast_to(x, shape_to_use(self.shape, lengths))

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        return (lambda: Sum()(dy), None)[: len(op.inputs)]


def range_(
    start: TensorLike,
    limit: TensorLike | None = None,
    delta: TensorLike = 1,
    dtype: DTypeLike | None = None,
    name: str = "range",
) -> Tensor:
    """The numbers from `start` up to, not including, `limit` by `delta`; from 0 to `start` where `limit` is None.

    Shapes: scalars; the result is a vector. Dtypes: integers and floats; `dtype`, else the widest of int32, int64,
    float32, float64 among the arguments. The derivative is None.

    Derivative: dstart = sum(dy), ddelta = sum(dy[i] * i); none by limit.

    Raises:
        ValueError: `delta` is 0.

    >>> import pullback as pb
    >>> pb.Session().run(pb.range(3, 18, 3))
    array([ 3,  6,  9, 12, 15], dtype=int32)
    """
    if limit is None:
        start, limit = 0, start
    numbers = [start, limit, delta]
    wanted = as_dtype(dtype) if dtype is not None else _widest(numbers)
    values = [_known_number(n) for n in numbers]
    known = tuple([v for v in values if v is not None])
    if len(known) == len(values):
        return get_default_graph().add(Range(wanted, known), (), name).outputs[0]
    tensors = [convert_to_tensor(n, wanted) if is_python_number(n) else cast(n, wanted) for n in numbers]
    return Range(wanted)(*tensors, name=name)


def _known_number(number: Any) -> int | float | None:
    value = constant_value(convert_to_tensor(number)) if isinstance(number, Tensor | AbstractTensorLike) else number
    if value is None:
        return None
    item: int | float = np.asarray(value).item()
    return item


def _widest(numbers: Sequence[Any]) -> DType:
    order: list[DType] = [int32, int64, float16, bfloat16, float32, float64]
    dtypes = [n.dtype if hasattr(n, "dtype") else convert_to_tensor(n).dtype for n in numbers if not isinstance(n, int)]
    return max([int32, *dtypes], key=lambda d: order.index(d) if d in order else 0)


class Range(Primitive):
    type = "Range"
    shape_inputs = (0, 1, 2)

    dtype: DType
    numbers: tuple[int | float, ...] | None = None
    """Start, limit and step, where they are static; else they are inputs."""

    def infer(self, *given: TensorType) -> tuple[TensorType, ...]:
        del given
        if self.numbers is None:
            return (TensorType(self.dtype, TensorShape([None])),)
        return (TensorType(self.dtype, TensorShape([_range_length(*self.numbers)])),)

    def kernel(self, xp: Any, *given: Any) -> Any:
        start, limit, delta = self.numbers or [np.asarray(n).item() for n in given]
        steps = xp.arange(_range_length(start, limit, delta)).astype(self.dtype)
        return steps * _as(self.dtype, delta) + _as(self.dtype, start)

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        if not op.inputs:
            return ()
        start, _, delta = op.inputs

        def by_step() -> Tensor:
            steps = range_(reshape(shape_of(dy), []))
            return sum_like(dy * cast(steps, dy.dtype), delta)

        return partial(sum_like, dy, start), None, by_step


def _as(dtype: Any, number: Any) -> Any:
    return np.asarray(number).astype(dtype)


def _range_length(start: Any, limit: Any, delta: Any) -> int:
    if delta == 0:
        raise ValueError("range: a step of 0 leads nowhere")
    return max(0, int(np.ceil((limit - start) / delta)))


def linspace(start: TensorLike, stop: TensorLike, num: int | Tensor, name: str | None = None, axis: int = 0) -> Tensor:
    """`num` numbers from `start` to `stop`, both included, evenly spaced, along a new axis `axis`.

    Shapes: `start` and `stop` of one shape [...]; the result has `num` at `axis`. Dtypes: floats.

    Derivative: dstart = sum(dy * (1 - t)), dstop = sum(dy * t), with t from 0 to 1.

    Raises:
        ValueError: `num` is not positive, or not known while the graph is built. TypeError: not floats.

    >>> import pullback as pb
    >>> pb.Session().run(pb.linspace(0.0, 1.0, 3))
    array([0. , 0.5, 1. ], dtype=float32)
    """
    from .shaping import expand_dims

    a, b = operands(start, stop)
    count = _known_number(num)
    if count is None or count < 1:
        raise ValueError(f"linspace: num must be a positive number known while the graph is built, not {num}")
    if a.dtype not in FLOATING:
        raise TypeError(f"linspace: start and stop must be floats, not {a}")
    place = as_axis(axis, None if a.shape.rank is None else a.shape.rank + 1, "linspace", a.type)
    if a.shape.rank is None:
        raise ValueError(f"linspace: the rank of start must be known, but it is {a}")
    with a.graph.name_scope(name or "linspace"):
        step = np.arange(int(count)) / max(int(count) - 1, 1)
        t = step.reshape([-1 if i == place else 1 for i in np.arange(a.shape.rank + 1)])
        first, last = (a, b) if a.shape.rank == 0 else (expand_dims(a, place), expand_dims(b, place))
        line: Tensor = first * _as(a.dtype, 1 - t) + last * _as(a.dtype, t)
        return line


def eye(
    num_rows: int | Tensor,
    num_columns: int | Tensor | None = None,
    batch_shape: Tensor | Iterable[int | Tensor | None] | None = None,
    dtype: DTypeLike = float32,
    name: str | None = None,
) -> Tensor:
    """Matrices with ones on the diagonal and zeros elsewhere.

    Shapes: [`batch_shape`..., `num_rows`, `num_columns`]; square where the columns are None. Dtypes: any.

    Raises:
        TypeError: a length is no integer.

    >>> import pullback as pb
    >>> pb.Session().run(pb.eye(2))
    array([[1., 0.],
           [0., 1.]], dtype=float32)
    """
    dims, lengths = split_shape([num_rows, num_rows if num_columns is None else num_columns])
    primitive = Eye(as_dtype(dtype), dims)
    inputs = () if lengths is None else (lengths,)
    label = name or "eye"
    graph = get_default_graph() if lengths is None else lengths.graph
    if batch_shape is None:
        return graph.add(primitive, inputs, label).outputs[0]
    matrix = graph.add(primitive, inputs, None).outputs[0]
    if isinstance(batch_shape, Tensor):
        return broadcast_to(matrix, concat([batch_shape, shape_of(matrix, batch_shape.dtype)], 0), label)
    sizes = [num_rows, num_rows if num_columns is None else num_columns]
    return broadcast_to(matrix, [*batch_shape, *sizes], label)


class Eye(Primitive):
    type = "Eye"
    shape_inputs = length_inputs = (0,)

    dtype: DType
    shape: tuple[int | None, ...] | None

    def infer(self, lengths: TensorType | None = None) -> tuple[TensorType, ...]:
        return (TensorType(self.dtype, shape_to_infer(self.shape, lengths)),)

    def kernel(self, xp: Any, lengths: Any = None) -> Any:
        rows, columns = shape_to_use(self.shape, lengths)
        return xp.eye(rows, columns, dtype=self.dtype)

    gradient = no_gradient


def one_hot(
    indices: TensorLike,
    depth: TensorLike,
    on_value: TensorLike | None = None,
    off_value: TensorLike | None = None,
    axis: AxisLike | None = None,
    dtype: DTypeLike | None = None,
    name: str | None = None,
) -> Tensor:
    """`on_value` (None: 1) where a new axis of length `depth` has the number in `indices`, elsewhere `off_value` (0).

    A number outside 0..depth-1 gives `off_value` everywhere. The new axis stands at `axis`, by default the last.

    Shapes: `indices` any; the result has `depth` at `axis`. Dtypes: `dtype`, else that of the values, else float32.

    Derivative: don_value = sum of dy where it stands, doff_value = sum of the rest; none by indices.

    Raises:
        TypeError: `indices` are no integers; the values are not of one dtype, or not of `dtype`.

    >>> import pullback as pb
    >>> pb.Session().run(pb.one_hot([0, 2, -1], 3))
    array([[1., 0., 0.],
           [0., 0., 1.],
           [0., 0., 0.]], dtype=float32)
    """
    ids = convert_to_tensor(indices)
    if ids.dtype not in INTEGER:
        raise TypeError(f"one_hot: indices must be integers, not {ids}")
    rank = ids.shape.rank
    place = -1 if axis is None else as_axis(axis, None if rank is None else rank + 1, "one_hot", ids.type)
    if place == rank:
        place = -1
    dims, lengths = split_shape([depth])
    inputs = (ids,) if lengths is None else (ids, lengths)
    if on_value is None and off_value is None:
        return OneHot(as_dtype(dtype or float32), place, dims)(*inputs, name=name)
    from .selection import where

    on, off = _one_hot_values(on_value, off_value, dtype)
    chosen = OneHot(bool_, place, dims)(*inputs)
    return where(chosen, on, off, name=name or "one_hot")


def _one_hot_values(on: Any, off: Any, dtype: Any) -> tuple[Tensor, Tensor]:
    first = convert_to_tensor(off if on is None else on, dtype)
    wanted = first.dtype
    return (
        convert_to_tensor(1, wanted) if on is None else first,
        convert_to_tensor(0 if off is None else off, wanted),
    )


class OneHot(Primitive):
    type = "OneHot"
    shape_inputs = length_inputs = (1,)

    dtype: DType
    axis: int
    depth: tuple[int | None, ...] | None

    def infer(self, indices: TensorType, depth: TensorType | None = None) -> tuple[TensorType, ...]:
        if indices.shape.lengths is None:
            return (TensorType(self.dtype, TensorShape.UNKNOWN),)
        dims = list(indices.shape.lengths)
        dims.insert(len(dims) if self.axis == -1 else self.axis, shape_to_infer(self.depth, depth).length(0))
        return (TensorType(self.dtype, TensorShape(dims)),)

    def links(self, i: int, indices: TensorType, depth: TensorType | None = None) -> Links | None:
        del depth
        return None if i else inserted_axes(indices.shape.rank, self.axis)

    def kernel(self, xp: Any, indices: Any, depth: Any = None) -> Any:
        (n,) = shape_to_use(self.depth, depth)
        axis = self.axis % (indices.ndim + 1)
        if xp is np and self.axis == -1:
            return _one_hot_rows(indices, n, self.dtype)
        numbers = np.arange(n, dtype=np.int64).reshape((1,) * axis + (n,) + (1,) * (indices.ndim - axis))
        return (xp.expand_dims(indices, axis) == numbers).astype(self.dtype)

    gradient = no_gradient


def _one_hot_rows(indices: Any, depth: int, dtype: Any) -> Any:
    """Written into zeros, which on NumPy is several times faster than comparing every element."""
    flat = indices.reshape(-1)
    result = np.zeros((flat.size, depth), dtype)
    rows = np.flatnonzero((flat >= 0) & (flat < depth))
    result[rows, flat[rows]] = 1
    return result.reshape((*indices.shape, depth))
