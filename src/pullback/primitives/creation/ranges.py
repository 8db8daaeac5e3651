"""Ranges of numbers: range, linspace, and coordinates of grids (meshgrid)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from ...core.contexts import in_graph_of_inputs
from ...core.dtypes import FLOATING, INTEGER, DType, as_dtype, bfloat16, float16, float32, float64, int32, int64
from ...core.graph import get_default_graph
from ...core.operation import AbstractTensorLike, Operation, Tensor
from ...core.primitive import Primitive
from ...core.shape import TensorShape
from ...core.types import TensorType
from ...core.typing import DTypeLike, TensorLike
from ..base.axes import as_axis, is_computed, static_integer
from ..base.broadcasting import operands
from ..casting.cast import cast
from ..reduction.sum import sum_like
from ..shape.broadcast import broadcast_to
from ..shape.reshape import reshape
from ..shape.size import shape
from ..shape.size import shape as shape_of
from .constant import LARGEST_CONSTANT, constant_in, constant_value, convert_to_tensor, is_python_number
from .fill import ones_like


@in_graph_of_inputs
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
        return _of_known_numbers(Range(wanted, known), name)
    tensors = [convert_to_tensor(n, wanted) if is_python_number(n) else cast(n, wanted) for n in numbers]
    return Range(wanted)(*tensors, name=name)


def _of_known_numbers(steps: Range, name: str) -> Tensor:
    """A constant where it is short, so that what is computed from it is known too."""
    array = steps.kernel(np) if (steps.infer()[0].shape.num_elements() or 0) <= LARGEST_CONSTANT else None
    if array is None:
        return get_default_graph().add(steps, (), name).outputs[0]
    array.setflags(write=False)
    return constant_in(get_default_graph(), array, name)


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
    shape_inputs = (0, 1, 2)

    dtype: DType
    numbers: tuple[int | float, ...] | None = None
    """Start, limit and step, where they are static; else they are inputs."""

    def infer(self, *given: TensorType) -> tuple[TensorType, ...]:
        if len(given) != (3 if self.numbers is None else 0):
            raise TypeError(f"range: it takes start, limit and step, not {len(given)} inputs")
        for x in given:
            if not (x.shape.is_compatible_with([]) or x.shape.is_compatible_with([1])):
                raise ValueError(f"range: start, limit and step must be scalars, not {x}")
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


_COUNTABLE = 2**62
"""NumPy's arange of more is empty."""


def _as(dtype: Any, number: Any) -> Any:
    return np.asarray(number).astype(dtype)


def _range_length(start: Any, limit: Any, delta: Any) -> int:
    if delta == 0:
        raise ValueError("range: a step of 0 leads nowhere")
    count = max(0, int(np.ceil((limit - start) / delta)))
    if count > _COUNTABLE:
        raise ValueError("range: the result would have more elements than any memory holds")
    return count


@in_graph_of_inputs
def linspace(start: TensorLike, stop: TensorLike, num: int | Tensor, name: str | None = None, axis: int = 0) -> Tensor:
    """`num` numbers from `start` to `stop`, both included, evenly spaced, along a new axis `axis`.

    Shapes: `start` and `stop` of one shape [...]; the result has `num` at `axis`, which a run may compute.
    Dtypes: floats; integers become float64.

    Derivative: dstart = sum(dy * (1 - t)), dstop = sum(dy * t), with t from 0 to 1.

    Raises:
        ValueError: `num` is negative. TypeError: no real numbers.
        InvalidArgumentError: `num`, computed in a run, is negative.

    >>> import pullback as pb
    >>> pb.Session().run(pb.linspace(0.0, 1.0, 3))
    array([0. , 0.5, 1. ], dtype=float32)
    """
    from ..shape.squeeze import expand_dims
    from ..shape.stacking import concat

    a, b = operands(start, stop)
    if a.dtype in INTEGER:
        a, b = cast(a, float64), cast(b, float64)
    if a.dtype not in FLOATING:
        raise TypeError(f"linspace: start and stop must be numbers, not {a}")
    place = as_axis(axis, None if a.shape.rank is None else a.shape.rank + 1, "linspace", a.type)
    if a.shape.rank is None and place:
        raise ValueError(f"linspace: the rank of start must be known, or the axis 0, not {place}: {a}")
    with a.graph.within(name or "linspace"):
        rest, t = _weights(num, a.dtype)
        if a.shape.rank is None:
            behind = ones_like(shape(a))
            rest, t = [reshape(x, concat([shape(x), behind], 0)) for x in (rest, t)]
        elif a.shape.rank:
            dims = [-1 if i == place else 1 for i in range(a.shape.rank + 1)]
            rest, t, a, b = reshape(rest, dims), reshape(t, dims), expand_dims(a, place), expand_dims(b, place)
        line: Tensor = a * rest + b * t
        return line


def _weights(num: Any, dtype: DType) -> tuple[Tensor, Tensor]:
    """What of the start and what of the end is in each of `num` numbers between them; worked out in float64."""
    from ..debugging.assertions import assert_
    from ..elementwise.maximum import maximum

    if is_computed(num):
        given = convert_to_tensor(num)
        with given.graph.acting.control_dependencies(
            [assert_(given >= 0, ["linspace: num must not be negative", given])]
        ):
            steps = range_(given)
        parts = cast(steps, float64) / cast(maximum(given - 1, 1), float64)
        return cast(1 - parts, dtype), cast(parts, dtype)
    count = static_integer(num, "linspace: num")
    if count < 0:
        raise ValueError(f"linspace: num must not be negative, but it is {num}")
    t = np.arange(count) / max(count - 1, 1)
    return convert_to_tensor(_as(dtype, 1 - t)), convert_to_tensor(_as(dtype, t))


@in_graph_of_inputs
def meshgrid(*args: TensorLike, indexing: str = "xy", name: str | None = "meshgrid") -> list[Tensor]:
    """The coordinates of the points of a grid, one tensor for each of the vectors in `args`.

    With "xy" the first vector runs along axis 1 and the second along axis 0, with "ij" each along its own axis.

    Shapes: vectors; scalars count as such, and so do the elements of arrays, row by row. All results have the lengths
    of all vectors. Dtypes: any.

    Derivative: dx_i = sum of dy_i over the other axes.

    Raises:
        ValueError: another `indexing`.

    >>> import pullback as pb
    >>> pb.Session().run(pb.meshgrid([1, 2], [3, 4, 5])[0])
    array([[1, 2],
           [1, 2],
           [1, 2]], dtype=int32)
    """
    if indexing not in ("xy", "ij"):
        raise ValueError(f"meshgrid: indexing must be 'xy' or 'ij', not {indexing!r}")
    vectors = [convert_to_tensor(x) for x in args]
    count = len(vectors)
    places = [1 - i if indexing == "xy" and i < 2 and count > 1 else i for i in range(count)]
    if not vectors:
        return []
    with vectors[0].graph.within(name):
        rows = [
            reshape(x, [-1 if i == place else 1 for i in range(count)])
            for x, place in zip(vectors, places, strict=True)
        ]
        if all(x.shape.is_fully_defined() for x in rows):
            dims = np.broadcast_shapes(*[x.shape.known for x in rows])
            return [broadcast_to(x, dims) for x in rows]
        lengths: list[Any] = [0] * count
        for x, place in zip(rows, places, strict=True):
            lengths[place] = shape(x)[place]
        return [broadcast_to(x, lengths) for x in rows]
