"""Stabilisation: what overflows, underflows or cancels where its value does not, computed in another way.

As Theano's stability optimisations and Herbie's rewrites: each is an equation of real numbers whose right side keeps
digits that the left side loses. `tests/passes/test_stable_rules.py` has a hard point for each.
"""

from __future__ import annotations

from collections.abc import Generator
from math import prod
from typing import Any

import numpy as np

from ...core.dtypes import COMPLEX, FLOATING, INEXACT
from ...core.graph import Tensor
from ...primitives.activations.sigmoid import Sigmoid, log_sigmoid, sigmoid, softplus
from ...primitives.activations.softmax import LogSoftmax, Softmax, softmax
from ...primitives.creation.constant import Const, constant
from ...primitives.elementwise.division import divide
from ...primitives.elementwise.exponential import Exp, exp, expm1, log, log1p, xlogy
from ...primitives.elementwise.hyperbolic import tanh
from ...primitives.elementwise.powers import sqrt, square
from ...primitives.indexing.gather import GatherV2
from ...primitives.indexing.scatter_nd import GatherNd
from ...primitives.indexing.slice import Slice
from ...primitives.indexing.slicing import StridedSlice
from ...primitives.linalg.einsum import Einsum
from ...primitives.reduction.logsumexp import LogSumExp
from ...primitives.reduction.norms import EuclideanNorm
from ...primitives.reduction.reduce import Mean
from ...primitives.reduction.sum import Sum
from ...primitives.shape.reshape import Reshape
from ...primitives.shape.squeeze import ExpandDims, Squeeze
from ...primitives.shape.stacking import stack
from ...primitives.shape.transpose import Transpose
from ..rule import rewrite, same_type

Sides = Generator[Any]


@rewrite("safe", stabilises=True)
def logarithm_of_a_softmax(x: Tensor, shares: Softmax) -> Sides:
    """log(softmax(x)) is -inf where the softmax underflows."""
    yield log(shares(x))
    yield LogSoftmax(shares.axis)(x)


@rewrite("safe", stabilises=True)
def logarithm_of_moved_elements(
    x: Tensor,
    move: Reshape | ExpandDims | Squeeze | Transpose | Slice | StridedSlice,
    before: Softmax | Sigmoid | Exp,
) -> Sides:
    """log(softmax(x)[0]) is -inf where the softmax underflows."""
    yield log(move(before(x)))
    yield move(log(before(x)))


@rewrite("safe", stabilises=True)
def logarithm_of_picked_elements(
    x: Tensor, indices: Tensor, pick: GatherV2 | GatherNd, before: Softmax | Sigmoid | Exp
) -> Sides:
    """log(gather(softmax(x), labels)) is -inf where the softmax underflows."""
    yield log(pick(before(x), indices))
    yield pick(log(before(x)), indices)


@rewrite("safe", stabilises=True)
def softmax_by_hand(x: Tensor, total: Sum) -> Sides:
    """exp(x) / sum(exp(x)) is inf / inf where an exponential overflows."""
    yield divide(exp(x), total(exp(x)))
    axes = range(x.shape.rank or 0) if total.axis is None else total.axis
    if x.dtype in FLOATING and (total.keepdims or x.shape.rank == 1) and len(axes) == 1:
        yield softmax(x, axes[0])


@rewrite("safe", stabilises=True)
def softmax_by_a_widened_sum(x: Tensor, total: Sum, widen: ExpandDims | Reshape) -> Sides:
    """exp(x) / sum(exp(x))[:, None] is inf / inf where an exponential overflows."""
    y = widen(total(exp(x)))
    yield divide(exp(x), y)
    axes = total.axis or ()
    if x.dtype in FLOATING and len(axes) == 1 and same_type(y, Sum(axes, keepdims=True)(x)):
        yield softmax(x, axes[0])


