"""Linear operators that are made of smaller parts: blocks, Kronecker products, low rank updates, reflections.

>>> import pullback.compat.v1 as tf
>>> l = tf.linalg
>>> a, b = l.LinearOperatorDiag([1.0, 2.0]), l.LinearOperatorFullMatrix([[1.0, 1.0], [0.0, 1.0]])
>>> session = tf.Session()
>>> session.run(l.LinearOperatorKronecker([a, b]).to_dense())
array([[1., 1., 0., 0.],
       [0., 1., 0., 0.],
       [0., 0., 2., 2.],
       [0., 0., 0., 2.]], dtype=float32)
>>> session.run(l.LinearOperatorBlockDiag([a, l.LinearOperatorIdentity(1)]).to_dense())
array([[1., 0., 0.],
       [0., 2., 0.],
       [0., 0., 1.]], dtype=float32)
>>> session.run(l.LinearOperatorLowRankUpdate(a, [[1.0], [1.0]]).determinant())
np.float32(5.0)
>>> others = [l.LinearOperatorHouseholder([1.0, 0.0]), l.LinearOperatorPermutation([1, 0]), l.LinearOperatorZeros(2)]
>>> diagonals = [[3.0, 0.0], [1.0, 1.0], [0.0, 2.0]]
>>> others += [l.LinearOperatorToeplitz([1.0, 2.0], [1.0, 3.0]), l.LinearOperatorTridiag(diagonals)]
>>> [operator.tolist() for operator in session.run([operator.matvec([1.0, 1.0]) for operator in others])]
[[-1.0, 1.0], [1.0, 1.0], [0.0, 0.0], [4.0, 3.0], [4.0, 3.0]]
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import pullback as pb

from ... import linalg
from ...core.shape import as_shape, broadcast_static_shape
from ...core.typing import ShapeLike, TensorLike
from .linear_operators import LinearOperator, LinearOperatorDiag, LinearOperatorFullMatrix, of_rank


class LinearOperatorKronecker(LinearOperator):
    """The Kronecker product of square operators, whose lengths are known.

    Raises:
        ValueError: there are no operators, or one is not square, or its length is not known.
    """

    def __init__(self, operators: Sequence[LinearOperator], *hints: Any, **named: Any) -> None:
        self.operators = list(operators)
        self._lengths = [_length("LinearOperatorKronecker", operator) for operator in self.operators]
        if not operators:
            raise ValueError("LinearOperatorKronecker: give at least one operator")
        stack = reduce(broadcast_static_shape, [operator.batch_shape for operator in operators])
        length = math.prod(self._lengths)
        super().__init__(operators[0].dtype, stack.concatenate([length, length]), *hints, **named)

    def to_dense(self, name: str | None = None) -> pb.Tensor:
        """The product of the matrices."""
        return reduce(_kronecker, [operator.to_dense(name) for operator in self.operators])

    def _times(self, x: pb.Tensor, adjoint: bool) -> pb.Tensor:
        return self._along_each(x, lambda operator, rows: operator._times(rows, adjoint))

    def _over(self, rhs: pb.Tensor, adjoint: bool) -> pb.Tensor:
        return self._along_each(rhs, lambda operator, rows: operator._over(rows, adjoint))

    def _along_each(self, x: pb.Tensor, apply: Callable[[LinearOperator, pb.Tensor], pb.Tensor]) -> pb.Tensor:
        """`x` [..., rows, k] after each operator was applied along its part of the rows."""
        for before, operator in enumerate(self.operators):
            outer, n = math.prod(self._lengths[:before]), self._lengths[before]
            inner = math.prod(self._lengths[before + 1 :])
            k = pb.shape(x)[-1]
            first = _exchanged(pb.reshape(x, [*_stack(x), outer, n, inner * k]))
            done = apply(operator, pb.reshape(first, [*_stack(first, 3), n, outer * inner * k]))
            back = _exchanged(pb.reshape(done, [*_stack(done), n, outer, inner * k]))
            x = pb.reshape(back, [*_stack(back, 3), outer * n * inner, k])
        return x

    def determinant(self, name: str | None = None) -> pb.Tensor:
        """The product of the determinants, each to the power of how often its operator occurs."""
        del name
        total = math.prod(self._lengths)
        powers = zip(self.operators, self._lengths, strict=True)
        return reduce(pb.multiply, [pb.pow(a.determinant(), float(total // n)) for a, n in powers])

    def log_abs_determinant(self, name: str | None = None) -> pb.Tensor:
        """The sum of those of the operators, times how often each occurs."""
        del name
        total = math.prod(self._lengths)
        powers = zip(self.operators, self._lengths, strict=True)
        return reduce(pb.add, [a.log_abs_determinant() * float(total // n) for a, n in powers])


class LinearOperatorBlockDiag(LinearOperator):
    """Square operators, whose lengths are known, along the diagonal, and zeros around them.

    Raises:
        ValueError: there are no operators, or one is not square, or its length is not known.
    """

    def __init__(self, operators: Sequence[LinearOperator], *hints: Any, **named: Any) -> None:
        self.operators = list(operators)
        self._lengths = [_length("LinearOperatorBlockDiag", operator) for operator in self.operators]
        if not operators:
            raise ValueError("LinearOperatorBlockDiag: give at least one operator")
        self._batch = reduce(broadcast_static_shape, [operator.batch_shape for operator in operators])
        length = sum(self._lengths)
        super().__init__(operators[0].dtype, self._batch.concatenate([length, length]), *hints, **named)

    def to_dense(self, name: str | None = None) -> pb.Tensor:
        """The blocks, and zeros around them."""
        del name
        return self._times(linalg.eye(sum(self._lengths), dtype=self.dtype), False)

    def _times(self, x: pb.Tensor, adjoint: bool) -> pb.Tensor:
        return self._each(x, lambda operator, rows: operator._times(rows, adjoint))

    def _over(self, rhs: pb.Tensor, adjoint: bool) -> pb.Tensor:
        return self._each(rhs, lambda operator, rows: operator._over(rows, adjoint))

    def _each(self, x: pb.Tensor, apply: Callable[[LinearOperator, pb.Tensor], pb.Tensor]) -> pb.Tensor:
        parts = pb.split(x, self._lengths, -2)
        done = [apply(operator, part) for operator, part in zip(self.operators, parts, strict=True)]
        stack = reduce(pb.broadcast_dynamic_shape, [pb.shape(y)[:-2] for y in done])
        return pb.concat([pb.broadcast_to(y, pb.concat([stack, pb.shape(y)[-2:]], 0)) for y in done], -2)

    def determinant(self, name: str | None = None) -> pb.Tensor:
        """The product of the determinants."""
        del name
        return reduce(pb.multiply, [operator.determinant() for operator in self.operators])

    def log_abs_determinant(self, name: str | None = None) -> pb.Tensor:
        """The sum of those of the operators."""
        del name
        return reduce(pb.add, [operator.log_abs_determinant() for operator in self.operators])


class LinearOperatorLowRankUpdate(LinearOperator):
    """`base_operator` plus `u` [..., n, k] times a diagonal times the adjoint of `v`: ones, and `u`, unless given.

    It is solved by Woodbury's formula, with the base and a matrix of k rows.
    """

    def __init__(
        self,
        base_operator: LinearOperator,
        u: TensorLike,
        diag_update: TensorLike | None = None,
        v: TensorLike | None = None,
        is_diag_update_positive: bool | None = None,
        *hints: Any,
        **named: Any,
    ) -> None:
        self.base_operator = base_operator
        self.is_diag_update_positive = is_diag_update_positive
        self.u = of_rank("LinearOperatorLowRankUpdate: u", pb.convert_to_tensor(u, base_operator.dtype), 2)
        self.v = self.u if v is None else pb.convert_to_tensor(v, base_operator.dtype)
        ones = pb.ones_like(self.u[..., 0, :])
        self.diag_update = ones if diag_update is None else pb.convert_to_tensor(diag_update, base_operator.dtype)
        stack = broadcast_static_shape(base_operator.batch_shape, pb.TensorShape(self.u.shape.as_list()[:-2]))
        super().__init__(base_operator.dtype, stack.concatenate(base_operator.shape[-2:]), *hints, **named)

    def to_dense(self, name: str | None = None) -> pb.Tensor:
        """The sum of both matrices."""
        del name
        return self.base_operator.to_dense() + pb.matmul(self._left(False), self.v, adjoint_b=True)

    def _times(self, x: pb.Tensor, adjoint: bool) -> pb.Tensor:
        right = self.u if adjoint else self.v
        return self.base_operator._times(x, adjoint) + pb.matmul(
            self._left(adjoint), pb.matmul(right, x, adjoint_a=True)
        )

    def _over(self, rhs: pb.Tensor, adjoint: bool) -> pb.Tensor:
        right = self.u if adjoint else self.v
        first = self.base_operator._over(rhs, adjoint)
        columns = self.base_operator._over(self._left(adjoint), adjoint)
        inner = linalg.solve(self._capacitance(adjoint), pb.matmul(right, first, adjoint_a=True))
        return first - pb.matmul(columns, inner)

    def _left(self, adjoint: bool) -> pb.Tensor:
        """`u` times the diagonal, or for the adjoint `v` times its conjugate."""
        diag = self.diag_update[..., None, :]
        return self.v * pb.conj(diag) if adjoint else self.u * diag

    def _capacitance(self, adjoint: bool) -> pb.Tensor:
        """The matrix of k rows that Woodbury's formula solves."""
        right = self.u if adjoint else self.v
        columns = self.base_operator._over(self._left(adjoint), adjoint)
        inner = pb.matmul(right, columns, adjoint_a=True)
        return inner + linalg.eye(pb.shape(inner)[-1], dtype=self.dtype)

    def determinant(self, name: str | None = None) -> pb.Tensor:
        """That of the base times that of the matrix of k rows."""
        return pb.multiply(self.base_operator.determinant(), linalg.det(self._capacitance(False)), name)

    def log_abs_determinant(self, name: str | None = None) -> pb.Tensor:
        """The sum of both."""
        inner = linalg.slogdet(self._capacitance(False))[1]
        return pb.add(self.base_operator.log_abs_determinant(), inner, name)


