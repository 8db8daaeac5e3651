"""Shared factors: of two that are summed over their first axis, that one is transposed which more such products read.

The products of a divergence's Hessian with ten vectors, as conjugate gradients want them, multiply what a layer was
given by ten cotangents, and its slopes by ten tangents: two transposes are enough, where one for each first factor
would be twelve.

The penalty of a critic's slopes has derivatives by filters of the same images, or cotangents, more than once: copies of
little ones, with batch and channels exchanged, are shared.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeGuard

from ...core.primitive import Primitive
from ...primitives.convolution.abstract import AbstractConvolutionByFilter
from ...primitives.convolution.conv import Conv2DBackpropFilter
from ...primitives.convolution.conv3d import Conv3DBackpropFilterV2
from ...primitives.linalg.matmul import MatMul
from ..plan import Plan, Step
from .array_namespace import kernel_of
from .linalg.products import matrix_product


class SharedFactors:
    """How many products, summed over the first axis of both factors, and derivatives by filters read a slot."""

    def __init__(self, plan: Plan) -> None:
        self._products = _readers([step for step in plan.steps if _is_along_first(step.op.primitive)])
        self._by_filter = _readers(
            [step for step in plan.steps if isinstance(step.op.primitive, AbstractConvolutionByFilter)]
        )

    def kernel(self, step: Step) -> Callable[..., Any]:
        """The kernel of a step, which for such an operation knows its factors."""
        primitive = step.op.primitive
        first, second = step.inputs[:2] if len(step.inputs) > 1 else (0, 0)
        if _is_along_first(primitive):
            return partial(matrix_product, primitive, second=self._products[second] > self._products[first])
        if isinstance(primitive, Conv2DBackpropFilter | Conv3DBackpropFilterV2):
            shares = max(self._by_filter[first], self._by_filter[second]) > 1
            return partial(kernel_of(primitive), shares=shares)
        return kernel_of(primitive)


def _readers(steps: Sequence[Step]) -> Counter[int]:
    return Counter([n for step in steps for n in {*step.inputs}])


def _is_along_first(p: Primitive) -> TypeGuard[MatMul]:
    return isinstance(p, MatMul) and p.transpose_a and not p.transpose_b