@rewrite("safe", stabilises=True)
def logarithm_of_a_sum_of_exponentials(x: Tensor, total: Sum) -> Sides:
    """log(sum(exp(x))) is inf where an exponential overflows, and -inf where all underflow."""
    yield log(total(exp(x)))
    if x.dtype in FLOATING:
        yield LogSumExp(total.axis, total.keepdims)(x)


@rewrite("safe", stabilises=True)
def logarithm_of_two_exponentials(x: Tensor, y: Tensor) -> Sides:
    """log(exp(x) + exp(y)) is inf where an exponential overflows, and -inf where both underflow."""
    yield log(exp(x) + exp(y))
    if x.dtype in FLOATING and same_type(x, y):
        yield LogSumExp((0,))(stack([x, y]))


@rewrite("safe", stabilises=True)
def logarithm_of_a_mean_of_exponentials(x: Tensor, mean: Mean) -> Sides:
    """log(mean(exp(x))) is inf where an exponential overflows, and -inf where all underflow."""
    yield log(mean(exp(x)))
    count = _count(x, mean)
    if x.dtype in FLOATING and count:
        yield LogSumExp(mean.axis, mean.keepdims)(x) - np.log(count)


@rewrite("safe", stabilises=True)
def logarithm_of_a_multiple_of_an_exponential(x: Tensor, factor: Const) -> Sides:
    """log(exp(x) * c) is inf or -inf where the exponential overflows or underflows."""
    yield log(exp(x) * factor())
    if x.dtype in FLOATING and (factor.value > 0).all():
        yield x + constant(np.log(factor.value))


@rewrite("safe", stabilises=True)
def logarithm_of_a_part_of_an_exponential(x: Tensor, divisor: Const) -> Sides:
    """log(exp(x) / c) is inf or -inf where the exponential overflows or underflows."""
    yield log(exp(x) / divisor())
    if x.dtype in FLOATING and (divisor.value > 0).all():
        yield x - constant(np.log(divisor.value))


@rewrite("safe", stabilises=True)
def softplus_by_hand(x: Tensor) -> Sides:
    """log(1 + exp(x)) is inf where the exponential overflows, and 0 where it is small."""
    yield log(1.0 + exp(x))
    if x.dtype in FLOATING:
        yield softplus(x)


@rewrite("safe", stabilises=True)
def softplus_by_log1p(x: Tensor) -> Sides:
    """log1p(exp(x)) is inf where the exponential overflows."""
    yield log1p(exp(x))
    if x.dtype in FLOATING:
        yield softplus(x)


@rewrite("safe", stabilises=True)
def logarithm_of_a_sigmoid(x: Tensor) -> Sides:
    """log(sigmoid(x)) is -inf where the sigmoid underflows."""
    yield log(sigmoid(x))
    if x.dtype in FLOATING:
        yield log_sigmoid(x)


@rewrite("safe", stabilises=True)
def one_minus_a_sigmoid(x: Tensor) -> Sides:
    """1 - sigmoid(x) is 0 where the sigmoid rounds to 1."""
    yield 1.0 - sigmoid(x)
    yield sigmoid(-x)


@rewrite("safe", stabilises=True)
def sigmoid_by_a_quotient(x: Tensor) -> Sides:
    """exp(x) / (1 + exp(x)) is inf / inf where the exponential overflows."""
    yield exp(x) / (1.0 + exp(x))
    yield sigmoid(x)


@rewrite("safe", stabilises=True)
def hyperbolic_tangent_by_hand(x: Tensor) -> Sides:
    """(exp(x) - exp(-x)) / (exp(x) + exp(-x)) is inf / inf where an exponential overflows."""
    yield (exp(x) - exp(-x)) / (exp(x) + exp(-x))
    yield tanh(x)


@rewrite("safe", stabilises=True)
def hyperbolic_tangent_of_a_half(x: Tensor) -> Sides:
    """(exp(x) - 1) / (exp(x) + 1) is inf / inf where the exponential overflows."""
    yield expm1(x) / (exp(x) + 1.0)
    if x.dtype in INEXACT:
        yield tanh(0.5 * x)