class LinearOperatorHouseholder(LinearOperator):
    """The reflection at the plane whose normal is `reflection_axis` [..., n]: its own inverse."""

    def __init__(self, reflection_axis: TensorLike, *hints: Any, **named: Any) -> None:
        axis = of_rank("LinearOperatorHouseholder: reflection_axis", reflection_axis, 1)
        self.reflection_axis = axis
        self._normal = linalg.l2_normalize(axis, -1)[..., None]
        super().__init__(axis.dtype, axis.shape.concatenate(axis.shape[-1:]), *hints, **named)

    def to_dense(self, name: str | None = None) -> pb.Tensor:
        """The matrix of the reflection."""
        del name
        return self._times(linalg.eye(pb.shape(self.reflection_axis)[-1], dtype=self.dtype), False)

    def _times(self, x: pb.Tensor, adjoint: bool) -> pb.Tensor:
        del adjoint
        return x - 2.0 * pb.matmul(self._normal, pb.matmul(self._normal, x, adjoint_a=True))

    def _over(self, rhs: pb.Tensor, adjoint: bool) -> pb.Tensor:
        return self._times(rhs, adjoint)

    def determinant(self, name: str | None = None) -> pb.Tensor:
        """-1."""
        return pb.negative(pb.ones_like(self.reflection_axis[..., 0]), name)

    def log_abs_determinant(self, name: str | None = None) -> pb.Tensor:
        """0."""
        return pb.zeros_like(self.reflection_axis[..., 0], name=name)


