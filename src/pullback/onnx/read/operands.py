"""Static and dynamic operands during ONNX import: axes, lengths, positions, known now or in a run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.dtypes import int64
from ...core.operation import Tensor
from ...primitives.casting.cast import cast
from ...primitives.creation.constant import constant
from ...primitives.creation.ranges import range_
from ...primitives.cumulative.cumsum import cumsum
from ...primitives.elementwise.division import floormod
from ...primitives.elementwise.maximum import maximum
from ...primitives.identity.identity import ensure_shape
from ...primitives.indexing.gather import boolean_mask, gather
from ...primitives.indexing.scatter_nd import tensor_scatter_nd_update
from ...primitives.indexing.where import where
from ...primitives.logic.comparison import equal
from ...primitives.logic.logical import logical_not
from ...primitives.reduction.reduce import reduce_any
from ...primitives.shape.reshape import reshape
from ...primitives.shape.size import shape, size
from ...primitives.shape.squeeze import expand_dims
from ...primitives.shape.stacking import concat, stack
from ..reading import Node

LARGEST_TABLE = 2**20
"""Masks of more elements are computed in the run."""


def integers(node: Node, x: Tensor | None) -> list[int] | None:
    """The elements of an integer tensor that is known while the model is read, else None."""
    value = node.static(x)
    return None if value is None else [int(n) for n in value.reshape(-1)]


def from_front(node: Node, axis: int, rank: int) -> int:
    """The axis, which may count from the end, counted from the front; an error where there is none such."""
    if not -rank <= axis < rank:
        node.reject(f"there is no axis {axis} among {rank}")
    return axis % rank


def axis_of(node: Node, axis: int, x: Tensor) -> int:
    """The axis of `x` counted from the front; as it is where nobody knows how many there are."""
    return axis if x.shape.rank is None else from_front(node, axis, x.shape.rank)


def require_places(node: Node, indices: Tensor, x: Tensor, axis: int) -> None:
    """Raise where `indices`, as far as they are known, are outside the axis."""
    known, n = node.static(indices), x.shape.size(axis) if x.shape.rank is not None else None
    if known is not None and n is not None and known.size and not (-n <= known.min() and known.max() < n):
        wrong = int(known.min() if known.min() < -n else known.max())
        node.reject(f"the index {wrong} is outside axis {axis} of {x}")


def require_same_rank(node: Node, indices: Tensor, x: Tensor) -> None:
    """Raise where `indices` of single elements has not as many axes as `x`."""
    ranks = indices.shape.rank, x.shape.rank
    if None not in ranks and ranks[0] != ranks[1]:
        node.reject(f"the indices {indices} have {ranks[0]} axes, and {x} has {ranks[1]}")


def scalar(x: Tensor) -> Tensor:
    """A tensor of one element without axes."""
    return x if x.shape.rank == 0 else reshape(x, [])


def vector(numbers: Sequence[Any]) -> Tensor:
    """Integers and integer scalars as a vector of int64."""
    if all(isinstance(n, int) for n in numbers):
        return constant(np.array(numbers, np.int64))
    return stack([cast(n, int64) if isinstance(n, Tensor) else constant(np.int64(n)) for n in numbers])


def flags_of(axes: Tensor, rank: int) -> Tensor:
    """For each of `rank` axes whether it is among `axes`, which may count from the end."""
    places = floormod(cast(reshape(axes, [-1]), int64), rank)
    return reduce_any(equal(expand_dims(constant(np.arange(rank)), 1), expand_dims(places, 0)), 1)


def lengths_without(x: Tensor, flags: Tensor, count: int | None) -> Tensor:
    """The lengths of the axes of `x` that are not flagged; `count` is the number of the flagged ones."""
    kept = boolean_mask(shape(x, int64), logical_not(flags))
    if count is None or x.shape.rank is None:
        return kept
    return ensure_shape(kept, [x.shape.rank - count])


def lengths_with(x: Tensor, flags: Tensor) -> Tensor:
    """The lengths of `x` with ones put in at the axes of the result that are flagged."""
    places = cumsum(cast(logical_not(flags), int64)) - 1
    own = concat([shape(x, int64), constant(np.ones(1, np.int64))], 0)
    return where(flags, constant(np.int64(1)), gather(own, maximum(places, 0)))


def count_of(x: Tensor) -> int | None:
    """The number of elements where it is known."""
    return x.shape.num_elements()


def full_like_axes(node: Node, axes: Tensor | None, values: Tensor, other: int, rank: int) -> Tensor:
    """A vector with one number for each of `rank` axes: of `values` for `axes` (the first ones), elsewhere `other`."""
    values = cast(reshape(values, [-1]), int64)
    if axes is None and values.shape.size(0) == rank:
        return values
    known = integers(node, axes)
    if known is not None:
        places = constant(np.array([from_front(node, a, rank) for a in known], np.int64))
    elif axes is not None:
        places = floormod(cast(reshape(axes, [-1]), int64), rank)
    else:
        places = range_(size(values, int64))
    base = constant(np.full(rank, other, np.int64))
    return tensor_scatter_nd_update(base, expand_dims(places, 1), values)
