"""Linear operators, `tf.linalg.LinearOperator...`: matrices multiplied and solved by what is known of their form.

>>> import pullback.compat.v1 as tf
>>> l = tf.linalg
>>> a, d = l.LinearOperatorFullMatrix([[2.0, 0.0], [1.0, 1.0]]), l.LinearOperatorDiag([1.0, 2.0])
>>> t, i = l.LinearOperatorLowerTriangular([[2.0, 0.0], [1.0, 1.0]]), l.LinearOperatorIdentity(2)
>>> product = l.LinearOperatorComposition([l.LinearOperatorAdjoint(a), d, l.LinearOperatorScaledIdentity(2, 3.0), i])
>>> session = tf.Session()
>>> session.run([product.to_dense(), l.LinearOperatorInversion(t).matmul([[2.0], [2.0]])])
[array([[6., 6.],
       [0., 6.]], dtype=float32), array([[1.],
       [1.]], dtype=float32)]
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import reduce
from typing import Any

import pullback as pb

from ... import linalg
from ...core.dtypes import DType
from ...core.shape import as_shape, broadcast_static_shape
from ...core.typing import ShapeLike, TensorLike


class LinearOperator(ABC):
    """A matrix [..., m, n] that is multiplied and solved as its form allows.

    The hints `is_non_singular`, `is_self_adjoint`, `is_positive_definite` and `is_square` are kept, and not checked.
    Derivatives go through all methods, to the tensors that the operator was made of.

    >>> import pullback.compat.v1 as tf
    >>> operator = tf.linalg.LinearOperatorDiag([2.0, 4.0])
    >>> tf.Session().run([operator.matvec([1.0, 1.0]), operator.solvevec([1.0, 1.0]), operator.determinant()])
    [array([2., 4.], dtype=float32), array([0.5 , 0.25], dtype=float32), np.float32(8.0)]
    """

    def __init__(
        self,
        dtype: DType,
        form: pb.TensorShape,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str | None = None,
    ) -> None:
        self.dtype = dtype
        self.shape = form
        self.is_non_singular = is_non_singular
        self.is_self_adjoint = is_self_adjoint
        self.is_positive_definite = is_positive_definite
        self.is_square = is_square
        self.name = name or type(self).__name__

    @abstractmethod
    def to_dense(self, name: str | None = None) -> pb.Tensor:
        """The matrix itself, [..., m, n]."""

    @abstractmethod
    def _times(self, x: pb.Tensor, adjoint: bool) -> pb.Tensor:
        """The matrix, or its adjoint, times `x` [..., n, k]."""

    @abstractmethod
    def _over(self, rhs: pb.Tensor, adjoint: bool) -> pb.Tensor:
        """What the matrix, or its adjoint, makes `rhs` of."""

    @abstractmethod
    def determinant(self, name: str | None = None) -> pb.Tensor:
        """The determinant, [...]."""

    @abstractmethod
    def log_abs_determinant(self, name: str | None = None) -> pb.Tensor:
        """The logarithm of the absolute value of the determinant, [...]."""

    def matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False, name: str | None = None) -> Any:
        """The matrix times `x` [..., n, k], or of an operator `x` the operator that is both one after the other."""
        del name
        left: LinearOperator = self.adjoint() if adjoint else self
        if isinstance(x, LinearOperator):
            return LinearOperatorComposition([left, x.adjoint() if adjoint_arg else x])
        return self._times(self._argument(x, adjoint_arg), adjoint)

    def matvec(self, x: TensorLike, adjoint: bool = False, name: str | None = None) -> pb.Tensor:
        """The matrix times the vectors `x` [..., n]."""
        del name
        return pb.squeeze(self._times(pb.expand_dims(self._argument(x), -1), adjoint), -1)

    def solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False, name: str | None = None) -> Any:
        """What the matrix makes `rhs` [..., n, k] of, or of an operator `rhs` the operator that is both."""
        del name
        if isinstance(rhs, LinearOperator):
            left = self.adjoint().inverse() if adjoint else self.inverse()
            return LinearOperatorComposition([left, rhs.adjoint() if adjoint_arg else rhs])
        return self._over(self._argument(rhs, adjoint_arg), adjoint)

    def solvevec(self, rhs: TensorLike, adjoint: bool = False, name: str | None = None) -> pb.Tensor:
        """What the matrix makes the vectors `rhs` [..., n] of."""
        del name
        return pb.squeeze(self._over(pb.expand_dims(self._argument(rhs), -1), adjoint), -1)

    def _argument(self, x: TensorLike, adjoint: bool = False) -> pb.Tensor:
        tensor = pb.convert_to_tensor(x, self.dtype)
        return linalg.adjoint(tensor) if adjoint else tensor

    def diag_part(self, name: str | None = None) -> pb.Tensor:
        """The diagonal, [..., min(m, n)]."""
        return linalg.diag_part(self.to_dense(), name=name or "diag_part")

    def trace(self, name: str | None = None) -> pb.Tensor:
        """The sum of the diagonal, [...]."""
        return pb.reduce_sum(self.diag_part(), -1, name=name)

    def add_to_tensor(self, x: TensorLike, name: str | None = None) -> pb.Tensor:
        """The matrix plus `x`, [..., m, n]."""
        del name
        return self.to_dense() + self._argument(x)

    def adjoint(self, name: str | None = None) -> LinearOperator:
        """The transposed and conjugated matrix."""
        return LinearOperatorAdjoint(self, name=name)

    H = property(adjoint)

    def inverse(self, name: str | None = None) -> LinearOperator:
        """The inverse of the matrix."""
        return LinearOperatorInversion(self, name=name)

    def cholesky(self, name: str | None = None) -> LinearOperator:
        """The lower triangle whose product with its adjoint is the matrix."""
        return LinearOperatorLowerTriangular(linalg.cholesky(self.to_dense()), name=name or "cholesky")

    @property
    def batch_shape(self) -> pb.TensorShape:
        """The lengths before the last two."""
        return pb.TensorShape(self.shape.as_list()[:-2]) if self.shape.rank is not None else pb.TensorShape.UNKNOWN

    @property
    def tensor_rank(self) -> int | None:
        """The number of axes."""
        return self.shape.rank

    @property
    def range_dimension(self) -> Any:
        """The number of rows."""
        return self.shape[-2]

    @property
    def domain_dimension(self) -> Any:
        """The number of columns."""
        return self.shape[-1]

    def eigvals(self, name: str | None = None) -> pb.Tensor:
        """The eigenvalues of a matrix that is its own adjoint, [..., n], the smallest first."""
        return pb.cast(linalg.eigvalsh(self.to_dense()), self.dtype, name=name)

    def cond(self, name: str | None = None) -> pb.Tensor:
        """The largest singular value over the smallest, [...]."""
        values = linalg.svd(self.to_dense(), compute_uv=False)
        return pb.divide(pb.reduce_max(values, -1), pb.reduce_min(values, -1), name)

    def batch_shape_tensor(self, name: str | None = None) -> pb.Tensor:
        """The lengths before the last two, also those that only a run knows."""
        return pb.identity(self.shape_tensor()[:-2], name)

    def tensor_rank_tensor(self, name: str | None = None) -> pb.Tensor:
        """The number of axes, in a run."""
        return pb.size(self.shape_tensor(), name=name)

    def shape_tensor(self, name: str | None = None) -> pb.Tensor:
        """The lengths, also those that only a run knows."""
        return pb.shape(self.to_dense(), name=name)

    def range_dimension_tensor(self, name: str | None = None) -> pb.Tensor:
        """The number of rows, also where only a run knows it."""
        del name
        return self.shape_tensor()[-2]

    def domain_dimension_tensor(self, name: str | None = None) -> pb.Tensor:
        """The number of columns, also where only a run knows it."""
        del name
        return self.shape_tensor()[-1]


class LinearOperatorFullMatrix(LinearOperator):
    """A matrix of which nothing is known."""

    def __init__(self, matrix: TensorLike, *hints: Any, **named: Any) -> None:
        self._matrix = of_rank("LinearOperatorFullMatrix: matrix", matrix, 2)
        super().__init__(self._matrix.dtype, self._matrix.shape, *hints, **named)

    def to_dense(self, name: str | None = None) -> pb.Tensor:
        """The matrix."""
        del name
        return self._matrix

    def _times(self, x: pb.Tensor, adjoint: bool) -> pb.Tensor:
        return linalg.matmul(self._matrix, x, adjoint_a=adjoint)

    def _over(self, rhs: pb.Tensor, adjoint: bool) -> pb.Tensor:
        return linalg.solve(self._matrix, rhs, adjoint)

    def determinant(self, name: str | None = None) -> pb.Tensor:
        """The determinant."""
        return linalg.det(self._matrix, name)

    def log_abs_determinant(self, name: str | None = None) -> pb.Tensor:
        """That of `linalg.slogdet`."""
        del name
        return linalg.slogdet(self._matrix)[1]


class LinearOperatorLowerTriangular(LinearOperator):
    """The lower triangle of a matrix; what stands above it is not read."""

    def __init__(self, tril: TensorLike, *hints: Any, **named: Any) -> None:
        self._tril = linalg.band_part(of_rank("LinearOperatorLowerTriangular: tril", tril, 2), -1, 0)
        super().__init__(self._tril.dtype, self._tril.shape, *hints, **named)

    def to_dense(self, name: str | None = None) -> pb.Tensor:
        """The triangle, and zeros above it."""
        del name
        return self._tril

    def _times(self, x: pb.Tensor, adjoint: bool) -> pb.Tensor:
        return linalg.matmul(self._tril, x, adjoint_a=adjoint)

    def _over(self, rhs: pb.Tensor, adjoint: bool) -> pb.Tensor:
        return linalg.triangular_solve(self._tril, rhs, adjoint=adjoint)

    def determinant(self, name: str | None = None) -> pb.Tensor:
        """The product of the diagonal."""
        return pb.reduce_prod(self.diag_part(), -1, name=name)

    def log_abs_determinant(self, name: str | None = None) -> pb.Tensor:
        """The sum of the logarithms of the diagonal."""
        return pb.reduce_sum(pb.log(abs(self.diag_part())), -1, name=name)


class LinearOperatorDiag(LinearOperator):
    """A matrix of which only the diagonal is not zero."""

    def __init__(self, diag: TensorLike, *hints: Any, **named: Any) -> None:
        self.diag = of_rank("LinearOperatorDiag: diag", diag, 1)
        super().__init__(self.diag.dtype, self.diag.shape.concatenate(self.diag.shape[-1:]), *hints, **named)

    def to_dense(self, name: str | None = None) -> pb.Tensor:
        """The diagonal, and zeros around it."""
        return linalg.diag(self.diag, name=name or "diag")

    def _times(self, x: pb.Tensor, adjoint: bool) -> pb.Tensor:
        return self._column(adjoint) * x

    def _over(self, rhs: pb.Tensor, adjoint: bool) -> pb.Tensor:
        return rhs / self._column(adjoint)

    def _column(self, adjoint: bool) -> pb.Tensor:
        return pb.expand_dims(pb.conj(self.diag) if adjoint else self.diag, -1)

    def determinant(self, name: str | None = None) -> pb.Tensor:
        """The product of the diagonal."""
        return pb.reduce_prod(self.diag, -1, name=name)

    def log_abs_determinant(self, name: str | None = None) -> pb.Tensor:
        """The sum of the logarithms of the diagonal."""
        return pb.reduce_sum(pb.log(abs(self.diag)), -1, name=name)


class LinearOperatorScaledIdentity(LinearOperator):
    """`multiplier` [...] times the identity of `num_rows` rows."""

    def __init__(
        self,
        num_rows: Any,
        multiplier: TensorLike,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = True,
        assert_proper_shapes: bool = False,
        name: str | None = None,
    ) -> None:
        del assert_proper_shapes
        self.multiplier = pb.convert_to_tensor(multiplier)
        self._rows = num_rows
        known = None if isinstance(num_rows, pb.Tensor) else int(num_rows)
        form = self.multiplier.shape.concatenate([known, known])
        hints = (is_non_singular, is_self_adjoint, is_positive_definite, is_square)
        super().__init__(self.multiplier.dtype, form, *hints, name)

    def to_dense(self, name: str | None = None) -> pb.Tensor:
        """The multiplier on the diagonal, and zeros around it."""
        del name
        return self._times(linalg.eye(self._rows, dtype=self.dtype), False)

    def _times(self, x: pb.Tensor, adjoint: bool) -> pb.Tensor:
        return self._factor(adjoint) * x

    def _over(self, rhs: pb.Tensor, adjoint: bool) -> pb.Tensor:
        return rhs / self._factor(adjoint)

    def _factor(self, adjoint: bool) -> pb.Tensor:
        return pb.expand_dims(pb.expand_dims(pb.conj(self.multiplier) if adjoint else self.multiplier, -1), -1)

    def determinant(self, name: str | None = None) -> pb.Tensor:
        """The multiplier to the power of the number of rows."""
        return pb.pow(self.multiplier, pb.cast(self._rows, self.dtype), name)

    def log_abs_determinant(self, name: str | None = None) -> pb.Tensor:
        """The logarithm of the multiplier, times the number of rows."""
        modulus = abs(self.multiplier)
        return pb.multiply(pb.log(modulus), pb.cast(self._rows, modulus.dtype), name)


class LinearOperatorIdentity(LinearOperator):
    """The identity of `num_rows` rows, for each of a stack of `batch_shape`."""

    def __init__(
        self,
        num_rows: Any,
        batch_shape: ShapeLike | None = None,
        dtype: Any = None,
        is_non_singular: bool | None = True,
        is_self_adjoint: bool | None = True,
        is_positive_definite: bool | None = True,
        is_square: bool | None = True,
        assert_proper_shapes: bool = False,
        name: str | None = None,
    ) -> None:
        del assert_proper_shapes
        self._rows = num_rows
        self._stack = pb.TensorShape([]) if batch_shape is None else as_shape(batch_shape)
        known = None if isinstance(num_rows, pb.Tensor) else int(num_rows)
        form = self._stack.concatenate([known, known])
        hints = (is_non_singular, is_self_adjoint, is_positive_definite, is_square)
        super().__init__(pb.as_dtype(dtype or pb.float32), form, *hints, name)

    def to_dense(self, name: str | None = None) -> pb.Tensor:
        """Ones on the diagonal, and zeros around them."""
        return linalg.eye(self._rows, batch_shape=self._stack.as_list(), dtype=self.dtype, name=name)

    def _times(self, x: pb.Tensor, adjoint: bool) -> pb.Tensor:
        del adjoint
        return x * pb.ones([*self._stack.as_list(), 1, 1], self.dtype) if self._stack.rank else x

    def _over(self, rhs: pb.Tensor, adjoint: bool) -> pb.Tensor:
        return self._times(rhs, adjoint)

    def determinant(self, name: str | None = None) -> pb.Tensor:
        """1."""
        return pb.ones(self._stack.as_list(), self.dtype, name)

    def log_abs_determinant(self, name: str | None = None) -> pb.Tensor:
        """0."""
        del name
        return pb.log(self.determinant())


class LinearOperatorComposition(LinearOperator):
    """The product of several operators, the last of which is the first that a vector meets."""

    def __init__(self, operators: Sequence[LinearOperator], *hints: Any, **named: Any) -> None:
        if not operators:
            raise ValueError("LinearOperatorComposition: give at least one operator")
        self.operators = list(operators)
        stack = reduce(broadcast_static_shape, [operator.batch_shape for operator in operators])
        form = stack.concatenate([operators[0].shape[-2], operators[-1].shape[-1]])
        super().__init__(operators[0].dtype, form, *hints, **named)

    def to_dense(self, name: str | None = None) -> pb.Tensor:
        """The product of the matrices."""
        del name
        return reduce(lambda x, operator: operator.matmul(x), self.operators[-2::-1], self.operators[-1].to_dense())

    def _times(self, x: pb.Tensor, adjoint: bool) -> pb.Tensor:
        return reduce(lambda x, a: a.matmul(x, adjoint), self.operators if adjoint else self.operators[::-1], x)

    def _over(self, rhs: pb.Tensor, adjoint: bool) -> pb.Tensor:
        return reduce(lambda x, a: a.solve(x, adjoint), self.operators[::-1] if adjoint else self.operators, rhs)

    def determinant(self, name: str | None = None) -> pb.Tensor:
        """The product of the determinants."""
        del name
        return reduce(lambda x, y: x * y, [operator.determinant() for operator in self.operators])

    def log_abs_determinant(self, name: str | None = None) -> pb.Tensor:
        """The sum of those of the operators."""
        del name
        return reduce(lambda x, y: x + y, [operator.log_abs_determinant() for operator in self.operators])


class LinearOperatorAdjoint(LinearOperator):
    """The transposed and conjugated matrix of `operator`."""

    def __init__(self, operator: LinearOperator, *hints: Any, **named: Any) -> None:
        self.operator = operator
        form = operator.batch_shape.concatenate([operator.shape[-1], operator.shape[-2]])
        super().__init__(operator.dtype, form, *hints, **named)

    def to_dense(self, name: str | None = None) -> pb.Tensor:
        """The adjoint of its matrix."""
        return linalg.adjoint(self.operator.to_dense(), name)

    def _times(self, x: pb.Tensor, adjoint: bool) -> pb.Tensor:
        return self.operator._times(x, not adjoint)

    def _over(self, rhs: pb.Tensor, adjoint: bool) -> pb.Tensor:
        return self.operator._over(rhs, not adjoint)

    def determinant(self, name: str | None = None) -> pb.Tensor:
        """That of the operator, conjugated."""
        return pb.conj(self.operator.determinant(), name)

    def log_abs_determinant(self, name: str | None = None) -> pb.Tensor:
        """That of the operator."""
        return self.operator.log_abs_determinant(name)


class LinearOperatorInversion(LinearOperator):
    """The inverse of the matrix of `operator`."""

    def __init__(self, operator: LinearOperator, *hints: Any, **named: Any) -> None:
        self.operator = operator
        super().__init__(operator.dtype, operator.shape, *hints, **named)

    def to_dense(self, name: str | None = None) -> pb.Tensor:
        """The inverse of its matrix."""
        return linalg.inv(self.operator.to_dense(), name=name)

    def _times(self, x: pb.Tensor, adjoint: bool) -> pb.Tensor:
        return self.operator._over(x, adjoint)

    def _over(self, rhs: pb.Tensor, adjoint: bool) -> pb.Tensor:
        return self.operator._times(rhs, adjoint)

    def determinant(self, name: str | None = None) -> pb.Tensor:
        """1 by that of the operator."""
        del name
        return 1.0 / self.operator.determinant()

    def log_abs_determinant(self, name: str | None = None) -> pb.Tensor:
        """That of the operator, with the other sign."""
        del name
        return -self.operator.log_abs_determinant()


def of_rank(what: str, x: TensorLike, least: int) -> pb.Tensor:
    """`x` as a tensor of at least so many axes."""
    tensor = pb.convert_to_tensor(x)
    if tensor.shape.rank is not None and tensor.shape.rank < least:
        raise ValueError(f"{what} must have at least {least} axes, not {tensor.type}")
    return tensor
