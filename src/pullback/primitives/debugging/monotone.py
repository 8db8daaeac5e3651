"""Monotonicity: whether values ascend."""

from __future__ import annotations

from ...core.operation import Tensor
from ...core.typing import TensorLike
from ..creation.constant import convert_to_tensor
from ..logic.comparison import less, less_equal
from ..reduction.reduce import reduce_all
from ..shape.reshape import reshape


def is_non_decreasing(x: TensorLike, name: str | None = None) -> Tensor:
    """Whether no element of `x`, in the order in which they lie in memory, is below the one before: a bool scalar.

    Shapes: any. Dtypes: any integer or float.

    >>> import pullback as pb
    >>> pb.Session().run([pb.math.is_non_decreasing([1, 2, 2]), pb.math.is_non_decreasing([2, 1])])
    [np.True_, np.False_]
    """
    flat = reshape(convert_to_tensor(x), [-1])
    return reduce_all(less_equal(flat[:-1], flat[1:]), name=name or "is_non_decreasing")


def is_strictly_increasing(x: TensorLike, name: str | None = None) -> Tensor:
    """Whether each element of `x`, in the order in which they lie in memory, is above the one before: a bool scalar.

    Shapes: any. Dtypes: any integer or float.

    >>> import pullback as pb
    >>> pb.Session().run([pb.math.is_strictly_increasing([1, 2]), pb.math.is_strictly_increasing([1, 1])])
    [np.True_, np.False_]
    """
    flat = reshape(convert_to_tensor(x), [-1])
    return reduce_all(less(flat[:-1], flat[1:]), name=name or "is_strictly_increasing")
