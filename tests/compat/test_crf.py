"""Conditional random fields of `tf.contrib.crf`, beside the sum over all sequences."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from pullback.compat import v1 as tf

crf = tf.contrib.crf
Array = np.ndarray[Any, Any]
LENGTHS, STEPS, TAGS = [3, 1, 4, 0], 4, 3


def potentials(seed: int = 0) -> tuple[Array, Array, Array]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(4, STEPS, TAGS)), rng.normal(size=(TAGS, TAGS)), rng.integers(0, TAGS, (4, STEPS))


def score(x: Array, transitions: Array, tags: Any) -> float:
    ones = sum(x[t, k] for t, k in enumerate(tags))
    return float(ones + sum(transitions[a, b] for a, b in itertools.pairwise(tags)))


def all_scores(x: Array, transitions: Array, length: int) -> dict[tuple[int, ...], float]:
    return {tags: score(x, transitions, tags) for tags in itertools.product(range(TAGS), repeat=length)}


def run(fetches: Any, engine: str = "numpy") -> Any:
    with tf.Session(engine=engine) as session:
        session.run(tf.global_variables_initializer())
        return session.run(fetches)


@pytest.mark.parametrize("engine", ["numpy", pytest.param("xla", marks=pytest.mark.slow)])
def test_the_likelihood_is_that_among_all_sequences_and_its_derivative_what_is_missing(engine: str) -> None:
    x, transitions, tags = potentials()
    given = tf.constant(x)
    likelihood, _ = crf.crf_log_likelihood(given, tags, LENGTHS, tf.constant(transitions))
    found, dx = run([likelihood, tf.gradients(likelihood, given)[0]], engine)
    for b, length in enumerate(LENGTHS):
        scores = all_scores(x[b], transitions, length)
        chosen = tuple(tags[b, :length].tolist())
        total = np.log(sum(np.exp(s) for s in scores.values()))
        np.testing.assert_allclose(found[b], scores[chosen] - total, atol=1e-6)
        expected = np.zeros((STEPS, TAGS))
        for t in range(length):
            expected[t, chosen[t]] += 1
            for other, s in scores.items():
                expected[t, other[t]] -= np.exp(s - total)
        np.testing.assert_allclose(dx[b], expected, atol=1e-6)


def test_the_transitions_are_a_variable_unless_they_are_given() -> None:
    x, _, tags = potentials()
    likelihood, transitions = crf.crf_log_likelihood(tf.constant(x, tf.float32), tags, LENGTHS)
    (slope,) = tf.gradients(likelihood, transitions)
    assert (transitions.op.name, run(slope).shape) == ("transitions", (3, 3))


def test_the_best_sequence_is_found() -> None:
    x, transitions, _ = potentials(1)
    tags, best = run(crf.crf_decode(tf.constant(x), tf.constant(transitions), LENGTHS))
    for b, length in enumerate(LENGTHS[:3]):
        scores = all_scores(x[b], transitions, length)
        expected = max(scores, key=lambda key: scores[key])
        assert tags[b].tolist() == [*expected, *[0] * (STEPS - length)]
        np.testing.assert_allclose(best[b], scores[expected])
        listed, alone = crf.viterbi_decode(x[b, :length], transitions)
        assert tuple(listed) == expected
        np.testing.assert_allclose(alone, scores[expected])


def test_the_derivative_of_the_best_score_counts_its_tags() -> None:
    x, transitions, _ = potentials(1)
    given = tf.constant(x)
    tags, best = crf.crf_decode(given, tf.constant(transitions), LENGTHS)
    found, slope = run([tags, tf.gradients(best[:3], given)[0]])
    for b, length in enumerate(LENGTHS[:3]):
        np.testing.assert_array_equal(slope[b, :length], np.eye(TAGS)[found[b, :length]])


def test_several_tags_may_be_right() -> None:
    x, transitions, _ = potentials(2)
    allowed = np.random.default_rng(2).random((4, STEPS, TAGS)) > 0.4
    allowed[:, :, 0] = True
    found = run(crf.crf_multitag_sequence_score(tf.constant(x), allowed, LENGTHS, tf.constant(transitions)))
    for b, length in enumerate(LENGTHS[:3]):
        scores = all_scores(x[b], transitions, length)
        right = [s for tags, s in scores.items() if all(allowed[b, t, k] for t, k in enumerate(tags))]
        np.testing.assert_allclose(found[b], np.log(np.sum(np.exp(right))))


def test_sequences_of_one_step() -> None:
    x, transitions, tags = potentials()
    likelihood, _ = crf.crf_log_likelihood(tf.constant(x[:, :1]), tags[:, :1], [1] * 4, tf.constant(transitions))
    decoded, best = crf.crf_decode(tf.constant(x[:, :1]), tf.constant(transitions), [1] * 4)
    found, chosen, scores = run([likelihood, decoded, best])
    total = np.log(np.exp(x[:, 0]).sum(1))
    np.testing.assert_allclose(found, x[np.arange(4), 0, tags[:, 0]] - total)
    np.testing.assert_array_equal(chosen[:, 0], x[:, 0].argmax(1))
    np.testing.assert_allclose(scores, x[:, 0].max(1))
