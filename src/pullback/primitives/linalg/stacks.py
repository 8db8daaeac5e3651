"""Batches of matrices: what solvers and decompositions have in common."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.dtypes import complex64, complex128, float32, float64
from ...core.lengths import known_to_differ
from ...core.matmul_precision import in_full
from ...core.operation import Operation, Tensor
from ...core.primitive import Primitive, same_type
from ...core.shape import Lengths, TensorShape, broadcast_static_shape
from ...core.traits import PARTLY, Links, all_axes_but, linear, links_of_matrices
from ...core.types import TensorType
from ..complex.complex import conj
from ..creation.constant import convert_to_tensor
from .contraction import adjoint
from .einsum import Einsum
from .matmul import BatchMatMul

DECOMPOSABLE = frozenset([float32, float64, complex64, complex128])


def matrices(what: str, value: Any, square: bool = False) -> Tensor:
    """`value` as a tensor, checked to be a stack of matrices of a dtype that can be decomposed."""
    x = convert_to_tensor(value)
    check_matrices(what, x.type, square)
    return x


def check_matrices(what: str, x: TensorType, square: bool = False) -> Lengths | None:
    """The lengths of `x`; ValueError or TypeError where it is no stack of (square) matrices of floats."""
    if x.dtype not in DECOMPOSABLE:
        wanted = ", ".join(sorted(d.name for d in DECOMPOSABLE))
        raise TypeError(f"{what}: takes no {x.dtype.name}: {x}; it takes {wanted}")
    dims = x.shape.lengths
    if dims is None:
        return None
    if len(dims) < 2:
        raise ValueError(f"{what}: a matrix or a stack of them is needed, not {x}")
    if square and known_to_differ(*dims[-2:]):
        raise ValueError(f"{what}: the matrices must be square: {x}")
    return tuple(dims)


def infer_solve(what: str, a: TensorType, b: TensorType, square: bool = True) -> TensorType:
    """The type of `x` in `a @ x = b`; the stacks broadcast together."""
    first, second = check_matrices(what, a, square), check_matrices(what, b)
    if a.dtype != b.dtype:
        raise TypeError(f"{what}: dtypes differ: {a} and {b}; convert one with pb.cast")
    if first is None or second is None:
        return TensorType(a.dtype, TensorShape.UNKNOWN)
    if known_to_differ(first[-2], second[-2]):
        raise ValueError(f"{what}: {a} and {b} have {first[-2]} and {second[-2]} rows")
    if first[:-2] == second[:-2] and square and None not in second:
        return b
    try:
        stack = broadcast_static_shape(TensorShape(first[:-2]), TensorShape(second[:-2]))
    except ValueError:
        raise ValueError(f"{what}: the stacks do not broadcast together: {a} and {b}") from None
    rows = first[-1] if not square or second[-2] is None else second[-2]
    return TensorType(a.dtype, stack.concatenate([rows, second[-1]]))


def times(a: Tensor, b: Tensor, adjoint_a: bool = False, adjoint_b: bool = False) -> Tensor:
    """The product of each matrix with its partner, in the full precision of their dtype."""
    with in_full(a.graph):
        return BatchMatMul(adjoint_a, adjoint_b)(a, b)


def adjoint_of(x: Tensor) -> Tensor:
    """Each matrix, transposed and conjugated."""
    return Einsum("...ij->...ji")(conj(x))


def transpose_of(x: Tensor) -> Tensor:
    """Each matrix, transposed."""
    return Einsum("...ij->...ji")(x)


class LowerPart(Primitive):
    """What is below the diagonal of each matrix times `below`, and the diagonal times `diagonal`."""

    traits = (linear(0), PARTLY)

    diagonal: float
    below: float = 1.0

    infer = same_type

    def links(self, i: int, x: TensorType) -> Links | None:
        del i
        return all_axes_but(x.shape.rank)

    def kernel(self, xp: Any, x: Any) -> Any:
        m, n = x.shape[-2:]
        weights = np.tril(np.full((m, n), self.below), -1) + np.eye(m, n) * self.diagonal
        kept = x if self.below == self.diagonal == 1.0 else x * xp.asarray(weights, x.dtype)
        return xp.where(np.tri(m, n, -1 if self.diagonal == 0.0 else 0, bool), kept, xp.zeros((), x.dtype))

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        del op
        return (lambda: LowerPart(self.diagonal, self.below)(dy),)


class HermitianPart(Primitive):
    """`(x + adjoint(x)) / 2`."""

    traits = (linear(0), PARTLY)
    infer = same_type

    links = links_of_matrices

    def kernel(self, xp: Any, x: Any) -> Any:
        return (x + adjoint(xp, x)) * xp.asarray(0.5, x.dtype)

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        del op
        return (lambda: HermitianPart()(dy),)


class IdentityLike(Primitive):
    """A unit matrix for each square matrix."""

    reads_values = False
    infer = same_type

    def kernel(self, xp: Any, x: Any) -> Any:
        return xp.broadcast_to(xp.eye(x.shape[-1], dtype=x.dtype), x.shape)

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        """The result does not depend on the values."""
        del op, dy
        return (None,)
