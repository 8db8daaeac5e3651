"""Tensor dot product: sums over pairs of axes, also where a rank is only known in a run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.contexts import in_graph_of_inputs
from ...core.dtypes import int32
from ...core.operation import Tensor
from ...core.typing import AxisLike, TensorLike
from ..base.axes import is_computed
from ..base.broadcasting import operands
from ..casting.cast import cast
from ..creation.constant import constant_value, convert_to_tensor
from ..creation.ranges import range_
from ..indexing.gather import boolean_mask, gather
from ..indexing.where import where
from ..logic.comparison import not_equal
from ..reduction.product import reduce_prod
from ..reduction.reduce import reduce_all
from ..shape.reshape import reshape
from ..shape.size import rank as rank_of
from ..shape.size import shape
from ..shape.squeeze import expand_dims
from ..shape.stacking import concat, stack
from ..shape.transpose import transpose
from .einsum import LETTERS, Einsum
from .matmul import matmul


@in_graph_of_inputs
def tensordot(a: TensorLike, b: TensorLike, axes: AxisLike, name: str | None = None) -> Tensor:
    """The sum of products of `a` and `b` over pairs of axes: the last `axes` of `a` with the first of `b`, or the pairs
    that the two lists in `axes` say.

    Shapes: the other axes of `a`, then those of `b`. Two vectors of axes may be computed in a run.
    Dtypes: any number, the same for both.

    Derivative: da = the tensordot of dz and b over the axes of b that were kept, db likewise.

    Raises:
        ValueError: the axes do not pair up, or one stands twice. TypeError: the dtypes differ.
        InvalidArgumentError: in a run, where only that knows it.

    >>> import pullback as pb
    >>> pb.tensordot(pb.zeros([2, 3, 4]), pb.zeros([4, 3, 5]), [[1, 2], [1, 0]]).shape
    TensorShape([2, 5])
    """
    x, y = operands(a, b)
    if x.shape.rank is None or y.shape.rank is None or is_computed(axes):
        return _of_unknown_ranks(axes, x, y, name)
    over_x, over_y = _axes_to_pair(axes, x, y)
    labels_x = list(LETTERS[: x.shape.rank])
    labels_y = list(LETTERS[x.shape.rank : x.shape.rank + y.shape.rank])
    for i, j in zip(over_x, over_y, strict=True):
        labels_y[j] = labels_x[i]
    summed = {labels_x[i] for i in over_x}
    result = "".join(c for c in labels_x + labels_y if c not in summed)
    return Einsum(f"{''.join(labels_x)},{''.join(labels_y)}->{result}")(x, y, name=name)


def _of_unknown_ranks(axes: Any, x: Tensor, y: Tensor, name: str | None) -> Tensor:
    """The product of two matrices: of the axes summed over and of the others, where the former stand together."""
    over: Any
    if is_computed(axes):
        over = axes = convert_to_tensor(axes)
        if axes.shape.rank != 2 or axes.shape.size(0) not in (2, None):
            raise ValueError(f"tensordot: axes that a run computes must be two vectors, not {axes}")
    else:
        value = constant_value(axes) if isinstance(axes, Tensor) else axes
        if isinstance(value, int | np.integer):
            value = [list(range(-int(value), 0)), list(range(int(value)))]
        over = _pair_of_lists(axes, value)
    (left, rows_x, kept_x), (right, rows_y, kept_y) = _side(x, over[0], axes), _side(y, over[1], axes)
    product = matmul(left, right, transpose_a=rows_x, transpose_b=not rows_y)
    return reshape(product, concat([kept_x, kept_y], 0), name=name)


def _side(z: Tensor, over: Sequence[int] | Tensor, axes: Any) -> tuple[Tensor, bool, Tensor]:
    """`z` as a matrix, whether the axes `over` became its rows, and the lengths of the others."""
    lengths, rank = shape(z), z.shape.rank
    if isinstance(over, Tensor):
        return _turned(z, over, lengths)
    _check_axes(over, z, axes)
    count = len(over)
    places = [i if rank is None else i % rank - rank for i in over]
    if places == list(range(-count, 0)):
        return (
            reshape(z, stack([-1, reduce_prod(lengths[-count:] if count else [1])])),
            False,
            lengths[: -count or None],
        )
    places = [i if rank is None else i % rank for i in over]
    if places == list(range(count)):
        return reshape(z, stack([reduce_prod(lengths[:count]), -1])), True, lengths[count:]
    return _turned(z, convert_to_tensor(over, int32), lengths)


def _turned(z: Tensor, over: Tensor, lengths: Tensor) -> tuple[Tensor, bool, Tensor]:
    """The same with the axes `over`, wherever they are, moved to the end."""
    every = range_(rank_of(z))
    places = cast(over, int32)
    places = where(places < 0, places + rank_of(z), places)
    kept = boolean_mask(every, reduce_all(not_equal(expand_dims(every, 1), expand_dims(places, 0)), 1))
    rest, summed = gather(lengths, kept), gather(lengths, places)
    moved = transpose(z, concat([kept, places], 0))
    return reshape(moved, stack([reduce_prod(rest), reduce_prod(summed)])), False, rest


def _check_axes(over: Sequence[int], z: Tensor, axes: Any) -> None:
    """ValueError where one is not among those of `z`, or stands twice."""
    rank = z.shape.rank
    if rank is not None and any(not -rank <= i < rank for i in over):
        raise ValueError(f"tensordot: axes={axes!r} has an axis that {z} has not")
    if len({i if rank is None else i % rank for i in over}) != len(over):
        raise ValueError(f"tensordot: an axis of {z} stands twice in axes={axes!r}")


def _pair_of_lists(axes: Any, value: Any) -> list[list[int]]:
    """The axes of each of both, as many."""
    if value is None or len(value) != 2:
        raise ValueError(f"tensordot: axes must be an integer or two lists, not {axes!r}")
    over_x, over_y = [np.atleast_1d(np.asarray(part, int)).tolist() for part in value]
    if len(over_x) != len(over_y):
        raise ValueError(f"tensordot: axes={axes!r} has lists of different lengths")
    return [over_x, over_y]


def _axes_to_pair(axes: Any, x: Tensor, y: Tensor) -> tuple[list[int], list[int]]:
    rank_x, rank_y = len(x.shape), len(y.shape)
    if isinstance(axes, int | np.integer):
        if not 0 <= axes <= min(rank_x, rank_y):
            raise ValueError(f"tensordot: axes={axes} is not between 0 and the ranks of {x} and {y}")
        return list(range(rank_x - int(axes), rank_x)), list(range(int(axes)))
    value = constant_value(axes) if isinstance(axes, Tensor) else axes
    over_x, over_y = _pair_of_lists(axes, value)
    _check_axes(over_x, x, axes)
    _check_axes(over_y, y, axes)
    return [i % rank_x for i in over_x], [j % rank_y for j in over_y]
