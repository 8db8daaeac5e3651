"""`tf.distributions`: densities beside SciPy's, draws, divergences beside integrals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

import pullback as pb
import pullback.compat.v1 as tf

LOW, HIGH = np.array([0.5, -1.0]), np.array([2.0, 1.5])
P = np.array([0.2, 0.9])
CLASSES = np.array([[0.2, 0.5, 0.3], [0.7, 0.1, 0.2]])

CONTINUOUS: dict[str, tuple[Any, Any]] = {
    "Normal": (lambda: tf.distributions.Normal(LOW, HIGH), stats.norm(LOW, HIGH)),
    "Uniform": (lambda: tf.distributions.Uniform(LOW, HIGH), stats.uniform(LOW, HIGH - LOW)),
    "Exponential": (lambda: tf.distributions.Exponential(HIGH), stats.expon(scale=1 / HIGH)),
    "Laplace": (lambda: tf.distributions.Laplace(LOW, HIGH), stats.laplace(LOW, HIGH)),
}


def value(x: Any) -> Any:
    return pb.Session(engine="numpy").run(x)


@pytest.mark.parametrize("known", [None, [None], [2]])
@pytest.mark.parametrize("logits", [None, [None, 3], [2, 3]])
def test_classes_are_those_of_their_rows_whatever_is_known_of_shapes(known: Any, logits: Any) -> None:
    p, k = tf.placeholder(tf.float64, logits), tf.placeholder(tf.int32, known)
    found = tf.distributions.Categorical(probs=p).prob(k)
    assert pb.Session().run(found, {p: CLASSES, k: [1, 2]}) == pytest.approx([0.5, 0.2])
    if known is None:
        assert pb.Session().run(found, {p: CLASSES, k: 1}) == pytest.approx([0.5, 0.1])


def test_the_axes_of_a_draw_must_be_told_where_no_rank_is_known() -> None:
    batch = tf.distributions.Normal(tf.placeholder(tf.float32), 1.0)
    with pytest.raises(ValueError, match=r"^Independent: the rank of the batch is not known; give reinterpreted_batch"):
        tf.contrib.distributions.Independent(batch)


@pytest.mark.parametrize("name", CONTINUOUS)
def test_densities_and_moments_are_those_of_scipy(name: str) -> None:
    make, expected = CONTINUOUS[name]
    d = make()
    at = np.array([[0.7, 0.3], [1.9, -0.9], [-3.0, 5.0]])
    found = value([d.log_prob(at), d.prob(at), d.mean(), d.variance(), d.stddev(), d.entropy()])
    wanted = [
        expected.logpdf(at),
        expected.pdf(at),
        expected.mean(),
        expected.var(),
        expected.std(),
        expected.entropy(),
    ]
    for a, b in zip(found, wanted, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)


@pytest.mark.parametrize("name", CONTINUOUS)
def test_draws_have_the_moments_of_their_distribution(name: str) -> None:
    make, expected = CONTINUOUS[name]
    draws = value(make().sample([100, 200], seed=1))
    assert draws.shape == (100, 200, 2)
    np.testing.assert_allclose(draws.mean((0, 1)), expected.mean(), rtol=0.05, atol=0.02)
    np.testing.assert_allclose(draws.std((0, 1)), expected.std(), rtol=0.05)


@pytest.mark.parametrize("name", CONTINUOUS)
def test_divergences_are_integrals(name: str) -> None:
    kind = getattr(tf.distributions, name)
    parameters = [(1.5,), (0.5,)] if name == "Exponential" else [(0.0, 1.0), (-0.5, 2.0)]
    a, b = (kind(*[np.float64(p) for p in given]) for given in parameters)
    places = np.linspace(-40.0, 40.0, 400_001)
    found, one, other = value([a.kl_divergence(b), a.log_prob(places), b.log_prob(places)])
    inside = np.isfinite(one)
    terms = np.where(inside, np.exp(one) * (np.where(inside, one, 0.0) - np.where(inside, other, 0.0)), 0.0)
    np.testing.assert_allclose(found, np.trapezoid(terms, places), rtol=1e-3)
    np.testing.assert_allclose(value(tf.distributions.kl_divergence(a, a)), 0.0, atol=1e-12)


def test_draws_can_be_differentiated_by_their_parameters() -> None:
    loc, scale = tf.constant([1.0, 2.0]), tf.constant([3.0, 4.0])
    draw = tf.distributions.Normal(loc, scale).sample()
    by_loc, by_scale, drawn = value([*tf.gradients(draw, [loc, scale]), draw])
    np.testing.assert_array_equal(by_loc, [1.0, 1.0])
    np.testing.assert_allclose(by_scale, (drawn - [1.0, 2.0]) / [3.0, 4.0], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("given", [{"probs": P}, {"logits": np.log(P / (1 - P))}])
def test_truth_values(given: dict[str, Any]) -> None:
    d, expected = tf.distributions.Bernoulli(**given), stats.bernoulli(P)
    found = value([d.log_prob([0, 1]), d.prob([[1, 1], [0, 0]]), d.mean(), d.variance(), d.entropy(), d.mode()])
    pmf = [[0.2, 0.9], [0.8, 0.1]]
    wanted = [expected.logpmf([0, 1]), pmf, expected.mean(), expected.var(), expected.entropy(), [0, 1]]
    for a, b in zip(found, wanted, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9)
    draws = value(d.sample(20000, seed=1))
    assert (draws.dtype, draws.shape) == (np.int32, (20000, 2))
    np.testing.assert_allclose(draws.mean(0), P, atol=0.02)


@pytest.mark.parametrize("given", [{"probs": CLASSES}, {"logits": np.log(CLASSES) + 3.0}])
def test_classes(given: dict[str, Any]) -> None:
    d = tf.distributions.Categorical(**given)
    found = value([d.prob([0, 2]), d.prob([[0, 0], [1, 2]]), d.entropy(), d.mode()])
    wanted = [[0.2, 0.2], [[0.2, 0.7], [0.5, 0.2]], stats.entropy(CLASSES, axis=1), [1, 0]]
    for a, b in zip(found, wanted, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9)
    draws = value(d.sample([50, 400], seed=1))
    assert (draws.dtype, draws.shape) == (np.int32, (50, 400, 2))
    for i in range(3):
        np.testing.assert_allclose((draws == i).mean((0, 1)), CLASSES[:, i], atol=0.02)


def test_divergences_of_discrete_distributions_are_sums() -> None:
    a, b = (tf.distributions.Bernoulli(probs=p) for p in (P, P[::-1].copy()))
    c, d = (tf.distributions.Categorical(probs=p) for p in (CLASSES, CLASSES[::-1].copy()))
    found = value([a.kl_divergence(b), c.kl_divergence(d), c.cross_entropy(d)])
    both = np.stack([1 - P, P])
    np.testing.assert_allclose(found[0], stats.entropy(both, both[:, ::-1]), rtol=1e-9)
    np.testing.assert_allclose(found[1], stats.entropy(CLASSES, CLASSES[::-1], axis=1), rtol=1e-9)
    np.testing.assert_allclose(found[2], found[1] + stats.entropy(CLASSES, axis=1), rtol=1e-9)


@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_a_policy_of_a_batch_that_only_the_run_knows(engine: str) -> None:
    logits, taken = tf.placeholder(tf.float32, [None, 3]), tf.placeholder(tf.int32, [None])
    policy = tf.distributions.Categorical(logits=logits)
    (d_logits,) = tf.gradients(policy.log_prob(taken), logits)
    feeds = {logits: np.zeros((4, 3)), taken: [0, 1, 2, 0]}
    found, draws = pb.Session(engine=engine).run([d_logits, policy.sample([5])], feeds)
    np.testing.assert_allclose(found, np.eye(3)[[0, 1, 2, 0]] - 1 / 3, atol=1e-6)
    assert draws.shape == (5, 4)
    mean = tf.placeholder(tf.float32, [None])
    assert pb.Session(engine=engine).run(tf.distributions.Normal(mean, 1.0).sample(2), {mean: [0.0] * 3}).shape == (
        2,
        3,
    )


def test_what_has_no_formula_is_refused() -> None:
    with pytest.raises(NotImplementedError, match=r"^kl_divergence") as raised:
        tf.distributions.Normal(0.0, 1.0).kl_divergence(tf.distributions.Laplace(0.0, 1.0))
    assert str(raised.value) == (
        "kl_divergence: there is no formula for Normal and Laplace; register one with @tf.distributions.RegisterKL("
        "Normal, Laplace), or estimate it from draws: x = a.sample(n), tf.reduce_mean(a.log_prob(x) - b.log_prob(x), 0)"
    )
    with pytest.raises(ValueError, match=r"^Bernoulli: give logits= or probs=, and not both$"):
        tf.distributions.Bernoulli()


def test_a_vector_of_independent_elements_is_scipys() -> None:
    d = tf.contrib.distributions.MultivariateNormalDiag(np.stack([LOW, HIGH]), HIGH)
    expected = stats.multivariate_normal(LOW, np.diag(HIGH**2))
    at = np.array([0.3, 0.4])
    found = value([d.log_prob(at)[0], d.entropy()[0], d.mean(), d.sample(3)])
    np.testing.assert_allclose(found[0], expected.logpdf(at), rtol=1e-6)
    np.testing.assert_allclose(found[1], expected.entropy(), rtol=1e-6)
    np.testing.assert_allclose(found[2], [LOW, HIGH])
    assert (d.batch_shape, d.event_shape, found[3].shape) == ([2], [2], (3, 2, 2))


def test_the_divergence_of_vectors_is_the_sum_over_their_elements() -> None:
    a = tf.contrib.distributions.MultivariateNormalDiag(LOW, HIGH)
    b = tf.contrib.distributions.MultivariateNormalDiag(HIGH, scale_identity_multiplier=np.float64(2.0))
    one = tf.distributions.Normal(LOW, HIGH).kl_divergence(tf.distributions.Normal(HIGH, [2.0, 2.0]))
    np.testing.assert_allclose(value(a.kl_divergence(b)), value(one).sum(), rtol=1e-6)


def test_a_program_registers_a_divergence() -> None:
    class Mine(tf.distributions.Normal):
        pass

    @tf.distributions.RegisterKL(Mine, Mine)
    def _constant(a: Any, b: Any, name: Any = None) -> Any:
        return tf.constant(7.0)

    assert value(tf.distributions.kl_divergence(Mine(0.0, 1.0), Mine(0.0, 1.0))) == 7.0


def test_it_is_known_which_draws_can_be_differentiated() -> None:
    kinds = [d.reparameterization_type for d in (tf.distributions.Normal(0.0, 1.0), tf.distributions.Bernoulli(0.0))]
    assert kinds == [tf.distributions.FULLY_REPARAMETERIZED, tf.distributions.NOT_REPARAMETERIZED]


TAILS: dict[str, tuple[Any, Any, list[float]]] = {
    "Normal": (lambda d: d.Normal(H, W), stats.norm(0.5, 2.0), [-70.0, -30.0, -1.6, -1.5, 0.0, 3.0, 19.0, 80.0]),
    "Laplace": (lambda d: d.Laplace(H, W), stats.laplace(0.5, 2.0), [-900.0, -50.0, 0.0, 0.5, 1.0, 60.0, 900.0]),
    "Exponential": (lambda d: d.Exponential(W), stats.expon(scale=0.5), [1e-20, 0.3, 5.0, 40.0, 400.0]),
    "Gamma": (lambda d: d.Gamma(W, H), stats.gamma(2.0, scale=2.0), [1e-8, 1.0, 9.0, 90.0]),
    "InverseGamma": (lambda d: d.InverseGamma(W, H), stats.invgamma(2.0, scale=0.5), [0.01, 1.0, 9.0, 1e7]),
    "Beta": (lambda d: d.Beta(W, W + 4.0), stats.beta(2.0, 6.0), [1e-9, 0.2, 0.5, 0.9, 0.999]),
    "StudentT": (lambda d: d.StudentT(W + 3.0, H, W), stats.t(5.0, 0.5, 2.0), [-9e3, -5.0, 0.5, 4.0, 9e3]),
    "Poisson": (lambda d: d.Poisson(W), stats.poisson(2.0), [0.0, 1.0, 9.0, 30.0]),
    "Binomial": (lambda d: d.Binomial(W + 18.0, probs=H - 0.4), stats.binom(20.0, 0.1), [0.0, 1.0, 5.0, 15.0]),
}
H, W = np.float64(0.5), np.float64(2.0)


@pytest.mark.parametrize("name", TAILS)
def test_tails_are_exact_where_the_other_side_is_one(name: str) -> None:
    make, expected, points = TAILS[name]
    d, at = make(tf.contrib.distributions), tf.constant(points, tf.float64)
    asked = [d.cdf(at), d.survival_function(at), d.log_cdf(at), d.log_survival_function(at)]
    wanted = [expected.cdf(points), expected.sf(points), expected.logcdf(points), expected.logsf(points)]
    for a, b, log in zip(value(asked), wanted, (False, False, True, True), strict=True):
        is_seen = np.abs(b) > 1e-6 if log else b > 1e-300
        np.testing.assert_allclose(a[is_seen], b[is_seen], rtol=1e-9)
    if name in ("Normal", "Laplace", "Exponential"):
        slopes = value(tf.gradients([tf.reduce_sum(asked[2]), tf.reduce_sum(asked[3])], at)[0])
        assert np.isfinite(slopes).all()


def test_distributions_are_copied_with_other_parameters() -> None:
    d = tf.distributions.Normal(1.0, scale=2.0, name="n")
    made = {"loc": 1.0, "scale": 2.0, "validate_args": False, "allow_nan_stats": True, "name": "n"}
    assert d.parameters == made
    assert value([d.copy(loc=3.0).mean(), d.copy().stddev()]) == [3.0, 2.0]
    coin = tf.distributions.Bernoulli(logits=[0.0])
    assert coin.copy(name="other").parameters == coin.parameters | {"name": "other"}

    class Mine(tf.distributions.Normal):
        def __init__(self, width: float) -> None:
            super().__init__(0.0, width)

    assert (Mine(5.0).parameters, value(Mine(5.0).copy(width=3.0).stddev())) == ({"width": 5.0}, 3.0)
