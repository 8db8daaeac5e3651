"""Block matrices, two by two: where the derivatives of functions of matrices stand (Mathias 1996).

A matrix function of [[a, e], [0, a]] has in its upper right block the derivative at `a` in the direction `e`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.intervals import any_input_or_zero, input_or_zero
from ...core.operation import Operation, Tensor
from ...core.primitive import Primitive
from ...core.shape import TensorShape
from ...core.traits import ADDS, MOVES, VIEWS, links_of_matrices
from ...core.types import TensorType


def upper_block_matrix(a: Tensor, e: Tensor) -> Tensor:
    """[[a, e], [0, a]]."""
    return UpperBlocks()(a, e)


class UpperBlocks(Primitive):
    traits = (MOVES,)
    links = links_of_matrices

    def infer(self, a: TensorType, e: TensorType) -> tuple[TensorType, ...]:
        del e
        return (_resized(a, lambda n: 2 * n),)

    def kernel(self, xp: Any, a: Any, e: Any) -> Any:
        upper = xp.concatenate([a, e], axis=-1)
        return xp.concatenate([upper, xp.concatenate([xp.zeros_like(a), a], axis=-1)], axis=-2)

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        del op
        return lambda: DiagonalBlocks()(dy), lambda: upper_right(dy)

    bounds = any_input_or_zero


class DiagonalBlocks(Primitive):
    """The sum of the two blocks on the diagonal."""

    traits = (ADDS,)

    def infer(self, x: TensorType) -> tuple[TensorType, ...]:
        return (_resized(x, lambda n: n // 2),)

    def kernel(self, xp: Any, x: Any) -> Any:
        del xp
        n = x.shape[-1] // 2
        return x[..., :n, :n] + x[..., n:, n:]

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        del op
        return (lambda: UpperBlocks()(dy, dy * 0),)


def upper_right(x: Tensor) -> Tensor:
    """The upper right block."""
    return UpperRight()(x)


class UpperRight(Primitive):
    traits = (MOVES, VIEWS)
    links = links_of_matrices

    def infer(self, x: TensorType) -> tuple[TensorType, ...]:
        return (_resized(x, lambda n: n // 2),)

    def kernel(self, xp: Any, x: Any) -> Any:
        del xp
        n = x.shape[-1] // 2
        return x[..., :n, n:]

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        del op
        return (lambda: AtUpperRight()(dy),)


class AtUpperRight(Primitive):
    """`x` as the upper right block, zeros elsewhere."""

    traits = (MOVES,)

    def infer(self, x: TensorType) -> tuple[TensorType, ...]:
        return (_resized(x, lambda n: 2 * n),)

    def kernel(self, xp: Any, x: Any) -> Any:
        n = x.shape[-1]
        return xp.pad(x, [*[(0, 0)] * (x.ndim - 2), (0, n), (n, 0)])

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        del op
        return (lambda: upper_right(dy),)

    bounds = input_or_zero


def _resized(x: TensorType, size: Any) -> TensorType:
    dims = x.shape.lengths
    if dims is None:
        return x
    return TensorType(x.dtype, TensorShape([*dims[:-2], *[None if n is None else size(n) for n in dims[-2:]]]))
