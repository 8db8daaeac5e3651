"""Inverses of permutations."""

from __future__ import annotations

from typing import Any

from ...core.dtypes import INTEGER
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
        ValueError: `x` is no vector. TypeError: `x` holds no integers.

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
        return combine_rows(xp, xp.zeros(n, x.dtype), wide_enough(x, n), xp.arange(n, dtype=x.dtype), "set")

    gradient = no_gradient
