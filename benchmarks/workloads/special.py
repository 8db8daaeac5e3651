"""Values and gradients of special functions of many numbers; by what jax can differentiate them by."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ..workload import Workload
from .decompositions import Function, data, with_jax, with_pullback

Array = np.ndarray[Any, Any]
SIZE = 100_000


def _between(low: float, high: float, count: int = 1) -> list[Array]:
    random = np.random.default_rng(0)
    return [random.uniform(low, high, SIZE).astype(np.float32) for _ in range(count)]


FUNCTIONS = {
    "lgamma": Function(
        "logarithms of gamma",
        partial(_between, 0.5, 10.0),
        lambda pb, x: [pb.math.lgamma(x)],
        lambda _, jax, x: [jax.scipy.special.gammaln(x)],
    ),
    "igamma": Function(
        "incomplete gamma functions",
        partial(_between, 0.5, 10.0, 2),
        lambda pb, a, x: [pb.math.igamma(a, x)],
        lambda _, jax, a, x: [jax.scipy.special.gammainc(a, x)],
    ),
    "betainc": Function(
        "incomplete beta functions, by x,",
        partial(_between, 0.05, 0.95),
        lambda pb, x: [pb.math.betainc(2.5, 0.7, x)],
        lambda _, jax, x: [jax.scipy.special.betainc(2.5, 0.7, x)],
    ),
    "zeta": Function(
        "Hurwitz zeta functions",
        partial(_between, 1.5, 10.0, 2),
        lambda pb, s, q: [pb.math.zeta(s, q)],
        lambda _, jax, s, q: [jax.scipy.special.zeta(s, q)],
    ),
    "bessel": Function(
        "modified Bessel functions",
        partial(_between, -8.0, 8.0),
        lambda pb, x: [pb.math.special.bessel_i1e(x)],
        lambda _, jax, x: [jax.scipy.special.i1e(x)],
    ),
    "spence": Function(
        "Spence's functions",
        partial(_between, 0.1, 8.0),
        lambda pb, x: [pb.math.special.spence(x)],
        lambda _, jax, x: [jax.scipy.special.spence(x)],
    ),
}

WORKLOADS = [
    Workload(
        name=f"gradient-{name}",
        title=f"{function.title} and their gradient",
        data=partial(data, function),
        peers={
            "pullback": partial(with_pullback, function=function, engine="xla"),
            "pullback-numpy": partial(with_pullback, function=function, engine="numpy"),
            "jax": partial(with_jax, function=function),
        },
    )
    for name, function in FUNCTIONS.items()
]
