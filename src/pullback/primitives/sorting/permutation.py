"""Inverses of permutations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.dtypes import INTEGER
from ...core.operation import Tensor
from ...core.primitive import no_gradient
from ...core.types import TensorType
from ...core.typing import TensorLike
from ..base.scattering import combine_rows
from ..creation.constant import convert_to_tensor
from ..debugging.guards import AbstractGuard

_OUTSIDE, _TWICE = 1, 2


def invert_permutation(x: TensorLike, name: str | None = None) -> Tensor:
    """The permutation that undoes `x`: the position of 0 in `x`, of 1, and so on.

    Shapes: `x` [n]; the result [n]. Dtypes: any integer.

    Raises:
        ValueError: `x` is no vector. TypeError: `x` holds no integers. InvalidArgumentError in a run: `x` is no
        permutation of 0 to n-1.

    >>> import pullback as pb
    >>> pb.Session().run(pb.math.invert_permutation([2, 0, 1]))
    array([1, 2, 0], dtype=int32)
    """
    return InvertPermutation()(convert_to_tensor(x), name=name)


class InvertPermutation(AbstractGuard):
    def infer(self, x: TensorType) -> tuple[TensorType, ...]:
        if x.dtype not in INTEGER:
            raise TypeError(f"invert_permutation: x must hold integers, not {x}")
        if x.shape.rank not in (1, None):
            raise ValueError(f"invert_permutation: x must be a vector, not {x}")
        return (x,)

    def fault(self, xp: Any, *arrays: Any) -> Any:
        (x,) = arrays
        outside = xp.any((x < 0) | (x >= x.shape[0]))
        twice = xp.any(combine_rows(xp, xp.zeros(x.shape, np.int32), x, np.ones(x.shape, np.int32)) > 1)
        return xp.where(outside, _OUTSIDE, xp.where(twice, _TWICE, 0)).astype(np.int32)

    def complaint(self, fault: int, arrays: Sequence[Any]) -> str:
        if not arrays:
            found = "a number is not a position in it" if fault == _OUTSIDE else "a number stands twice in the input"
            return f"invert_permutation: {found} (the NumPy engine shows it)"
        x = np.asarray(arrays[0])
        if fault == _OUTSIDE:
            return f"invert_permutation: {x[(x < 0) | (x >= len(x))][0]} is not between 0 and {len(x)}"
        return f"invert_permutation: {np.bincount(x.astype(np.int64)).argmax()} is duplicated in the input"

    def passed(self, xp: Any, *arrays: Any) -> Any:
        (x,) = arrays
        return combine_rows(xp, xp.zeros(x.shape, x.dtype), x, np.arange(x.shape[0], dtype=x.dtype), "set")

    gradient = no_gradient
