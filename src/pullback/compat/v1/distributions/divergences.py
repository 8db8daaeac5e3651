"""Kullback-Leibler divergences of distributions, by their classes.

>>> import pullback.compat.v1 as tf
>>> class Mine(tf.distributions.Normal):
...     pass
>>> @tf.distributions.RegisterKL(Mine, Mine)
... def divergence(a, b, name=None):
...     return tf.constant(7.0)
>>> tf.Session().run(tf.distributions.kl_divergence(Mine(0.0, 1.0), Mine(0.0, 1.0)))
np.float32(7.0)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pullback as pb

Divergence = Callable[..., pb.Tensor]
_divergences: dict[tuple[type, type], Divergence] = {}


def divergence(dist_cls_a: type, dist_cls_b: type) -> Callable[[Divergence], Divergence]:
    """A decorator for the divergence of distributions of two classes."""

    def register(fn: Divergence) -> Divergence:
        _divergences[dist_cls_a, dist_cls_b] = fn
        return fn

    return register


RegisterKL = divergence


def kl_divergence(
    distribution_a: Any, distribution_b: Any, allow_nan_stats: bool = True, name: str | None = None
) -> pb.Tensor:
    """The Kullback-Leibler divergence: the mean of `log(a(x) / b(x))` over draws of `a`.

    Raises:
        NotImplementedError: there is no formula for these two; one that is registered by `RegisterKL` is used.
    """
    del allow_nan_stats
    for a in type(distribution_a).__mro__:
        for b in type(distribution_b).__mro__:
            if (a, b) in _divergences:
                with pb.get_default_graph().acting.within(name or "KullbackLeibler"):
                    return _divergences[a, b](distribution_a, distribution_b)
    a_name, b_name = type(distribution_a).__name__, type(distribution_b).__name__
    raise NotImplementedError(
        f"kl_divergence: there is no formula for {a_name} and {b_name}; register one with "
        f"@tf.distributions.RegisterKL({a_name}, {b_name}), or estimate it from draws: "
        "x = a.sample(n), tf.reduce_mean(a.log_prob(x) - b.log_prob(x), 0)"
    )
