"""Incomplete gamma and beta functions, regularised, and their derivatives by every argument, of any order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.contexts import in_graph_of_inputs
from ...core.operation import Tensor
from ...core.traits import ELEMENTWISE, SINGULAR
from ...core.typing import TensorLike
from ..base.broadcasting import Entry, binary, operands
from ..elementwise.masking import multiply_no_nan
from . import incomplete_beside_zero, incomplete_kernels
from .base import AbstractSpecial, special_function


def igamma(a: TensorLike, x: TensorLike, name: str | None = None) -> Tensor:
    """The lower regularised incomplete gamma function, element by element.

    P(a, x) is the integral of t^(a-1) exp(-t) from 0 to `x`, divided by gamma(a); NaN for negative arguments.

    Shapes: any that broadcast together. Dtypes: any float, the same for both.

    Derivative: dx = dy * density(x) with density(t) = t^(a - 1) * exp(-t) / Gamma(a); da = dy * the integral of (log(t)
    - digamma(a)) * density(t) up to x.

    Raises:
        TypeError: another dtype, or the dtypes differ. ValueError: the shapes do not broadcast.

    >>> import pullback as pb
    >>> pb.Session().run(pb.math.igamma([1.0, 2.0], 1.0))
    array([0.6321..., 0.2642...], dtype=float32)
    """
    return binary(Igamma(), a, x, name)


class Igamma(AbstractSpecial):
    traits = (ELEMENTWISE, SINGULAR)
    in_double = True
    compute = special_function("gammainc")

    def partials(self, dy: Tensor, y: Tensor, a: Tensor, x: Tensor) -> Sequence[Entry]:
        del y
        return (
            lambda: multiply_no_nan(IgammaByA(1)(a, x), dy),
            lambda: multiply_no_nan(GammaDensity()(a, x), dy),
        )


def igammac(a: TensorLike, x: TensorLike, name: str | None = None) -> Tensor:
    """The upper regularised incomplete gamma function, `1 - igamma(a, x)`, element by element, exact for large `x`.

    Shapes: any that broadcast together. Dtypes: any float, the same for both.

    Derivative: that of igamma with the other sign.

    Raises:
        TypeError: another dtype, or the dtypes differ. ValueError: the shapes do not broadcast.

    >>> import pullback as pb
    >>> pb.Session().run(pb.math.igammac([1.0, 2.0], 1.0))
    array([0.3678..., 0.7357...], dtype=float32)
    """
    return binary(Igammac(), a, x, name)


class Igammac(AbstractSpecial):
    traits = (ELEMENTWISE, SINGULAR)
    in_double = True

    def compute(self, xp: Any, functions: Any, *arrays: Any) -> Any:
        return incomplete_beside_zero.igammac(xp, functions, *arrays)

    def partials(self, dy: Tensor, y: Tensor, a: Tensor, x: Tensor) -> Sequence[Entry]:
        del y
        return (
            lambda: multiply_no_nan(IgammaByA(1)(a, x), -dy),
            lambda: multiply_no_nan(GammaDensity()(a, x), -dy),
        )


class IgammaByA(AbstractSpecial):
    """The derivative of igamma by `a`, `times` times."""

    type = "IgammaGradA"
    traits = (ELEMENTWISE, SINGULAR)

    times: int

    in_double = True

    def compute(self, xp: Any, functions: Any, *arrays: Any) -> Any:
        a, x = arrays
        from_the_right = xp.where(xp.logical_and(a == 0, x > 0), 1e-300, a)
        density = incomplete_kernels.gamma_density(xp, functions, 0, 0, from_the_right, x)
        ratio = incomplete_kernels.igamma_by_a(xp, functions, self.times, from_the_right, x)
        return xp.where(ratio == 0, 0.0, ratio * density)

    def partials(self, dy: Tensor, y: Tensor, a: Tensor, x: Tensor) -> Sequence[Entry]:
        del y
        return (
            lambda: multiply_no_nan(IgammaByA(self.times + 1)(a, x), dy),
            lambda: multiply_no_nan(GammaDensity(self.times)(a, x), dy),
        )


class GammaDensity(AbstractSpecial):
    """x^(a-1) exp(-x) / gamma(a), differentiated `by_a` times by `a` and `by_x` times by `x`."""

    traits = (ELEMENTWISE, SINGULAR)

    by_a: int = 0
    by_x: int = 0

    in_double = True

    def compute(self, xp: Any, functions: Any, *arrays: Any) -> Any:
        return incomplete_kernels.gamma_density(xp, functions, self.by_a, self.by_x, *arrays)

    def partials(self, dy: Tensor, y: Tensor, a: Tensor, x: Tensor) -> Sequence[Entry]:
        del y
        return (
            lambda: multiply_no_nan(GammaDensity(self.by_a + 1, self.by_x)(a, x), dy),
            lambda: multiply_no_nan(GammaDensity(self.by_a, self.by_x + 1)(a, x), dy),
        )


@in_graph_of_inputs
def betainc(a: TensorLike, b: TensorLike, x: TensorLike, name: str | None = None) -> Tensor:
    """The regularised incomplete beta function, element by element: the distribution function of beta(a, b) at `x`.

    I(a, b, x) is the integral of t^(a-1) (1-t)^(b-1) from 0 to `x`, divided by that to 1; NaN for `x` outside [0, 1].
    All three arguments have derivatives, of any order.

    Shapes: any that broadcast together. Dtypes: any float, the same for all.

    Derivative: dx = dy * x^(a - 1) * (1 - x)^(b - 1) / B(a, b); da and db are integrals of that density times
    logarithms.

    Raises:
        TypeError: another dtype, or the dtypes differ. ValueError: the shapes do not broadcast.

    >>> import pullback as pb
    >>> pb.Session().run(pb.math.betainc([1.0, 2.0], 1.0, 0.5))
    array([0.5 , 0.25], dtype=float32)
    """
    return Betainc()(*operands(a, b, x), name=name)


class Betainc(AbstractSpecial):
    traits = (ELEMENTWISE, SINGULAR)
    in_double = True

    def compute(self, xp: Any, functions: Any, *arrays: Any) -> Any:
        return incomplete_beside_zero.betainc(xp, functions, *arrays)

    def partials(self, dy: Tensor, y: Tensor, a: Tensor, b: Tensor, x: Tensor) -> Sequence[Entry]:
        del y
        return (
            lambda: multiply_no_nan(BetaincByParameters(1, 0)(a, b, x), dy),
            lambda: multiply_no_nan(BetaincByParameters(0, 1)(a, b, x), dy),
            lambda: multiply_no_nan(BetaDensity()(a, b, x), dy),
        )


class BetaincByParameters(AbstractSpecial):
    """The derivative of betainc, `by_a` times by `a` and `by_b` times by `b`."""

    traits = (ELEMENTWISE, SINGULAR)

    by_a: int
    by_b: int

    in_double = True

    def compute(self, xp: Any, functions: Any, *arrays: Any) -> Any:
        return incomplete_kernels.betainc_by_parameters(xp, functions, self.by_a, self.by_b, *arrays)

    def partials(self, dy: Tensor, y: Tensor, a: Tensor, b: Tensor, x: Tensor) -> Sequence[Entry]:
        del y
        return (
            lambda: multiply_no_nan(BetaincByParameters(self.by_a + 1, self.by_b)(a, b, x), dy),
            lambda: multiply_no_nan(BetaincByParameters(self.by_a, self.by_b + 1)(a, b, x), dy),
            lambda: multiply_no_nan(BetaDensity(self.by_a, self.by_b)(a, b, x), dy),
        )


class BetaDensity(AbstractSpecial):
    """x^(a-1) (1-x)^(b-1) / beta(a, b), differentiated so many times by each."""

    traits = (ELEMENTWISE, SINGULAR)

    by_a: int = 0
    by_b: int = 0
    by_x: int = 0

    in_double = True

    def compute(self, xp: Any, functions: Any, *arrays: Any) -> Any:
        return incomplete_kernels.beta_density(xp, functions, self.by_a, self.by_b, self.by_x, *arrays)

    def partials(self, dy: Tensor, y: Tensor, a: Tensor, b: Tensor, x: Tensor) -> Sequence[Entry]:
        del y
        i, j, k = self.by_a, self.by_b, self.by_x
        return (
            lambda: multiply_no_nan(BetaDensity(i + 1, j, k)(a, b, x), dy),
            lambda: multiply_no_nan(BetaDensity(i, j + 1, k)(a, b, x), dy),
            lambda: multiply_no_nan(BetaDensity(i, j, k + 1)(a, b, x), dy),
        )