class LinearOperatorToeplitz(LinearOperatorFullMatrix):
    """The matrix [..., n, n] of equal diagonals, of its first column `col` [..., n] and the rest of its first `row`."""

    def __init__(self, col: TensorLike, row: TensorLike, *hints: Any, **named: Any) -> None:
        self.col = of_rank("LinearOperatorToeplitz: col", col, 1)
        self.row = of_rank("LinearOperatorToeplitz: row", pb.convert_to_tensor(row, self.col.dtype), 1)
        n = pb.shape(self.col)[-1]
        around = pb.concat([pb.reverse(self.col, [-1]), self.row[..., 1:]], -1)
        places = n - 1 - pb.range(n)[:, None] + pb.range(n)
        super().__init__(pb.gather(around, places, axis=-1), *hints, **named)


class LinearOperatorTridiag(LinearOperatorFullMatrix):
    """The matrix of three diagonals: [..., 3, n], or three vectors ("sequence"), or within a "matrix"."""

    def __init__(self, diagonals: Any, diagonals_format: str = "compact", *hints: Any, **named: Any) -> None:
        self.diagonals, self.diagonals_format = diagonals, diagonals_format
        if diagonals_format == "matrix":
            matrix = linalg.band_part(of_rank("LinearOperatorTridiag: diagonals", diagonals, 2), 1, 1)
        else:
            above, on, below = pb.unstack(diagonals, axis=-2) if diagonals_format == "compact" else diagonals
            matrix = linalg.diag(on) + linalg.diag(above[..., :-1], k=1) + linalg.diag(below[..., 1:], k=-1)
        super().__init__(matrix, *hints, **named)


