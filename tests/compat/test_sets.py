"""Sets along the last axis, edit distances, samplers by counts, pairwise losses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pullback.compat.v1 as tf


def value(x: Any, engine: str = "numpy") -> Any:
    session = tf.Session(engine=engine)
    session.run(tf.global_variables_initializer())
    return session.run(x)


def sets_of(sparse: Any) -> list[list[Any]]:
    rows: list[list[Any]] = [[] for _ in range(sparse.dense_shape[0])]
    for place, member in zip(sparse.indices, sparse.values, strict=True):
        rows[place[0]].append(member)
    return rows


@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_sets_are_combined_row_by_row(engine: str) -> None:
    dense = [[1, 1], [2, 3], [9, 9]]
    sparse = tf.SparseTensor([[0, 0], [2, 0], [2, 1]], [1, 2, 9], [3, 4])
    both = [f(dense, sparse) for f in (tf.sets.union, tf.sets.intersection)]
    found = [sets_of(x) for x in value([*both, tf.sets.difference(dense, sparse, False)], engine)]
    assert found == [[[1], [2, 3], [2, 9]], [[1], [], [9]], [[], [], [2]]]
    assert value(tf.sets.size(sparse)).tolist() == [1, 0, 2]
    assert value(tf.sets.union(dense, sparse)).dense_shape.tolist() == [3, 2]


def test_sets_may_be_of_texts() -> None:
    assert value(tf.sets.set_union([["b", "a"]], [["c"]])).values.tolist() == [b"a", b"b", b"c"]


def test_sets_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match=r"^set_union: all lengths but the last must be the same, but they are"):
        tf.sets.union([[1]], [[1], [2]])
    with pytest.raises(TypeError, match=r"^set_union: dtypes differ: "):
        tf.sets.union([[1]], [[1.0]])


def test_edit_distances_are_divided_by_the_length_of_the_truth() -> None:
    given = tf.SparseTensor([[0, 0, 0], [1, 0, 0]], ["a", "b"], [2, 1, 1])
    true = tf.SparseTensor([[0, 1, 0], [1, 0, 0], [1, 0, 1], [1, 1, 0]], ["a", "b", "c", "a"], [2, 2, 2])
    assert value(tf.edit_distance(given, true)).tolist() == [[np.inf, 1.0], [0.5, 1.0]]
    words = [tf.SparseTensor([[0, i] for i in range(len(w))], list(w), [1, len(w)]) for w in ("kitten", "sitting")]
    assert value(tf.edit_distance(*words, normalize=False)).tolist() == [3.0]
    with pytest.raises(TypeError, match=r"^edit_distance: truth must be a SparseTensor, not "):
        tf.edit_distance(given, tf.constant([["a"]]))


def test_classes_come_as_often_as_their_counts_say(tmp_path: Path) -> None:
    (tmp_path / "words").write_text("the,3\nof,0\na,1\n")
    sample, expected, of_sample = tf.nn.fixed_unigram_candidate_sampler(
        [[1, 3]], 2, 4000, False, 4, vocab_file=str(tmp_path / "words"), num_reserved_ids=1, seed=1
    )
    drawn, true, each = value([sample, expected, of_sample])
    assert true.tolist() == [[3000.0, 1000.0]]
    counts = np.bincount(drawn, minlength=4)
    assert counts[[0, 2]].tolist() == [0, 0]
    assert counts[1] == pytest.approx(3000, rel=0.05)
    assert set(each) == {1000.0, 3000.0}


def test_a_race_of_different_classes_takes_the_likely_ones() -> None:
    sample, expected, _ = tf.random.fixed_unigram_candidate_sampler([[0]], 1, 2, True, 3, unigrams=[8.0, 1.0, 1.0])
    with tf.Session(engine="numpy") as session:
        runs = [session.run([sample, expected]) for _ in range(300)]
    assert all(len(set(drawn)) == 2 for drawn, _ in runs)
    share = np.mean([0 in drawn for drawn, _ in runs])
    assert share == pytest.approx(0.8 + 0.2 * 8 / 9, abs=0.05)
    assert all(0.0 < e[0, 0] <= 1.0 for _, e in runs)
    with pytest.raises(ValueError, match="3 different classes cannot be drawn"):
        tf.nn.fixed_unigram_candidate_sampler([[0]], 1, 3, True, 3, unigrams=[1.0, 0.0, 1.0])


def test_what_was_true_is_drawn_more_often_afterwards() -> None:
    true = tf.placeholder(tf.int64, [None, 1])
    _, expected, _ = tf.nn.learned_unigram_candidate_sampler(true, 1, 10, False, 2)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        found = [session.run(expected, {true: [[1], [1]]})[0, 0] for _ in range(2)]
    assert found == [5.0, 7.5]


def test_the_pairwise_loss_is_the_mean_over_pairs() -> None:
    labels, predictions = np.array([[1.0, 2.0, 4.0], [0.0, 1.0, 5.0]]), np.array([[2.0, 2.0, 2.0], [1.0, 0.0, 4.0]])
    d = predictions - labels
    pairs = np.array([[(r[i] - r[j]) ** 2 for i in range(3) for j in range(i)] for r in d]).mean(1)
    x = tf.constant(predictions)
    loss = tf.losses.mean_pairwise_squared_error(labels, x, weights=[[1.0], [2.0]])
    found, dx = value([loss, tf.gradients(loss, x)[0]])
    assert found == pytest.approx(pairs[0] + 2 * pairs[1])
    np.testing.assert_allclose(dx, 4 / 2 * (d - d.mean(1, keepdims=True)) * [[1.0], [2.0]])
    assert tf.losses.get_losses() == [loss]
    assert value(tf.losses.mean_pairwise_squared_error([[1.0]], [[2.0]])) == 0.0


def test_rows_whose_true_class_was_drawn_are_named() -> None:
    rows, places, weights = value(tf.nn.compute_accidental_hits([[3, 4], [7, 3]], [7, 1, 3], 2))
    assert (rows.tolist(), places.tolist(), set(weights)) == ([0, 1, 1], [2, 0, 2], {np.finfo(np.float32).min})
