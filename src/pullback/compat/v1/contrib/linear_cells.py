"""Parts of recurrent cells: affine functions and normalization, with variables of the scope around."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pullback as pb


def linear(xs: Sequence[Any], length: int, initializer: Any = None, bias: bool = True) -> Any:
    """`[xs...] @ kernel + bias`."""
    x = pb.concat(xs, 1)
    y = pb.matmul(x, pb.get_variable("kernel", [x.shape.as_list()[-1], length], initializer=initializer))
    return y + pb.get_variable("bias", [length], initializer=pb.zeros_initializer()) if bias else y


def normalized(x: Any, name: str, begin: Sequence[Any]) -> Any:
    """`x` [batch, n] with mean 0 and variance 1, times `gamma`, plus `beta`, which begin as it is said."""
    mean, variance = pb.nn.moments(x, [1], keepdims=True)
    with pb.variable_scope(name):
        pairs = zip(("gamma", "beta"), begin, strict=True)
        gamma, beta = [pb.get_variable(part, [x.shape.as_list()[-1]], initializer=first) for part, first in pairs]
    return pb.nn.batch_normalization(x, mean, variance, beta, gamma, 1e-12)
