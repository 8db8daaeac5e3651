"""Orthogonal initializer; apart from the others, for it needs QR."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ...core.dtypes import float32
from ...core.graph import Tensor
from ...core.shape import as_shape
from ...core.typing import DTypeLike, ShapeLike
from ...primitives.elementwise.sign import sign
from ...primitives.linalg.matrices import diag_part, matrix_transpose
from ...primitives.linalg.qr import qr
from ...primitives.random.stateful import random_normal
from ...primitives.shape.reshape import reshape
from .configured import Configured


@dataclass(frozen=True)
class Orthogonal(Configured):
    """Matrices whose columns, or, if there are more of them, rows are orthogonal to each other, of length `gain`.

    All axes but the last count as rows. Every such matrix is equally likely.

    Source: A. Saxe, J. McClelland, S. Ganguli, "Exact solutions to the nonlinear dynamics of learning in deep linear
    neural networks", 2014.

    Raises:
        ValueError: fewer than two axes.

    >>> import pullback as pb
    >>> w = pb.Session().run(pb.orthogonal_initializer()([3, 2]))
    >>> abs(w.T @ w).round(3).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """

    gain: float = 1.0
    seed: int | None = None
    dtype: DTypeLike = float32

    def __call__(self, shape: ShapeLike, dtype: DTypeLike | None = None, partition_info: object = None) -> Tensor:
        del partition_info
        dims = as_shape(shape).known
        if len(dims) < 2:
            raise ValueError(f"orthogonal_initializer: the shape must have two axes or more, but it is {dims}")
        rows, columns = math.prod(dims[:-1]), dims[-1]
        normal = random_normal(
            [max(rows, columns), min(rows, columns)], dtype=self.dtype if dtype is None else dtype, seed=self.seed
        )
        q, r = qr(normal)
        q = q * sign(diag_part(r))
        return reshape(matrix_transpose(q) if rows < columns else q, dims) * self.gain
