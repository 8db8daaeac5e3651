"""Dimensions during ONNX import: integers where they are known, scalars that a run computes elsewhere."""

from __future__ import annotations

from typing import Any

from ...core.dtypes import int64
from ...core.operation import Tensor
from ...primitives.shape.size import shape


def rank_of(node: Any, x: Tensor) -> int:
    """The rank of `x`; the node is refused where it is not known."""
    if x.shape.rank is None:
        node.refuse(f"the rank of {x} is not known")
    return int(x.shape.rank)  # type: ignore[arg-type]


def require_rank(node: Any, rank: int, *xs: Tensor | None) -> None:
    """Reject the node where one of its operands is known to have another rank."""
    for x in xs:
        if x is not None and x.shape.rank not in (None, rank):
            node.reject(f"{x} must have {rank} {'axis' if rank == 1 else 'axes'}")


def lengths(x: Tensor) -> list[Any]:
    """The length of each axis: an integer, or an int64 scalar where it is not known."""
    dims = x.shape.as_list()
    if None not in dims:
        return dims
    vector = shape(x, int64)
    return [vector[i] if n is None else n for i, n in enumerate(dims)]


def length(x: Tensor, axis: int) -> Any:
    """The length of one axis: an integer, or an int64 scalar where it is not known."""
    n = x.shape.size(axis)
    return shape(x, int64)[axis] if n is None else n
