"""Operations on sparse tensors: sums, products, parts, softmax. Each says where the number of values must be known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.contexts import control_dependencies, in_graph_of_inputs
from ...core.dtypes import bool as bool_
from ...core.dtypes import int32, int64
from ...core.operation import Operation, Tensor, define_methods
from ...core.shape import TensorShape
from ...core.typing import AxisLike, TensorLike
from ..base.axes import checked_axis, static_integers
from ..casting.cast import cast
from ..complex.complex import conj
from ..creation.constant import constant, convert_to_tensor
from ..creation.fill import ones_like
from ..creation.ranges import range_
from ..cumulative.cumsum import cumprod
from ..debugging.assertions import assert_
from ..elementwise.arithmetic import multiply as multiply_dense
from ..elementwise.clip import clip_by_value
from ..elementwise.exponential import exp
from ..elementwise.sign import absolute
from ..identity.identity import identity
from ..indexing.gather import boolean_mask, gather, gather_rows
from ..indexing.scatter_nd import gather_nd, tensor_scatter_nd_add
from ..indexing.where import where
from ..logic.comparison import equal, greater_equal, less, not_equal
from ..logic.logical import logical_and, logical_or
from ..reduction.product import reduce_prod
from ..reduction.reduce import reduce_all
from ..reduction.reduce import reduce_sum as reduce_sum_dense
from ..segment.reductions import UnsortedSegmentMax, unsorted_segment_max
from ..segment.sums import segment_inputs, unsorted_segment_sum
from ..sets.unique import unique
from ..shape.reshape import reshape
from ..shape.size import rank, shape
from ..shape.size import size as size_of
from ..shape.squeeze import expand_dims
from ..shape.stacking import concat
from ..shape.transpose import transpose as transpose_dense
from ..sorting.searchsorted import searchsorted
from ..sorting.sort import sort
from .sparse_tensor import (
    SparseTensor,
    in_order,
    lengths_of,
    linear_positions,
    positions_of_all,
    reorder,
    retain,
    static_shape,
)

_FEW_ROWS = 1 << 16
"""The rows of a shape up to which there is a place for each, with values or without."""


@in_graph_of_inputs
def add(a: TensorLike, b: TensorLike, threshold: TensorLike = 0, name: str | None = None) -> Any:
    """The sum of two sparse tensors, sparse, or of a sparse and a dense one, dense.

    Of two sparse tensors the positions of the sum are found by the run: on XLA they must not depend on what is fed.
    Where both are sparse and have a value, a sum whose absolute value is less than `threshold` is left out.

    Derivative: dvalues = dy at the positions; of a dense one dy.

    Raises:
        TypeError: neither is sparse. ValueError: the shapes differ, in a run too.

    >>> import pullback as pb
    >>> x = pb.sparse.SparseTensor([[0], [2]], [1.0, 2.0], [3])
    >>> pb.Session(engine="numpy").run(pb.sparse.to_dense(pb.sparse.add(x, x))).tolist()
    [2.0, 0.0, 4.0]
    """
    if isinstance(a, SparseTensor) and isinstance(b, SparseTensor):
        with control_dependencies(_checks_of_lengths(a, b, b.dense_shape)):
            total, count = _sum_of_sparse(a, b)
        if isinstance(threshold, int | float) and threshold == 0:
            return total
        return retain(total, logical_or(less(count, 2), greater_equal(absolute(total.values), threshold)))
    if isinstance(b, SparseTensor):
        a, b = b, a
    if not isinstance(a, SparseTensor):
        raise TypeError("sparse.add: one of both must be a SparseTensor; use pb.add")
    dense = convert_to_tensor(b, a.dtype)
    with control_dependencies(_checks_of_lengths(a, dense, shape(dense, out_type=int64))):
        return tensor_scatter_nd_add(dense, a.indices, a.values, name=name)


def _checks_of_lengths(a: SparseTensor, b: SparseTensor | Tensor, lengths: Any) -> list[Operation]:
    """What fails in a run where the shapes differ, unless that is known now; ValueError where they do."""
    known, other = a.sure_shape, b.sure_shape if isinstance(b, SparseTensor) else b.shape
    if not known.is_compatible_with(other):
        raise ValueError(f"sparse.add: the shapes differ: {a} and {b}")
    if known.is_fully_defined() and other.is_fully_defined():
        return []
    same = reduce_all(equal(a.dense_shape, lengths))
    return [assert_(same, ["sparse.add: the shapes differ", a.dense_shape, lengths])]


def _sum_of_sparse(a: SparseTensor, b: SparseTensor) -> tuple[SparseTensor, Tensor]:
    """The sum, and how many values each of its positions had."""
    both = SparseTensor(concat([a.indices, b.indices], 0), concat([a.values, b.values], 0), a.dense_shape)
    ordered = reorder(both)
    positions, numbers = unique(positions_of_all(ordered))
    count = size_of(positions)
    values = unsorted_segment_sum(ordered.values, numbers, count)
    # Each position once: that of the first value with its number.
    first = unsorted_segment_max(ordered.indices, numbers, count)
    return SparseTensor(first, values, a.dense_shape), unsorted_segment_sum(ones_like(numbers), numbers, count)


@in_graph_of_inputs
def reduce_sum(
    sp_input: SparseTensor,
    axis: AxisLike | None = None,
    keepdims: bool | None = None,
    output_is_sparse: bool = False,
    name: str | None = None,
) -> Tensor:
    """The dense sum of the elements along `axis`, all unless given.

    Derivative: dvalues = dy of their row.

    Raises:
        ValueError: `output_is_sparse`, which is not supported; use `from_dense`.

    >>> import pullback as pb
    >>> x = pb.sparse.SparseTensor([[0, 1], [2, 0], [2, 1]], [1.0, 2.0, 3.0], [3, 2])
    >>> pb.Session().run([pb.sparse.reduce_sum(x, 1), pb.sparse.reduce_sum(x)])
    [array([1., 0., 5.], dtype=float32), np.float32(6.0)]
    """
    return _reduced(unsorted_segment_sum, sp_input, axis, keepdims, output_is_sparse, name)


@in_graph_of_inputs
def reduce_max(
    sp_input: SparseTensor,
    axis: AxisLike | None = None,
    keepdims: bool | None = None,
    output_is_sparse: bool = False,
    name: str | None = None,
) -> Tensor:
    """The dense maximum of the values along `axis`, all unless given; 0 where there are none.

    Equal values share the derivative.

    Derivative: dvalues = dy shared by the values that equal the maximum.

    >>> import pullback as pb
    >>> x = pb.sparse.SparseTensor([[0, 1], [2, 0], [2, 1]], [1.0, 2.0, 3.0], [3, 2])
    >>> float(pb.Session().run(pb.sparse.reduce_max(x)))
    3.0
    """
    return _reduced(_largest, sp_input, axis, keepdims, output_is_sparse, name)


def _largest(values: Tensor, rows: Tensor, count: Any) -> Tensor:
    static, inputs = segment_inputs(values, rows, count)
    return UnsortedSegmentMax(static, empty_is_zero=True)(*inputs)


@in_graph_of_inputs
def _reduced(how: Any, x: SparseTensor, axis: Any, keepdims: bool | None, sparse: bool, name: str | None) -> Tensor:
    if sparse:
        raise ValueError("sparse.reduce_sum: output_is_sparse is not supported; use sparse.from_dense on the result")
    if x.shape.rank is None:
        return _reduced_of_any_rank(how, x, axis, keepdims, name)
    given = range(x.rank) if axis is None else static_integers(axis, "sparse.reduce_sum: axis")
    chosen = sorted({checked_axis(a, x.rank, "sparse.reduce_sum", x) for a in given})
    kept = [i for i in range(x.rank) if i not in chosen]
    lengths = lengths_of(x)
    count: Any = 1
    for i in kept:
        count = count * lengths[i]
    found = how(x.values, linear_positions(x, kept), count if isinstance(count, int) else cast(count, int32))
    dims = [1 if i in chosen else lengths[i] for i in range(x.rank)] if keepdims else [lengths[i] for i in kept]
    return reshape(found, [n if isinstance(n, int) else cast(n, int32) for n in dims], name=name)


def _reduced_of_any_rank(how: Any, x: SparseTensor, axis: Any, keepdims: bool | None, name: str | None) -> Tensor:
    axes = [] if axis is None else static_integers(axis, "sparse.reduce_sum: axis")
    count = size_of(x.dense_shape)
    checks = [
        assert_(less(a if a >= 0 else -1 - a, count), [f"sparse.reduce_sum: there is no axis {a} of", x.dense_shape])
        for a in axes
    ]
    with control_dependencies(checks):
        numbers = range_(identity(count))
    kept = numbers < (0 if axis is None else count)
    for a in axes:
        kept = logical_and(kept, not_equal(numbers, a if a >= 0 else count + a))
    lengths = where(kept, x.dense_shape, 1)
    strides = cumprod(lengths, exclusive=True, reverse=True) * cast(kept, int64)
    found = how(x.values, reduce_sum_dense(x.indices * strides, axis=1), cast(reduce_prod(lengths), int32))
    return reshape(found, lengths if keepdims else boolean_mask(lengths, kept), name=name)


@in_graph_of_inputs
def slice_(sp_input: SparseTensor, start: TensorLike, size: TensorLike, name: str | None = None) -> SparseTensor:
    """The part of lengths `size` from `start` on, less where it would end outside.

    How many values it has a run decides: on XLA a constant must.

    Derivative: dvalues = dy of those inside, else 0.

    >>> import pullback as pb
    >>> x = pb.sparse.SparseTensor([[0, 1], [2, 0]], [1.0, 2.0], [3, 2])
    >>> part = pb.sparse.slice(x, [1, 0], [2, 2])
    >>> pb.Session(engine="numpy").run(pb.sparse.to_dense(part)).tolist()
    [[0.0, 0.0], [2.0, 0.0]]
    """
    first, lengths = convert_to_tensor(start, int64), convert_to_tensor(size, int64)
    lengths = clip_by_value(sp_input.dense_shape - first, constant(0, int64), lengths)
    moved = sp_input.indices - first
    inside = reduce_all((greater_equal(moved, constant(0, int64)) & less(moved, lengths)), axis=1)
    return SparseTensor(boolean_mask(moved, inside), boolean_mask(sp_input.values, inside, name=name), lengths)


@in_graph_of_inputs
def sparse_dense_matmul(
    sp_a: SparseTensor, b: TensorLike, adjoint_a: bool = False, adjoint_b: bool = False, name: str | None = None
) -> Tensor:
    """The matrix product of a sparse and a dense matrix, dense; with the adjoint of either where asked.

    Positions may come in any order. Either may be the sparse one.

    Shapes: [m, k] and [k, n] give [m, n].

    Derivative: dvalues[k] = sum(dy[i] * b[j]) for its position (i, j), db = sp_a^T @ dy.

    Raises:
        TypeError: neither is sparse. ValueError: the inner lengths differ.

    >>> import pullback as pb
    >>> x = pb.sparse.SparseTensor([[0, 1], [1, 0]], [2.0, 3.0], [2, 2])
    >>> pb.Session().run(pb.sparse.sparse_dense_matmul(x, [[1.0], [10.0]])).tolist()
    [[20.0], [3.0]]
    """
    if not isinstance(sp_a, SparseTensor):
        if not isinstance(b, SparseTensor):
            raise TypeError("sparse.sparse_dense_matmul: one of both must be a SparseTensor; use pb.matmul")
        turned = sparse_dense_matmul(b, sp_a, not adjoint_b, not adjoint_a)
        return transpose_dense(turned, conjugate=turned.dtype.kind == "c", name=name)
    dense = convert_to_tensor(b, sp_a.dtype)
    if adjoint_b:
        dense = transpose_dense(dense, conjugate=dense.dtype.kind == "c")
    inner = sp_a.sure_shape[:1] if adjoint_a else sp_a.sure_shape[1:]
    if not inner.is_compatible_with(dense.shape[:1]):
        raise ValueError(f"sparse.sparse_dense_matmul: inner lengths differ: {sp_a} @ {dense}")
    if not (inner.is_fully_defined() and dense.shape.rank and inner == dense.shape[:1]):
        dense = _of_as_many_rows(dense, sp_a.dense_shape[0 if adjoint_a else 1])
    rows, columns = sp_a.indices[:, 0], sp_a.indices[:, 1]
    lengths = [sp_a.dense_shape[0], sp_a.dense_shape[1]] if sp_a.shape.rank is None else lengths_of(sp_a)
    values, count = sp_a.values, lengths[0]
    if adjoint_a:
        rows, columns, values, count = columns, rows, conj(values), lengths[1]
    products = expand_dims(values, 1) * gather_rows(dense, columns)
    return unsorted_segment_sum(products, rows, count if isinstance(count, int) else cast(count, int32), name)


def _of_as_many_rows(dense: Tensor, count: Tensor) -> Tensor:
    """`dense`; a run in which it has not `count` rows fails."""
    rows = shape(dense, out_type=int64)[0]
    complaint = "sparse.sparse_dense_matmul: inner lengths differ"
    with dense.graph.acting.control_dependencies([assert_(equal(rows, count), [complaint, count, rows])]):
        return identity(dense)


@in_graph_of_inputs
def multiply(sp_input: SparseTensor, dense: TensorLike, name: str | None = None) -> SparseTensor:
    """The product by elements with a dense tensor that broadcasts to the shape of `sp_input`.

    Shapes: that of `sp_input`. Dtypes: any number, the same for both.

    Derivative: dvalues = dy * dense, ddense = dy * values, summed where it was repeated.

    >>> import pullback as pb
    >>> x = pb.sparse.SparseTensor([[0, 1], [1, 0]], [2.0, 3.0], [2, 2])
    >>> pb.Session().run(pb.sparse.multiply(x, [10.0, 100.0])).values.tolist()
    [200.0, 30.0]
    """
    return sp_input.with_values(_times(sp_input, dense, name))


@in_graph_of_inputs
def divide(sp_input: SparseTensor, dense: TensorLike, name: str | None = None) -> SparseTensor:
    """The quotient by elements with a dense tensor that broadcasts to the shape of `sp_input`.

    Shapes: that of `sp_input`. Dtypes: any number, the same for both.

    Derivative: dvalues = dy / dense, ddense = -dy * y / dense, summed where it was repeated.

    >>> import pullback as pb
    >>> x = pb.sparse.SparseTensor([[0, 1], [1, 0]], [2.0, 3.0], [2, 2])
    >>> pb.Session().run(pb.sparse.divide(x, [10.0, 2.0])).values.tolist()
    [1.0, 0.30000001192092896]
    """
    del name
    return sp_input.with_values(sp_input.values / _at_positions(sp_input, dense))


def _times(x: SparseTensor, dense: Any, name: str | None) -> Tensor:
    return multiply_dense(x.values, _at_positions(x, dense), name=name)


def _at_positions(x: SparseTensor, dense: Any) -> Tensor:
    """The elements of `dense`, broadcast to the shape of `x`, at the positions of `x`."""
    d = convert_to_tensor(dense, x.dtype)
    if d.shape.rank == 0:
        return d
    if x.shape.rank is not None and not _broadcasts(d.shape, x.sure_shape):
        raise ValueError(f"SparseTensor: {d} does not broadcast to {x!r}")
    lengths = shape(d, out_type=int64)
    last = -d.shape.rank if d.shape.rank else size_of(x.dense_shape) - rank(d)
    checks = []
    if not (d.shape.is_fully_defined() and x.sure_shape.is_fully_defined()):
        fits = reduce_all(logical_or(equal(lengths, 1), equal(lengths, x.dense_shape[last:])))
        checks = [assert_(fits, ["SparseTensor: the dense operand does not broadcast", lengths, x.dense_shape])]
    with control_dependencies(checks):
        places = x.indices[:, last:] * cast(lengths > 1, int64)
        places.set_shape([None, d.shape.rank])
        return gather_nd(d, places)


def _broadcasts(shape: TensorShape, to: TensorShape) -> bool:
    """Whether an array of `shape` may broadcast to the shape `to`, of known rank."""
    sizes, wanted = shape.sizes or (), to.sizes or ()
    pairs = zip(sizes[::-1], wanted[::-1], strict=False)
    return len(sizes) <= len(wanted) and all(n in (1, None) or m in (n, None) for n, m in pairs)


@in_graph_of_inputs
def softmax(sp_input: SparseTensor, name: str | None = None) -> SparseTensor:
    """The softmax of the values of each row, along the last axis; what is not there counts as minus infinity.

    Derivative: dvalues = y * (dy - sum(dy * y)) in each row.

    >>> import pullback as pb
    >>> x = pb.sparse.SparseTensor([[0, 0], [0, 1], [1, 1]], [0.0, 0.0, 7.0], [2, 2])
    >>> pb.Session().run(pb.sparse.softmax(x).values).tolist()
    [0.5, 0.5, 1.0]
    """
    rows = positions_of_all(sp_input, but=1)
    count: Any = sp_input.sure_shape[:-1].num_elements()
    if count is None or count > _FEW_ROWS:
        rows, count = searchsorted(sort(rows), rows), size_of(sp_input.values)
    largest = gather(unsorted_segment_max(sp_input.values, rows, count), rows)
    raised = exp(sp_input.values - largest)
    total = gather(unsorted_segment_sum(raised, rows, count), rows)
    del name
    return sp_input.with_values(raised / total)


@in_graph_of_inputs
def fill_empty_rows(
    sp_input: SparseTensor, default_value: TensorLike, name: str | None = None
) -> tuple[SparseTensor, Tensor]:
    """The matrix with `default_value` in the first column of each row that has no value, and which rows these are.

    How many there are a run decides.

    Derivative: dvalues = dy of the values that were there, ddefault_value = sum of the others.

    >>> import pullback as pb
    >>> x = pb.sparse.SparseTensor([[0, 1]], [5.0], [2, 2])
    >>> full, empty = pb.sparse.fill_empty_rows(x, -1.0)
    >>> pb.Session(engine="numpy").run([pb.sparse.to_dense(full), empty])
    [array([[ 0.,  5.],
           [-1.,  0.]], dtype=float32), array([False,  True])]
    """
    count = lengths_of(sp_input)[0]
    rows = sp_input.indices[:, 0]
    inside = reduce_all(logical_and(greater_equal(rows, constant(0, int64)), less(rows, sp_input.dense_shape[0])))
    complaint = ["sparse.fill_empty_rows: positions are outside the shape", sp_input.indices, sp_input.dense_shape]
    with control_dependencies([assert_(inside, complaint)]):
        rows = identity(rows)
    seen = unsorted_segment_sum(ones_like(rows), rows, count if isinstance(count, int) else cast(count, int32))
    empty = equal(seen, constant(0, int64))
    missing = cast(where(empty), int64)
    positions = concat([missing, *[missing * constant(0, int64)] * (sp_input.rank - 1)], 1)
    default = convert_to_tensor(default_value, sp_input.dtype)
    added = default * ones_like(cast(missing[:, 0], sp_input.dtype))
    both = SparseTensor(
        concat([sp_input.indices, positions], 0), concat([sp_input.values, added], 0), sp_input.dense_shape
    )
    del name
    return in_order(both, both.indices[:, 0]), cast(empty, bool_)


@in_graph_of_inputs
def transpose(sp_input: SparseTensor, perm: Sequence[int] | None = None, name: str | None = None) -> SparseTensor:
    """The sparse tensor with its axes in another order, the opposite one unless given.

    Derivative: dvalues = dy in the order before.

    >>> import pullback as pb
    >>> x = pb.sparse.transpose(pb.sparse.SparseTensor([[0, 1]], [5.0], [2, 3]))
    >>> pb.Session().run(x.indices).tolist(), x.shape
    ([[1, 0]], TensorShape([3, 2]))
    """
    if perm is None and sp_input.shape.rank is None:
        turned = SparseTensor(sp_input.indices[:, ::-1], sp_input.values, sp_input.dense_shape[::-1])
        return reorder(turned, name)
    order = list(range(sp_input.rank))[::-1] if perm is None else [int(p) for p in perm]
    lengths = static_shape(sp_input)
    known = isinstance(lengths, list)
    shape_then = [lengths[p] for p in order] if known else gather(sp_input.dense_shape, order)
    moved = SparseTensor(gather(sp_input.indices, order, axis=1), sp_input.values, shape_then)
    return reorder(moved, name)


def install_sparse_operators() -> None:
    """Give SparseTensor its operators; called once, with the namespace."""
    define_methods(SparseTensor, {"__mul__": multiply, "__rmul__": multiply, "__truediv__": divide})
