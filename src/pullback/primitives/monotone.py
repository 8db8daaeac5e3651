"""Polynomials and monotonicity: polyval, and whether values ascend."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.operation import Tensor
from ..core.typing import TensorLike
from .comparison import less, less_equal
from .constant import convert_to_tensor
from .creation import zeros_like
from .elementwise import operands
from .reduction import reduce_all
from .reshaping import reshape


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


def polyval(coeffs: Sequence[Any], x: TensorLike, name: str | None = None) -> Tensor:
    """The value at each element of `x` of the polynomial with `coeffs`, a list, that of the highest power first.

    Computed by Horner's scheme; derivatives go to the coefficients and to `x`.

    Shapes: coefficients that broadcast with `x`. Dtypes: any number, the same for all.

    Raises:
        ValueError: `coeffs` is no list.

    >>> import pullback as pb
    >>> pb.Session().run(pb.math.polyval([1.0, 0.0, 2.0], 3.0))
    np.float32(11.0)
    """
    if not isinstance(coeffs, list):
        raise ValueError(f"polyval: coeffs must be a list, not {coeffs!r}")
    at = convert_to_tensor(x)
    with at.graph.name_scope(name or "polyval"):
        if not coeffs:
            return zeros_like(at)
        y, _ = operands(coeffs[0], at)
        for coefficient in coeffs[1:]:
            y = coefficient + y * at
        return y
