"""Recurrence and CTC by Keras' backend."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pullback as pb
import pullback.compat.v1 as tf

K = tf.keras.backend
RNG = np.random.RandomState(0)
X = RNG.randn(2, 5, 3).astype(np.float32)
MASK = np.array([[1, 1, 0, 1, 1], [0, 1, 1, 0, 0]], bool)


def value(x: Any, engine: str = "numpy") -> Any:
    return pb.Session(engine=engine).run(x)


def stepped(x: Any, states: list[Any]) -> tuple[Any, list[Any]]:
    return 2.0 * x + states[0], [states[0] * states[2] + x, states[1] + 1.0]


def expected(order: list[int], mask: Any, zero: bool) -> tuple[Any, Any]:
    state, count, output, outputs = np.zeros([2, 3]), np.zeros([2, 1]), np.zeros([2, 3]), []
    for t in order:
        alive = np.ones([2, 1], bool) if mask is None else mask[:, t : t + 1]
        made = 2.0 * X[:, t] + state
        output = np.where(alive, made, 0.0 if zero else output)
        state, count = np.where(alive, state * 0.5 + X[:, t], state), np.where(alive, count + 1.0, count)
        outputs.append(output)
    return np.stack(outputs, 1), [state, count]


@pytest.mark.parametrize("engine", ["numpy", "xla"])
@pytest.mark.parametrize(("mask", "zero"), [(None, False), (MASK, False), (MASK, True)])
@pytest.mark.parametrize("backwards", [False, True])
def test_steps_follow_each_other(backwards: bool, mask: Any, zero: bool, engine: str) -> None:
    start = [tf.zeros([2, 3]), tf.zeros([2, 1])]
    last, outputs, states = K.rnn(
        stepped,
        tf.constant(X),
        start,
        go_backwards=backwards,
        mask=mask,
        constants=[tf.constant(0.5)],
        zero_output_for_mask=zero,
    )
    order = list(range(5))[::-1] if backwards else list(range(5))
    wanted, after = expected(order, mask, zero)
    found = value([last, outputs, *states], engine)
    for a, b in zip(found, [wanted[:, -1], wanted, *after], strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


def test_inputs_and_outputs_are_structures_and_time_may_be_first() -> None:
    rows = tf.constant(X.transpose(1, 0, 2))

    def step(x: Any, states: list[Any]) -> Any:
        return {"sum": x[0] + x[1], "first": x[0]}, [states[0] + x[1]]

    last, outputs, states = K.rnn(step, (rows, 2.0 * rows), [tf.zeros([2, 3])], time_major=True)
    found = value([last["sum"], outputs["first"], states[0]])
    for a, b in zip(found, [3.0 * X[:, -1], X.transpose(1, 0, 2), 2.0 * X.sum(1)], strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5)


def test_steps_have_derivatives() -> None:
    x = tf.constant(X)
    last, _, _ = K.rnn(lambda y, s: (y * s[0], [s[0] + y]), x, [tf.ones([2, 3])])
    slope = value(tf.gradients(last, x)[0])
    np.testing.assert_allclose(slope[:, -1], 1.0 + X[:, :-1].sum(1), rtol=1e-5)
    np.testing.assert_allclose(slope[:, 0], X[:, -1], rtol=1e-5)


def chances() -> Any:
    p = RNG.rand(3, 6, 4).astype(np.float32)
    return p / p.sum(-1, keepdims=True)


def test_the_cost_of_labels_is_what_all_their_paths_lack_of_certainty() -> None:
    p = np.array([[[0.6, 0.1, 0.3], [0.2, 0.3, 0.5]], [[0.1, 0.7, 0.2], [0.5, 0.2, 0.3]]], np.float32)
    cost = value(K.ctc_batch_cost(tf.constant([[0.0, 9.0], [1.0, 0.0]]), p, [[2], [2]], [[1], [2]]))
    paths = [0.6 * 0.2 + 0.6 * 0.5 + 0.3 * 0.2, 0.7 * 0.5]
    np.testing.assert_allclose(cost, -np.log(paths)[:, None], rtol=1e-5)


def test_labels_are_those_of_the_first_places() -> None:
    labels = value(K.ctc_label_dense_to_sparse([[3, 4, 5], [6, 7, 8]], [2, 1]))
    assert (labels.indices.tolist(), labels.values.tolist()) == ([[0, 0], [0, 1], [1, 0]], [3, 4, 6])


def test_paths_are_read_off_probabilities() -> None:
    p = np.full([2, 4, 3], 0.1, np.float32)
    for row, path in zip(p, [[0, 0, 2, 0], [1, 2, 2, 0]], strict=True):
        row[range(4), path] = 0.8
    (best,), score = value(K.ctc_decode(tf.constant(p), [4, 3]))
    assert best.tolist() == [[0, 0, -1, -1], [1, -1, -1, -1]]
    np.testing.assert_allclose(score[:, 0], [-4 * np.log(0.8), -3 * np.log(0.8)], rtol=1e-5)
    several, logs = value(K.ctc_decode(tf.constant(chances()), [6, 6, 5], greedy=False, beam_width=8, top_paths=2))
    assert ([x.shape for x in several], logs.shape) == ([(3, 6)] * 2, (3, 2))
    assert (logs[:, 0] >= logs[:, 1]).all()
