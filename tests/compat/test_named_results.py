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
    "fractional_max_pool": (
        lambda: tf.nn.fractional_max_pool(tf.zeros([1, 4, 4, 1]), [1, 1.5, 1.5, 1], seed=1),
        "output row_pooling_sequence col_pooling_sequence",
    ),
    "fractional_avg_pool": (
        lambda: tf.nn.fractional_avg_pool(tf.zeros([1, 4, 4, 1]), [1, 1.5, 1.5, 1], seed=1),
        "output row_pooling_sequence col_pooling_sequence",
    ),
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


def test_norms_clipped_tensors_and_schedules_have_the_names_of_their_scopes() -> None:
    x = tf.placeholder(tf.float32, [3])
    rows = tf.IndexedSlices(x[None], tf.constant([0]))
    with tf.name_scope("o"):
        clipped, norm = tf.clip_by_global_norm([x, None, rows], 1.0)
        made = [
            norm,
            clipped[0],
            clipped[2],
            tf.global_norm([x]),
            tf.clip_by_norm(x, 1.0),
            tf.clip_by_average_norm(x, 1.0),
        ]
    inner = "o/clip_by_global_norm/o/clip_by_global_norm"
    wanted = ["o/global_norm/global_norm:0", f"{inner}/_0:0", f"{inner}/_2:0", "o/global_norm_1/global_norm:0"]
    assert [y.name for y in made] == [*wanted, "o/clip_by_norm:0", "o/clip_by_average_norm:0"]
    train, step = tf.train, tf.train.get_or_create_global_step()
    schedules = [
        lambda **name: train.exponential_decay(0.1, step, 3, 0.5, **name),
        lambda **name: train.natural_exp_decay(0.1, step, 3, 0.5, **name),
        lambda **name: train.polynomial_decay(0.1, step, 3, **name),
        lambda **name: train.inverse_time_decay(0.1, step, 3, 0.5, **name),
        lambda **name: train.cosine_decay_restarts(0.1, step, 3, **name),
        lambda **name: train.linear_cosine_decay(0.1, step, 3, **name),
        lambda **name: train.noisy_linear_cosine_decay(0.1, step, 3, **name),
    ]
    decays = "ExponentialDecay ExponentialDecay_1 PolynomialDecay InverseTimeDecay SGDRDecay LinearCosineDecay"
    assert [make().op.name for make in schedules] == [*decays.split(), "NoisyLinearCosineDecay"]
    assert [make(name="lr").op.name for make in schedules] == ["lr", *[f"lr_{i}" for i in range(1, 7)]]


def test_assignments_give_values_by_the_names_that_are_asked_for() -> None:
    v = tf.get_variable("v", [2], initializer=tf.zeros_initializer())
    made = {
        "assign": lambda name: v.assign([1.0, 1.0], name=name),
        "add": lambda name: tf.assign_add(v, [1.0, 1.0], name=name),
        "sub": lambda name: tf.assign_sub(v, [1.0, 1.0], name=name),
        "rows": lambda name: tf.scatter_update(v, [0], [5.0], name=name),
        "slices": lambda name: tf.scatter_nd_add(v, [[0]], [5.0], name=name),
        "own_rows": lambda name: v.scatter_add(tf.IndexedSlices([1.0], [1]), name=name),
        "own_slices": lambda name: v.scatter_nd_sub([[1]], [2.0], name=name),
        "part": lambda name: tf.assign(v[:1], [7.0], name=name),
    }
    graph = tf.get_default_graph()
    with tf.Session(engine="numpy") as session:
        for name, make in made.items():
            assert make(name).name == f"{name}:0"
            session.run(v.initializer)
            found = session.run(graph.get_tensor_by_name(f"{name}:0"))
            np.testing.assert_array_equal(session.run(v), found)
            assert found.any()
            session.run(v.initializer)
            session.run(graph.get_operation_by_name(name))
            np.testing.assert_array_equal(session.run(v), found)


def test_updates_of_moving_averages_and_groups_have_names() -> None:
    x = tf.placeholder(tf.float32, [None, 2])
    tf.layers.batch_normalization(tf.layers.batch_normalization(x, training=True, name="a"), training=True, name="b")
    updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
    layer = ["AssignMovingAvg", "AssignMovingAvg_1"]
    assert [op.name for op in updates] == [f"{name}/{op}" for name in "ab" for op in layer]
    average = tf.train.ExponentialMovingAverage(0.5)
    v, w = tf.get_variable("v", [2]), tf.get_variable("w", [2])
    assert average.apply([v, w]).name == "ExponentialMovingAverage"
    tf.get_default_graph().get_operation_by_name("ExponentialMovingAverage/AssignMovingAvg_1")
    assert average.apply([v]).name == "ExponentialMovingAverage_1"
    assert average.apply([]).name == "ExponentialMovingAverage_2"
    assert [tf.group(v, w).name, tf.group().name, tf.group(v, name="both").name] == [
        "group_deps",
        "group_deps_1",
        "both",
    ]


NAMED: dict[str, Any] = {
    "l2_normalize": lambda name: tf.nn.l2_normalize(EYE, 1, name=name),
    "lrn": lambda name: tf.nn.lrn(tf.zeros([1, 2, 2, 3]), name=name),
    "batch_norm": lambda name: tf.nn.fused_batch_norm(tf.zeros([1, 2, 2, 3]), [1.0] * 3, [0.0] * 3, name=name)[0],
    "batch_norm_of_moments": lambda name: tf.nn.fused_batch_norm(
        tf.zeros([1, 2, 2, 3]), [1.0] * 3, [0.0] * 3, [0.0] * 3, [1.0] * 3, is_training=False, name=name
    )[0],
    "histogram": lambda name: tf.histogram_fixed_width(EYE, [0.0, 1.0], name=name),
    "crop": lambda name: tf.random_crop(EYE, [1, 1], name=name),
    "softmax": lambda name: tf.nn.softmax(EYE, name=name),
    "loss": lambda name: tf.nn.l2_loss(EYE, name=name),
    "clipped": lambda name: tf.clip_by_norm(EYE, 1.0, name=name),
    "looked_up": lambda name: tf.nn.embedding_lookup(EYE, [0], name=name),
}


@pytest.mark.parametrize("function", NAMED)
def test_a_result_of_several_steps_has_the_name_that_is_asked_for(function: str) -> None:
    assert [NAMED[function]("y").name for _ in range(2)] == ["y:0", "y_1:0"]