class LinearOperatorPermutation(LinearOperator):
    """The matrix that puts the rows of what it is multiplied with in the order `perm` [n]."""

    def __init__(self, perm: TensorLike, dtype: Any = pb.float32, *hints: Any, **named: Any) -> None:
        self.perm = pb.convert_to_tensor(perm)
        self._back = pb.argsort(self.perm)
        super().__init__(pb.as_dtype(dtype), self.perm.shape.concatenate(self.perm.shape), *hints, **named)

    def to_dense(self, name: str | None = None) -> pb.Tensor:
        """A 1 in each row."""
        return pb.one_hot(self.perm, pb.shape(self.perm)[0], dtype=self.dtype, name=name)

    def _times(self, x: pb.Tensor, adjoint: bool) -> pb.Tensor:
        return pb.gather(x, self._back if adjoint else self.perm, axis=-2)

    def _over(self, rhs: pb.Tensor, adjoint: bool) -> pb.Tensor:
        return self._times(rhs, not adjoint)

    def determinant(self, name: str | None = None) -> pb.Tensor:
        """1 or -1."""
        return linalg.det(self.to_dense(), name)

    def log_abs_determinant(self, name: str | None = None) -> pb.Tensor:
        """0."""
        return pb.zeros([], self.dtype, name)


class LinearOperatorZeros(LinearOperatorDiag):
    """Zeros, square, for each of a stack of `batch_shape`."""

    def __init__(
        self,
        num_rows: int,
        num_columns: int | None = None,
        batch_shape: ShapeLike | None = None,
        dtype: Any = None,
        *hints: Any,
        **named: Any,
    ) -> None:
        if num_columns not in (None, num_rows):
            raise NotImplementedError(
                f"LinearOperatorZeros: only square ones are there, not {num_rows} x {num_columns}"
            )
        stack = as_shape([] if batch_shape is None else batch_shape)
        diag = pb.zeros(stack.concatenate([num_rows]), pb.as_dtype(dtype or pb.float32))
        super().__init__(diag, *hints, **named)


def _length(kind: str, operator: LinearOperator) -> int:
    """The number of rows of a square operator."""
    rows, columns = operator.shape.as_list()[-2:]
    if rows is None or rows != columns:
        raise ValueError(f"{kind}: operators must be square, of known lengths, but one is {operator.shape}")
    return int(rows)


def _stack(x: pb.Tensor, axes: int = 2) -> list[Any]:
    """The lengths before the last axes."""
    lengths = pb.shape(x)
    return [lengths[i] for i in range((x.shape.rank or axes) - axes)]


def _exchanged(x: pb.Tensor) -> pb.Tensor:
    """`x` [..., a, b, c] as [..., b, a, c]."""
    rank = x.shape.rank or 3
    return pb.transpose(x, [*range(rank - 3), rank - 2, rank - 3, rank - 1])


def _kronecker(a: pb.Tensor, b: pb.Tensor) -> pb.Tensor:
    product = a[..., :, None, :, None] * b[..., None, :, None, :]
    m, n = pb.shape(a)[-1], pb.shape(b)[-1]
    return pb.reshape(product, [*_stack(product, 4), m * n, m * n])
