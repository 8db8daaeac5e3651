"""Parts of recurrent cells: affine functions and normalization, with variables of the scope around."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ....layers.variables.initializers import Zeros
from ....layers.variables.scope import get_variable, variable_scope
from ....primitives.linalg.matmul import matmul
from ....primitives.normalization.normalization import batch_normalization
from ....primitives.reduction.moments import moments
from ....primitives.shape.stacking import concat


def linear(xs: Sequence[Any], length: int, initializer: Any = None, bias: bool = True) -> Any:
    """`[xs...] @ kernel + bias`."""
    x = concat(xs, 1)
    y = matmul(x, get_variable("kernel", [x.shape.as_list()[-1], length], initializer=initializer))
    return y + get_variable("bias", [length], initializer=Zeros()) if bias else y


def normalized(x: Any, name: str, begin: Sequence[Any]) -> Any:
    """`x` [batch, n] with mean 0 and variance 1, times `gamma`, plus `beta`, which begin as it is said."""
    mean, variance = moments(x, [1], keepdims=True)
    with variable_scope(name):
        pairs = zip(("gamma", "beta"), begin, strict=True)
        gamma, beta = [get_variable(part, [x.shape.as_list()[-1]], initializer=first) for part, first in pairs]
    return batch_normalization(x, mean, variance, beta, gamma, 1e-12)
