"""Activations, functions of two arguments by each of them, and densities, with exact values by mpmath."""

from __future__ import annotations

from typing import Any

import mpmath as mp

import pullback as pb
import pullback.compat.v1 as tf

from .elementary import BY_VALUE
from .functions import BOTH, TINY, Exact, Function, beside, between, sized
from .special import like, ndtri

d = tf.distributions
FROM_VALUE = (4.0, float("inf"), float("inf"))
"""The derivative is `y + 1`, from the value: far left its last places are those of 1."""
SELU = (mp.mpf("1.0507009873554804934193349852946"), mp.mpf("1.6732632423543772848170429916717"))


def elu(x: Any) -> Any:
    return x if x > 0 else mp.expm1(x)


def gelu(x: Any) -> Any:
    return x * mp.erfc(-x / mp.sqrt(2)) / 2


def gelu_by_tanh(x: Any) -> Any:
    return x / (1 + mp.exp(-2 * mp.sqrt(2 / mp.pi) * (x + mp.mpf(0.044715) * x**3)))


ACTIVATIONS = {
    "elu": Function(
        pb.nn.elu, elu, None, {"ordinary": between(-5, 5), "tiny": TINY, "left": between(-700, -5)}, FROM_VALUE
    ),
    "selu": Function(
        pb.nn.selu,
        lambda x: SELU[0] * (x if x > 0 else SELU[1] * mp.expm1(x)),
        None,
        {"ordinary": between(-5, 5)},
        (4.0, 32.0),
    ),
    "softsign": Function(
        pb.nn.softsign, lambda x: x / (1 + abs(x)), None, {"ordinary": between(-5, 5), "large": sized(10, 1e70, BOTH)}
    ),
    "silu": Function(pb.nn.silu, lambda x: x / (1 + mp.exp(-x)), None, {"ordinary": between(-3, 5), "tiny": TINY}),
    "gelu": Function(
        pb.nn.gelu, gelu, None, {"ordinary": between(-3, 5), "tiny": TINY, "left": between(-30, -3)}, (16.0, 32.0)
    ),
    "gelu by tanh": Function(
        lambda x: pb.nn.gelu(x, approximate=True),
        gelu_by_tanh,
        None,
        {"ordinary": between(-1, 5), "tiny": TINY, "left": between(-20, -1)},
        (4.0, 64.0, float("inf")),
    ),
    "log_softmax of two": Function(
        lambda x: pb.nn.log_softmax(pb.stack([x, pb.zeros_like(x)], 1))[:, 0],
        lambda x: -mp.log1p(mp.exp(-x)),
        None,
        {"ordinary": between(-5, 5), "left": between(-700, -5)},
        (16.0, 32.0),
    ),
    "reduce_logsumexp of two": Function(
        lambda x: pb.reduce_logsumexp(pb.stack([x, pb.zeros_like(x)], 1), 1),
        lambda x: mp.log1p(mp.exp(x)),
        None,
        {"ordinary": between(-2, 5), "right": between(5, 700)},
        BY_VALUE,
    ),
}
ARGUMENTS = {
    "pow by the base": Function(
        lambda x: pb.pow(x, like(2.75, x)),
        lambda x: x ** mp.mpf(2.75),
        None,
        {"ordinary": between(0, 5), "extreme": sized(1e-80, 1e80)},
    ),
    "pow by the exponent": Function(
        lambda y: pb.pow(like(2.75, y), y),
        lambda y: mp.mpf(2.75) ** y,
        None,
        {"ordinary": between(-20, 20), "tiny": TINY},
    ),
    "xlogy": Function(
        lambda y: pb.math.xlogy(like(2.5, y), y),
        lambda y: mp.mpf(2.5) * mp.log(y),
        None,
        {"ordinary": between(0.01, 5), "near 1": beside(1.0), "extreme": sized(1e-140, 1e140)},
    ),
    "xlog1py": Function(
        lambda y: pb.math.xlog1py(like(2.5, y), y),
        lambda y: mp.mpf(2.5) * mp.log1p(y),
        None,
        {"ordinary": between(-0.9, 5), "tiny": TINY},
    ),
    "atan2": Function(
        lambda y: pb.atan2(y, like(-0.5, y)), lambda y: mp.atan2(y, mp.mpf(-0.5)), None, {"ordinary": between(-5, 5)}
    ),
    "lbeta": Function(
        lambda x: pb.math.lbeta(pb.stack([x, like(3.5, x)], 1)),
        lambda x: mp.loggamma(x) + mp.loggamma(mp.mpf(3.5)) - mp.loggamma(x + mp.mpf(3.5)),
        None,
        {"ordinary": between(0.1, 10, 12), "tiny": sized(1e-100, 0.1, count=8)},
        (32.0, 32.0),
    ),
    "igamma by a": Function(
        lambda a: pb.math.igamma(a, like(2.0, a)),
        lambda a: mp.gammainc(a, 0, 2, regularized=True),
        None,
        {"ordinary": between(0.5, 8, 6)},
        (16.0, 64.0),
    ),
}


