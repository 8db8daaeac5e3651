"""Operations of several results: the names that TensorFlow's have, in runs too."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pullback.compat.v1 as tf

EYE = np.eye(3, dtype=np.float32)
LABELS = np.array([[1], [2]])
OF_SAMPLERS = "sampled_candidates true_expected_count sampled_expected_count"
RESULTS: dict[str, Any] = {
    "unique": (lambda: tf.unique([1, 1]), "y idx"),
    "unique_with_counts": (lambda: tf.unique_with_counts([1, 1]), "y idx count"),
    "setdiff1d": (lambda: tf.setdiff1d([1, 2], [1]), "out idx"),
    "top_k": (lambda: tf.nn.top_k(EYE, 2), "values indices"),
    "qr": (lambda: tf.qr(EYE), "q r"),
    "lu": (lambda: tf.linalg.lu(EYE), "lu p"),
    "slogdet": (lambda: tf.linalg.slogdet(EYE), "sign log_abs_determinant"),
    "max_pool": (lambda: tf.nn.max_pool_with_argmax(tf.zeros([1, 4, 4, 1]), 2, 2, "SAME"), "output argmax"),
    "log_uniform": (lambda: tf.nn.log_uniform_candidate_sampler(LABELS, 1, 2, True, 5), OF_SAMPLERS),
    "uniform": (lambda: tf.nn.uniform_candidate_sampler(LABELS, 1, 2, False, 5), OF_SAMPLERS),
    "fixed": (
        lambda: tf.nn.fixed_unigram_candidate_sampler(LABELS, 1, 2, True, 3, unigrams=[1.0, 2.0, 1.0]),
        OF_SAMPLERS,
    ),
    "learned": (lambda: tf.nn.learned_unigram_candidate_sampler(LABELS, 1, 2, True, 5), OF_SAMPLERS),
    "all": (lambda: tf.nn.all_candidate_sampler(LABELS, 1, 5, True), OF_SAMPLERS),
    "hits": (lambda: tf.nn.compute_accidental_hits(LABELS, [1, 3], 1), "indices ids weights"),
    "window": (
        lambda: tf.image.sample_distorted_bounding_box([9, 9, 3], [[[0.0, 0.0, 1.0, 1.0]]]),
        "begin size bboxes",
    ),
    "boxes": (
        lambda: tf.image.combined_non_max_suppression(tf.zeros([1, 2, 1, 4]), tf.ones([1, 2, 1]), 1, 1),
        "nmsed_boxes nmsed_scores nmsed_classes valid_detections",
    ),
}


@pytest.mark.parametrize("name", RESULTS)
def test_results_have_names(name: str) -> None:
    make, names = RESULTS[name]
    found = make()
    assert found._fields == tuple(names.split())
    with tf.Session(engine="numpy") as session:
        session.run(tf.global_variables_initializer())
        assert session.run(found)._fields == found._fields


def test_a_sample_may_be_given_as_three_tensors() -> None:
    sample = (tf.constant([1, 3], tf.int64), tf.constant([[0.1], [0.1]]), tf.constant([0.2, 0.3]))
    named = type(tf.nn.uniform_candidate_sampler(LABELS, 1, 2, False, 5))(*sample)
    losses = [
        tf.nn.nce_loss(tf.ones([5, 2]), tf.zeros([5]), LABELS, tf.ones([2, 2]), 2, 5, sampled_values=values)
        for values in (sample, named)
    ]
    found = tf.Session(engine="numpy").run(losses)
    np.testing.assert_array_equal(*found)
