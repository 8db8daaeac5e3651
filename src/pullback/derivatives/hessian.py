"""Hessians: the Jacobians of gradients, block by block; and their diagonals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..autodiff.arguments import as_list
from ..autodiff.choices import Aggregation
from ..autodiff.cotangent import dense
from ..autodiff.reverse import gradients
from ..core.graph import Tensor
from ..core.typing import TensorLike
from ..primitives.creation.fill import zeros
from ..primitives.reduction.reduce import reduce_sum
from ..primitives.shape.reshape import reshape, reshape_like
from ..primitives.shape.size import shape
from ..primitives.shape.stacking import concat
from .products import as_sources, graph_of_all, source_tensor, value_type, zeros_of
from .rows import rows_of
from .seeds import seeds_of


def hessians(
    ys: TensorLike,
    xs: TensorLike,
    name: str | bool = "hessians",
    colocate_gradients_with_ops: bool = False,
    gate_gradients: bool = False,
    aggregation_method: int | Aggregation | None = None,
    *,
    blocks: str = "diagonal",
    batch_size: int | None = None,
) -> list[Any]:
    """For each of `xs` the second derivatives of the sum of `ys` by it: of shape x.shape + x.shape.

    With `blocks="all"` a list of lists: entry [i][j] is d²y/dx_i dx_j, of shape x_i.shape + x_j.shape. Where y is
    linear in x, or does not depend on it, they are zeros. `batch_size` rows are computed at once (None: as the engine
    likes).

    TensorFlow's later order of arguments, `hessians(ys, xs, gate_gradients, aggregation_method, name)`, is understood
    where the third is a truth value.

    Raises:
        ValueError: `blocks` is neither "diagonal" nor "all". LookupError and others as `gradients`.

    >>> import pullback as pb
    >>> x = pb.constant([1.0, 2.0])
    >>> pb.Session().run(pb.hessians(pb.reduce_sum(x * x * x), x))
    [array([[ 6.,  0.],
           [ 0., 12.]], dtype=float32)]
    """
    if isinstance(name, bool):
        later = (name, colocate_gradients_with_ops or None, gate_gradients or "hessians")
        gate_gradients, aggregation_method, name = later
        colocate_gradients_with_ops = True
    if blocks not in ("diagonal", "all"):
        raise ValueError(f"hessians: blocks must be 'diagonal' or 'all', not {blocks!r}")
    sources = as_sources(xs)
    options: dict[str, Any] = {
        "colocate_gradients_with_ops": colocate_gradients_with_ops,
        "gate_gradients": gate_gradients,
        "aggregation_method": aggregation_method,
    }
    graph = graph_of_all([*as_list(ys, "ys"), *sources])
    with graph.transaction(), graph.name_scope(name):
        first = gradients(ys, sources, **options)
        result: list[Any] = []
        for i, dx in enumerate(first):
            columns = sources if blocks == "all" else [sources[i]]
            row = _block_row(dx, sources[i], columns, options, batch_size)
            result.append(row if blocks == "all" else row[0])
    return result


def _block_row(dx: Any, x: Any, columns: Sequence[Any], options: Any, batch_size: int | None) -> list[Tensor]:
    """The Jacobians of `dx`, the derivative by `x`, by each of `columns`."""
    if dx is None:
        return [_zero_block(x, column) for column in columns]
    seeds = seeds_of(dense(dx), [source_tensor(column) for column in columns])

    def pull(seed: Tensor) -> list[Tensor | None]:
        return [None if d is None else dense(d) for d in gradients(seeds.of, columns, grad_ys=seed, **options)]

    found = rows_of(seeds.of, pull, batch_size, seeds.rows)
    return [
        _zero_block(x, column) if rows is None else _shaped(rows, x, column)
        for rows, column in zip(found, columns, strict=True)
    ]


def _zero_block(x: Any, column: Any) -> Tensor:
    a, b = value_type(x), value_type(column)
    if a.shape.is_fully_defined() and b.shape.is_fully_defined():
        return zeros([*a.shape.known, *b.shape.known], a.dtype)
    return zeros(concat([shape(zeros_of(x)), shape(zeros_of(column))], 0), a.dtype)


def _shaped(rows: Tensor, x: Any, column: Any) -> Tensor:
    a, b = value_type(x).shape, value_type(column).shape
    if a.is_fully_defined() and b.is_fully_defined():
        return reshape(rows, [*a.known, *b.known])
    return reshape(rows, concat([shape(zeros_of(x)), shape(rows)[1:]], 0))


def hessian_diagonal(
    ys: TensorLike, xs: TensorLike, *, batch_size: int | None = None, name: str = "hessian_diagonal"
) -> list[Tensor]:
    """For each of `xs` the diagonal of the Hessian of the sum of `ys`, in x's shape.

    It is exact, and takes the memory of `batch_size` Hessian-vector products, not of the Hessian; the work is that of
    all of its rows.

    >>> import pullback as pb
    >>> x = pb.constant([1.0, 2.0])
    >>> pb.Session().run(pb.hessian_diagonal(pb.reduce_sum(x * x * x), x))
    [array([ 6., 12.], dtype=float32)]
    """
    sources = as_sources(xs)
    graph = graph_of_all([*as_list(ys, "ys"), *sources])
    with graph.transaction(), graph.name_scope(name):
        return [_diagonal(dx, x, batch_size) for dx, x in zip(gradients(ys, sources), sources, strict=True)]


def _diagonal(dx: Any, x: Any, batch_size: int | None) -> Tensor:
    if dx is None:
        return zeros_of(x)
    slope = dense(dx)

    def pull(unit: Tensor) -> list[Tensor | None]:
        (d,) = gradients(slope, x, grad_ys=unit)
        return [None if d is None else reduce_sum(dense(d) * unit)]

    (rows,) = rows_of(slope, pull, batch_size)
    return zeros_of(x) if rows is None else reshape_like(rows, slope)
