"""Matrix multiplication: of two dimensions, and of stacks of matrices with broadcasting."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from ...core.contexts import in_graph_of_inputs
from ...core.dtypes import as_dtype
from ...core.lengths import known_to_differ
from ...core.operation import Operation, Tensor
from ...core.primitive import Primitive
from ...core.shape import Lengths, TensorShape, broadcast_static_shape, same_length
from ...core.traits import IGNORES_ZEROS, Link, Links, Meeting, bilinear, broadcast_axes_of
from ...core.types import TensorType
from ...core.typing import DTypeLike, TensorLike
from ..base.broadcasting import operands
from ..casting.cast import cast
from ..complex.complex import conj
from ..elementwise.arithmetic import add
from ..reduction.sum import sum_like
from .contraction import adjoint, check_numbers, matmul_kernel
from .einsum import Einsum, einsum


@in_graph_of_inputs
def matmul(
    a: TensorLike,
    b: TensorLike,
    transpose_a: bool = False,
    transpose_b: bool = False,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    output_type: DTypeLike | None = None,
    grad_a: bool = False,
    grad_b: bool = False,
    name: str | None = None,
) -> Tensor:
    """The matrix product of `a` and `b`, of each matrix of a stack with its partner.

    `transpose_a` swaps the last two axes of `a` first, `adjoint_a` conjugates too; likewise for `b`. The hints
    `a_is_sparse`, `b_is_sparse`, `grad_a` and `grad_b` change nothing.

    Shapes: `a` [..., m, k] and `b` [..., k, n] give [..., m, n]; the stacks broadcast together. Dtypes: any number,
    the same for both. `output_type` converts both before they are multiplied.

    Derivative: da = dy @ b^T, db = a^T @ dy, each summed over the axes along which it was repeated.

    Raises:
        ValueError: the shapes do not fit; a matrix is to be both transposed and conjugated-transposed.
        TypeError: the dtypes differ, or are no numbers.

    >>> import pullback as pb
    >>> pb.Session().run(pb.linalg.matmul([[1.0, 2.0]], [[3.0, 4.0]], transpose_b=True))
    array([[11.]], dtype=float32)
    """
    del a_is_sparse, b_is_sparse, grad_a, grad_b
    if (transpose_a and adjoint_a) or (transpose_b and adjoint_b):
        which = "a" if transpose_a and adjoint_a else "b"
        raise ValueError(f"matmul: only one of transpose_{which} and adjoint_{which} can be true")
    x, y = operands(a, b)
    if output_type is not None:
        x, y = cast(x, as_dtype(output_type)), cast(y, as_dtype(output_type))
    if x.shape.rank == 2 and y.shape.rank == 2:
        x, y = conj(x) if adjoint_a else x, conj(y) if adjoint_b else y
        return MatMul(transpose_a or adjoint_a, transpose_b or adjoint_b)(x, y, name=name)
    x, y = conj(x) if transpose_a else x, conj(y) if transpose_b else y
    return BatchMatMul(transpose_a or adjoint_a, transpose_b or adjoint_b)(x, y, name=name)


class MatMul(Primitive):
    traits = (bilinear(0, 1), IGNORES_ZEROS)

    transpose_a: bool = False
    transpose_b: bool = False

    def infer(self, a: TensorType, b: TensorType) -> tuple[TensorType, ...]:
        check_numbers("matmul", a, b)
        if a.shape.rank not in (2, None) or b.shape.rank not in (2, None):
            raise ValueError(f"matmul: both must be matrices: {a} @ {b}")
        m, k = _sides(a.shape.lengths or (None, None), self.transpose_a)
        l, n = _sides(b.shape.lengths or (None, None), self.transpose_b)  # noqa: E741
        if known_to_differ(k, l):
            raise ValueError(_lengths_differ(a, b, self.transpose_a, self.transpose_b, k, l))
        return (TensorType(a.dtype, TensorShape((m, n))),)

    def links(self, i: int, a: TensorType, b: TensorType) -> Links | None:
        del a, b
        return (Link(1, 0 if self.transpose_b else 1),) if i else (Link(0, 1 if self.transpose_a else 0),)

    def meets(self, i: int, j: int, a: TensorType, b: TensorType) -> Meeting:
        del i, a, b
        mine, theirs = (1 if self.transpose_b else 0), (0 if self.transpose_a else 1)
        return {mine: theirs} if j else {theirs: mine}

    def kernel(self, xp: Any, a: Any, b: Any) -> Any:
        a = a.T if self.transpose_a else a
        b = b.T if self.transpose_b else b
        return matmul_kernel(xp, a, b)

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        a, b = op.inputs
        ta, tb = self.transpose_a, self.transpose_b
        if a is b and ta != tb:
            return lambda: _by_own(MatMul(), conj(a), dy, _TRANSPOSE(dy), ta), None

        def da() -> Tensor:
            x = conj(b)
            return _matmul(x, dy, tb, True) if ta else _matmul(dy, x, False, not tb)

        def db() -> Tensor:
            x = conj(a)
            return _matmul(dy, x, True, ta) if tb else _matmul(x, dy, not ta, False)

        return da, db


_TRANSPOSE = Einsum("...ij->...ji")


def _by_own(product: Primitive, a: Tensor, dy: Tensor, turned: Tensor, is_first: bool) -> Tensor:
    """The cotangent of a matrix that is multiplied with its own transpose, by one product; a^T @ a if `is_first`."""
    total = add(dy, turned)
    return product(a, total) if is_first else product(total, a)


def _matmul(a: Tensor, b: Tensor, transpose_a: bool, transpose_b: bool) -> Tensor:
    return MatMul(transpose_a, transpose_b)(a, b)


class BatchMatMul(Primitive):
    """Products of stacks of matrices. The flags conjugate too, so that derivatives need no conjugate of their own."""

    type = "BatchMatMulV2"
    traits = (bilinear(0, 1), IGNORES_ZEROS)

    adj_x: bool = False
    adj_y: bool = False

    def infer(self, a: TensorType, b: TensorType) -> tuple[TensorType, ...]:
        check_numbers("matmul", a, b)
        x, y = a.shape.lengths, b.shape.lengths
        if (x is not None and len(x) < 2) or (y is not None and len(y) < 2):
            raise ValueError(
                f"matmul: both must be matrices or stacks of them: {a} @ {b}; for vectors use pb.linalg.matvec or "
                "pb.tensordot"
            )
        m, k = _sides((None, None) if x is None else x[-2:], self.adj_x)
        l, n = _sides((None, None) if y is None else y[-2:], self.adj_y)  # noqa: E741
        if known_to_differ(k, l):
            raise ValueError(_lengths_differ(a, b, self.adj_x, self.adj_y, k, l))
        if x is None or y is None:
            return (TensorType(a.dtype, TensorShape.UNKNOWN),)
        try:
            stack = broadcast_static_shape(TensorShape(x[:-2]), TensorShape(y[:-2]))
        except ValueError:
            raise ValueError(f"matmul: the stacks do not broadcast together: {a} @ {b}") from None
        return (TensorType(a.dtype, stack.concatenate([m, n])),)

    def links(self, i: int, a: TensorType, b: TensorType) -> Links | None:
        if a.shape.sizes is None or b.shape.sizes is None:
            return None
        rank, own = max(len(a.shape.sizes), len(b.shape.sizes)), (a, b)[i].shape.sizes or ()
        stack = broadcast_axes_of(own[:-2], rank - 2)
        free = 1 - self.adj_y if i else int(self.adj_x)
        return (*stack, Link(rank - 1 if i else rank - 2, len(own) - 2 + free))

    def meets(self, i: int, j: int, a: TensorType, b: TensorType) -> Meeting:
        along = dict(super().meets(i, j, a, b))
        if a.shape.rank is not None and b.shape.rank is not None:
            inner = (a.shape.rank - (2 if self.adj_x else 1), b.shape.rank - (1 if self.adj_y else 2))
            along[inner[j]] = inner[i]
        return along

    def kernel(self, xp: Any, a: Any, b: Any) -> Any:
        return matmul_kernel(xp, adjoint(xp, a) if self.adj_x else a, adjoint(xp, b) if self.adj_y else b)

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        a, b = op.inputs
        if a is b and self.adj_x != self.adj_y:
            return lambda: _by_own(BatchMatMul(), a, dy, conj(_TRANSPOSE(dy)), self.adj_x), None
        return partial(self._by_a, op, dy), partial(self._by_b, op, dy)

    def _by_a(self, op: Operation, dy: Tensor) -> Tensor:
        a, b = op.inputs
        if a.shape.rank == 2 and b.shape.rank is not None and b.shape.rank > 2:
            return self._by_matrix_a(b, dy, b.shape.rank - 2)
        if self.adj_x:
            return _sum_stack(BatchMatMul(self.adj_y, True)(b, dy), a, b)
        return _sum_stack(BatchMatMul(False, not self.adj_y)(dy, b), a, b)

    def _by_b(self, op: Operation, dy: Tensor) -> Tensor:
        a, b = op.inputs
        if b.shape.rank == 2 and a.shape.rank is not None and a.shape.rank > 2:
            return self._by_matrix_b(a, dy, a.shape.rank - 2)
        if self.adj_y:
            return _sum_stack(BatchMatMul(True, self.adj_x)(dy, a), b, a)
        return _sum_stack(BatchMatMul(not self.adj_x, False)(a, dy), b, a)

    def _by_matrix_a(self, b: Tensor, dy: Tensor, depth: int) -> Tensor:
        """The cotangent of one matrix `a` against a stack: one product that sums over the stack."""
        stack = _STACK[:depth]
        labels = "nk" if self.adj_y else "kn"
        equation = f"{stack}mn,{stack}{labels}->{'km' if self.adj_x else 'mk'}"
        return Einsum(equation)(conj(dy) if self.adj_x else dy, conj(b) if self.adj_x == self.adj_y else b)

    def _by_matrix_b(self, a: Tensor, dy: Tensor, depth: int) -> Tensor:
        """The cotangent of one matrix `b` against a stack: one product that sums over the stack."""
        stack = _STACK[:depth]
        labels = "km" if self.adj_x else "mk"
        equation = f"{stack}{labels},{stack}mn->{'nk' if self.adj_y else 'kn'}"
        return Einsum(equation)(conj(a) if self.adj_x == self.adj_y else a, conj(dy) if self.adj_y else dy)


_STACK = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def _sum_stack(product: Tensor, x: Tensor, other: Tensor) -> Tensor:
    """`product`, the cotangent of `x` before broadcasting of the stacks is undone."""
    mine, theirs = x.shape.lengths, other.shape.lengths
    if mine is not None and theirs is not None and len(mine) >= len(theirs):
        missing = len(mine) - len(theirs)
        pairs = zip(mine[missing:-2], theirs[:-2], strict=True)
        if all(n == 1 or same_length(m, n) or (isinstance(m, int) and m != 1) for m, n in pairs):
            return product
    return sum_like(product, x)


def _sides(sides: Lengths, transposed: bool) -> Lengths:
    return sides[::-1] if transposed else sides


def _lengths_differ(a: TensorType, b: TensorType, transpose_a: bool, transpose_b: bool, k: Any, l: Any) -> str:  # noqa: E741
    x, y = f"{a}{'.T' * transpose_a}", f"{b}{'.T' * transpose_b}"
    return f"matmul: inner lengths differ: {x} @ {y} ({k} and {l})"


@in_graph_of_inputs
def matvec(
    a: TensorLike,
    b: TensorLike,
    transpose_a: bool = False,
    adjoint_a: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    name: str | None = None,
) -> Tensor:
    """The product of the matrix `a` and the vector `b`, of each matrix of a stack with its partner.

    Shapes: `a` [..., m, k] and `b` [..., k] give [..., m]; the stacks broadcast together. Dtypes: any number, the
    same for both.

    Derivative: da = dy b^T (outer), db = a^T @ dy.

    Raises:
        ValueError: the shapes do not fit; both flags are true. TypeError: the dtypes differ, or are no numbers.

    >>> import pullback as pb
    >>> pb.Session().run(pb.linalg.matvec([[1.0, 2.0], [3.0, 4.0]], [1.0, 1.0]))
    array([3., 7.], dtype=float32)
    """
    del a_is_sparse, b_is_sparse
    if transpose_a and adjoint_a:
        raise ValueError("matvec: only one of transpose_a and adjoint_a can be true")
    x, y = operands(a, b)
    if adjoint_a:
        x = conj(x)
    return einsum("...ji,...j->...i" if transpose_a or adjoint_a else "...ij,...j->...i", x, y, name=name)
