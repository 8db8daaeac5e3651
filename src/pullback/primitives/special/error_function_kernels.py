"""Error function kernels: erf, erfc and the normal quantile to the precision of the dtype; arrays only.

Rational approximations: W. J. Cody, Rational Chebyshev approximations for the error function, Math. Comp. 23 (1969),
with the exponential split as in his CALERF; M. J. Wichura, Algorithm AS 241, Appl. Statist. 37 (1988). Each takes
float32 or float64. All branches are computed for all elements: the same lines run where values cannot be branched on.
"""

from __future__ import annotations

import math
from typing import Any

from ..elementwise.masking import chosen

Rational = tuple[tuple[float, ...], tuple[float, ...]]
"""The coefficients of numerator and denominator, that of the highest power first."""

_SMALL: Rational = (
    (
        1.85777706184603153e-1,
        3.16112374387056560e0,
        1.13864154151050156e2,
        3.77485237685302021e2,
        3.20937758913846947e3,
    ),
    (1.0, 2.36012909523441209e1, 2.44024637934444173e2, 1.28261652607737228e3, 2.84423683343917062e3),
)
_MIDDLE: Rational = (
    (
        2.15311535474403846e-8, 5.64188496988670089e-1, 8.88314979438837594e0, 6.61191906371416295e1,
        2.98635138197400131e2, 8.81952221241769090e2, 1.71204761263407058e3, 2.05107837782607147e3,
        1.23033935479799725e3,
    ),
    (
        1.0, 1.57449261107098347e1, 1.17693950891312499e2, 5.37181101862009858e2, 1.62138957456669019e3,
        3.29079923573345963e3, 4.36261909014324716e3, 3.43936767414372164e3, 1.23033935480374942e3,
    ),
)  # fmt: skip
_LARGE: Rational = (
    (
        1.63153871373020978e-2, 3.05326634961232344e-1, 3.60344899949804439e-1, 1.25781726111229246e-1,
        1.60837851487422766e-2, 6.58749161529837803e-4,
    ),
    (
        1.0, 2.56852019228982242e0, 1.87295284992346725e0, 5.27905102951428412e-1, 6.05183413124413191e-2,
        2.33520497626869185e-3,
    ),
)  # fmt: skip
_CENTRAL: Rational = (
    (
        2.5090809287301226727e3, 3.3430575583588128105e4, 6.7265770927008700853e4, 4.5921953931549871457e4,
        1.3731693765509461125e4, 1.9715909503065514427e3, 1.3314166789178437745e2, 3.3871328727963666080e0,
    ),
    (
        5.2264952788528545610e3, 2.8729085735721942674e4, 3.9307895800092710610e4, 2.1213794301586595867e4,
        5.3941960214247511077e3, 6.8718700749205790830e2, 4.2313330701600911252e1, 1.0,
    ),
)  # fmt: skip
_TAIL: Rational = (
    (
        7.74545014278341407640e-4, 2.27238449892691845833e-2, 2.41780725177450611770e-1, 1.27045825245236838258e0,
        3.64784832476320460504e0, 5.76949722146069140550e0, 4.63033784615654529590e0, 1.42343711074968357734e0,
    ),
    (
        1.05075007164441684324e-9, 5.47593808499534494600e-4, 1.51986665636164571966e-2, 1.48103976427480074590e-1,
        6.89767334985100004550e-1, 1.67638483018380384940e0, 2.05319162663775882187e0, 1.0,
    ),
)  # fmt: skip
_FAR_TAIL: Rational = (
    (
        2.01033439929228813265e-7, 2.71155556874348757815e-5, 1.24266094738807843860e-3, 2.65321895265761230930e-2,
        2.96560571828504891230e-1, 1.78482653991729133580e0, 5.46378491116411436990e0, 6.65790464350110377720e0,
    ),
    (
        2.04426310338993978564e-15, 1.42151175831644588870e-7, 1.84631831751005468180e-5, 7.86869131145613259100e-4,
        1.48753612908506148525e-2, 1.36929880922735805310e-1, 5.99832206555887937690e-1, 1.0,
    ),
)  # fmt: skip


def erf(xp: Any, x: Any) -> Any:
    """The error function."""
    size = xp.abs(x)
    near = xp.multiply(x, _rational(xp, xp.square(xp.minimum(size, 1)), _SMALL))
    # From 4 on, erf is 1 in float32, and what the exponential loses to rounding is lost in the difference as well.
    complement = _erfc_up_to_4(xp, size) if x.dtype.itemsize == 4 else _erfc_of_size(xp, size)
    return chosen(xp, size <= 0.46875, near, xp.copysign(xp.subtract(1, complement), x))


def erfc(xp: Any, x: Any) -> Any:
    """The complementary error function."""
    size = xp.abs(x)
    far = _erfc_of_size(xp, size)
    far = chosen(xp, x < 0, xp.subtract(2, far), far)
    near = xp.subtract(1, xp.multiply(x, _rational(xp, xp.square(xp.minimum(size, 1)), _SMALL)))
    return chosen(xp, size <= 0.46875, near, far)


def _erfc_up_to_4(xp: Any, size: Any) -> Any:
    """`erfc` of numbers between 0.46875 and 4, and its values there for those outside."""
    y = xp.clip(size, 0.46875, 4)
    return xp.multiply(_rational(xp, y, _MIDDLE), xp.exp(xp.negative(xp.square(y))))


def _erfc_of_size(xp: Any, size: Any) -> Any:
    """`erfc` of numbers of at least 0.46875; 0 where it underflows."""
    y = xp.clip(size, 0.46875, 30.0)
    middle = _rational(xp, xp.minimum(y, 4), _MIDDLE)
    inverse = xp.reciprocal(xp.square(y))
    large = (1 / math.sqrt(math.pi) - xp.multiply(inverse, _rational(xp, inverse, _LARGE))) / y
    coarse = xp.floor(xp.multiply(y, 16)) / 16
    decay = xp.exp(-xp.square(coarse)) * xp.exp((coarse - y) * (coarse + y))
    return chosen(xp, y <= 4, middle, large) * decay


def quantile(xp: Any, centered: Any, tail: Any) -> Any:
    """The normal quantile of a probability p, given as `p - 1/2` and as the smaller of p and 1 - p."""
    central = xp.multiply(centered, _rational(xp, xp.subtract(0.180625, xp.square(centered)), _CENTRAL))
    r = xp.sqrt(-xp.log(tail))
    near, far = _rational(xp, r - 1.6, _TAIL), _rational(xp, r - 5, _FAR_TAIL)
    size = xp.where(tail == 0, math.inf, xp.where(r <= 5, near, far))
    return xp.where(xp.abs(centered) <= 0.425, central, xp.multiply(size, xp.sign(centered)))


def _rational(xp: Any, x: Any, coefficients: Rational) -> Any:
    numerator, denominator = coefficients
    value = _polynomial(xp, x, numerator)
    value /= _polynomial(xp, x, denominator)
    return value


def _polynomial(xp: Any, x: Any, coefficients: tuple[float, ...]) -> Any:
    """Horner's rule; in place where arrays can be changed, for fresh memory costs more than the arithmetic."""
    value = xp.multiply(x, coefficients[0])
    value += coefficients[1]
    for c in coefficients[2:]:
        value *= x
        value += c
    return value
