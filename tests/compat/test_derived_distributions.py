"""Distributions as classes: what a program derives, where they stand in the graph, and what they validate."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pullback as pb
import pullback.compat.v1 as tf

D: Any = tf.distributions
ENGINES = pytest.mark.parametrize("engine", ["numpy", "xla"])


def run(engine: str, fetches: Any, feeds: Any = None) -> Any:
    return pb.Session(engine=engine).run(fetches, feeds)


class Peak(D.Distribution):  # type: ignore[misc]
    """exp(-|x - loc|) / 2, by TensorFlow's protocol."""

    def __init__(self, loc: Any, validate_args: bool = False, allow_nan_stats: bool = True, name: str = "Peak") -> None:
        parameters = dict(locals())
        with tf.name_scope(name, values=[loc]) as scope:
            self.loc = tf.convert_to_tensor(loc, name="loc")
            super().__init__(
                dtype=self.loc.dtype,
                reparameterization_type=D.FULLY_REPARAMETERIZED,
                validate_args=validate_args,
                allow_nan_stats=allow_nan_stats,
                parameters=parameters,
                graph_parents=[self.loc],
                name=scope,
            )

    def _batch_shape(self) -> Any:
        return self.loc.shape

    def _batch_shape_tensor(self) -> Any:
        return tf.shape(self.loc)

    def _event_shape(self) -> Any:
        return []

    def _log_prob(self, x: Any) -> Any:
        return -tf.abs(x - self.loc) - np.log(2.0)

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        return tf.tile(self.loc[None], tf.concat([[n], [1]], 0))

    def _variance(self) -> Any:
        return tf.fill(tf.shape(self.loc), 2.0)


@ENGINES
def test_a_distribution_that_a_program_derives(engine: str) -> None:
    count, d = tf.placeholder(tf.int32, [2]), Peak([1.0, 2.0])
    drawn = d.sample(count)
    found = run(engine, [d.prob([1.0, 1.0]), d.stddev(), d.sample([2, 3]), d.sample(), drawn], {count: [3, 1]})
    np.testing.assert_allclose(found[0], [0.5, 0.5 * np.exp(-1.0)], rtol=1e-6)
    np.testing.assert_allclose(found[1], [2.0**0.5] * 2, rtol=1e-6)
    assert [x.shape for x in found[2:]] == [(2, 3, 2), (2,), (3, 1, 2)]
    assert (d.sample([2, 3]).shape, d.name, d.dtype, d.validate_args) == ([2, 3, 2], "Peak/", tf.float32, False)
    assert d.log_prob(0.0).op.name == "Peak/log_prob/sub_1"
    assert str(d) == 'tfp.distributions.Peak("Peak/", batch_shape=(2,), event_shape=(), dtype=float32)'
    assert repr(Peak([0.0])) == "<tfp.distributions.Peak 'Peak_1/' batch_shape=(1,) event_shape=() dtype=float32>"
    for method in ("mean", "entropy", "covariance", "mode"):
        with pytest.raises(NotImplementedError, match=rf"^Peak\.{method}: there is no formula"):
            getattr(d, method)()
    for method in ("cdf", "quantile", "survival_function"):
        with pytest.raises(NotImplementedError, match=r"^Peak\.(cdf|log_cdf|quantile|survival_function): there is no"):
            getattr(d, method)(0.5)


