"""Special functions, with exact values and derivatives by mpmath."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath as mp

import pullback as pb

from .functions import BOTH, TINY, Exact, Function, beside, between, sized

S = pb.math.special


def erfcx(x: Any) -> Any:
    return mp.exp(x * x) * mp.erfc(x)


def dawsn(x: Any) -> Any:
    return mp.sqrt(mp.pi) / 2 * mp.exp(-x * x) * mp.erfi(x)


def erfcinv(q: Any) -> Any:
    """By Halley's method from the leading term far out."""
    if q > 0.5:
        return -mp.erfinv(q - 1) if q < 1.5 else -erfcinv(2 - q)
    x = mp.sqrt(-mp.log(q * mp.sqrt(mp.pi * -mp.log(q))))
    for _ in range(8):
        u = (mp.erfc(x) - q) / (-2 / mp.sqrt(mp.pi) * mp.exp(-x * x))
        x -= u / (1 + x * u)
    return x


def erfinv(x: Any) -> Any:
    return mp.erfinv(x) if abs(x) < 0.5 else mp.sign(x) * erfcinv(1 - abs(x))


def ndtri(p: Any) -> Any:
    return -mp.sqrt(2) * erfcinv(2 * p)


def spence(x: Any) -> Any:
    if x <= 2:
        return mp.polylog(2, 1 - x)
    return -(mp.pi**2) / 6 - mp.log(x - 1) ** 2 / 2 - mp.polylog(2, 1 / (1 - x))


def lgamma(x: Any) -> Any:
    return mp.log(abs(mp.gamma(x))) if abs(x) < 100 else mp.loggamma(x)


def like(fill: float, x: Any) -> Any:
    return pb.ones_like(x) * fill


def gamma_density(a: float) -> Exact:
    return lambda x: mp.exp((a - 1) * mp.log(x) - x - mp.loggamma(mp.mpf(a)))


def beta_density(a: float, b: float) -> Exact:
    return lambda x: mp.exp((a - 1) * mp.log(x) + (b - 1) * mp.log1p(-x)) / mp.beta(mp.mpf(a), mp.mpf(b))


def incomplete_gamma(a: float) -> Function:
    return Function(
        lambda x: pb.math.igamma(like(a, x), x),
        lambda x: mp.gammainc(mp.mpf(a), 0, x, regularized=True),
        gamma_density(a),
        {"ordinary": a * between(0.2, 3, 12), "small": a * sized(1e-6, 0.2, count=8)},
        (100.0 + 2 * a, 100.0 + 2 * a),
    )


def complement_of_gamma(a: float) -> Function:
    return Function(
        lambda x: pb.math.igammac(like(a, x), x),
        lambda x: mp.gammainc(mp.mpf(a), x, mp.inf, regularized=True),
        lambda x: -gamma_density(a)(x),
        {"ordinary": a * between(0.2, 3, 12)},
        (100.0 + 2 * a, 100.0 + 2 * a),
    )


def incomplete_beta(a: float, b: float) -> Function:
    return Function(
        lambda x: pb.math.betainc(like(a, x), like(b, x), x),
        lambda x: mp.betainc(a, b, 0, x, regularized=True),
        beta_density(a, b),
        {"ordinary": between(0.05, 0.95, 12), "small": sized(1e-6, 0.05, count=8)},
        (100.0 + 8 * (a + b), 100.0 + 8 * (a + b)),
    )


NEAR_1 = beside(1.0, signs=(-1,))