@rewrite("safe", stabilises=True)
def logarithm_of_one_minus(x: Tensor) -> Sides:
    """log(1 - x) is 0 where x is small beside 1."""
    yield log(1.0 - x)
    yield log1p(-x)


@rewrite("safe", stabilises=True)
def logarithm_of_one_plus(x: Tensor) -> Sides:
    """log(1 + x) is 0 where x is small beside 1."""
    yield log(1.0 + x)
    yield log1p(x)


@rewrite("safe", stabilises=True)
def exponential_minus_one(x: Tensor) -> Sides:
    """exp(x) - 1 is 0 where x is small beside 1."""
    yield exp(x) - 1.0
    yield expm1(x)


@rewrite("safe", stabilises=True)
def minus_one_and_an_exponential(x: Tensor) -> Sides:
    """-1 + exp(x) is 0 where x is small beside 1."""
    yield exp(x) + -1.0
    yield expm1(x)


@rewrite("safe", stabilises=True)
def one_minus_an_exponential(x: Tensor) -> Sides:
    """1 - exp(x) is 0 where x is small beside 1."""
    yield 1.0 - exp(x)
    yield -expm1(x)


@rewrite("safe", stabilises=True)
def logarithm_of_an_exponential(x: Tensor) -> Sides:
    """log(exp(x)) is inf where the exponential overflows."""
    yield log(exp(x))
    if x.dtype in FLOATING:
        yield x


@rewrite("safe", stabilises=True)
def norm_by_hand(x: Tensor, total: Sum) -> Sides:
    """sqrt(sum(square(x))) has the derivative 0 * inf where all elements are 0."""
    yield sqrt(total(square(x)))
    if x.dtype in FLOATING:
        yield EuclideanNorm(total.axis, total.keepdims)(x)


@rewrite("safe", stabilises=True)
def norm_by_a_power(x: Tensor, total: Sum) -> Sides:
    """sum(square(x)) ** 0.5 has the derivative 0 * inf where all elements are 0."""
    yield total(square(x)) ** 0.5
    if x.dtype in FLOATING:
        yield EuclideanNorm(total.axis, total.keepdims)(x)


@rewrite("safe", stabilises=True)
def norm_by_a_contraction(x: Tensor, contraction: Einsum) -> Sides:
    """sqrt(einsum("ij,ij->i", x, x)) has the derivative 0 * inf where all elements are 0."""
    yield sqrt(contraction(x, x))
    operands, _, result = contraction.equation.partition("->")
    first, _, second = operands.partition(",")
    left = "".join([label for label in first if label in result])
    if x.dtype in FLOATING and first == second and first.isalpha() and len({*first}) == len(first) and result == left:
        yield EuclideanNorm(tuple([i for i, label in enumerate(first) if label not in result]))(x)


@rewrite("safe", stabilises=True)
def root_of_a_mean_square(x: Tensor, mean: Mean) -> Sides:
    """sqrt(mean(square(x))) has the derivative 0 * inf where all elements are 0."""
    yield sqrt(mean(square(x)))
    count = _count(x, mean)
    if x.dtype in FLOATING and count:
        yield EuclideanNorm(mean.axis, mean.keepdims)(x) / np.sqrt(count)


def _count(x: Tensor, mean: Mean) -> int:
    """Of how many elements each mean is taken; 0 where that is not known."""
    sizes = x.shape.sizes
    if sizes is None:
        return 0
    return prod([n or 0 for n in (sizes if mean.axis is None else [sizes[a] for a in mean.axis])])


@rewrite("safe", stabilises=True)
def entropy_by_hand(x: Tensor) -> Sides:
    """x * log(x) is 0 * -inf at 0, where it is 0."""
    yield x * log(x)
    yield xlogy(x, x)


@rewrite("safe", stabilises=True)
def square_root_of_a_square(x: Tensor) -> Sides:
    """sqrt(square(x)) overflows where the square does, and its derivative at 0 is 0 * inf."""
    yield sqrt(square(x))
    if x.dtype not in COMPLEX:
        yield abs(x)
