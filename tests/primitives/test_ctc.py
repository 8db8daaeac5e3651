"""Connectionist temporal classification: lengths, impossible labels, the best path, messages."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pullback as pb

ENGINES = ("numpy", "xla")


@pytest.mark.parametrize("engine", ENGINES)
def test_labels_that_no_alignment_gives_cost_infinity_and_have_derivatives_of_zero(engine: str) -> None:
    x = pb.constant(np.ones([2, 2, 3], np.float32))
    loss = pb.nn.ctc_loss([[1, 1], [1, 2]], x, [2, 2], [2, 2])
    (dx,) = pb.gradients(loss, x)
    (ddx,) = pb.gradients(pb.reduce_sum(dx * dx), x)
    values, first, second = pb.Session(engine=engine).run([loss, dx, ddx])
    assert values[0] == np.inf
    assert np.isfinite(values[1])
    assert not first[:, 0].any()
    assert first[:, 1].any()
    assert not second[:, 0].any()
    assert np.isfinite(second).all()


@pytest.mark.parametrize("engine", ENGINES)
def test_what_stands_beyond_the_lengths_is_not_read(engine: str) -> None:
    logits = np.random.default_rng(0).normal(size=(4, 2, 3)).astype(np.float32)
    found = []
    for rest, label in ((0.0, 1), (np.nan, -1)):
        x = pb.constant(np.where(np.arange(4)[:, None, None] < np.array([3, 2])[:, None], logits, np.float32(rest)))
        loss = pb.nn.ctc_loss([[1, 2], [2, label]], x, [2, 1], [3, 2])
        found.append(pb.Session(engine=engine).run([loss, *pb.gradients(loss, x)]))
    for a, b in zip(*found, strict=True):
        np.testing.assert_array_equal(a, b)
    assert not found[0][1][2:, 1].any()


def test_long_sequences_of_small_probabilities_do_not_underflow() -> None:
    x = pb.constant(np.where(np.arange(3) == 0, 0, -60.0 * np.ones([200, 1, 3])).astype(np.float32))
    loss = pb.nn.ctc_loss(np.tile([[1, 2]], 50), x, [100], [200])
    value, dx = pb.Session(engine="numpy").run([loss, *pb.gradients(loss, x)])
    assert 5000 < value[0] < 6000
    assert np.isfinite(dx).all()


def test_the_best_path_keeps_repetitions_unless_they_are_merged() -> None:
    path = np.array([[0, 0, 2, 0], [2, 1, 1, 0]])
    logits = np.eye(3, dtype=np.float32)[path].transpose(1, 0, 2)
    expected: dict[bool, Any] = {True: [[0, 0], [1, 0]], False: [[0, 0, 0], [1, 1, 0]]}
    for merged, rows in expected.items():
        (labels,), cost = pb.nn.ctc_greedy_decoder(logits, [4, 4], merge_repeated=merged)
        dense, sums = pb.Session(engine="numpy").run([pb.sparse.to_dense(labels), cost])
        assert dense.tolist() == rows
        assert sums.tolist() == [[-4.0], [-4.0]]


def test_messages() -> None:
    x = pb.zeros([2, 1, 3])
    with pytest.raises(ValueError, match=r"^ctc_loss: blank_index 3 is not among the 3 classes of float32\[2,1,3\]$"):
        pb.nn.ctc_loss([[1]], x, [1], [2], blank_index=3)
    sparse = pb.sparse.SparseTensor([[0, 0]], [1], [1, 1])
    with pytest.raises(ValueError, match=r"^ctc_loss: with sparse labels blank_index must be given; -1 is the last"):
        pb.nn.ctc_loss(sparse, x, None, [2])
    with pytest.raises(TypeError, match=r"^ctc_loss: logits must be floats of rank 3, not int32\[1\]$"):
        pb.nn.ctc_loss([[1]], [1], [1], [2])


def test_dense_labels_need_their_lengths() -> None:
    with pytest.raises(ValueError, match=r"^ctc_loss: label_length must be given, unless labels is a SparseTensor$"):
        pb.nn.ctc_loss([[1]], pb.zeros([2, 1, 3]), None, [2])


def test_equal_neighbours_are_one_label() -> None:
    labels, lengths = pb.nn.collapse_repeated([[4, 4, 1, 1], [2, 2, 2, 0], [5, 6, 6, 5]], [4, 0, 3])
    got = pb.Session(engine="numpy").run([labels, lengths])
    assert [x.tolist() for x in got] == [[[4, 1], [0, 0], [5, 6]], [2, 0, 2]]
