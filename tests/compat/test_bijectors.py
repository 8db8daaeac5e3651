"""Bijectors and what they make of distributions: beside differences, and densities of SciPy's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats

import pullback as pb
import pullback.compat.v1 as tf

ds = tf.contrib.distributions
b = ds.bijectors
X = np.random.default_rng(0).normal(size=(4, 3))
TRIL = np.array([[1.0, 9.0, 9.0], [0.5, 2.0, 9.0], [-0.3, 0.2, 0.7]])
FACTOR = np.array([[1.0, 0.0], [0.5, 1.0], [0.2, -0.4]])
SHIFT = np.array([0.3, -1.0, 2.0])

ELEMENTS: dict[str, Callable[[], Any]] = {
    "identity": b.Identity,
    "exp": b.Exp,
    "softplus": b.Softplus,
    "hinge": lambda: b.Softplus(hinge_softness=tf.constant(0.7, tf.float64)),
    "sigmoid": b.Sigmoid,
    "affine_scalar": lambda: b.AffineScalar(SHIFT, np.array(-2.0)),
    "affine_of_each": lambda: b.AffineScalar(scale=SHIFT),
    "invert": lambda: b.Invert(b.Sigmoid()),
    "chain": lambda: b.Chain([b.Exp(), b.AffineScalar(scale=np.array(0.5)), b.Softplus()]),
}
VECTORS: dict[str, Callable[[], Any]] = {
    "multiplier": lambda: b.Affine(SHIFT, np.array(-2.0)),
    "diagonal": lambda: b.Affine(SHIFT, scale_diag=SHIFT),
    "triangle": lambda: b.Affine(SHIFT, np.array(0.5), scale_tril=TRIL),
    "perturbed": lambda: b.Affine(scale_diag=SHIFT**2, scale_perturb_factor=FACTOR, scale_perturb_diag=np.ones(2) * 2),
    "perturbed_identity": lambda: b.Affine(SHIFT, scale_perturb_factor=FACTOR),
    "chain_of_vectors": lambda: b.Chain([b.Sigmoid(), b.Affine(SHIFT, scale_tril=TRIL), b.Invert(b.Exp())]),
}


def value(*fetches: Any) -> Any:
    return pb.Session(engine="numpy").run(list(fetches))


@pytest.mark.parametrize("name", [*ELEMENTS, *VECTORS])
def test_inverses_and_determinants_are_those_of_the_jacobian(name: str) -> None:
    bijector = {**ELEMENTS, **VECTORS}[name]()
    x = tf.constant(1 / (1 + np.exp(-X)) if name in ("invert", "chain_of_vectors") else X)
    y = bijector.forward(x)
    back, fldj, ildj = (
        bijector.inverse(y),
        bijector.forward_log_det_jacobian(x, 1),
        bijector.inverse_log_det_jacobian(y, 1),
    )
    columns = [tf.reduce_sum(tf.gradients(y[:, i], x)[0][:, None], 1) for i in range(3)]
    found, start, grown, shrunk, jacobian = value(back, x, fldj, ildj, tf.stack(columns, 1))
    np.testing.assert_allclose(found, start, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(np.broadcast_to(grown, 4), np.linalg.slogdet(jacobian)[1], rtol=1e-9)
    np.testing.assert_allclose(shrunk, -grown, rtol=1e-9)


@pytest.mark.parametrize("name", ELEMENTS)
def test_an_element_is_an_event_of_its_own_or_part_of_one(name: str) -> None:
    bijector = ELEMENTS[name]()
    x = tf.sigmoid(tf.constant(X))
    each, rows, whole = value(*[bijector.forward_log_det_jacobian(x, n) for n in range(3)])
    each = np.broadcast_to(each, X.shape)
    np.testing.assert_allclose(np.broadcast_to(rows, 4), each.sum(1), rtol=1e-12)
    np.testing.assert_allclose(whole, each.sum(), rtol=1e-12)


def test_a_log_normal_distribution() -> None:
    d = ds.TransformedDistribution(ds.Normal(SHIFT, np.array(0.5)), b.Exp())
    at = np.exp(X)
    np.testing.assert_allclose(value(d.log_prob(at))[0], stats.lognorm(0.5, scale=np.exp(SHIFT)).logpdf(at))
    draws = value(d.sample(4000, seed=1))[0]
    np.testing.assert_allclose(np.log(draws).mean(0), SHIFT, atol=0.05)
    assert d.name == "expNormal/"


@pytest.mark.parametrize("base", ["scalars", "vectors"])
def test_a_normal_distribution_of_vectors(base: str) -> None:
    affine, zero, one = b.Affine(SHIFT, scale_tril=TRIL), np.zeros(3), np.ones(3)
    d = {
        "scalars": lambda: ds.TransformedDistribution(ds.Normal(np.array(0.0), np.array(1.0)), affine, None, [3]),
        "vectors": lambda: ds.TransformedDistribution(ds.MultivariateNormalDiag(zero, one), affine),
    }[base]()
    root = np.tril(TRIL)
    wanted = stats.multivariate_normal(SHIFT, root @ root.T)
    density, mean, entropy, draws = value(d.log_prob(X), d.mean(), d.entropy(), d.sample([2000], seed=3))
    np.testing.assert_allclose(density, wanted.logpdf(X), rtol=1e-10)
    np.testing.assert_allclose(mean, SHIFT)
    assert entropy == pytest.approx(wanted.entropy())
    np.testing.assert_allclose(np.cov(draws.T), root @ root.T, atol=0.5)
    assert (d.event_shape, d.batch_shape) == ([3], [])


def test_a_flow_is_learned_by_its_likelihood() -> None:
    shift, scale = tf.Variable(0.0, dtype=tf.float64), tf.Variable(0.0, dtype=tf.float64)
    flow = b.AffineScalar(shift, tf.nn.softplus(scale))
    d = ds.TransformedDistribution(ds.Normal(np.array(0.0), np.array(1.0)), flow)
    step = tf.train.GradientDescentOptimizer(0.3).minimize(-tf.reduce_mean(d.log_prob(X)))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(80):
            session.run(step)
        found = session.run([shift, tf.nn.softplus(scale)])
    np.testing.assert_allclose(found, [X.mean(), X.std()], rtol=1e-3)


def test_a_batch_of_transformed_scalars() -> None:
    d = ds.TransformedDistribution(ds.Normal(0.0, 1.0), b.Softplus(), batch_shape=[5], event_shape=[2])
    assert d.sample([7]).shape == [7, 5, 2]
    assert d.log_prob(np.ones((7, 5, 2), np.float32)).shape == [7, 5]
    assert d.batch_shape == [5]


@pytest.mark.parametrize(
    ("kind", "make", "said"),
    [
        (
            ValueError,
            lambda: b.Affine().forward_log_det_jacobian(X, 0),
            "affine: events must have 1 axes or more, not 0",
        ),
        (
            ValueError,
            lambda: b.Affine(scale_perturb_diag=[1.0]),
            "Affine: scale_perturb_diag needs scale_perturb_factor=",
        ),
        (
            ValueError,
            lambda: b.Bijector(),
            "Bijector: give forward_min_event_ndims= or inverse_min_event_ndims=",
        ),
        (
            NotImplementedError,
            lambda: b.Bijector(forward_min_event_ndims=0).forward_log_det_jacobian(X, 0),
            "Bijector defines no _forward_log_det_jacobian; write it in the class",
        ),
        (
            ValueError,
            lambda: ds.TransformedDistribution(ds.Normal([0.0], 1.0), b.Exp(), event_shape=[2]),
            "TransformedDistribution: batch_shape and event_shape are for a distribution of scalars without a batch, "
            "not of events () in a batch (1,)",
        ),
        (
            NotImplementedError,
            lambda: ds.TransformedDistribution(ds.Normal(0.0, 1.0), b.Exp()).mean(),
            "TransformedDistribution.mean: there is no formula; estimate it from draws: x = d.sample(n)",
        ),
    ],
    ids=["events", "weights", "ndims", "determinant", "batch", "mean"],
)
def test_what_is_refused(kind: type[Exception], make: Callable[[], Any], said: str) -> None:
    with pytest.raises(kind) as error:
        make()
    assert str(error.value) == said
