"""Beam search of connectionist temporal classification, beside the sum over all alignments."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import pullback as pb
from pullback.compat import v1 as tf

Array = np.ndarray[Any, Any]
STEPS, CLASSES = 5, 3
"""The last class is the blank."""


def logits(seed: int = 0) -> Array:
    return np.random.default_rng(seed).normal(size=(STEPS, 2, CLASSES))


def likelihoods(x: Array) -> dict[tuple[int, ...], float]:
    """The probability of each sequence of labels, over all of its alignments."""
    p = np.exp(x) / np.exp(x).sum(1, keepdims=True)
    found: dict[tuple[int, ...], float] = {}
    for alignment in itertools.product(range(CLASSES), repeat=len(x)):
        labels = tuple(k for k, _ in itertools.groupby(alignment) if k != CLASSES - 1)
        found[labels] = found.get(labels, 0.0) + float(np.prod([p[t, k] for t, k in enumerate(alignment)]))
    return found


def searched(x: Array, lengths: list[int], **options: Any) -> tuple[list[list[list[int]]], Array]:
    """For each path and sequence the labels, and the logarithms."""
    paths, logarithms = tf.nn.ctc_beam_search_decoder(tf.constant(x), lengths, **options)
    with tf.Session(engine="numpy") as session:
        found = session.run([[tf.sparse_tensor_to_dense(path, -1) for path in paths], logarithms])
    return [[[int(k) for k in row if k >= 0] for row in path] for path in found[0]], found[1]


def test_with_room_for_all_the_likeliest_sequences_are_found() -> None:
    x = logits()
    paths, logarithms = searched(x, [STEPS, 3], top_paths=4, merge_repeated=False)
    for b, length in enumerate([STEPS, 3]):
        expected = likelihoods(x[:length, b])
        best = sorted(expected, key=lambda labels: -expected[labels])[:4]
        assert [tuple(path[b]) for path in paths] == best
        np.testing.assert_allclose(np.exp(logarithms[b]), [expected[labels] for labels in best], rtol=1e-6)


def test_equal_neighbours_are_taken_together_where_that_is_asked_for() -> None:
    x = np.zeros((3, 1, CLASSES))
    x[[0, 2], 0, 0] = x[1, 0, 2] = 20.0
    assert searched(x, [3])[0] == [[[0]]]
    assert searched(x, [3], merge_repeated=False)[0] == [[[0, 0]]]


def test_a_narrow_beam_may_miss_what_is_likeliest() -> None:
    x = np.log(np.array([[[0.4, 0.0, 0.6]], [[0.4, 0.0, 0.6]]]) + 1e-12)
    assert searched(x, [2], beam_width=10)[0] == [[[0]]]
    assert searched(x, [2], beam_width=1)[0] == [[[]]]
    np.testing.assert_allclose(np.exp(searched(x, [2], beam_width=10)[1]), 0.64, rtol=1e-6)


def test_no_steps_have_no_labels() -> None:
    paths, logarithms = searched(logits(), [0, 1], top_paths=2)
    assert paths[0][0] == []
    assert logarithms[0].tolist() == [0.0, -np.inf]


def test_what_does_not_fit_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"^ctc_beam_search_decoder: beam_width=1 is too small for top_paths=2$"):
        pb.nn.ctc_beam_search_decoder(logits(), [1, 1], 1, 2)
    with pytest.raises(ValueError, match=r"^ctc_beam_search_decoder: inputs must be of rank 3, not float64\[2,3\]$"):
        pb.nn.ctc_beam_search_decoder(logits()[0], [1, 1])
    with pytest.raises(TypeError, match=r"^ctc_beam_search_decoder: inputs must be floats, not int32\[1,1,1\]$"):
        pb.nn.ctc_beam_search_decoder(pb.constant([[[1]]]), [1])
