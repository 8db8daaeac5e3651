"""Distributions of one-hot and relaxed vectors, dependent normal ones, mixtures: beside SciPy, integrals and draws."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import integrate, stats

import pullback as pb
import pullback.compat.v1 as tf

ds = tf.contrib.distributions
CLASSES = np.array([[0.2, 0.5, 0.3], [0.7, 0.1, 0.2]])
SCALE = np.array([[1.5, 0.0], [0.5, 0.7]])
MEAN = np.array([1.0, -2.0])
BOTH = pytest.mark.parametrize("engine", ["numpy", "xla"])


def value(x: Any, engine: str = "numpy") -> Any:
    return pb.Session(engine=engine).run(x)


@BOTH
@pytest.mark.parametrize("given", [{"probs": CLASSES}, {"logits": np.log(CLASSES) + 3.0}])
def test_one_hot_vectors(given: dict[str, Any], engine: str) -> None:
    d = ds.OneHotCategorical(**given)
    x = np.eye(3)[[1, 0]]
    found = value([d.prob(x), d.mean(), d.variance(), d.covariance(), d.entropy(), d.mode(), d.sample(9000, 1)], engine)
    wanted = [stats.multinomial(1, p) for p in CLASSES]
    np.testing.assert_allclose(found[0], [0.5, 0.7])
    np.testing.assert_allclose(found[1], CLASSES)
    np.testing.assert_allclose(found[3], [w.cov() for w in wanted])
    np.testing.assert_allclose(found[2], [np.diag(w.cov()) for w in wanted])
    np.testing.assert_allclose(found[4], stats.entropy(CLASSES, axis=1))
    assert found[5].tolist() == [[0, 1, 0], [1, 0, 0]]
    assert (found[6].dtype, found[6].shape, set(found[6].sum(-1).ravel())) == (np.int32, (9000, 2, 3), {1})
    np.testing.assert_allclose(found[6].mean(0), CLASSES, atol=0.02)
    assert (d.batch_shape, d.event_shape) == ([2], [3])
    other = ds.OneHotCategorical(probs=CLASSES[::-1].copy())
    np.testing.assert_allclose(value(ds.kl_divergence(d, other)), stats.entropy(CLASSES, CLASSES[::-1], axis=1))


def test_relaxed_vectors_have_a_density() -> None:
    temperature, p = 0.7, np.array([0.3, 0.7])
    d = ds.RelaxedOneHotCategorical(temperature, probs=p)
    y = tf.placeholder(tf.float64, [None])
    density = d.prob(tf.stack([y, 1.0 - y], 1))
    session = pb.Session(engine="numpy")
    places, weights = np.polynomial.legendre.leggauss(400)
    half = (np.sin(np.pi / 2 * places) + 1) / 2  # denser at both ends
    total = session.run(density, {y: half}) * np.cos(np.pi / 2 * places) * np.pi / 4 * weights
    assert total.sum() == pytest.approx(1.0, rel=1e-3)
    logarithms = ds.ExpRelaxedOneHotCategorical(temperature, probs=p)
    x = np.log([[0.2, 0.8]])
    np.testing.assert_allclose(value(logarithms.log_prob(x) - x.sum(-1)), value(d.log_prob(np.exp(x))))
    draws = value(d.sample(20000, seed=1))
    assert draws.shape == (20000, 2)
    np.testing.assert_allclose(draws.sum(-1), 1.0)
    np.testing.assert_allclose((draws[:, 0] > 0.5).mean(), 0.3, atol=0.02)


@BOTH
def test_relaxed_draws_can_be_differentiated(engine: str) -> None:
    logits = tf.constant(np.zeros([4, 3]))
    draw = ds.RelaxedOneHotCategorical(0.5, logits=logits).sample()
    first, by_logits = value([draw, tf.gradients(draw[:, 0], logits)[0]], engine)
    slope = (np.eye(3)[0] - first) * first[:, :1] / 0.5
    np.testing.assert_allclose(by_logits, slope, rtol=1e-6, atol=1e-12)
    p = tf.constant(0.3)
    assert value(tf.gradients(ds.RelaxedBernoulli(0.5, probs=p).sample(seed=3), p)[0], engine) > 0


def test_relaxed_truth_values() -> None:
    d = ds.RelaxedBernoulli(0.8, probs=0.3)
    y = tf.placeholder(tf.float32, [])
    density, below = d.prob(y), d.cdf(y)
    session = pb.Session(engine="numpy")
    found, _ = integrate.quad(lambda x: session.run(density, {y: x}), 0.01, 0.6, epsrel=1e-4)
    assert found == pytest.approx(session.run(below, {y: 0.6}) - session.run(below, {y: 0.01}), rel=1e-3)
    draws = value(d.sample(20000, seed=1))
    assert (draws > 0.5).mean() == pytest.approx(0.3, abs=0.02)


@BOTH
def test_logistic_numbers(engine: str) -> None:
    loc, scale = np.array([0.5, -1.0]), np.array([2.0, 1.5])
    d, expected = ds.Logistic(loc, scale), stats.logistic(loc, scale)
    at = np.array([[0.7, 0.3], [-3.0, 5.0]])
    found = value(
        [d.log_prob(at), d.cdf(at), d.log_cdf(at), d.survival_function(at), d.log_survival_function(at)], engine
    )
    wanted = [expected.logpdf(at), expected.cdf(at), expected.logcdf(at), expected.sf(at), expected.logsf(at)]
    for a, b in zip(found, wanted, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)
    moments = value([d.mean(), d.variance(), d.entropy(), d.mode()])
    for a, b in zip(moments, [expected.mean(), expected.var(), expected.entropy(), loc], strict=True):
        np.testing.assert_allclose(a, b)
    np.testing.assert_allclose(value(d.sample(30000, seed=1)).std(0), expected.std(), rtol=0.03)


@BOTH
@pytest.mark.parametrize("kind", ["MultivariateNormalTriL", "MultivariateNormalFullCovariance"])
def test_normal_vectors(kind: str, engine: str) -> None:
    d = getattr(ds, kind)(MEAN, SCALE if kind.endswith("TriL") else SCALE @ SCALE.T)
    expected = stats.multivariate_normal(MEAN, SCALE @ SCALE.T)
    at = np.array([[[0.5, -1.0]], [[3.0, 0.0]]])
    found = value([d.log_prob(at), d.covariance(), d.variance(), d.entropy(), d.mean(), d.stddev()], engine)
    wanted = [expected.logpdf(at)[:, None], expected.cov, np.diag(expected.cov), expected.entropy(), MEAN]
    for a, b in zip(found, [*wanted, np.sqrt(np.diag(expected.cov))], strict=True):
        np.testing.assert_allclose(a, b)
    draws = value(d.sample(30000, seed=1))
    np.testing.assert_allclose(np.cov(draws.T), expected.cov, atol=0.05)
    assert (d.batch_shape, d.event_shape, draws.shape) == ([], [2], (30000, 2))


def test_divergences_of_normal_vectors() -> None:
    a = ds.MultivariateNormalTriL(MEAN, SCALE)
    b = ds.MultivariateNormalTriL(np.zeros(2), np.array([[2.0, 0.0], [-1.0, 1.0]]))
    flat = ds.MultivariateNormalDiag(np.zeros(2), np.array([2.0, 1.0]))
    same = ds.MultivariateNormalTriL(np.zeros(2), np.diag([2.0, 1.0]))
    found = value([ds.kl_divergence(a, b), ds.kl_divergence(a, flat), ds.kl_divergence(a, same), flat.kl_divergence(a)])
    draws = MEAN + np.random.default_rng(1).normal(size=(200_000, 2)) @ SCALE.T
    wanted = value(a.log_prob(draws) - b.log_prob(draws)).mean()
    assert found[0] == pytest.approx(wanted, rel=0.02)
    assert found[1] == pytest.approx(found[2])
    assert found[3] == pytest.approx(value(same.kl_divergence(a)))


@BOTH
def test_mixtures(engine: str) -> None:
    p = np.array([[0.25, 0.75], [0.5, 0.5]])
    loc, scale = np.array([[0.0, 4.0], [1.0, -1.0]]), np.array([[1.0, 2.0], [0.5, 0.5]])
    which = ds.Categorical(probs=p)
    mixed = ds.Mixture(which, [ds.Normal(loc[:, i], scale[:, i]) for i in range(2)])
    same = ds.MixtureSameFamily(which, ds.Normal(loc, scale))
    at = np.array([[0.3, 0.6], [2.0, -5.0]])
    density = (p * stats.norm(loc, scale).pdf(at[..., None])).sum(-1)
    mean = (p * loc).sum(-1)
    variance = (p * (scale**2 + loc**2)).sum(-1) - mean**2
    for d in (mixed, same):
        found = value([d.prob(at), d.mean(), d.variance()], engine)
        for a, b in zip(found, [density, mean, variance], strict=True):
            np.testing.assert_allclose(a, b)
        draws = value(d.sample(20000, seed=1), engine)
        assert (draws.shape, d.batch_shape, d.event_shape) == ((20000, 2), [2], [])
        np.testing.assert_allclose(draws.mean(0), mean, atol=0.08)
        np.testing.assert_allclose(draws.var(0), variance, rtol=0.05)
    bound = (p * stats.norm(loc, scale).entropy()).sum(-1)
    np.testing.assert_allclose(value(mixed.entropy_lower_bound()), bound)


def test_mixtures_of_vectors() -> None:
    which = ds.Categorical(probs=np.array([0.25, 0.75]))
    scale = np.array([[1.0, 0.5], [0.2, 2.0]])
    loc = np.array([[0.0, 1.0], [5.0, -1.0]])
    same = ds.MixtureSameFamily(which, ds.MultivariateNormalDiag(loc, scale))
    mixed = ds.Mixture(which, [ds.MultivariateNormalDiag(loc[i], scale[i]) for i in range(2)])
    at = np.array([[0.0, 0.5], [5.0, 0.0]])
    found = value([same.log_prob(at), mixed.log_prob(at), same.mean(), mixed.mean(), same.variance(), mixed.variance()])
    for a, b in zip(found[::2], found[1::2], strict=True):
        np.testing.assert_allclose(a, b)
    assert value(same.sample([3, 4])).shape == value(mixed.sample([3, 4])).shape == (3, 4, 2)
    with pytest.raises(ValueError, match=r"^Mixture: cat has 2 classes, and there are 1 components$"):
        ds.Mixture(which, [ds.Normal(0.0, 1.0)])
    with pytest.raises(ValueError, match=r"^Mixture: the components must have draws of one dtype and shape, and have "):
        ds.Mixture(which, [ds.Normal(0.0, 1.0), ds.MultivariateNormalDiag([0.0], [1.0])])
    with pytest.raises(ValueError, match=r"^MixtureSameFamily: there are 2 classes, and the components have the batch"):
        ds.MixtureSameFamily(which, ds.Normal(np.zeros(3), 1.0))


def test_what_always_gives_one_value() -> None:
    d = ds.Deterministic([1.0, 2.0], atol=0.1)
    found = value([d.prob([1.05, 3.0]), d.log_prob([1.0, 3.0]), d.cdf([0.0, 2.0]), d.variance(), d.sample([3])])
    assert [x.tolist() for x in found[:4]] == [[1.0, 0.0], [0.0, -np.inf], [0.0, 1.0], [0.0, 0.0]]
    assert found[4].tolist() == [[1.0, 2.0]] * 3
