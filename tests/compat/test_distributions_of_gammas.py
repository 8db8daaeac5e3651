"""Gamma, Beta, Student's t, Dirichlet's, and multinomial distributions: beside SciPy's, and their draws."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

import pullback as pb
import pullback.compat.v1 as tf

A, B = np.array([1.5, 4.0]), np.array([2.0, 3.0])
C = np.array([[1.5, 2.0, 4.0], [3.0, 1.25, 2.0]])
SCALARS: dict[str, tuple[Any, Any, Any]] = {
    "Gamma": (lambda: tf.distributions.Gamma(A, B), stats.gamma(A, scale=1 / B), (A - 1) / B),
    "Beta": (lambda: tf.distributions.Beta(A, B), stats.beta(A, B), (A - 1) / (A + B - 2)),
    "StudentT": (lambda: tf.distributions.StudentT(A + 2.5, -A, B), stats.t(A + 2.5, -A, B), -A),
    "Chi2": (lambda: tf.distributions.Chi2(A + 1.0), stats.chi2(A + 1.0), A - 1.0),
    "InverseGamma": (
        lambda: tf.distributions.InverseGamma(A + 1.0, B),
        stats.invgamma(A + 1.0, scale=B),
        B / (A + 2.0),
    ),
}


def value(x: Any) -> Any:
    return pb.Session(engine="numpy").run(x)


@pytest.mark.parametrize("name", SCALARS)
def test_densities_and_statistics_are_those_of_scipy(name: str) -> None:
    make, expected, mode = SCALARS[name]
    d, at = make(), np.array([[0.1, 0.25], [0.5, 0.9]])
    asked = [d.log_prob(at), d.cdf(at), d.survival_function(at), d.mean(), d.variance(), d.entropy(), d.mode()]
    wanted = [expected.logpdf(at), expected.cdf(at), expected.sf(at), expected.mean(), expected.var()]
    for a, b in zip(value(asked), [*wanted, expected.entropy(), mode], strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9)


@pytest.mark.parametrize("name", SCALARS)
def test_draws_are_of_their_distribution_and_have_derivatives(name: str) -> None:
    make, expected, _ = SCALARS[name]
    draws = make().sample([4000], seed=1)
    found, by_first = value([draws, tf.gradients(draws, draws.graph.get_tensor_by_name("Const:0"))[0]])
    assert found.shape == (4000, 2)
    assert np.isfinite(by_first).all()
    for i in range(2):
        assert stats.kstest(found[:, i], lambda x, i=i: expected.cdf(np.stack([x, x], -1))[:, i]).pvalue > 0.001


def test_the_derivative_of_the_mean_of_draws_is_that_of_the_mean() -> None:
    a, b = tf.constant(3.0, tf.float64), tf.constant(2.0, tf.float64)
    d = tf.distributions.Gamma(a, b)
    by_a, by_b = value(tf.gradients(tf.reduce_mean(d.sample(20000, seed=2)), [a, b]))
    np.testing.assert_allclose([by_a, by_b], [1 / 2, -3 / 4], rtol=0.03)


@pytest.mark.parametrize("name", ["Gamma", "Beta"])
def test_divergences_are_integrals(name: str) -> None:
    kind = getattr(tf.distributions, name)
    p, q = kind(np.float64(2.0), np.float64(3.0)), kind(np.float64(4.0), np.float64(1.5))
    places = np.linspace(1e-6, 30.0 if name == "Gamma" else 1 - 1e-6, 100_001)
    found, one, other = value([p.kl_divergence(q), p.log_prob(places), q.log_prob(places)])
    np.testing.assert_allclose(found, np.trapezoid(np.exp(one) * (one - other), places), rtol=1e-4)


def test_what_is_not_defined_is_nan_or_refused() -> None:
    t = tf.distributions.StudentT(np.array([0.5, 1.5]), 0.0, 1.0)
    assert value(t.mean()).tolist() == pytest.approx([np.nan, 0.0], nan_ok=True)
    assert value(t.variance()).tolist() == pytest.approx([np.nan, np.inf], nan_ok=True)
    strict = tf.distributions.Gamma(tf.placeholder(tf.float32, [], name="a"), 1.0, allow_nan_stats=False).mode()
    with pytest.raises(pb.errors.InvalidArgumentError, match="Gamma: a statistic is not defined for these parameters"):
        pb.Session(engine="numpy").run(strict, {"a:0": 0.5})
    with pytest.raises(NotImplementedError, match=r"^StudentT\.quantile: there is no formula; estimate it from draws"):
        t.quantile(0.5)


def test_probabilities_of_dirichlets_are_scipys() -> None:
    d, at = tf.distributions.Dirichlet(C), np.array([0.2, 0.3, 0.5])
    each = [stats.dirichlet(c) for c in C]
    found = value([d.log_prob(at), d.mean(), d.variance(), d.entropy(), d.covariance(), d.mode()])
    for i, e in enumerate(each):
        for a, b in zip(found[:5], [e.logpdf(at), e.mean(), e.var(), e.entropy(), e.cov()], strict=True):
            np.testing.assert_allclose(a[i], b, rtol=1e-9)
    np.testing.assert_allclose(found[5], (C - 1) / (C - 1).sum(1, keepdims=True), rtol=1e-9)
    draws = value(d.sample([3000], seed=1))
    assert (draws.shape, d.batch_shape, d.event_shape) == ((3000, 2, 3), [2], [3])
    np.testing.assert_allclose(draws.mean(0), found[1], atol=0.02)
    q = tf.distributions.Dirichlet(C[::-1].copy())
    divergence, ratios = value([d.kl_divergence(q), d.log_prob(draws) - q.log_prob(draws)])
    np.testing.assert_allclose(ratios.mean(0), divergence, rtol=0.1)


@pytest.mark.parametrize("kind", ["Poisson", "Binomial"])
def test_numbers_of_events_are_scipys(kind: str) -> None:
    n, p = np.array([4.0, 7.0]), np.array([0.25, 0.625])
    d = tf.distributions.Poisson(n) if kind == "Poisson" else tf.distributions.Binomial(n, probs=p)
    expected = stats.poisson(n) if kind == "Poisson" else stats.binom(n.astype(int), p)
    at = np.array([[1.0, 0.0], [3.0, 6.0]])
    *found, draws = value([d.log_prob(at), d.cdf(at), d.mean(), d.variance(), d.mode(), d.sample([3000], seed=1)])
    wanted = [expected.logpmf(at), expected.cdf(at), expected.mean(), expected.var()]
    for a, b in zip(found, [*wanted, n if kind == "Poisson" else [1.0, 5.0]], strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9)
    np.testing.assert_allclose(draws.mean(0), expected.mean(), rtol=0.05)
    np.testing.assert_allclose(draws.var(0), expected.var(), rtol=0.1)


def test_events_are_said_by_one_parameter() -> None:
    by_logits = tf.distributions.Binomial(4.0, logits=0.0), tf.distributions.Poisson(log_rate=0.0)
    assert value([d.mean() for d in by_logits]) == [2.0, 1.0]
    with pytest.raises(ValueError, match=r"^Poisson: give rate= or log_rate=, one of them$"):
        tf.distributions.Poisson()


@pytest.mark.parametrize("kind", ["Multinomial", "DirichletMultinomial"])
def test_counts_are_scipys(kind: str) -> None:
    n, shares = np.array([4.0, 7.0]), C / C.sum(1, keepdims=True)
    d = (
        tf.distributions.Multinomial(n, probs=shares)
        if kind == "Multinomial"
        else tf.distributions.DirichletMultinomial(n, C)
    )
    each = [
        stats.multinomial(int(k), p) if kind == "Multinomial" else stats.dirichlet_multinomial(c, int(k))
        for k, p, c in zip(n, shares, C, strict=True)
    ]
    at = np.array([[1.0, 1.0, 2.0], [0.0, 3.0, 4.0]])
    found = value([d.log_prob(at), d.mean(), d.covariance(), d.sample([3000], seed=1)])
    for i, e in enumerate(each):
        wanted = [e.logpmf(at[i]), n[i] * shares[i], e.cov()]
        for a, b in zip(found[:3], wanted, strict=True):
            np.testing.assert_allclose(a[i], b, rtol=1e-9)
    assert found[3].shape == (3000, 2, 3)
    assert (found[3].sum(-1) == n).all()
    np.testing.assert_allclose(found[3].mean(0), found[1], atol=0.15)
    np.testing.assert_allclose(found[3].var(0), value(d.variance()), rtol=0.15)


def test_a_number_of_draws_that_only_a_run_knows_is_refused() -> None:
    d = tf.distributions.Multinomial(tf.placeholder(tf.float32, [], name="n"), probs=[0.5, 0.5])
    with pytest.raises(
        ValueError, match=r"^sample: total_count must be known while the graph is built, but it is float"
    ):
        d.sample()


@pytest.mark.slow
def test_draws_compile() -> None:
    a = tf.placeholder(tf.float32, [None])
    d = [tf.distributions.Beta(a, 2.0), tf.distributions.StudentT(a, 0.0, 1.0)]
    draws = [x.sample([5]) for x in d] + [tf.distributions.DirichletMultinomial(3.0, a).sample([5])]
    found = pb.Session(engine="xla").run([*draws, tf.gradients(draws[0], a)[0]], {a: [2.0, 3.0]})
    assert [x.shape for x in found] == [(5, 2), (5, 2), (5, 2), (2,)]
