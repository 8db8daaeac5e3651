"""Shared factors: of two that are summed over their first axis, that one is transposed which more such products read.

The products of a divergence's Hessian with ten vectors, as conjugate gradients want them, multiply what a layer was
given by ten cotangents, and its slopes by ten tangents: two transposes are enough, where one for each first factor
would be twelve.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any, TypeGuard

from ...core.primitive import Primitive
from ...primitives.linalg.matmul import MatMul
from ..plan import Plan, Step
from .array_namespace import kernel_of
from .linalg.products import matrix_product


class SharedFactors:
    """How many products, summed over the first axis of both factors, read a slot."""

    def __init__(self, plan: Plan) -> None:
        steps = [step for step in plan.steps if _is_along_first(step.op.primitive)]
        self._readers = Counter([n for step in steps for n in {*step.inputs}])

    def kernel(self, step: Step) -> Callable[..., Any]:
        """The kernel of a step, which for such a product knows its factors."""
        primitive = step.op.primitive
        if not _is_along_first(primitive):
            return kernel_of(primitive)
        first, second = step.inputs
        return partial(matrix_product, primitive, second=self._readers[second] > self._readers[first])


def _is_along_first(p: Primitive) -> TypeGuard[MatMul]:
    return isinstance(p, MatMul) and p.transpose_a and not p.transpose_b
