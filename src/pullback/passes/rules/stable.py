"""Stabilisation: what overflows, underflows or cancels where its value does not, computed in another way.

As Theano's stability optimisations and Herbie's rewrites: each is an equation of real numbers whose right side keeps
digits that the left side loses. `tests/passes/test_stable_rules.py` has a hard point for each.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from ...core.dtypes import COMPLEX, FLOATING
from ...core.graph import Tensor
from ...primitives.activations.sigmoid import log_sigmoid, sigmoid, softplus
from ...primitives.activations.softmax import LogSoftmax, Softmax, softmax
from ...primitives.elementwise.division import divide
from ...primitives.elementwise.exponential import exp, expm1, log, log1p, xlogy
from ...primitives.elementwise.powers import sqrt, square
from ...primitives.reduction.logsumexp import LogSumExp
from ...primitives.reduction.norms import EuclideanNorm
from ...primitives.reduction.sum import Sum
from ..rule import rewrite

Sides = Generator[Any]


@rewrite("safe", stabilises=True)
def logarithm_of_a_softmax(x: Tensor, shares: Softmax) -> Sides:
    """log(softmax(x)) is -inf where the softmax underflows."""
    yield log(shares(x))
    yield LogSoftmax(shares.axis)(x)


@rewrite("safe", stabilises=True)
def softmax_by_hand(x: Tensor, total: Sum) -> Sides:
    """exp(x) / sum(exp(x)) is inf / inf where an exponential overflows."""
    yield divide(exp(x), total(exp(x)))
    axes = range(x.shape.rank or 0) if total.axis is None else total.axis
    if x.dtype in FLOATING and total.keepdims and len(axes) == 1:
        yield softmax(x, axes[0])


@rewrite("safe", stabilises=True)
def logarithm_of_a_sum_of_exponentials(x: Tensor, total: Sum) -> Sides:
    """log(sum(exp(x))) is inf where an exponential overflows, and -inf where all underflow."""
    yield log(total(exp(x)))
    if x.dtype in FLOATING:
        yield LogSumExp(total.axis, total.keepdims)(x)


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
