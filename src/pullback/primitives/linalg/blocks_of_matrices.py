"""Block matrices, two by two: where the derivatives of functions of matrices stand (Mathias 1996).

A matrix function of [[a, e], [0, a]] has in its upper right block the derivative at `a` in the direction `e`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.intervals import any_input_or_zero, input_or_zero
from ...core.operation import Operation, Tensor
from ...core.primitive import Primitive, no_gradient
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


def excess_of(e: Tensor, a: Tensor) -> Tensor:
    """The power of two by which each matrix of `e` is larger than that of `a`, [..., 1, 1]; 1 where it is not."""
    return Excess()(e, a)


class Excess(Primitive):
    gradient = no_gradient

    def infer(self, e: TensorType, a: TensorType) -> tuple[TensorType, ...]:
        del a
        return (_resized(e, lambda n: 1),)

    def kernel(self, xp: Any, e: Any, a: Any) -> Any:
        larger, size = [xp.max(xp.abs(x), axis=(-2, -1), keepdims=True, initial=0) for x in (e, a)]
        ratio = larger / xp.where(size > 0, size, xp.ones_like(size))
        exponent = xp.floor(xp.log2(xp.where(ratio > 1, ratio, xp.ones_like(ratio))))
        known = xp.isfinite(exponent)
        return xp.exp2(xp.where(known, exponent, xp.zeros_like(exponent))).astype(e.dtype)


def _resized(x: TensorType, size: Any) -> TensorType:
    dims = x.shape.lengths
    if dims is None:
        return x
    return TensorType(x.dtype, TensorShape([*dims[:-2], *[None if n is None else size(n) for n in dims[-2:]]]))
