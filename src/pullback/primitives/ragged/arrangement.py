"""Ragged tensors with rows in another order, repeated, under more axes, or picked element by element."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.contexts import control_dependencies, in_graph_of_inputs
from ...core.dtypes import int64
from ...core.graph import Tensor
from ...core.typing import TensorLike
from ..base.axes import static_integers
from ..casting.cast import cast
from ..creation.constant import constant, convert_to_tensor
from ..creation.ranges import range_ as numbers_below
from ..debugging.assertions import assert_
from ..elementwise.division import floormod
from ..elementwise.maximum import maximum
from ..identity.identity import identity
from ..indexing.gather import boolean_mask as dense_boolean_mask
from ..indexing.gather import gather as dense_gather
from ..indexing.scatter_nd import gather_nd as dense_gather_nd
from ..indexing.where import where as dense_where
from ..logic.logical import logical_and
from ..reduction.reduce import reduce_all
from ..shape.reverse import reverse as dense_reverse
from ..shape.size import shape
from ..shape.squeeze import expand_dims as dense_expand_dims
from ..shape.stacking import concat as dense_concat
from ..shape.stacking import stack as dense_stack
from ..shape.tile import repeat
from ..shape.tile import tile as dense_tile
from .conversions import places_of
from .operations import gather, map_flat_values, spans
from .ragged_tensor import RaggedTensor, splits_of


@in_graph_of_inputs
def expand_dims(input: Any, axis: int, name: str | None = None) -> Any:
    """`input` with a new axis of length 1 at `axis`.

    Raises:
        ValueError: the axis is outside the result.
    """
    if not isinstance(input, RaggedTensor):
        return dense_expand_dims(input, axis, name)
    rank = input.shape.rank
    place = counted("expand_dims", axis, None if rank is None else rank + 1)
    if place == 0:
        return RaggedTensor(input, dense_stack([constant(0, int64), input.nrows()]))
    if place == 1:
        return RaggedTensor(input, numbers_below(input.nrows() + 1))
    return input.with_values(expand_dims(input.values, place - 1, name))


@in_graph_of_inputs
def reverse(tensor: Any, axis: Sequence[int], name: str | None = None) -> Any:
    """`tensor` with the order along each of `axis` turned round, of each row within its own length.

    Raises:
        ValueError: an axis is out of range, or computed in a run.
    """
    rank = tensor.shape.rank
    for a in static_integers(axis, "reverse: axis"):
        tensor = _reversed(tensor, counted("reverse", a, rank), name)
    return tensor


def _reversed(x: Any, axis: int, name: str | None) -> Any:
    if not isinstance(x, RaggedTensor):
        return dense_reverse(x, [axis], name)
    if axis == 0:
        return gather(x, numbers_below(x.nrows())[::-1])
    if axis == 1:
        return spans(x.values, x.row_limits() - 1, x.row_lengths(), -1)
    return x.with_values(_reversed(x.values, axis - 1, name))


@in_graph_of_inputs
def tile(input: Any, multiples: TensorLike, name: str | None = None) -> Any:
    """`input` laid side by side, `multiples[i]` times along axis i, of each row behind itself."""
    counts = cast(convert_to_tensor(multiples), int64)
    if not isinstance(input, RaggedTensor):
        return dense_tile(input, counts, name)
    x = input.with_values(tile(input.values, dense_concat([constant([1], int64), counts[2:]], 0), name))
    lengths = x.row_lengths()
    rows = repeat(numbers_below(x.nrows()), lengths * counts[1], axis=0)
    splits = splits_of(lengths * counts[1])
    places = numbers_below(shape(rows, out_type=int64)[0]) - dense_gather(splits, rows)
    within = floormod(places, maximum(dense_gather(lengths, rows), constant(1, int64)))
    longer = RaggedTensor(gather(x.values, dense_gather(x.row_starts(), rows) + within), splits)
    return gather(longer, dense_tile(numbers_below(x.nrows()), counts[:1]))


@in_graph_of_inputs
def gather_nd(params: Any, indices: Any, name: str | None = None) -> Any:
    """The rows, or elements of rows, that the vectors along the last axis of `indices` name; either may be ragged.

    A place behind the end of its row is an error of the run.

    Raises:
        ValueError: the length of the last axis of `indices` is not known, or 0.
    """
    if isinstance(indices, RaggedTensor):
        return indices.with_values(gather_nd(params, indices.values, name))
    places = convert_to_tensor(indices)
    if not isinstance(params, RaggedTensor):
        return dense_gather_nd(params, places, name=name)
    count = places.shape.size(-1) if places.shape.rank else None
    if not count:
        raise ValueError(
            f"gather_nd: of a ragged tensor the last axis of indices must have a known length, not {places}"
        )
    first = cast(places[..., 0], int64)
    if count == 1:
        return params[first] if first.shape.rank == 0 else gather(params, first)
    inner = _place_in_values(params, first, cast(places[..., 1], int64))
    return gather_nd(params.values, dense_concat([inner[..., None], cast(places[..., 2:], int64)], -1), name)


@in_graph_of_inputs
def where(condition: Any, x: Any = None, y: Any = None, name: str | None = None) -> Any:
    """`x` where the ragged `condition` holds, else `y`; without both the places of what is true, as int64."""
    if x is None or y is None:
        return dense_boolean_mask(places_of(condition), condition.flat_values)
    return map_flat_values(dense_where, condition, x, y, name)


def _place_in_values(x: RaggedTensor, row: Tensor, place: Tensor) -> Tensor:
    """Where the values have what is at `place` of `row`."""
    fits = logical_and(place >= 0, place < dense_gather(x.row_lengths(), row))
    with control_dependencies([assert_(reduce_all(fits), ["gather_nd: a place is outside its row:", row, place])]):
        return identity(dense_gather(x.row_starts(), row) + place)


def counted(what: str, axis: int, rank: int | None) -> int:
    """The number of an axis, from the front."""
    if rank is None and axis >= 0:
        return axis
    if rank is None or not -rank <= axis < rank:
        raise ValueError(f"{what}: axis={axis} out of bounds: expected {-(rank or 0)}<=axis<{rank or 0}")
    return axis % rank
