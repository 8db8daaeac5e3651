"""Algebraic simplification: identities of numbers, element by element.

The level of a rule says what it may change: nothing; the sign of a zero; the rounding.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import numpy as np

from ...core.dtypes import COMPLEX, FLOATING, INEXACT, INTEGER
from ...core.graph import Tensor
from ...primitives.activations.rectifiers import Relu, Relu6
from ...primitives.activations.sigmoid import sigmoid
from ...primitives.complex.complex import Complex, Conj, Imag, Real
from ...primitives.creation.constant import Const, constant
from ...primitives.creation.fill import ones_like, zeros_like
from ...primitives.elementwise.arithmetic import Add, Mul, Sub
from ...primitives.elementwise.division import RealDiv
from ...primitives.elementwise.exponential import exp
from ...primitives.elementwise.masking import multiply_no_nan
from ...primitives.elementwise.maximum import Maximum, Minimum
from ...primitives.elementwise.powers import Square, reciprocal, rsqrt, sqrt, square
from ...primitives.elementwise.rounding import Ceil, Floor, Rint, Round
from ...primitives.elementwise.sign import Abs, Sign
from ...primitives.elementwise.trigonometric import Cos
from ...primitives.identity.identity import Identity
from ...primitives.indexing.where import Select
from ...primitives.logic.logical import LogicalAnd, LogicalNot, LogicalOr
from ..rule import rewrite, same_type

Sides = Generator[Any]


@rewrite("exact")
def identity(x: Tensor, same: Identity) -> Sides:
    """identity(x) is x."""
    yield same(x)
    yield x


@rewrite("exact")
def times_one(x: Tensor) -> Sides:
    """x * 1 is x."""
    yield x * 1
    yield x


@rewrite("exact")
def divided_by_one(x: Tensor) -> Sides:
    """x / 1 is x."""
    yield x / 1
    yield x


@rewrite("exact")
def to_the_first_power(x: Tensor) -> Sides:
    """x ** 1 is x."""
    yield x**1
    yield x


@rewrite("exact")
def masked_times_one(x: Tensor) -> Sides:
    """x * 1 is x, also where zeros win."""
    yield multiply_no_nan(x, 1)
    yield x


@rewrite("exact")
def times_minus_one(x: Tensor) -> Sides:
    """x * -1 is -x."""
    yield x * -1
    if x.dtype in INEXACT:
        yield -x


@rewrite("exact")
def divided_by_minus_one(x: Tensor) -> Sides:
    """x / -1 is -x."""
    yield x / -1
    yield -x


@rewrite("exact")
def twice_negative(x: Tensor) -> Sides:
    """-(-x) is x."""
    yield -(-x)  # noqa: B002
    yield x


@rewrite("exact")
def plus_a_negative(x: Tensor, y: Tensor) -> Sides:
    """x + (-y) is x - y."""
    yield x + (-y)
    yield x - y


@rewrite("exact")
def minus_a_negative(x: Tensor, y: Tensor) -> Sides:
    """x - (-y) is x + y."""
    yield x - (-y)
    yield x + y


@rewrite("exact")
def negatives_multiplied(x: Tensor, y: Tensor) -> Sides:
    """(-x) * (-y) is x * y."""
    yield (-x) * (-y)
    yield x * y


@rewrite("exact")
def negatives_divided(x: Tensor, y: Tensor) -> Sides:
    """(-x) / (-y) is x / y."""
    yield (-x) / (-y)
    yield x / y


@rewrite("exact")
def negative_multiplied(x: Tensor, y: Tensor) -> Sides:
    """(-x) * y is -(x * y)."""
    yield (-x) * y
    yield -(x * y)


@rewrite("exact")
def negative_divided(x: Tensor, y: Tensor) -> Sides:
    """(-x) / y is -(x / y)."""
    yield (-x) / y
    yield -(x / y)


@rewrite("exact")
def negative_of_a_multiple(x: Tensor, factor: Const) -> Sides:
    """-(x * c) is x * (-c)."""
    yield -(x * factor())
    if x.dtype in INEXACT:
        yield x * constant(-factor.value)


@rewrite("exact")
def even_function_of_a_negative(x: Tensor, even: Abs | Square | Cos) -> Sides:
    """f(-x) is f(x) where f is even."""
    yield even(-x)
    yield even(x)


@rewrite("exact")
def even_function_of_a_magnitude(x: Tensor, even: Square | Cos, magnitude: Abs) -> Sides:
    """f(abs(x)) is f(x) where f is even."""
    yield even(magnitude(x))
    yield even(x)


@rewrite("exact")
def done_twice(x: Tensor, once: Relu | Relu6 | Floor | Ceil | Round | Rint | Abs | Sign) -> Sides:
    """f(f(x)) is f(x) where f changes nothing that it gave."""
    yield once(once(x))
    yield once(x)


@rewrite("exact")
def of_two_equals(x: Tensor, choice: Maximum | Minimum | LogicalAnd | LogicalOr) -> Sides:
    """The larger one of x and x is x."""
    yield choice(x, x)
    yield x


@rewrite("exact")
def product_with_itself(x: Tensor) -> Sides:
    """x * x is square(x), whose derivative is one product."""
    yield x * x
    if x.dtype not in COMPLEX:
        yield square(x)


@rewrite("exact")
def whole_numbers_times_zero(x: Tensor) -> Sides:
    """x * 0 is 0 where x cannot be infinite."""
    yield x * 0
    if x.dtype in INTEGER:
        yield zeros_like(x)


@rewrite("exact")
def conjugated_twice(x: Tensor, conjugate: Conj) -> Sides:
    """conj(conj(x)) is x."""
    yield conjugate(conjugate(x))
    yield x


@rewrite("exact")
def real_part_of_parts(x: Tensor, y: Tensor, joined: Complex, part: Real) -> Sides:
    """real(complex(x, y)) is x."""
    yield part(joined(x, y))
    yield x


@rewrite("exact")
def imaginary_part_of_parts(x: Tensor, y: Tensor, joined: Complex, part: Imag) -> Sides:
    """imag(complex(x, y)) is y."""
    yield part(joined(x, y))
    yield y


@rewrite("exact")
def negated_twice(x: Tensor, negation: LogicalNot) -> Sides:
    """not not x is x."""
    yield negation(negation(x))
    yield x


@rewrite("exact")
def choice_by_a_negation(c: Tensor, x: Tensor, y: Tensor, choice: Select, negation: LogicalNot) -> Sides:
    """where(not c, x, y) is where(c, y, x)."""
    yield choice(negation(c), x, y)
    yield choice(c, y, x)


@rewrite("exact")
def choice_of_equals(c: Tensor, x: Tensor, choice: Select) -> Sides:
    """where(c, x, x) is x."""
    yield choice(c, x, x)
    yield x


@rewrite("exact")
def choice_of_the_first(x: Tensor, y: Tensor, choice: Select) -> Sides:
    """where(True, x, y) is x."""
    z = choice(constant(True), x, y)
    yield z
    if same_type(x, z):
        yield x


@rewrite("exact")
def choice_of_the_second(x: Tensor, y: Tensor, choice: Select) -> Sides:
    """where(False, x, y) is y."""
    z = choice(constant(False), x, y)
    yield z
    if same_type(y, z):
        yield y


@rewrite("exact")
def divided_by_a_power_of_two(x: Tensor, divisor: Const) -> Sides:
    """x / c is x * (1 / c) where that is a number of the dtype."""
    yield x / divisor()
    if x.dtype in FLOATING and divisor.value.size and _are_powers_of_two(divisor.value):
        yield x * constant(1 / divisor.value)


def _are_powers_of_two(values: Any) -> bool:
    fractions, exponents = np.frexp(values.astype(np.float64))
    return bool((np.abs(fractions) == 0.5).all() and (np.abs(exponents) < 14).all())


@rewrite("safe")
def plus_zero(x: Tensor) -> Sides:
    """x + 0 is x."""
    yield x + 0
    yield x


@rewrite("safe")
def minus_zero(x: Tensor) -> Sides:
    """x - 0 is x."""
    yield x - 0
    yield x


@rewrite("safe")
def zero_minus(x: Tensor) -> Sides:
    """0 - x is -x."""
    yield 0 - x
    if x.dtype in INEXACT:
        yield -x


@rewrite("safe")
def negative_of_a_difference(x: Tensor, y: Tensor) -> Sides:
    """-(x - y) is y - x."""
    yield -(x - y)
    yield y - x


@rewrite("safe")
def to_the_second_power(x: Tensor) -> Sides:
    """x ** 2 is square(x)."""
    yield x**2
    yield square(x)


@rewrite("safe")
def to_the_power_of_zero(x: Tensor) -> Sides:
    """x ** 0 is 1."""
    yield x**0
    yield ones_like(x)


@rewrite("safe")
def to_the_power_of_minus_one(x: Tensor) -> Sides:
    """x ** -1 is 1 / x."""
    yield x**-1
    if x.dtype in INEXACT:
        yield reciprocal(x)


@rewrite("safe")
def sigmoid_by_hand(x: Tensor) -> Sides:
    """1 / (1 + exp(-x)) is sigmoid(x)."""
    yield 1 / (1 + exp(-x))
    yield sigmoid(x)


@rewrite("safe")
def sigmoid_by_a_reciprocal(x: Tensor) -> Sides:
    """reciprocal(1 + exp(-x)) is sigmoid(x)."""
    yield reciprocal(1 + exp(-x))
    yield sigmoid(x)


@rewrite("safe")
def part_by_a_sigmoid(x: Tensor, y: Tensor) -> Sides:
    """x / (1 + exp(-y)) is x * sigmoid(y)."""
    yield x / (1 + exp(-y))
    yield x * sigmoid(y)


@rewrite("safe")
def part_by_a_falling_sigmoid(x: Tensor, y: Tensor) -> Sides:
    """x / (1 + exp(y)) is x * sigmoid(-y)."""
    yield x / (1 + exp(y))
    yield x * sigmoid(-y)


@rewrite("fast")
def to_the_power_of_a_half(x: Tensor) -> Sides:
    """x ** 0.5 is sqrt(x)."""
    yield x**0.5
    yield sqrt(x)


@rewrite("fast")
def to_the_power_of_minus_a_half(x: Tensor) -> Sides:
    """x ** -0.5 is rsqrt(x)."""
    yield x**-0.5
    yield rsqrt(x)


@rewrite("fast")
def divided_by_a_constant(x: Tensor, divisor: Const) -> Sides:
    """x / c is x * (1 / c)."""
    yield x / divisor()
    if x.dtype in FLOATING and divisor.value.all():
        yield x * constant(1 / divisor.value)


@rewrite("fast")
def common_factor(a: Tensor, x: Tensor, y: Tensor, plus: Add | Sub, times: Mul) -> Sides:
    """a * x + a * y is a * (x + y)."""
    yield plus(times(a, x), times(a, y))
    if x.dtype in INEXACT:
        yield a * plus(x, y)


@rewrite("fast")
def common_factor_of_one_term(x: Tensor, factor: Const) -> Sides:
    """x * c + x is x * (c + 1)."""
    yield x * factor() + x
    if x.dtype in INEXACT:
        yield x * constant(factor.value + np.ones((), factor.value.dtype))


@rewrite("fast")
def common_divisor(a: Tensor, x: Tensor, y: Tensor, plus: Add | Sub, over: RealDiv) -> Sides:
    """x / a + y / a is (x + y) / a."""
    yield plus(over(x, a), over(y, a))
    yield plus(x, y) / a


@rewrite("fast")
def constants_of_a_product(x: Tensor, first: Const, second: Const) -> Sides:
    """(x * c) * d is x * (c * d)."""
    yield (x * first()) * second()
    if x.dtype in INEXACT:
        yield x * constant(first.value * second.value)


@rewrite("fast")
def constants_around_a_factor(x: Tensor, y: Tensor, first: Const, second: Const) -> Sides:
    """((x * c) * y) * d is (x * y) * (c * d)."""
    yield ((x * first()) * y) * second()
    if x.dtype in INEXACT:
        yield (x * y) * constant(first.value * second.value)


@rewrite("fast")
def constants_of_a_sum(x: Tensor, first: Const, second: Const) -> Sides:
    """(x + c) + d is x + (c + d)."""
    yield (x + first()) + second()
    if x.dtype in INEXACT:
        yield x + constant(first.value + second.value)


@rewrite("fast")
def product_of_exponentials(x: Tensor, y: Tensor) -> Sides:
    """exp(x) * exp(y) is exp(x + y)."""
    yield exp(x) * exp(y)
    yield exp(x + y)


@rewrite("fast")
def quotient_of_exponentials(x: Tensor, y: Tensor) -> Sides:
    """exp(x) / exp(y) is exp(x - y)."""
    yield exp(x) / exp(y)
    yield exp(x - y)


@rewrite("fast")
def one_over_a_square_root(x: Tensor) -> Sides:
    """1 / sqrt(x) is rsqrt(x)."""
    yield 1.0 / sqrt(x)
    yield rsqrt(x)
