"""Operations on ragged tensors: of elements, and of rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...core import nest
from ...core.contexts import control_dependencies, in_graph_of_inputs
from ...core.dtypes import INTEGER, int64
from ...core.dtypes import bool as bool_
from ...core.graph import Tensor
from ...core.typing import DTypeLike, TensorLike
from ..casting.cast import cast
from ..creation.constant import convert_to_tensor
from ..creation.fill import ones_like
from ..creation.ranges import range_ as numbers_below
from ..debugging.assertions import assert_, assert_equal
from ..elementwise.division import floordiv
from ..elementwise.maximum import maximum
from ..elementwise.rounding import ceil
from ..identity.identity import identity
from ..indexing.gather import boolean_mask as dense_boolean_mask
from ..indexing.gather import gather as dense_gather
from ..logic.logical import logical_and
from ..reduction.reduce import reduce_all
from ..segment.sums import unsorted_segment_sum
from ..shape.reshape import reshape
from ..shape.size import shape
from ..shape.stacking import concat as dense_concat
from ..shape.stacking import stack as dense_stack
from ..shape.tile import repeat
from .conversions import from_tensor
from .ragged_tensor import RaggedTensor, splits_of


@in_graph_of_inputs
def map_flat_values(op: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """The ragged tensor of what `op` gives for the flat values of the ragged ones among its arguments.

    Their rows must be of the same lengths, which a run checks where they are not the same tensors. The result has as
    many values as they have.

    Derivative: that of `op`, by the flat values.

    Raises:
        ValueError: no argument is ragged, or they are nested in different depths.

    >>> import pullback as pb
    >>> x = pb.ragged.constant([[1.0, 4.0], [9.0]])
    >>> pb.Session().run(pb.ragged.map_flat_values(pb.sqrt, x)).to_list()
    [[1.0, 2.0], [3.0]]
    """
    ragged = [x for x in nest.flatten([args, kwargs]) if isinstance(x, RaggedTensor)]
    if not ragged:
        raise ValueError("ragged.map_flat_values: no argument is a RaggedTensor")
    if len({x.ragged_rank for x in ragged}) > 1:
        found = ", ".join(str(x) for x in ragged)
        raise ValueError(f"ragged.map_flat_values: nested in different depths: {found}")
    values = iter([x.flat_values for x in with_same_rows(ragged)])
    given = nest.map_structure(lambda x: next(values) if isinstance(x, RaggedTensor) else x, [list(args), kwargs])
    return ragged[0].with_flat_values(op(*given[0], **given[1]))


def with_same_rows(tensors: Sequence[RaggedTensor]) -> list[RaggedTensor]:
    """The same, of which a run checks that their rows have the same lengths, as deep as all are nested."""
    first = tensors[0]
    checks = [
        assert_equal(a, b, message="ragged tensors have rows of different lengths")
        for x in tensors[1:]
        for a, b in zip(first.nested_row_splits, x.nested_row_splits, strict=False)
        if a is not b
    ]
    if not checks:
        return list(tensors)
    with control_dependencies(checks):
        return [x.with_flat_values(identity(x.flat_values)) for x in tensors]


@in_graph_of_inputs
def gather(params: Any, indices: Any, axis: int = 0, name: str | None = None) -> Any:
    """The rows of `params` that `indices` names; either may be ragged. Along another axis, elements of each row.

    Derivative: dparams = the sum of the dy of all places where a row went.

    Raises:
        InvalidArgumentError: in a run, a row has no such element.

    >>> import pullback as pb
    >>> x = pb.ragged.constant([[1.0, 4.0], [], [9.0]])
    >>> pb.Session(engine="numpy").run(pb.ragged.gather(x, [2, 0])).to_list()
    [[9.0], [1.0, 4.0]]
    """
    if not isinstance(params, RaggedTensor) and not isinstance(indices, RaggedTensor):
        return dense_gather(params, indices, axis=axis, name=name)
    if axis:
        if not isinstance(params, RaggedTensor):
            raise NotImplementedError(f"ragged.gather: ragged indices pick along axis 0 of a dense tensor, not {axis}")
        if axis == 1:
            return _gather_in_rows(params, indices, name)
        return params.with_values(gather(params.values, indices, axis - 1, name))
    if isinstance(indices, RaggedTensor):
        return indices.with_values(gather(params, indices.values, axis, name))
    rows = cast(convert_to_tensor(indices), int64)
    if rows.shape.rank and rows.shape.rank > 1:
        flat = gather(params, reshape(rows, [-1]), axis, name)
        for n in reversed(rows.shape.known[1:]):
            flat = RaggedTensor.from_uniform_row_length(flat, n, validate=False)
        return flat
    return spans(params.values, dense_gather(params.row_starts(), rows), dense_gather(params.row_lengths(), rows))


def _gather_in_rows(params: RaggedTensor, indices: Any, name: str | None) -> Any:
    """The elements of each row of `params` that the vector `indices` names."""
    places = cast(convert_to_tensor(indices), int64)
    if places.shape.rank != 1:
        raise NotImplementedError(f"ragged.gather: along axis 1 the indices must be a vector, not {places}")
    inside = logical_and(places >= 0, places < params.row_lengths()[:, None])
    with control_dependencies([assert_(reduce_all(inside), ["ragged.gather: a row has no element", places])]):
        found = params.row_starts()[:, None] + places
    return gather(params.values, found, 0, name)


def spans(values: Any, starts: Tensor, lengths: Tensor, step: int = 1) -> RaggedTensor:
    """Rows of `values`: `lengths[i]` of them, `step` apart, from `starts[i]` on."""
    splits = splits_of(lengths)
    rows = repeat(numbers_below(shape(lengths, out_type=int64)[0]), lengths, axis=0)
    places = numbers_below(shape(rows, out_type=int64)[0]) - dense_gather(splits[:-1], rows)
    return RaggedTensor(gather(values, dense_gather(starts, rows) + places * step), splits)


@in_graph_of_inputs
def concat(values: Sequence[Any], axis: int, name: str | None = None) -> Any:
    """Ragged tensors behind each other, along the rows (0) or inside them.

    Derivative: dvalues = the parts of dy.

    Raises:
        ValueError: there is none.

    >>> import pullback as pb
    >>> x = pb.ragged.constant([[1.0, 4.0], [9.0]])
    >>> pb.Session(engine="numpy").run(pb.ragged.concat([x, x], 1)).to_list()
    [[1.0, 4.0, 1.0, 4.0], [9.0, 9.0]]
    """
    parts = list(values)
    if not parts:
        raise ValueError("ragged.concat: there is nothing to concatenate")
    if not any(isinstance(x, RaggedTensor) for x in parts):
        return dense_concat(parts, axis, name)
    ragged = [x if isinstance(x, RaggedTensor) else from_tensor(x) for x in parts]
    if axis < 0:
        axis += ragged[0].shape.rank or 0
    if axis == 0:
        offsets = _sums([_count(x.values) for x in ragged])
        splits = [ragged[0].row_splits, *[x.row_splits[1:] + n for x, n in zip(ragged[1:], offsets, strict=False)]]
        return RaggedTensor(concat([x.values for x in ragged], 0, name), dense_concat(splits, 0))
    if axis == 1:
        beside = _beside(ragged)
        return RaggedTensor(beside.values, beside.row_splits[:: len(ragged)])
    return ragged[0].with_values(concat([x.values for x in ragged], axis - 1, name))


@in_graph_of_inputs
def stack(values: Sequence[Any], axis: int = 0, name: str | None = None) -> Any:
    """Ragged tensors as the rows (0) of one that is nested deeper, or side by side in its rows (1), or deeper.

    Derivative: dvalues = the parts of dy.

    Raises:
        InvalidArgumentError: in a run, side by side in rows of different lengths.

    >>> import pullback as pb
    >>> x = pb.ragged.constant([[1.0, 4.0], [9.0]])
    >>> pb.Session(engine="numpy").run(pb.ragged.stack([x, x])).to_list()
    [[[1.0, 4.0], [9.0]], [[1.0, 4.0], [9.0]]]
    """
    parts: list[Any] = [x if isinstance(x, RaggedTensor) else convert_to_tensor(x) for x in values]
    if all(x.shape.rank == 0 for x in parts):
        return dense_stack(parts, axis, name)
    if axis < 0:
        axis += 1 + (parts[0].shape.rank or 0)
    if axis == 0:
        return RaggedTensor.from_row_lengths(
            concat(parts, 0, name), dense_stack([_count(x) for x in parts]), validate=False
        )
    ragged = [x if isinstance(x, RaggedTensor) else from_tensor(x) for x in parts]
    if axis == 1:
        return RaggedTensor.from_uniform_row_length(_beside(ragged), len(ragged), validate=False)
    values = [x.values for x in with_same_rows(ragged)]
    nested = any(isinstance(x, RaggedTensor) for x in values)
    return ragged[0].with_values((stack if nested else dense_stack)(values, axis - 1, name))


def _beside(parts: Sequence[RaggedTensor]) -> RaggedTensor:
    """The first rows of all parts, then their second rows, and so on."""
    count = parts[0].nrows()
    order = numbers_below(count)[:, None] + numbers_below(len(parts), dtype=int64)[None, :] * count
    return gather(concat(parts, 0), reshape(order, [-1]))  # type: ignore[no-any-return]


def _count(x: Any) -> Tensor:
    """The number of rows."""
    return x.nrows() if isinstance(x, RaggedTensor) else shape(x, out_type=int64)[0]


def _sums(counts: Sequence[Tensor]) -> list[Tensor]:
    total, sums = counts[0], [counts[0]]
    for n in counts[1:]:
        total = total + n
        sums.append(total)
    return sums


@in_graph_of_inputs
def boolean_mask(data: Any, mask: Any, name: str | None = None) -> Any:
    """What `mask` is true for: whole rows for a vector; else elements, row by row, so that the result is ragged.

    On XLA the mask must not depend on what is fed.

    Derivative: ddata = dy where the mask is true, 0 elsewhere.

    >>> import pullback as pb
    >>> x = pb.ragged.boolean_mask([[1, 2], [3, 4]], [[True, False], [True, True]])
    >>> pb.Session(engine="numpy").run(x).to_list()
    [[1], [3, 4]]
    """
    if not isinstance(mask, RaggedTensor):
        mask = convert_to_tensor(mask, bool_)
        if mask.shape.rank == 1:
            if not isinstance(data, RaggedTensor):
                return dense_boolean_mask(data, mask, name=name)
            return gather(data, dense_boolean_mask(numbers_below(_count(mask)), mask), name=name)
        mask = from_tensor(mask)
    data = data if isinstance(data, RaggedTensor) else from_tensor(data)
    if isinstance(mask.values, RaggedTensor):
        return mask.with_values(boolean_mask(data.values, mask.values, name))
    kept = unsorted_segment_sum(cast(mask.values, int64), mask.value_rowids(), mask.nrows())
    return RaggedTensor.from_row_lengths(boolean_mask(data.values, mask.values, name), kept, validate=False)


@in_graph_of_inputs
def range_(
    starts: TensorLike,
    limits: TensorLike | None = None,
    deltas: TensorLike = 1,
    dtype: DTypeLike | None = None,
    name: str | None = None,
    row_splits_dtype: DTypeLike = int64,
) -> RaggedTensor:
    """Rows of numbers from `starts` up to `limits`, `deltas` apart; with `starts` alone, from 0 up to it.

    Splits are of int64 whatever `row_splits_dtype` is.

    Derivative: dstarts = the sum of dy along each row; the number of elements counts as constant.

    >>> import pullback as pb
    >>> pb.Session(engine="numpy").run(pb.ragged.range([0, 5], [3, 7])).to_list()
    [[0, 1, 2], [5, 6]]
    """
    del name, row_splits_dtype
    first, last = (0, starts) if limits is None else (starts, limits)
    a, b, d = [convert_to_tensor(x, dtype) for x in (first, last, deltas)]
    steps = floordiv(b - a + d - _sign(d), d) if a.dtype in INTEGER else ceil((b - a) / d)
    count = maximum(steps, steps * 0)
    lengths = reshape(cast(count, int64), [-1])
    a, d = [reshape(x + cast(count, x.dtype) * 0, [-1]) for x in (a, d)]
    ones = RaggedTensor.from_row_lengths(repeat(ones_like(lengths), lengths, axis=0), lengths, validate=False)
    rows = ones.value_rowids()
    return ones.with_values(dense_gather(a, rows) + cast(ones.places_in_rows(), a.dtype) * dense_gather(d, rows))


def _sign(d: Tensor) -> Tensor:
    return cast(d > 0, d.dtype) - cast(d < 0, d.dtype)
