"""Norms of vectors and of matrices, of any order."""

from __future__ import annotations

from numbers import Real
from typing import Any

from ...core.contexts import in_graph_of_inputs
from ...core.graph import get_default_graph
from ...core.operation import Tensor
from ...core.typing import AxisLike, TensorLike
from ..base.axes import checked_axis, static_integers
from ..creation.constant import convert_to_tensor
from ..reduction.norms import Root, euclidean_norm
from ..reduction.reduce import reduce_max, reduce_sum
from ..shape.squeeze import expand_dims, squeeze
from ..shape.transpose import transpose
from .svd import svd


@in_graph_of_inputs
def norm(
    tensor: TensorLike,
    ord: float | str = "euclidean",
    axis: AxisLike | None = None,
    keepdims: bool | None = None,
    name: str | None = None,
) -> Tensor:
    """The norm of vectors, or of matrices where `axis` names two: "euclidean" or "fro" or 2, 1, infinity, any p > 0.

    With `axis=None` all elements are one vector. For matrices "euclidean" and "fro" are the Frobenius norm, 2 is the
    largest singular value, 1 and infinity the largest column and row sum; others there are not. The derivative at 0 is
    0; but that of the largest of n equal singular values is shared between them: at 0 it is the identity over n.

    Shapes: any; the result lacks the axes, or with `keepdims` has length one there. Dtypes: floats and complex numbers.

    Derivative: dx = dy * x / y for the 2-norm, dy * x * |x|^(p - 2) / y^(p - 1) for others, 0 at 0; of matrix norms
    that of their singular values.

    Raises:
        ValueError: another `ord`, or one that matrices or vectors do not have; an axis out of range.

    >>> import pullback as pb
    >>> pb.Session().run([pb.norm([3.0, -4.0]), pb.norm([3.0, -4.0], ord=1)])
    [np.float32(5.0), np.float32(7.0)]
    """
    x = convert_to_tensor(tensor)
    axes = None if axis is None else static_integers(axis, "norm: axis")
    keep = bool(keepdims)
    if axes is not None and len(axes) == 2:
        return _matrix_norm(x, ord, axes, keep, name)
    if axes is not None and len(axes) != 1:
        raise ValueError(f"norm: axis must be None, an integer, or two integers, not {axis!r}")
    if ord in ("euclidean", 2):
        return euclidean_norm(x, axes, keep, name or "norm")
    if not isinstance(ord, Real) or ord <= 0:
        raise ValueError(f"norm: ord must be 'euclidean', 1, 2, infinity or a positive number for vectors, not {ord!r}")
    if ord == 1:
        return reduce_sum(abs(x), axes, keep, name or "norm")
    if ord == float("inf"):
        return reduce_max(abs(x), axes, keep, name or "norm")
    with get_default_graph().name_scope(name or "norm"):
        return Root(1.0 / ord)(reduce_sum(abs(x) ** ord, axes, keep))


def _matrix_norm(x: Tensor, ord: Any, axes: tuple[int, ...], keep: bool, name: str | None) -> Tensor:
    if ord in ("euclidean", "fro"):
        return euclidean_norm(x, axes, keep, name or "norm")
    if ord not in (1, 2, float("inf")):
        raise ValueError(f"norm: ord must be 'euclidean', 'fro', 1, 2 or infinity for matrices, not {ord!r}")
    if ord == 2:
        return _largest_singular_value(x, axes, keep, name)
    rows, columns = axes
    first, second = (rows, columns) if ord == 1 else (columns, rows)
    sums = reduce_sum(abs(x), first, keepdims=True)
    largest = reduce_max(sums, second, keepdims=True, name=name or "norm")
    if keep:
        return largest
    return squeeze(largest, list(axes))


def _largest_singular_value(x: Tensor, axes: tuple[int, ...], keep: bool, name: str | None) -> Tensor:
    rank = x.shape.rank
    if rank is None and axes != (-2, -1):
        raise ValueError(f"norm: the rank of {x.type} must be known, or axis=(-2, -1)")
    with x.graph.within(name or "norm"):
        if rank is not None:
            last = [checked_axis(axis, rank, "norm", x.type) for axis in axes]
            x = x if last == [rank - 2, rank - 1] else transpose(x, [*[i for i in range(rank) if i not in last], *last])
        largest = reduce_max(svd(x, compute_uv=False), -1)
        for axis in sorted(axes if rank is None else last) if keep else ():
            largest = expand_dims(largest, axis)
        return largest