@ENGINES
def test_shapes_that_a_run_tells(engine: str) -> None:
    p, n = tf.placeholder(tf.float32, [None, 3]), tf.placeholder(tf.int32, [])
    made = [D.Categorical(probs=p), D.Dirichlet(p), D.Normal(p, 1.0), D.Multinomial(2.0, probs=p)]
    fetches = [[d.batch_shape_tensor(), d.event_shape_tensor(), tf.shape(d.sample(n)), d.sample([2, 2])] for d in made]
    found = run(engine, fetches, {p: np.full([5, 3], 1 / 3), n: 4})
    assert [row[0].tolist() + row[1].tolist() for row in found] == [[5], [5, 3], [5, 3], [5, 3]]
    assert [row[2].tolist() for row in found] == [[4, 5], [4, 5, 3], [4, 5, 3], [4, 5, 3]]
    assert [row[3].shape for row in found] == [(2, 2, 5), (2, 2, 5, 3), (2, 2, 5, 3), (2, 2, 5, 3)]
    unknown = D.Normal(tf.placeholder_with_default([0.0], None), 1.0)
    scalars = [d.is_scalar_batch() for d in (*made, unknown)] + [d.is_scalar_event() for d in made]
    assert run(engine, scalars, {p: np.ones([5, 3])}) == [False] * 5 + [True, False, True, False]


NOT_THEIR_OWN: list[tuple[Any, Any]] = [
    (lambda x, **o: D.Normal(0.0, x, **o).log_prob(0.5), -1.0),
    (lambda x, **o: D.Laplace(0.0, x, **o).cdf(0.5), -1.0),
    (lambda x, **o: D.Uniform(1.0, x, **o).prob(0.5), 1.0),
    (lambda x, **o: D.Exponential(x, **o).mean(), -1.0),
    (lambda x, **o: D.Exponential(1.0, **o).log_prob(x), -1.0),
    (lambda x, **o: D.Gamma(1.0, x, **o).mean(), 0.0),
    (lambda x, **o: D.Gamma(1.0, 1.0, **o).cdf(x), -1.0),
    (lambda x, **o: D.Beta(x, 1.0, **o).mean(), -1.0),
    (lambda x, **o: D.Beta(1.0, 1.0, **o).prob(x), 1.5),
    (lambda x, **o: D.StudentT(x, 0.0, 1.0, **o).log_prob(1.0), -1.0),
    (lambda x, **o: D.Dirichlet(x, **o).mean(), [1.0, -1.0]),
    (lambda x, **o: D.Dirichlet([1.0, 1.0], **o).prob(x), [0.5, 0.7]),
    (lambda x, **o: D.Bernoulli(probs=x, **o).mean(), 1.5),
    (lambda x, **o: D.Bernoulli(probs=0.5, **o).prob(x), 2.0),
    (lambda x, **o: D.Categorical(probs=x, **o).entropy(), [0.5, 0.7]),
    (lambda x, **o: D.Multinomial(2.0, probs=[0.5, 0.5], **o).prob(x), [1.0, 2.0]),
    (lambda x, **o: D.Multinomial(x, probs=[0.5, 0.5], **o).mean(), 1.5),
    (lambda x, **o: D.DirichletMultinomial(2.0, [1.0, 1.0], **o).prob(x), [0.5, 1.5]),
    (lambda x, **o: tf.contrib.distributions.Poisson(1.0, **o).prob(x), 1.5),
    (lambda x, **o: tf.contrib.distributions.Binomial(2.0, probs=0.5, **o).prob(x), 3.0),
    (lambda x, **o: tf.contrib.distributions.MultivariateNormalDiag([0.0], x[None], **o).log_prob([0.5]), -1.0),
]


@ENGINES
@pytest.mark.parametrize(("statistic", "value"), NOT_THEIR_OWN)
def test_arguments_are_validated_where_that_is_asked(statistic: Any, value: Any, engine: str) -> None:
    x = tf.placeholder(tf.float32, np.shape(value))
    checked, plain = statistic(x, validate_args=True), statistic(x)
    run(engine, plain, {x: value})
    with pytest.raises(pb.errors.InvalidArgumentError):
        run(engine, checked, {x: value})


@pytest.mark.parametrize("make", [lambda: D.Normal(0, 1), lambda: D.Gamma(1, 2), lambda: D.Dirichlet([1, 2])])
def test_parameters_are_floats(make: Any) -> None:
    with pytest.raises(ValueError, match=r"^Expected floating point type, got int32"):
        make()