SPECIAL = {
    "erf": Function(
        pb.math.erf, mp.erf, lambda x: 2 / mp.sqrt(mp.pi) * mp.exp(-x * x), {"ordinary": between(-3, 3), "tiny": TINY}
    ),
    "erfc": Function(
        pb.math.erfc,
        mp.erfc,
        lambda x: -2 / mp.sqrt(mp.pi) * mp.exp(-x * x),
        {"ordinary": between(-3, 3), "right": between(3, 26)},
        (8.0, 8.0),
    ),
    "erfinv": Function(
        pb.math.erfinv,
        erfinv,
        lambda x: mp.sqrt(mp.pi) / 2 * mp.exp(erfinv(x) ** 2),
        {"ordinary": between(-0.9, 0.9), "near 1": NEAR_1, "tiny": TINY},
    ),
    "erfcinv": Function(
        pb.math.erfcinv,
        erfcinv,
        lambda q: -mp.sqrt(mp.pi) / 2 * mp.exp(erfcinv(q) ** 2),
        {"ordinary": between(0.1, 1.9), "near 0": sized(1e-300, 0.1), "near 1": beside(1.0)},
        (4.0, 3000.0, 3000.0),
    ),
    "ndtr": Function(
        S.ndtr,
        lambda x: mp.erfc(-x / mp.sqrt(2)) / 2,
        lambda x: mp.exp(-x * x / 2) / mp.sqrt(2 * mp.pi),
        {"ordinary": between(-3, 3), "left": between(-37, -3)},
        (8.0, 8.0),
    ),
    "ndtri": Function(
        pb.math.ndtri,
        ndtri,
        lambda p: mp.sqrt(2 * mp.pi) * mp.exp(ndtri(p) ** 2 / 2),
        {"ordinary": between(0.05, 0.95), "near 0": sized(1e-300, 0.05), "near 1/2": beside(0.5)},
        (8.0, 8000.0, 8000.0),
    ),
    "erfcx": Function(
        S.erfcx,
        erfcx,
        lambda x: 2 * x * erfcx(x) - 2 / mp.sqrt(mp.pi),
        {"ordinary": between(-3, 3), "right": sized(3, 1e15), "left": between(-26, -3)},
        (16.0, 130.0, 3000.0),
    ),
    "dawsn": Function(
        S.dawsn,
        dawsn,
        lambda x: 1 - 2 * x * dawsn(x),
        {"ordinary": between(-5, 5), "right": sized(5, 40), "tiny": sized(1e-80, 1e-10, BOTH, 8)},
        (16.0, 160.0, 5000.0),
    ),
    "expint": Function(
        S.expint,
        lambda x: mp.ei(x).real,
        lambda x: mp.exp(x) / x,
        {
            "ordinary": between(-5, 5),
            "near its zero": beside(0.372507410781366634),
            "right": between(5, 700, 12),
            "left": between(-700, -5, 12),
            "near 0": sized(1e-300, 0.1, BOTH, 8),
        },
        (16.0, 8.0),
    ),
    "fresnel_sin": Function(
        S.fresnel_sin,
        mp.fresnels,
        lambda x: mp.sin(mp.pi * x * x / 2),
        {"ordinary": between(-5, 5), "large": sized(5, 1e4, count=12), "tiny": TINY},
    ),
    "fresnel_cos": Function(
        S.fresnel_cos,
        mp.fresnelc,
        lambda x: mp.cos(mp.pi * x * x / 2),
        {"ordinary": between(-5, 5), "large": sized(5, 1e4, count=12), "tiny": TINY},
    ),
    "spence": Function(
        S.spence,
        spence,
        lambda x: -mp.log(x) / (x - 1) if x != 1 else mp.mpf(-1),
        {
            "ordinary": between(0, 5),
            "near 1": beside(1.0),
            "large": sized(5, 1e100, count=12),
            "near 0": sized(1e-300, 0.1, count=12),
        },
        (64.0, 8.0),
    ),
    "lgamma": Function(
        pb.math.lgamma,
        lgamma,
        mp.digamma,
        {
            "ordinary": between(0.1, 10),
            "near 1 and 2": beside(1.0, 2.0),
            "large": sized(10, 1e100, count=12),
            "tiny": TINY,
            "left": between(-20, 0),
            "near zeros on the left": beside(-2.4570247382208005, -2.7476826467274127),
            "near poles": beside(-1.0, -5.0),
        },
        (32.0, 32.0),
    ),
    "digamma": Function(
        pb.math.digamma,
        mp.digamma,
        lambda x: mp.psi(1, x),
        {
            "ordinary": between(0.1, 10),
            "near its zero": beside(1.461632144968362341),
            "large": sized(10, 1e100, count=12),
            "tiny": TINY,
            "left": between(-20, 0),
            "near zeros on the left": beside(-0.504083008264455409),
            "near poles": beside(-1.0, -5.0),
        },
        (32.0, 32.0),
    ),
    **{
        f"polygamma of order {n}": Function(
            lambda x, n=n: pb.math.polygamma(like(float(n), x), x),  # type: ignore[misc]
            lambda x, n=n: mp.psi(n, x),  # type: ignore[misc]
            lambda x, n=n: mp.psi(n + 1, x),  # type: ignore[misc]
            {"ordinary": between(0.1, 10, 12), "large": sized(10, 1e30, count=12), "tiny": sized(1e-30, 0.1, count=12)},
            (16.0, 16.0),
        )
        for n in (1, 3)
    },
    "zeta": Function(
        lambda x: pb.math.zeta(x, pb.ones_like(x)),
        mp.zeta,
        lambda x: mp.zeta(x, 1, 1),
        {"ordinary": between(1.1, 10, 12), "near 1": beside(1.0, signs=(1,)), "large": between(10, 60, 12)},
        (16.0, 16.0),
    ),
    "zeta by its second argument": Function(
        lambda q: pb.math.zeta(like(3.0, q), q),
        lambda q: mp.zeta(3, q),
        lambda q: -3 * mp.zeta(4, q),
        {"ordinary": between(0.1, 10, 12), "large": sized(10, 1e30, count=12), "tiny": sized(1e-30, 0.1, count=12)},
        (16.0, 16.0),
    ),
    **{f"igamma of {a}": incomplete_gamma(a) for a in (0.3, 2.5, 50.0)},
    **{f"igammac of {a}": complement_of_gamma(a) for a in (0.3, 2.5, 50.0)},
    **{f"betainc of {a} and {b}": incomplete_beta(a, b) for a, b in ((0.3, 2.5), (2.0, 3.0), (50.0, 80.0))},
}


