"""Clipping of version 1: rows of IndexedSlices count as they are."""

from __future__ import annotations

import numpy as np
import pytest

import pullback as pb
import pullback.compat.v1 as tf


def looked_up_twice() -> tuple[tf.Tensor, tf.IndexedSlices]:
    table = tf.placeholder(tf.float32, [3, 1])
    (slices,) = tf.gradients(tf.reduce_sum(tf.gather(table, [0, 0]) * [[3.0], [4.0]]), [table])
    return table, slices


def test_equal_rows_count_apart_in_version_1_and_together_today() -> None:
    _, slices = looked_up_twice()
    norms = [tf.global_norm([slices, None, [12.0]]), pb.global_norm([slices, None, [12.0]])]
    assert tf.Session(engine="numpy").run(norms) == [13.0, pytest.approx(np.hypot(7.0, 12.0))]


def test_clipped_slices_stay_slices() -> None:
    _, slices = looked_up_twice()
    (first, none, second), norm = tf.clip_by_global_norm([slices, None, tf.constant([12.0])], 6.5)
    alone = tf.clip_by_norm(slices, 2.5)
    assert none is None
    assert all(isinstance(t, tf.IndexedSlices) for t in (first, alone))
    found = tf.Session(engine="numpy").run([first.values, second, norm, alone.values])
    for value, wanted in zip(found, ([[1.5], [2.0]], [6.0], 13.0, [[1.5], [2.0]]), strict=True):
        np.testing.assert_allclose(value, wanted, rtol=1e-6)


def test_layers_that_clip_do_the_same() -> None:
    table, slices = looked_up_twice()
    ((clipped, _),) = tf.contrib.training.clip_gradient_norms([(slices, table)], 2.5)
    np.testing.assert_allclose(tf.Session(engine="numpy").run(clipped.values), [[1.5], [2.0]], rtol=1e-6)
