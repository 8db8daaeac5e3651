"""Shapes that only a run knows: what is put together of several operations gives what it gives of known shapes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pullback as pb
import pullback.compat.v1 as tf

FLOATS = np.random.default_rng(0).uniform(0.1, 0.9, (5, 3, 3)).astype(np.float32)
X, Y, OTHERS = FLOATS[0, :2], FLOATS[1, :2], FLOATS[2]
ROW, COLUMN, NUMBERS = FLOATS[3, 0, :2], FLOATS[3, :2, :1], np.array([0, 2], np.int32)
METRICS: dict[str, Callable[..., Any]] = {
    "mean": lambda z, y, w: tf.metrics.mean(y, w),
    "accuracy": lambda z, y, w: tf.metrics.accuracy(tf.round(z), tf.round(y), w),
    "squared": tf.metrics.mean_squared_error,
    "relative": lambda z, y, w: tf.metrics.mean_relative_error(z, y, y, w),
    "cosine": lambda z, y, w: tf.metrics.mean_cosine_distance(z, y, 1, w),
    "below": lambda z, y, w: tf.metrics.percentage_below(y, 0.5, w),
    "tensor": lambda z, y, w: tf.metrics.mean(tf.reduce_sum(z * y, -1), w),
    "auc": lambda z, y, w: tf.metrics.auc(tf.round(z), y, w, num_thresholds=10),
    "precision": lambda z, y, w: tf.metrics.precision(tf.round(z), tf.round(y), w),
}
LOSSES: dict[str, Callable[..., Any]] = {
    "squared": pb.losses.mean_squared_error,
    "hinge": pb.losses.hinge_loss,
    "huber": pb.losses.huber_loss,
    "cosine": lambda z, y, w, reduction: pb.losses.cosine_distance(z, y, 1, w, reduction=reduction),
    "softmax": lambda z, y, w, reduction: pb.losses.softmax_cross_entropy(z, y, w, 0.1, reduction=reduction),
}
WEIGHTS = {
    "scalar": np.float32(0.5),
    "one": FLOATS[4, :1, :1],
    "vector": ROW,
    "column": COLUMN,
    "row": FLOATS[4, :1],
    "all": FLOATS[4, :2],
    "long": FLOATS[4, 0],
    "more": FLOATS[4, :2, :, None],
}


def outcomes(build: Callable[..., Any], arrays: list[Any], engine: str = "numpy") -> list[Any]:
    """Of known shapes, of unknown lengths, of unknown ranks: what is built computes; None where it is refused."""
    found = []
    for shape_of in (np.shape, lambda a: [None] * np.ndim(a), lambda a: None):
        with pb.Graph().as_default(), pb.Session(engine=engine) as session:
            xs = [pb.placeholder(a.dtype, shape_of(a)) for a in arrays]
            try:
                y = build(*xs)
                session.run(pb.local_variables_initializer())
                found.append(session.run(y, dict(zip(xs, arrays, strict=True))))
            except (pb.errors.InvalidArgumentError, ValueError):
                found.append(None)
    return found


def assert_same(found: list[Any]) -> None:
    """The three are equal, or all refused."""
    known, *others = found
    for other in others:
        assert (known is None) == (other is None), found
        if known is not None:
            assert np.shape(known) == np.shape(other)
            np.testing.assert_allclose(other, known, rtol=1e-6)


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("reduction", pb.losses.Reduction.all())
def test_weighted_losses(name: str, weights: str, reduction: str) -> None:
    def loss(z: Any, y: Any, w: Any) -> Any:
        return LOSSES[name](z, y, w, reduction=reduction)

    assert_same(outcomes(loss, [X, Y, WEIGHTS[weights]]))


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("name", METRICS)
def test_weighted_metrics(name: str, weights: str) -> None:
    assert_same(outcomes(lambda z, y, w: METRICS[name](z, y, w)[1], [X, Y, WEIGHTS[weights]]))


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("at_k", [tf.metrics.precision_at_k, tf.metrics.recall_at_k])
@pytest.mark.parametrize("labels", [np.array([0, 2]), np.array([[0], [2]]), np.array([[0, 1], [2, 2]])])
def test_metrics_of_the_highest_scores(at_k: Callable[..., Any], labels: Any, weights: str) -> None:
    assert_same(outcomes(lambda z, y, w: at_k(z, y, 2, weights=w)[1], [labels, Y, WEIGHTS[weights]]))


@pytest.mark.parametrize("weights", ["scalar", "vector", "column", "all", "long"])
@pytest.mark.parametrize("labels", [NUMBERS, NUMBERS[:, None]])
@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_losses_of_numbers_of_classes(labels: Any, weights: str, engine: str) -> None:
    def loss(z: Any, y: Any, w: Any) -> Any:
        return pb.losses.sparse_softmax_cross_entropy(z, y, w, reduction=pb.losses.Reduction.NONE)

    assert_same(outcomes(loss, [labels, Y, WEIGHTS[weights]], engine))


@pytest.mark.parametrize(
    ("labels", "predictions"), [((2,), (2, 1)), ((2, 1), (2,)), ((2, 1), (2, 1)), ((), ()), ((2, 3), (2, 3))]
)
def test_labels_and_predictions_of_another_rank(labels: tuple[int, ...], predictions: tuple[int, ...]) -> None:
    def mean(z: Any, y: Any) -> Any:
        return tf.metrics.mean_squared_error(z, y)[1]

    assert_same(outcomes(mean, [np.resize(X, labels), np.resize(Y, predictions)]))


@pytest.mark.parametrize("engine", ["numpy", "xla"])
@pytest.mark.parametrize(
    ("build", "arrays"),
    [
        pytest.param(lambda i: pb.unravel_index(i, [3, 4]), [np.array([5, 11, 0])], id="positions"),
        pytest.param(lambda i: pb.unravel_index(i, [3, 4]), [np.array(7)], id="position"),
        pytest.param(
            lambda z, y: pb.math.confusion_matrix(z, y, 3), [NUMBERS, NUMBERS[::-1, None]], id="confusion, column"
        ),
        pytest.param(lambda z, y: pb.math.confusion_matrix(z, y, 3), [NUMBERS, NUMBERS], id="confusion"),
        pytest.param(pb.broadcast_dynamic_shape, [np.array([2, 1]), np.array([3])], id="broadcast"),
        pytest.param(pb.broadcast_dynamic_shape, [np.array([2, 2]), np.array([3])], id="broadcast, refused"),
    ],
)
def test_positions_and_counts(build: Callable[..., Any], arrays: list[Any], engine: str) -> None:
    assert_same(outcomes(build, arrays, engine))


def test_what_a_run_says_of_weights_that_do_not_fit() -> None:
    y, w = pb.placeholder(pb.float32), pb.placeholder(pb.float32)
    loss = pb.losses.mean_squared_error(y, y, w)
    said = "losses: weights do not broadcast to the values; the shapes of both are"
    with pb.Session(engine="numpy") as session, pytest.raises(pb.errors.InvalidArgumentError, match=said):
        session.run(loss, {y: X, w: OTHERS[0]})
