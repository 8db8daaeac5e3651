"""Stack, unstack, concat and split: tensors joined and taken apart."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import numpy as np

from ...core.contexts import in_graph_of_inputs
from ...core.lengths import Dimension, known_to_differ
from ...core.operation import AbstractTensorLike, Operation, Tensor
from ...core.primitive import Primitive
from ...core.seen import seen
from ...core.shape import TensorShape
from ...core.slices import IndexedSlices
from ...core.traits import ADDS, JOINS, MOVES, VIEWS, ZEROS, Links, all_axes_but, inserted_axes, reduced_axes
from ...core.types import TensorType
from ...core.typing import AxisLike, TensorLike
from ..base.axes import as_axis, checked_axis, is_computed, scalar_axis, static_integer
from ..base.broadcasting import operands
from ..creation.constant import as_array, constant_value, convert_to_tensor, leaves
from ..creation.ranges import range_
from ..debugging.assertions import assert_
from ..elementwise.add_n import add_n
from ..indexing.where import where
from ..logic.comparison import equal
from ..reduction.product import reduce_prod
from ..reduction.reduce import reduce_all, reduce_any
from .computed_axis import axis_in_the_middle, check_one_integer, counted_from_the_front
from .reshape import numbers_to_use, reshape, split_shape
from .size import shape, size


def stack(values: Tensor | Sequence[TensorLike], axis: int = 0, name: str | None = "stack") -> Tensor:
    """The tensors of the list `values`, one after the other along a new axis.

    Shapes: all the same [...]; the result has `len(values)` at `axis`. Dtypes: any, all the same; of Python numbers
    alone that which has all of them.

    Derivative: dx_i = the slice of dy where it stands.

    Raises:
        TypeError, ValueError: the types differ.

    >>> import pullback as pb
    >>> pb.Session().run(pb.stack([[1, 2], [3, 4]], axis=1))
    array([[1, 3],
           [2, 4]], dtype=int32)
    """
    if {type(x) for x in leaves(values)} == {int, float}:
        values = list(as_array(values))
    tensors = unstack(values) if isinstance(values, Tensor) else operands(*values) if len(values) else []
    if not tensors:
        raise ValueError("stack: the list of tensors is empty")
    return Pack(axis)(*tensors, name=name)


class Pack(Primitive):
    traits = (MOVES, JOINS)

    axis: int = 0

    def infer(self, *types: TensorType) -> tuple[TensorType, ...]:
        merged = types[0].shape
        for other in types:
            if other.dtype != types[0].dtype or not other.shape.is_compatible_with(merged):
                raise ValueError(f"stack: all must be of one type, but these differ: {_listed(types)}")
            merged = merged.merge_with(other.shape)
        if merged.lengths is None:
            return (TensorType(types[0].dtype, merged),)
        rank = len(merged.lengths) + 1
        if not -rank <= self.axis < rank:
            raise ValueError(f"stack: axis {self.axis} is outside the {rank} axes of the result")
        axis = self.axis % rank
        return (TensorType(types[0].dtype, TensorShape([*merged.lengths[:axis], len(types), *merged.lengths[axis:]])),)

    def links(self, i: int, *types: TensorType) -> Links | None:
        return inserted_axes(types[i].shape.rank, self.axis)

    def kernel(self, xp: Any, *xs: Any) -> Any:
        return xp.stack(xs, axis=self.axis)

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        return unstack(dy, len(op.inputs), self.axis)


def unstack(value: TensorLike, num: int | None = None, axis: int = 0, name: str | None = "unstack") -> list[Tensor]:
    """The slices of `value` along `axis`, as a list.

    Shapes: [...]; each slice lacks `axis`, whose length must be known or given as `num`. Dtypes: any.

    Derivative: dx = stack(dy).

    Raises:
        ValueError: the length is unknown, or is not `num`.

    >>> import pullback as pb
    >>> pb.unstack(pb.zeros([2, 3]))[1].shape
    TensorShape([3])
    """
    x = convert_to_tensor(value)
    if x.shape.rank is not None:
        checked_axis(axis, x.shape.rank, "unstack", x.type)
    if num is None:
        length = None if x.shape.rank is None else x.shape.size(axis)
        if length is None:
            raise ValueError(f"unstack: the length of axis {axis} of {x} is unknown; pass num=")
        num = int(length)
    return list(x.graph.add(Unpack(num, axis), (x,), name).outputs)


class Unpack(Primitive):
    traits = (MOVES, VIEWS)

    num: int
    axis: int = 0

    def infer(self, x: TensorType) -> tuple[TensorType, ...]:
        lengths = x.shape.lengths
        if lengths is None:
            return (TensorType(x.dtype, TensorShape.UNKNOWN),) * self.num
        rank = len(lengths)
        if not -rank <= self.axis < rank:
            raise ValueError(f"unstack: axis {self.axis} is outside {x}")
        axis = self.axis % rank
        if known_to_differ(lengths[axis], self.num):
            raise ValueError(f"unstack: axis {self.axis} of {x} does not have the length {self.num}")
        part = TensorType(x.dtype, TensorShape(lengths[:axis] + lengths[axis + 1 :]))
        return (part,) * self.num

    def links(self, i: int, x: TensorType) -> Links | None:
        del i
        return reduced_axes(x.shape.rank, (self.axis,), keepdims=False)

    def kernel(self, xp: Any, x: Any) -> Any:
        del xp
        index = (slice(None),) * (self.axis % x.ndim)
        return _outputs([x[(*index, i)] for i in range(self.num)])

    def gradient(self, op: Operation, *dys: Tensor) -> Sequence[Any]:
        del op
        return (lambda: stack(dys, self.axis),)


@in_graph_of_inputs
def concat(values: TensorLike, axis: AxisLike, name: str | None = "concat") -> Tensor:
    """The tensors of the list `values`, one after the other along `axis`.

    Shapes: the same but for `axis`, whose lengths add up. Dtypes: any, all the same. An `axis` may be computed in a
    run, a scalar; then no length is known before.

    Derivative: dx_i = the part of dy where it stands.

    Raises:
        TypeError, ValueError: the types do not fit together, or `axis` is outside them.
        InvalidArgumentError: the same, found in a run.

    >>> import pullback as pb
    >>> pb.Session().run(pb.concat([[1, 2], [3]], 0))
    array([1, 2, 3], dtype=int32)
    """
    if isinstance(values, list | tuple) and not values:
        raise ValueError("concat: the list of tensors is empty")
    if isinstance(axis, list | tuple) and not all(type(n) is int for n in axis):
        raise TypeError("concat: the axis must be a number, not a list: the list of tensors comes first, then the axis")
    tensors = operands(*values) if isinstance(values, list | tuple) else [convert_to_tensor(values)]
    if len(tensors) == 1 and name == "concat":
        if not is_computed(axis):
            scalar_axis(axis, None, "concat", tensors[0].type)
        else:
            check_one_integer(convert_to_tensor(axis), "concat")
        return tensors[0]
    ranks = {x.shape.rank for x in tensors} - {None}
    if 0 in ranks:
        use = f"Can't concatenate scalars (use {seen.package}.stack instead)"
        raise ValueError(f"concat: {use}: {_listed(tensors)}")
    if is_computed(axis):
        if len(ranks) > 1:
            raise ValueError(f"concat: the ranks differ: {_listed(tensors)}")
        return _concat_along(convert_to_tensor(axis), tensors, name)
    rank = next((x.shape.rank for x in tensors if x.shape.rank is not None), None)
    return ConcatV2(scalar_axis(axis, rank, "concat", tensors[0].type))(*tensors, name=name)


def _concat_along(axis: Tensor, tensors: Sequence[Tensor], name: str | None) -> Tensor:
    """The tensors joined along a computed `axis`: as matrices whose rows are what lies before it."""
    with axis.graph.acting.within(name or "concat") as scope:
        lengths = [shape(x) for x in tensors]
        like = lengths[next((i for i, x in enumerate(tensors) if x.shape.rank is not None), 0)]
        place = counted_from_the_front(axis, lengths[0], "concat")
        places = range_(size(lengths[0]))
        elsewhere = [where(equal(places, place), -1, own) for own in lengths]
        fit = reduce_all(
            [reduce_any(equal(places, place)), *[reduce_all(equal(own, elsewhere[0])) for own in elsewhere]]
        )
        data = ["concat: these cannot be joined along axis", axis, *lengths]
        with axis.graph.acting.control_dependencies([assert_(fit, data, len(data))]):
            rows = reduce_prod(where(places < place, lengths[0], 1))
        columns = [reduce_prod(where(places < place, 1, own)) for own in lengths]
        joined = ConcatV2(1)(*[reshape(x, [rows, n]) for x, n in zip(tensors, columns, strict=True)])
        return reshape(joined, where(equal(places, place), add_n(lengths), like), name=scope)


class ConcatV2(Primitive):
    traits = (MOVES, JOINS)
    takes_slices = True

    axis: int

    def infer(self, *types: TensorType) -> tuple[TensorType, ...]:
        if any(t.dtype != types[0].dtype for t in types):
            raise TypeError(f"concat: dtypes differ: {_listed(types)}; convert some with pb.cast")
        dims = [t.shape.lengths for t in types]
        rank = next((len(d) for d in dims if d is not None), None)
        if rank is None:
            return (types[0],)
        if not -rank <= self.axis < rank or any(d is not None and len(d) != rank for d in dims):
            raise ValueError(f"concat: these cannot be joined along axis {self.axis}: {_listed(types)}")
        axis = self.axis % rank
        rest = TensorShape([None] * rank)
        for d in dims:
            other = TensorShape([None] * rank if d is None else [*d[:axis], None, *d[axis + 1 :]])
            if not rest.is_compatible_with(other):
                raise ValueError(f"concat: these differ elsewhere than at axis {self.axis}: {_listed(types)}")
            rest = rest.merge_with(other)
        lengths = [None if d is None else d[axis] for d in dims]
        known = list(rest.lengths or ())
        known[axis] = None if None in lengths else sum([n for n in lengths if n is not None])
        return (TensorType(types[0].dtype, TensorShape(known)),)

    def links(self, i: int, *types: TensorType) -> Links | None:
        return all_axes_but(types[i].shape.rank, self.axis)

    def kernel(self, xp: Any, *xs: Any) -> Any:
        return xp.concatenate(xs, axis=self.axis)

    def gradient(self, op: Operation, dy: Any) -> Sequence[Any]:
        if isinstance(dy, IndexedSlices):
            return _concat_slices_back(dy, op, self.axis)
        return _parts_like(dy, op.inputs, self.axis)


def _listed(types: Sequence[Any]) -> str:
    return ", ".join(map(str, types))


def _parts_like(x: Tensor, likes: Sequence[Tensor], axis: int) -> Sequence[Tensor]:
    """`x` cut along `axis` into parts of the lengths that `likes` have there."""
    if len(likes) == 1:
        return (x,)
    lengths = tuple([None if like.shape.sizes is None else like.shape.sizes[axis] for like in likes])
    if None in lengths:
        return x.graph.add(SplitLike(axis), (x, *likes)).outputs
    return x.graph.add(SplitV(lengths, axis), (x,)).outputs


def _concat_slices_back(dy: IndexedSlices, op: Operation, axis: int) -> list[IndexedSlices]:
    """The rows of each input: those in its range for axis 0, the columns in its range otherwise."""
    rank = op.outputs[0].shape.rank
    if axis < 0 and rank is None:
        raise ValueError(
            f"concat: the gradient of slices needs an axis from the front or a known rank, not axis {axis}"
        )
    if axis % (rank or axis + 1):
        parts = _parts_like(dy.values, op.inputs, axis)
        return [IndexedSlices(v, dy.indices, shape(x), x.shape) for v, x in zip(parts, op.inputs, strict=True)]
    rows = op.graph.add(RowsLike(), (dy.values, dy.indices, *op.inputs)).outputs
    count = len(op.inputs)
    return [
        IndexedSlices(v, i, shape(x), x.shape) for v, i, x in zip(rows[:count], rows[count:], op.inputs, strict=True)
    ]


class RowsLike(Primitive):
    """Slices of a concatenation along axis 0, for each part: the values, then the row numbers counted in the part.

    The number of rows stays what it was, which XLA needs: a row of another part becomes zeros for row 0.
    """

    traits = (MOVES, ZEROS)

    def infer(self, values: TensorType, indices: TensorType, *likes: TensorType) -> tuple[TensorType, ...]:
        return (values,) * len(likes) + (indices,) * len(likes)

    def links(self, i: int, *types: TensorType) -> Links | None:
        return all_axes_but(types[i].shape.rank) if i < 2 else ()

    def kernel(self, xp: Any, values: Any, indices: Any, *likes: Any) -> Any:
        parts, rows, first = [], [], 0
        for like in likes:
            inside = (indices >= first) & (indices < first + like.shape[0])
            rows.append(xp.where(inside, indices - first, 0).astype(indices.dtype))
            mask = inside.reshape((-1,) + (1,) * (values.ndim - 1))
            parts.append(xp.where(mask, values, xp.zeros((), values.dtype)))
            first += like.shape[0]
        return (*parts, *rows)

    def gradient(self, op: Operation, *dys: Any) -> Sequence[Any]:
        _, indices, *likes = op.inputs
        count = len(likes)
        return (lambda: JoinRows()(indices, *dys[:count], *likes), *[None] * (count + 1))


class JoinRows(Primitive):
    """The transpose of RowsLike in the values: each row from the part that its number falls into."""

    traits = (ADDS,)

    def infer(self, indices: TensorType, *rest: TensorType) -> tuple[TensorType, ...]:
        del indices
        return (rest[0],)

    def links(self, i: int, *types: TensorType) -> Links | None:
        return all_axes_but(types[i].shape.rank) if i <= len(types) // 2 else ()

    def kernel(self, xp: Any, indices: Any, *rest: Any) -> Any:
        count = len(rest) // 2
        first, total = 0, xp.zeros_like(rest[0])
        for part, like in zip(rest[:count], rest[count:], strict=True):
            inside = (indices >= first) & (indices < first + like.shape[0])
            mask = inside.reshape((-1,) + (1,) * (part.ndim - 1))
            total = xp.where(mask, part, total)
            first += like.shape[0]
        return total

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        indices, *rest = op.inputs
        likes = rest[len(rest) // 2 :]
        parts = op.graph.add(RowsLike(), (dy, indices, *likes)).outputs[: len(likes)]
        return (None, *parts, *[None] * len(likes))


@in_graph_of_inputs
def split(
    value: TensorLike,
    num_or_size_splits: TensorLike,
    axis: AxisLike = 0,
    num: int | None = None,
    name: str | None = "split",
) -> list[Tensor]:
    """`value` cut along `axis`: into so many equal parts, or into parts of the given lengths, of which one may be -1.

    Shapes: any. Dtypes: any. Lengths computed in a run need `num`, or a vector of known length. An `axis` may be
    computed in a run, a scalar; then no length is known before.

    Derivative: dx = concat(dy).

    Raises:
        ValueError: the parts do not make up the axis, or their number is not known.
        InvalidArgumentError: a computed `axis` is outside `value`.

    >>> import pullback as pb
    >>> pb.Session().run(pb.split([1, 2, 3, 4, 5], [2, 3]))
    [array([1, 2], dtype=int32), array([3, 4, 5], dtype=int32)]
    """
    x = convert_to_tensor(value)
    if is_computed(axis):
        return _split_along(convert_to_tensor(axis), x, num_or_size_splits, num, name)
    place = as_axis(axis, x.shape.rank, "split", x.type)
    sizes: Any = num_or_size_splits
    if isinstance(sizes, Tensor | AbstractTensorLike):
        sizes = convert_to_tensor(sizes)
        known = constant_value(sizes)
        sizes = sizes if known is None else known
    if isinstance(sizes, Tensor) and sizes.shape.rank == 0:
        raise ValueError(f"split: the number of parts must be known while the graph is built, not {sizes}")
    if not isinstance(sizes, Tensor | list | tuple) and np.ndim(sizes) == 0:
        return list(x.graph.add(Split(static_integer(sizes, "split: num_or_size_splits"), place), (x,), name).outputs)
    dims, lengths = split_shape(sizes)
    if dims is None and num is not None:
        dims = (None,) * num
    if dims is None:
        raise ValueError(f"split: the number of parts is not known from {lengths}; pass num=")
    if num is not None and num != len(dims):
        raise ValueError(f"split: num={num}, but there are {len(dims)} lengths")
    inputs = (x,) if lengths is None else (x, lengths)
    return list(x.graph.add(SplitV(dims, place), inputs, name).outputs)


def _split_along(axis: Tensor, x: Tensor, sizes: TensorLike, num: int | None, name: str | None) -> list[Tensor]:
    """`x` cut along a computed `axis`: as rows of what lies before it, of columns at it, of what lies behind it."""
    with axis.graph.acting.within(name or "split"):
        middle, chosen = axis_in_the_middle(axis, x, "split")
        parts = split(middle, sizes, 1, num)
        return [reshape(part, where(chosen, shape(part)[1], shape(x))) for part in parts]


class Split(Primitive):
    traits = (MOVES, VIEWS)

    num: int
    axis: int = 0

    def infer(self, x: TensorType) -> tuple[TensorType, ...]:
        if self.num <= 0:
            raise ValueError(f"split: the number of parts must be positive, not {self.num}")
        dims = x.shape.lengths
        if dims is None:
            return (x,) * self.num
        axis = checked_axis(self.axis, len(dims), "split", x)
        n = dims[axis]
        if isinstance(n, int) and n % self.num:
            raise ValueError(f"split: axis {self.axis} of {x} cannot be cut into {self.num} equal parts")
        length = None if n is None else n // self.num
        return (TensorType(x.dtype, TensorShape([*dims[:axis], length, *dims[axis + 1 :]])),) * self.num

    def links(self, i: int, x: TensorType) -> Links | None:
        del i
        return all_axes_but(x.shape.rank, self.axis)

    def kernel(self, xp: Any, x: Any) -> Any:
        n = x.shape[self.axis]
        if n % self.num:
            raise ValueError(f"split: axis {self.axis} of length {n} cannot be cut into {self.num} equal parts")
        return _cut(x, (n // self.num,) * self.num, self.axis)

    def gradient(self, op: Operation, *dys: Tensor) -> Sequence[Any]:
        del op
        return (lambda: concat(dys, self.axis),)


class SplitV(Primitive):
    traits = (MOVES, VIEWS)
    shape_inputs = (1,)

    lengths: tuple[int | None, ...]
    axis: int = 0

    def infer(self, x: TensorType, lengths: TensorType | None = None) -> tuple[TensorType, ...]:
        del lengths
        dims = x.shape.lengths
        if dims is None:
            return (TensorType(x.dtype, TensorShape.UNKNOWN),) * len(self.lengths)
        axis = checked_axis(self.axis, len(dims), "split", x)
        parts: list[Dimension | None] = [None if n == -1 else n for n in self.lengths]
        total = dims[axis]
        known = sum([n for n in self.lengths if n is not None and n != -1])
        if isinstance(total, int) and (known > total or (None not in parts and known != total)):
            raise ValueError(f"split: lengths {list(self.lengths)} do not make up axis {self.axis} of {x}")
        if total is not None and None not in self.lengths:
            parts = [total - known if n is None else n for n in parts]
        return tuple([TensorType(x.dtype, TensorShape([*dims[:axis], n, *dims[axis + 1 :]])) for n in parts])

    def kernel(self, xp: Any, x: Any, lengths: Any = None) -> Any:
        del xp
        given = numbers_to_use(self.lengths, lengths)
        total = x.shape[self.axis]
        rest = total - sum(n for n in given if n != -1)
        parts = tuple([rest if n == -1 else n for n in given])
        if sum(parts) != total or min(parts, default=0) < 0 or given.count(-1) > 1:
            raise ValueError(f"split: lengths {list(given)} do not make up axis {self.axis} of length {total}")
        return _cut(x, parts, self.axis)

    def gradient(self, op: Operation, *dys: Tensor) -> Sequence[Any]:
        return (lambda: concat(dys, self.axis), None)[: len(op.inputs)]


class SplitLike(Primitive):
    """The first input cut along an axis into parts of the lengths that the others have there."""

    traits = (MOVES,)

    axis: int

    def infer(self, x: TensorType, *likes: TensorType) -> tuple[TensorType, ...]:
        return tuple([TensorType(x.dtype, like.shape) for like in likes])

    def kernel(self, xp: Any, x: Any, *likes: Any) -> Any:
        del xp
        return _cut(x, [like.shape[self.axis] for like in likes], self.axis)

    def gradient(self, op: Operation, *dys: Tensor) -> Sequence[Any]:
        return (lambda: concat(dys, self.axis), *[None] * len(dys))


def _cut(x: Any, lengths: Sequence[int], axis: int) -> Any:
    index = (slice(None),) * (axis % x.ndim)
    ends = list(accumulate(lengths))
    return _outputs([x[(*index, slice(end - n, end))] for n, end in zip(lengths, ends, strict=True)])


def _outputs(parts: list[Any]) -> Any:
    """What a kernel returns: the array where it is one, else the tuple."""
    return parts[0] if len(parts) == 1 else tuple(parts)