def plain(kind: Callable[..., Any], n: int) -> Exact:
    return lambda x: kind(n, x)


def zeros(of: Callable[..., Any], n: int) -> list[float]:
    return [float(of(n, k)) for k in (1, 3, 20)]


def bessel(name: str) -> Function:
    """A Bessel function of order 0 or 1, by the recurrences of its derivative."""
    kind = {"i": mp.besseli, "j": mp.besselj, "k": mp.besselk, "y": mp.bessely}[name[0]]
    n, scaled = int(name[1]), name.endswith("e")
    sign = 1 if name[0] == "i" else -1
    f = plain(kind, n)

    def slope(x: Any) -> Any:
        neighbours = (kind(n - 1, x) + (1 if name[0] in "ik" else -1) * kind(n + 1, x)) / 2
        return -neighbours if name[0] == "k" else neighbours

    def factor(x: Any) -> Any:
        return mp.exp(-sign * (abs(x) if sign == 1 else x)) if scaled else mp.mpf(1)

    def scaled_slope(x: Any) -> Any:
        return factor(x) * (slope(x) - (sign * (mp.sign(x) if sign == 1 else 1) * f(x) if scaled else 0))

    both = name[0] in "ij"
    regions = {
        "ordinary": between(-6 if both else 0, 6),
        "tiny": sized(1e-80, 1e-10, BOTH, 8) if both else sized(1e-150, 1e-3, count=12),
    }
    if name[0] in "ik":
        regions["large"] = sized(6, 1e8, count=12) if scaled else between(6, 700, 12)
    else:
        regions["large"] = sized(6, 1e4, count=12)
        regions["near zeros"] = beside(*zeros(mp.besseljzero if name[0] == "j" else mp.besselyzero, n))
    return Function(
        getattr(S, f"bessel_{name}"), lambda x: factor(x) * f(x), scaled_slope, regions, (16.0, 130.0, 1000.0)
    )


BESSEL = {
    f"bessel_{name}": bessel(name)
    for name in ("i0", "i0e", "i1", "i1e", "j0", "j1", "k0", "k0e", "k1", "k1e", "y0", "y1")
}
