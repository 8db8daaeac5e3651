"""Inner products: the sum over all products of the elements of two small arrays is one product of vectors.

XLA multiplies first, and adds up in a second loop or in YNNPACK, which takes 12 to 27 us for 4096 numbers between other
operations, and a product of vectors two. The steps of conjugate gradients wait for such numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from ...primitives.elementwise.arithmetic import Mul
from ...primitives.elementwise.powers import Square
from ...primitives.reduction.sum import Sum
from ..plan import Step
from .platform import on_processor

_FEW, _MANY = 32, 1 << 14
"""The elements above which XLA does not add up in one loop with what reads the sum, and up to which it is worth it."""


class InnerProducts:
    """The factors of small products, while a plan is traced."""

    def __init__(self) -> None:
        self._factors: dict[int, tuple[Any, Any, Any]] = {}
        """For a slot the product, and its factors."""

    def note(self, step: Step, arrays: Sequence[Any], results: Sequence[Any]) -> None:
        """Keep the factors of what a step has multiplied."""
        if isinstance(step.op.primitive, Mul | Square):
            x, y = arrays[0], arrays[-1]
            if _is_small(x) and _is_small(y) and x.shape == y.shape:
                self._factors[step.outputs[0]] = results[0], x, y
        for n in step.frees:
            self._factors.pop(n, None)

    def result(self, step: Step, arrays: Sequence[Any]) -> Any:
        """The sum of all elements of a small product; None for all else."""
        p = step.op.primitive
        if not isinstance(p, Sum) or step.inputs[0] not in self._factors or not on_processor():
            return None
        product, x, y = self._factors[step.inputs[0]]
        if product is not arrays[0] or not _is_over_all(p, x.ndim):
            return None
        total = lax.dot_general(jnp.ravel(x), jnp.ravel(y), (((0,), (0,)), ((), ())))
        return total.reshape((1,) * x.ndim if p.keepdims else ())


def _is_small(x: Any) -> bool:
    known = isinstance(x, jax.Array | np.ndarray) and all(isinstance(n, int) for n in x.shape)
    return bool(known and x.dtype == np.float32 and _FEW < prod(x.shape) <= _MANY)


def _is_over_all(p: Sum, rank: int) -> bool:
    return p.axis is None or len({a % rank for a in p.axis}) == rank
