"""Inverses of permutations."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.dtypes import INTEGER
from ...core.errors import InvalidArgumentError
from ...core.operation import Tensor
from ...core.primitive import Primitive, no_gradient
from ...core.types import TensorType
from ...core.typing import TensorLike
from ..base.scattering import combine_rows, wide_enough
from ..creation.constant import convert_to_tensor


def invert_permutation(x: TensorLike, name: str | None = None) -> Tensor:
    """The permutation that undoes `x`: the position of 0 in `x`, of 1, and so on.

    Shapes: `x` [n]; the result [n]. Dtypes: any integer.

    Raises:
        ValueError: `x` is no vector. TypeError: `x` holds no integers. InvalidArgumentError in a run on NumPy: `x` is
        no permutation of 0 to n-1.

    >>> import pullback as pb
    >>> pb.Session().run(pb.math.invert_permutation([2, 0, 1]))
    array([1, 2, 0], dtype=int32)
    """
    return InvertPermutation()(convert_to_tensor(x), name=name)


class InvertPermutation(Primitive):
    type = "InvertPermutation"

    def infer(self, x: TensorType) -> tuple[TensorType, ...]:
        if x.dtype not in INTEGER:
            raise TypeError(f"invert_permutation: x must hold integers, not {x}")
        if x.shape.rank not in (1, None):
            raise ValueError(f"invert_permutation: x must be a vector, not {x}")
        return (x,)

    def kernel(self, xp: Any, x: Any) -> Any:
        n = x.shape[0]
        if xp is np:
            _check_permutation(x)
        return combine_rows(xp, xp.zeros(n, x.dtype), wide_enough(x, n), xp.arange(n, dtype=x.dtype), "set")

    gradient = no_gradient


def _check_permutation(x: np.ndarray[Any, Any]) -> None:
    """InvalidArgumentError where `x` does not hold each of 0 to n-1 once."""
    n = len(x)
    outside = x[(x < 0) | (x >= n)]
    if outside.size:
        raise InvalidArgumentError(f"invert_permutation: {outside[0]} is not between 0 and {n}")
    counts = np.bincount(x.astype(np.int64), minlength=n)
    if n and counts.max() > 1:
        raise InvalidArgumentError(f"invert_permutation: {counts.argmax()} is duplicated in the input")
