"""Random numbers: the generator's known answers, seeds as TensorFlow's, moments, and what the engines share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import special, stats

import pullback as pb
from pullback.primitives.random import threefry

ENGINES = ["numpy", "xla"]


def refused(error: type[Exception], act: Callable[[], Any]) -> str:
    """The message of the exception of class `error` that `act` raises."""
    with pytest.raises(error) as caught:
        act()
    return str(caught.value)


def word(value: int) -> np.ndarray:
    """A vector of one word."""
    return np.array([value], np.uint32)


@pytest.mark.parametrize(
    ("key", "counter", "expected"),
    [
        ((0, 0), (0, 0), (0x6B200159, 0x99BA4EFE)),
        ((0xFFFFFFFF, 0xFFFFFFFF), (0xFFFFFFFF, 0xFFFFFFFF), (0x1CB996FC, 0xBB002BE7)),
        ((0x13198A2E, 0x03707344), (0x243F6A88, 0x85A308D3), (0xC4923A9C, 0x483DF7A0)),
    ],
)
def test_the_generator_gives_its_authors_answers(key: tuple, counter: tuple, expected: tuple) -> None:
    first, second = threefry.threefry((word(key[0]), word(key[1])), word(counter[0]), word(counter[1]))
    assert (int(first[0]), int(second[0])) == expected


def test_the_quantile_is_that_of_scipy() -> None:
    special = pytest.importorskip("scipy.special")
    p = np.concatenate([np.logspace(-300, -1, 500), np.linspace(0.001, 0.5, 500)])
    np.testing.assert_allclose(threefry.lower_quantile(np, p), special.ndtri(p), rtol=1e-14, atol=1e-16)


def test_words_drawn_in_blocks_are_the_same_words() -> None:
    key = (np.uint32(1), np.uint32(2))
    with np.errstate(over="ignore"):
        large = threefry.words(np, key, 3, (2, 40000))[0]
        small = threefry.words(np, key, 3, (10,))[0]
    assert large.reshape(-1)[:10].tolist() == small.tolist()
    assert len(np.unique(large)) > 79990


@pytest.mark.parametrize("engine", ENGINES)
def test_each_run_draws_anew_and_a_new_session_draws_the_same(engine: str) -> None:
    x = pb.random.uniform([4], seed=5)
    one, other = pb.Session(engine=engine), pb.Session(engine=engine)
    first, second = one.run(x), one.run(x)
    assert not np.array_equal(first, second)
    assert np.array_equal(other.run(x), first)
    assert np.array_equal(other.run(x), second)


def test_without_seeds_each_session_draws_other_numbers() -> None:
    x = pb.random.uniform([4])
    assert not np.array_equal(pb.Session(engine="numpy").run(x), pb.Session(engine="numpy").run(x))


def test_runs_of_other_operations_do_not_disturb_a_seeded_one() -> None:
    pb.set_random_seed(1)
    x, y = pb.random.uniform([3]), pb.random.uniform([3])
    one, other = pb.Session(engine="numpy"), pb.Session(engine="numpy")
    one.run(y)
    assert np.array_equal(one.run(x), other.run(x))


def test_two_operations_of_a_seeded_graph_draw_different_numbers() -> None:
    pb.set_random_seed(1)
    a, b = pb.Session(engine="numpy").run([pb.random.uniform([3]), pb.random.uniform([3])])
    assert not np.array_equal(a, b)


def test_a_rebuilt_graph_with_the_same_seed_draws_the_same() -> None:
    values = []
    for _ in range(2):
        with pb.Graph().as_default():
            pb.set_random_seed(7)
            values.append(pb.Session(engine="numpy").run(pb.random.normal([3])))
    assert np.array_equal(*values)


def test_two_uses_of_one_draw_in_one_run_see_the_same_numbers() -> None:
    x = pb.random.uniform([3])
    assert pb.Session(engine="numpy").run(x - x).tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("dtype", [pb.float16, pb.float32, pb.float64])
def test_uniform_numbers_are_the_same_bits_on_both_engines(dtype: object) -> None:
    x = pb.random.uniform([1000], -3.0, 5.0, dtype, seed=2)
    assert np.array_equal(pb.Session(engine="numpy").run(x), pb.Session(engine="xla").run(x))


@pytest.mark.parametrize(
    ("draw", "mean", "deviation"),
    [
        (lambda: pb.random.uniform([200, 500], seed=3), 0.5, 12**-0.5),
        (lambda: pb.random.uniform([200, 500], dtype=pb.float64, seed=3), 0.5, 12**-0.5),
        (lambda: pb.random.normal([200, 500], 1.0, 2.0, seed=3), 1.0, 2.0),
        (lambda: pb.random.normal([200, 500], dtype=pb.float64, seed=3), 0.0, 1.0),
        (lambda: pb.random.truncated_normal([200, 500], seed=3), 0.0, 0.8796256610),
        (lambda: pb.random.stateless_normal([200, 500], [1, 2]), 0.0, 1.0),
        (lambda: pb.cast(pb.random.uniform([200, 500], 0, 10, pb.int32, seed=3), pb.float64), 4.5, 8.25**0.5),
    ],
)
def test_moments_are_those_of_the_distribution(draw: object, mean: float, deviation: float) -> None:
    x = pb.Session(engine="numpy").run(draw())
    assert abs(x.mean() - mean) < 4 * deviation / x.size**0.5
    assert abs(x.std() / deviation - 1) < 0.01


def test_normal_numbers_pass_a_kolmogorov_smirnov_test() -> None:
    stats = pytest.importorskip("scipy.stats")
    x = pb.Session(engine="numpy").run(pb.random.normal([20000], dtype=pb.float64, seed=11))
    assert stats.kstest(x, "norm").pvalue > 1e-3


def test_integers_cover_their_range_and_keep_to_it() -> None:
    x = pb.Session(engine="numpy").run(pb.random.uniform([2000], -3, 4, pb.int32, seed=1))
    assert sorted(set(x.tolist())) == [-3, -2, -1, 0, 1, 2, 3]


def test_categories_come_with_their_probabilities() -> None:
    logits = np.log([[0.5, 0.3, 0.2]])
    x = pb.Session(engine="numpy").run(pb.random.categorical(logits, 20000, seed=1))
    np.testing.assert_allclose(np.bincount(x[0]) / 20000, [0.5, 0.3, 0.2], atol=0.015)


def test_the_default_bounds_add_no_operation() -> None:
    assert pb.random.uniform([3], name="u").op.type == "RandomUniform"
    assert pb.random.normal([3]).op.type == "RandomStandardNormal"
    assert len(pb.get_default_graph().operations) == 2


def test_the_derivative_of_dropout_is_one_product() -> None:
    x = pb.placeholder(pb.float32, [100])
    y = pb.nn.dropout(x, 0.25, seed=1)
    (dx,) = pb.gradients(y, x)
    assert dx.op.type == "Mul"
    assert dx.op.inputs[1].op.type == "DropoutMask"
    kept, slope = pb.Session(engine="numpy").run([y, dx], {x: np.ones(100, np.float32)})
    assert np.array_equal(kept, slope)
    assert 10 < (kept == 0).sum() < 45


def test_dropout_keeps_the_shape_whatever_is_drawn() -> None:
    x = pb.ones([4, 3])
    assert pb.nn.dropout(x, 0.5, noise_shape=pb.placeholder(pb.int32)).shape == [4, 3]


@pytest.mark.parametrize("rate", [[0.1, 0.2], 1.5, -0.5])
def test_a_rate_of_dropout_that_is_no_share_is_refused(rate: Any) -> None:
    with pytest.raises(ValueError, match=r"rate must be a number in the range \[0, 1\)"):
        pb.nn.dropout(pb.ones([2]), rate)


def test_dropout_draws_with_the_rate_it_is_fed() -> None:
    rate = pb.placeholder(pb.float32, [])
    y = pb.nn.dropout(np.ones(4000, np.float32), rate, seed=1)
    session = pb.Session(engine="numpy")
    for value in (0.1, 0.8):
        assert abs((session.run(y, {rate: value}) == 0).mean() - value) < 0.03


def test_a_seed_is_needed_in_pairs() -> None:
    assert refused(ValueError, lambda: pb.random.stateless_uniform([2], [1, 2, 3])) == (
        "StatelessRandomUniform: the seed must be two integers, int32[2] or int64[2], not int32[3]"
    )


def test_integers_need_an_upper_bound() -> None:
    assert (
        refused(ValueError, lambda: pb.random.uniform([2], dtype=pb.int32))
        == "random.uniform: Must specify maxval for integer dtype int32"
    )


def test_a_dtype_without_random_numbers_is_named() -> None:
    assert refused(TypeError, lambda: pb.random.normal([2], dtype=pb.int32)) == (
        "random.normal: no numbers of dtype int32; use bfloat16, float16, float32, float64"
    )


def test_a_rate_outside_its_range_is_named() -> None:
    assert (
        refused(ValueError, lambda: pb.nn.dropout([1.0], 1.0))
        == "dropout: rate must be a number in the range [0, 1), not 1.0"
    )


@pytest.mark.parametrize("alpha", [0.05, 1.0, 2.5, 80.0])
def test_gamma_numbers_are_of_the_gamma_distribution(alpha: float) -> None:
    x = pb.random.gamma([20000], pb.constant(alpha, pb.float64), dtype=pb.float64, seed=3)
    assert stats.kstest(pb.Session().run(x), "gamma", args=(alpha,)).pvalue > 0.01


@pytest.mark.parametrize("mean", [0.3, 9.9, 10.1, 1000.0])
def test_poisson_numbers_are_of_the_poisson_distribution(mean: float) -> None:
    x = pb.Session().run(pb.random.poisson([20000], mean, pb.int64, seed=6))
    numbers = np.arange(x.min(), x.max() + 1)
    expected = stats.poisson.pmf(numbers, mean) * len(x)
    found = np.bincount(x - x.min(), minlength=len(numbers))
    kept = expected > 10
    assert stats.chisquare(found[kept], expected[kept] * found[kept].sum() / expected[kept].sum()).pvalue > 0.01


@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_the_derivatives_of_gamma_numbers_keep_their_quantiles(engine: str) -> None:
    alpha = np.array([0.3, 1.0, 7.0])
    a = pb.placeholder(pb.float64, [3])
    z = pb.random.stateless_gamma([3], [1, 2], a, dtype=pb.float64)
    (first,) = pb.gradients(z, a)
    (second,) = pb.gradients(first, a)
    value, slope, bend = pb.Session(engine=engine).run([z, first, second], {a: alpha})
    quantile = special.gammainc(alpha, value)
    moved = {t: special.gammaincinv(alpha + t, quantile) for t in (-1e-2, 0.0, 1e-2)}
    np.testing.assert_allclose(slope, (moved[1e-2] - moved[-1e-2]) / 2e-2, rtol=1e-3)
    np.testing.assert_allclose(bend, (moved[1e-2] - 2 * moved[0.0] + moved[-1e-2]) / 1e-4, rtol=2e-2)


def test_bounded_normal_numbers_are_of_the_truncated_distribution() -> None:
    for seed in ([1, 2], [3, 4]):
        x = pb.random.stateless_parameterized_truncated_normal([20000], seed, 0.5, 2.0, 1.0, 4.0)
        assert stats.kstest(pb.Session().run(x), "truncnorm", args=(0.25, 1.75, 0.5, 2.0)).pvalue > 0.01


def test_bounded_normal_numbers_far_from_the_mean_stay_between_the_bounds() -> None:
    x = pb.random.stateless_parameterized_truncated_normal([99], [1, 2], 0.0, 1.0, 8.0, 9.0)
    value = pb.Session().run(x)
    assert ((value >= 8) & (value <= 9)).all()
    assert value.std() > 0.05


@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_the_rate_of_a_dropout_has_the_derivative_of_its_scale(engine: str) -> None:
    x, rate = pb.ones([1000], pb.float64), pb.placeholder(pb.float32, [])
    y = pb.nn.dropout(x, rate, seed=1)
    (slope,) = pb.gradients(y, rate)
    kept, by_rate = pb.Session(engine=engine).run([pb.reduce_sum(y), slope], {rate: 0.25})
    assert by_rate == pytest.approx(kept / 0.75)


def test_windows_at_random_have_one_of_two_lengths() -> None:
    lengths = set()
    for seed in range(20):
        places = pb.nn.fractional_max_pool(pb.zeros([1, 23, 23, 1]), 1.7, pseudo_random=True, seed=seed + 1)[1]
        with pb.Session(engine="numpy") as session:
            lengths |= set(np.diff(session.run(places)).tolist())
    assert lengths == {1, 2}
