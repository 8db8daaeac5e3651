"""Tensor dot product: sums over pairs of axes, also where a rank is only known in a run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.operation import Tensor
from ...core.typing import AxisLike, TensorLike
from ..base.broadcasting import operands
from ..creation.constant import constant_value
from ..reduction.product import reduce_prod
from ..shape.reshape import reshape
from ..shape.size import shape
from ..shape.stacking import concat, stack
from .einsum import LETTERS, Einsum
from .matmul import matmul


def tensordot(a: TensorLike, b: TensorLike, axes: AxisLike, name: str | None = None) -> Tensor:
    """The sum of products of `a` and `b` over pairs of axes: the last `axes` of `a` with the first of `b`, or the pairs
    that the two lists in `axes` say.

    Shapes: the other axes of `a`, then those of `b`. Where a rank is unknown, the axes are the last or the first ones
    of each, in order. Dtypes: any number, the same for both.

    Derivative: da = the tensordot of dz and b over the axes of b that were kept, db likewise.

    Raises:
        ValueError: the axes do not pair up; a rank is unknown, and the axes are others. TypeError: the dtypes differ.

    >>> import pullback as pb
    >>> pb.tensordot(pb.zeros([2, 3, 4]), pb.zeros([4, 3, 5]), [[1, 2], [1, 0]]).shape
    TensorShape([2, 5])
    """
    x, y = operands(a, b)
    if x.shape.rank is None or y.shape.rank is None:
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
    value = constant_value(axes) if isinstance(axes, Tensor) else axes
    if isinstance(value, int | np.integer):
        value = [list(range(-int(value), 0)), list(range(int(value)))]
    over = [np.atleast_1d(np.asarray(part, int)).tolist() for part in (value if value is not None else ())]
    sides = [_side(z, part) for z, part in zip((x, y), over, strict=False)]
    if len(sides) != 2 or None in sides or len(over[0]) != len(over[1]):
        raise ValueError(f"tensordot: the ranks of both must be known: {x} and {y}; use pb.ensure_shape")
    (left, rows_x, kept_x), (right, rows_y, kept_y) = sides  # type: ignore[misc]
    product = matmul(left, right, transpose_a=rows_x, transpose_b=not rows_y)
    return reshape(product, concat([kept_x, kept_y], 0), name=name)


def _side(z: Tensor, over: Sequence[int]) -> tuple[Tensor, bool, Tensor] | None:
    """`z` as a matrix, whether the axes `over` became its rows, the lengths of the others; None where it cannot."""
    count, lengths = len(over), shape(z)
    rank = z.shape.rank
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
    return None


def _axes_to_pair(axes: Any, x: Tensor, y: Tensor) -> tuple[list[int], list[int]]:
    rank_x, rank_y = len(x.shape), len(y.shape)
    if isinstance(axes, int | np.integer):
        if not 0 <= axes <= min(rank_x, rank_y):
            raise ValueError(f"tensordot: axes={axes} is not between 0 and the ranks of {x} and {y}")
        return list(range(rank_x - int(axes), rank_x)), list(range(int(axes)))
    value = constant_value(axes) if isinstance(axes, Tensor) else axes
    if value is None or len(value) != 2:
        raise ValueError(f"tensordot: axes must be an integer or two lists, not {axes!r}")
    over_x, over_y = [np.atleast_1d(np.asarray(part, int)).tolist() for part in value]
    if len(over_x) != len(over_y):
        raise ValueError(f"tensordot: axes={axes!r} has lists of different lengths")
    for x_or_y, part in ((x, over_x), (y, over_y)):
        rank = len(x_or_y.shape)
        if any(not -rank <= i < rank for i in part):
            raise ValueError(f"tensordot: axes={axes!r} has an axis that {x_or_y} has not")
    return [i % rank_x for i in over_x], [j % rank_y for j in over_y]