def student(x: Any) -> Any:
    z = mp.mpf(3.5)
    return mp.loggamma((z + 1) / 2) - mp.loggamma(z / 2) - mp.log(z * mp.pi) / 2 - (z + 1) / 2 * mp.log1p(x * x / z)


def gaussian(x: Any) -> Any:
    return -(((x - 1) / 2) ** 2) / 2 - mp.log(2 * mp.pi) / 2 - mp.log(2)


def gamma(x: Any) -> Any:
    return mp.mpf(2.5) * mp.log(2) + mp.mpf(1.5) * mp.log(x) - 2 * x - mp.loggamma(mp.mpf(2.5))


def beta(x: Any) -> Any:
    return mp.mpf(1.5) * mp.log(x) + 3 * mp.log1p(-x) - mp.log(mp.beta(mp.mpf(2.5), 4))


def laplace(x: Any) -> Any:
    z = (x - 1) / 2
    return mp.exp(z) / 2 if z < 0 else 1 - mp.exp(-z) / 2


def density(make: Any, exact: Exact, a: float, b: float, within: float = 32.0) -> Function:
    return Function(lambda x: make(x).log_prob(x), exact, None, {"ordinary": between(a, b, 12)}, (within, 16.0))


def normal(x: Any) -> Any:
    return d.Normal(like(1.0, x), like(2.0, x))


DISTRIBUTIONS = {
    "Normal.log_prob": density(normal, gaussian, -6, 8),
    "Laplace.log_prob": density(
        lambda x: d.Laplace(like(1.0, x), like(2.0, x)), lambda x: -abs(x - 1) / 2 - mp.log(4), -6, 8
    ),
    "Exponential.log_prob": density(lambda x: d.Exponential(like(2.0, x)), lambda x: mp.log(2) - 2 * x, 0.5, 8),
    "StudentT.log_prob": density(lambda x: d.StudentT(like(3.5, x), pb.zeros_like(x), pb.ones_like(x)), student, -6, 6),
    "Gamma.log_prob": density(lambda x: d.Gamma(like(2.5, x), like(2.0, x)), gamma, 0.05, 8),
    "Beta.log_prob": density(lambda x: d.Beta(like(2.5, x), like(4.0, x)), beta, 0.05, 0.95, 256.0),
    "Normal.cdf": Function(
        lambda x: normal(x).cdf(x),
        lambda x: mp.erfc(-(x - 1) / (2 * mp.sqrt(2))) / 2,
        None,
        {"ordinary": between(-6, 8), "left": between(-70, -6, 8)},
        (8.0, 8.0),
    ),
    "Normal.survival_function": Function(
        lambda x: normal(x).survival_function(x),
        lambda x: mp.erfc((x - 1) / (2 * mp.sqrt(2))) / 2,
        None,
        {"ordinary": between(-6, 8), "right": between(8, 70, 8)},
        (8.0, 8.0),
    ),
    "Normal.quantile": Function(
        lambda p: normal(p).quantile(p), lambda p: 1 + 2 * ndtri(p), None, {"ordinary": between(0.05, 0.95, 8)}
    ),
    "Laplace.cdf": Function(
        lambda x: d.Laplace(like(1.0, x), like(2.0, x)).cdf(x),
        laplace,
        None,
        {"ordinary": between(-6, 8), "left": between(-700, -6, 8)},
    ),
    "Exponential.cdf": Function(
        lambda x: d.Exponential(like(2.0, x)).cdf(x),
        lambda x: -mp.expm1(-2 * x),
        None,
        {"ordinary": between(0, 5), "tiny": sized(1e-140, 1e-3)},
    ),
    "Exponential.quantile": Function(
        lambda p: d.Exponential(like(2.0, p)).quantile(p),
        lambda p: -mp.log1p(-p) / 2,
        None,
        {"ordinary": between(0.05, 0.95), "tiny": sized(1e-140, 1e-3), "near 1": beside(1.0, signs=(-1,))},
        (256.0, 8.0),  # XLA's log1p misses by 128 near -0.41.
    ),
    "Gamma.cdf": Function(
        lambda x: d.Gamma(like(2.5, x), like(2.0, x)).cdf(x),
        lambda x: mp.gammainc(mp.mpf(2.5), 0, 2 * x, regularized=True),
        None,
        {"ordinary": between(0.1, 4, 8)},
        (100.0, 100.0),
    ),
    "Beta.cdf": Function(
        lambda x: d.Beta(like(2.5, x), like(4.0, x)).cdf(x),
        lambda x: mp.betainc(2.5, 4, 0, x, regularized=True),
        None,
        {"ordinary": between(0.05, 0.95, 8)},
        (150.0, 150.0),
    ),
}
