"""Rows: special functions, against SciPy; every argument is differentiated."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.special as special

import pullback as pb
from pullback.primitives.special.igamma_ratio import IgammaRatio

from .case import Case, positive
from .elementwise.functions import inside, real

SIGNED = np.array([-3.7, -1.2, -0.4, 0.3, 1.7, 6.2])
POSITIVE = np.array([0.2, 0.9, 1.6, 3.1, 7.4, 26.0])
SHAPES = {"empty": positive(0, 3), "scalar": positive()}


def _unary(name: str, build: Callable[..., Any], expected: Any, x: Any = SIGNED) -> list[Case]:
    """The function at points; those whose name ends with 0 also at none, and at a scalar."""
    cases = [Case(name, build, [x], expected)]
    if name.endswith("0"):
        cases += [Case(f"{name}_{what}", build, [y], expected) for what, y in SHAPES.items()]
    return cases


def _lbeta(x: np.ndarray) -> Any:
    return special.gammaln(x).sum(-1) - special.gammaln(x.sum(-1))


_s = pb.math.special


def unit(*shape: int) -> np.ndarray:
    return (inside(*shape) + 1) / 2


WIDE = np.array([-30.0, -6.5, -3.9, -2.0, -0.47, -0.46, -1e-8, 0.0, 1e-8, 0.3, 0.5, 1.1, 3.99, 4.01, 5.5, 27.0])

_BEYOND = {"onnxruntime": "the density of a parameter of -inf is 0"}

CASES = [
    *_unary("lgamma", pb.math.lgamma, special.gammaln),
    *_unary("digamma", pb.math.digamma, special.digamma),
    *_unary("bessel_i0", _s.bessel_i0, special.i0),
    *_unary("bessel_i0e", _s.bessel_i0e, special.i0e),
    *_unary("bessel_i1", _s.bessel_i1, special.i1),
    *_unary("bessel_i1e", _s.bessel_i1e, special.i1e),
    *_unary("bessel_k0", _s.bessel_k0, special.k0, POSITIVE),
    *_unary("bessel_k0e", _s.bessel_k0e, special.k0e, POSITIVE),
    *_unary("bessel_k1", _s.bessel_k1, special.k1, POSITIVE),
    *_unary("bessel_k1e", _s.bessel_k1e, special.k1e, POSITIVE),
    *_unary("bessel_j0", _s.bessel_j0, special.j0),
    *_unary("bessel_j1", _s.bessel_j1, special.j1),
    *_unary("bessel_y0", _s.bessel_y0, special.y0, POSITIVE),
    *_unary("bessel_y1", _s.bessel_y1, special.y1, POSITIVE),
    *_unary("dawsn", _s.dawsn, special.dawsn),
    *_unary("expint", _s.expint, special.expi),
    *_unary("fresnel_cos", _s.fresnel_cos, lambda x: special.fresnel(x)[1]),
    *_unary("fresnel_sin", _s.fresnel_sin, lambda x: special.fresnel(x)[0]),
    *_unary("spence", _s.spence, special.spence, POSITIVE),
    *_unary("erfcx", _s.erfcx, special.erfcx),
    *_unary("ndtr", _s.ndtr, special.ndtr),
    Case("lgamma_same_twice", lambda x: pb.math.lgamma(x) * pb.math.lgamma(x), [SIGNED]),
    Case("zeta", pb.math.zeta, [np.array([1.4, 2.0, 5.5, 12.0])[:, None], POSITIVE], special.zeta),
    Case("zeta_scalar", pb.math.zeta, [np.array(2.5), positive(2, 1)], special.zeta),
    Case("polygamma", pb.math.polygamma, [np.array([1.0, 2.0, 3.0, 6.0])[:, None], POSITIVE]),
    Case("polygamma_zero", lambda x: pb.math.polygamma(0.0, x), [SIGNED], special.digamma),
    Case("polygamma_signed", lambda x: pb.math.polygamma(2.0, x), [SIGNED], lambda x: special.polygamma(2, x)),
    Case(
        "igamma",
        pb.math.igamma,
        [POSITIVE[:5, None], np.array([0.3, 1.1, 4.0, 9.0])],
        special.gammainc,
        other_at_hard_points=_BEYOND,
    ),
    Case(
        "igammac",
        pb.math.igammac,
        [POSITIVE[:5, None], np.array([0.3, 1.1, 4.0, 9.0])],
        special.gammaincc,
        other_at_hard_points=_BEYOND,
    ),
    Case("igamma_scalar", pb.math.igamma, [positive(), positive(0, 2)], special.gammainc),
    Case(
        "betainc",
        pb.math.betainc,
        [POSITIVE[:5, None, None], np.array([0.4, 1.0, 4.0])[:, None], np.array([0.05, 0.4, 0.9])],
        special.betainc,
    ),
    Case("betainc_scalar", pb.math.betainc, [positive(), positive(2, 1), np.array([0.3, 0.6])], special.betainc),
    Case("lbeta", pb.math.lbeta, [positive(2, 3)], _lbeta, other_at_hard_points={"onnxruntime": "sums of -0 are 0"}),
    Case("lbeta_none", pb.math.lbeta, [positive(2, 0)], lambda x: np.full(2, -np.inf), not_differentiable="-inf"),
    Case("igamma_third_order", pb.math.igamma, [positive(3), positive(3, seed=1)], third_order=True),
    Case("zeta_third_order", pb.math.zeta, [np.array([1.6]), positive(1)], third_order=True, slow=True),
    Case("polygamma_third_order", pb.math.polygamma, [np.array([1.0, 2.0]), positive(2)], third_order=True, slow=True),
    Case("bessel_j1_third_order", _s.bessel_j1, [SIGNED], third_order=True),
    Case("bessel_i1e_third_order", _s.bessel_i1e, [SIGNED], third_order=True),
    Case("spence_third_order", _s.spence, [POSITIVE], third_order=True),
    Case(
        "betainc_third_order",
        pb.math.betainc,
        [positive(2), positive(2, seed=1), np.array([0.3, 0.6])],
        third_order=True,
        slow=True,
    ),
    *real("erf", pb.math.erf, special.erf),
    *real("erfc", pb.math.erfc, special.erfc),
    *real("erfinv", pb.math.erfinv, special.erfinv, inside),
    *real("erfcinv", pb.math.erfcinv, special.erfcinv, unit),
    *real("ndtri", pb.math.ndtri, special.ndtri, unit),
    Case("erf_wide", pb.math.erf, [WIDE], special.erf),
    Case("erfc_wide", pb.math.erfc, [WIDE], special.erfc),
    Case(
        "erfinv_wide",
        pb.math.erfinv,
        [np.array([-1.0, -0.999999, -0.86, -0.84, 0.0, 1e-9, 0.5, 0.99, 1.0])],
        special.erfinv,
        not_differentiable="infinite at the ends",
    ),
    Case(
        "gamma_slope",
        lambda a, x: [IgammaRatio(1)(a, x), IgammaRatio(2)(a, x)],
        [np.array([0.3, 1.0, 2.5, 30.0]), np.array([0.1, 0.9, 4.0, 20.0])],
    ),
]
