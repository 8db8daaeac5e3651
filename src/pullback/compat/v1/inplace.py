"""Rows that take the place of others, as `tensorflow.python.ops.inplace_ops` has them: the result is a new tensor."""

from __future__ import annotations

import pullback as pb

from ...core.contexts import in_graph_of_inputs
from ...core.typing import DTypeLike, ShapeLike, TensorLike
from ...primitives.base.broadcasting import operands


@in_graph_of_inputs
def alias_inplace_update(x: TensorLike, i: TensorLike | None, v: TensorLike) -> pb.Tensor:
    """`x` with `v` as its row `i`, or its rows `i` [n], or the whole where `i` is None.

    Derivative: to `x` where its rows stay, to `v` where they were put.

    >>> import pullback as pb
    >>> from pullback.compat.v1.inplace import alias_inplace_update
    >>> pb.Session().run(alias_inplace_update([[1.0, 2.0], [3.0, 4.0]], 1, [5.0, 6.0])).tolist()
    [[1.0, 2.0], [5.0, 6.0]]
    """
    return pb.convert_to_tensor(v) if i is None else pb.tensor_scatter_nd_update(*_rows(x, i, v))


@in_graph_of_inputs
def alias_inplace_add(x: TensorLike, i: TensorLike | None, v: TensorLike) -> pb.Tensor:
    """`x` with `v` added to its row `i`, its rows `i` [n], or the whole where `i` is None."""
    return pb.convert_to_tensor(x) + v if i is None else pb.tensor_scatter_add(*_rows(x, i, v))


@in_graph_of_inputs
def alias_inplace_sub(x: TensorLike, i: TensorLike | None, v: TensorLike) -> pb.Tensor:
    """`x` with `v` taken from its row `i`, its rows `i` [n], or the whole where `i` is None."""
    return pb.convert_to_tensor(x) - v if i is None else pb.tensor_scatter_nd_sub(*_rows(x, i, v))


inplace_update, inplace_add, inplace_sub = alias_inplace_update, alias_inplace_add, alias_inplace_sub


def empty(shape: ShapeLike, dtype: DTypeLike, init: bool = False) -> pb.Tensor:
    """A tensor of zeros, whether they are asked for (`init`) or not."""
    del init
    return pb.zeros(shape, dtype)


def empty_like(x: TensorLike, init: bool | None = None) -> pb.Tensor:
    """Zeros like `x`."""
    del init
    return pb.zeros_like(x)


def _rows(x: TensorLike, i: TensorLike, v: TensorLike) -> tuple[pb.Tensor, pb.Tensor, pb.Tensor]:
    """`x`, the places of rows, [n, 1], and what comes there, [n, ...]."""
    places, (before, values) = pb.convert_to_tensor(i), operands(x, v)
    if places.shape.rank == 0:
        places, values = pb.expand_dims(places, 0), pb.expand_dims(values, 0)
    return before, pb.expand_dims(places, -1), values
