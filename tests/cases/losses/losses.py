"""Rows: biases, losses to train with, regularisers."""

from __future__ import annotations

from typing import Any

import numpy as np

import pullback as pb

from ..case import Case, distinct, normal, positive
from ..reduction import X

R = pb.losses.Reduction


def _of(loss: Any, **options: Any) -> Any:
    return lambda y, z, *weights: loss(z, y, *weights, **options)


def _huber(e: np.ndarray, delta: float) -> np.ndarray:
    return np.where(abs(e) <= delta, e**2 / 2, delta * (abs(e) - delta / 2))


# Classes, and what is expected of the true and the sampled ones; class 2 is the true one of the second row.
SAMPLE = (np.array([5, 0, 2]), np.array([[0.5], [0.25]]), np.array([0.3, 0.6, 0.2]))
TWO_EACH = (np.array([5, 0, 2]), np.array([[0.5, 0.1], [0.25, 0.2]]), np.array([0.3, 0.6, 0.2]))


def _sampled_softmax(w: np.ndarray[Any, Any], b: np.ndarray[Any, Any], x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    sample, true_expected, expected = SAMPLE
    losses = []
    for row, true, often in zip(x, [1, 2], true_expected[:, 0], strict=True):
        others = [k for k in range(3) if sample[k] != true]
        logits = [row @ w[true] + b[true] - np.log(often)]
        logits += [row @ w[sample[k]] + b[sample[k]] - np.log(expected[k]) for k in others]
        losses.append(np.log(np.sum(np.exp(logits))) - logits[0])
    return np.array(losses)


def _softmax(x: np.ndarray, axis: int = -1) -> np.ndarray:
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def _pairwise(y: np.ndarray, z: np.ndarray) -> Any:
    e = z - y
    apart = (e[:, :, None] - e[:, None, :]) ** 2
    return apart.sum() / (e.shape[1] * (e.shape[1] - 1))


def _labels(*shape: int, seed: int = 1, axis: int = -1) -> np.ndarray:
    p = positive(*shape, seed=seed)
    return p / p.sum(axis, keepdims=True)


CASES = [
    Case(
        "mean_squared_error",
        _of(pb.losses.mean_squared_error),
        [normal(3, 2), normal(3, 2, seed=1)],
        expected=lambda y, z: ((y - z) ** 2).mean(),
    ),
    Case(
        "mean_pairwise_squared_error",
        _of(pb.losses.mean_pairwise_squared_error),
        [normal(3, 4), normal(3, 4, seed=1)],
        expected=_pairwise,
    ),
    Case(
        "mean_squared_error_weighted",
        _of(pb.losses.mean_squared_error),
        [normal(3, 2), normal(3, 2, seed=1), np.array([[1.0], [2.0], [0.0]])],
        expected=lambda y, z, w: (w * (y - z) ** 2).sum() / 4,
        wrt=[0, 1],
    ),
    Case(
        "mean_squared_error_none",
        _of(pb.losses.mean_squared_error, reduction=R.NONE),
        [normal(3, 2), normal(3, 2, seed=1), positive(1, 2)],
        expected=lambda y, z, w: w * (y - z) ** 2,
    ),
    Case(
        "mean_squared_error_sum",
        _of(pb.losses.mean_squared_error, reduction=R.SUM),
        [normal(3, 2), normal(3, 2, seed=1)],
    ),
    Case(
        "mean_squared_error_mean",
        _of(pb.losses.mean_squared_error, reduction=R.MEAN),
        [normal(3, 2), normal(3, 2, seed=1), positive(3, 1)],
        expected=lambda y, z, w: (w * (y - z) ** 2).sum() / (w.sum() * 2),
    ),
    Case(
        "mean_squared_error_over_batch_size",
        _of(pb.losses.mean_squared_error, reduction=R.SUM_OVER_BATCH_SIZE),
        [normal(3, 2), normal(3, 2, seed=1), np.array(2.0)],
        expected=lambda y, z, w: 2 * ((y - z) ** 2).mean(),
    ),
    Case(
        "mean_squared_error_of_nothing",
        _of(pb.losses.mean_squared_error),
        [normal(0, 2), normal(0, 2)],
        expected=np.array(0.0),
    ),
    Case(
        "absolute_difference",
        _of(pb.losses.absolute_difference),
        [distinct(3, 2), np.zeros((3, 2))],
        expected=lambda y, z: abs(y - z).mean(),
    ),
    Case(
        "huber_loss",
        _of(pb.losses.huber_loss, delta=0.28),
        [distinct(3, 4), np.zeros((3, 4))],
        expected=lambda y, z: _huber(y - z, 0.28).mean(),
    ),
    Case("huber_loss_inside", _of(pb.losses.huber_loss, delta=100.0), [normal(3, 4), normal(3, 4, seed=1)]),
    Case("log_loss", _of(pb.losses.log_loss), [positive(3) / 3, positive(3, seed=1) / 2]),
    Case("hinge_loss", _of(pb.losses.hinge_loss), [2 * distinct(4, 2), np.tile([0.0, 1.0], (4, 1))], wrt=[0]),
    Case(
        "mean_pairwise_squared_error",
        _of(pb.losses.mean_pairwise_squared_error),
        [normal(3, 4), normal(3, 4, seed=1), np.array([[1.0], [2.0], [0.5]])],
        wrt=[0, 1],
    ),
    Case("cosine_distance", _of(pb.losses.cosine_distance, axis=1), [normal(3, 2), normal(3, 2, seed=1)]),
    Case(
        "sigmoid_cross_entropy",
        _of(pb.losses.sigmoid_cross_entropy, label_smoothing=0.1),
        [normal(3, 2), positive(3, 2) / 2],
    ),
    Case(
        "softmax_cross_entropy",
        _of(pb.losses.softmax_cross_entropy),
        [normal(3, 2), np.array([[0, 1], [1, 0], [1, 0]])],
    ),
    Case(
        "softmax_cross_entropy_smoothed",
        _of(pb.losses.softmax_cross_entropy, label_smoothing=0.1),
        [normal(3, 2), np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 0.0]])],
        wrt=[0],
        not_erased="the number of classes must be known",
    ),
    Case(
        "sparse_softmax_cross_entropy",
        _of(pb.losses.sparse_softmax_cross_entropy),
        [normal(3, 2), np.array([0, 1, 1])],
    ),
    Case("l1", lambda w: pb.regularizers.l1(0.5)(w), [distinct(2, 3)], expected=lambda w: abs(w).sum() / 2),
    Case("l2", lambda w: pb.regularizers.l2(0.5)(w), [normal(2, 3)], expected=lambda w: (w**2).sum() / 2),
    Case("l1_l2", lambda w: pb.regularizers.l1_l2(0.1, 0.2)(w), [distinct(2, 3)]),
    Case(
        "sampled_softmax_loss",
        lambda w, b, x: pb.nn.sampled_softmax_loss(w, b, [[1], [2]], x, 3, 6, sampled_values=SAMPLE),
        [normal(6, 4), normal(6, seed=1), normal(2, 4, seed=2)],
        other_at_hard_points={"onnxruntime": "infinities of products meet in another order"},
        expected=lambda w, b, x: _sampled_softmax(w, b, x),
        third_order=True,
    ),
    Case(
        "nce_loss",
        lambda w, b, x: pb.nn.nce_loss(w, b, [[1, 0], [2, 4]], x, 3, 6, num_true=2, sampled_values=TWO_EACH),
        [normal(6, 4), normal(6, seed=1), normal(2, 4, seed=2)],
        third_order=True,
    ),
    Case(
        "candidates_uniform",
        lambda: pb.random.uniform_candidate_sampler([[0], [3]], 1, 4, True, 4, seed=1)[1:],
        not_exact="drawn at random",
    ),
    Case(
        "candidates_log_uniform",
        lambda: pb.random.log_uniform_candidate_sampler([[0], [3]], 1, 4, False, 9, seed=1),
        not_exact="drawn at random",
    ),
    Case(
        "compute_weighted_loss",
        pb.losses.compute_weighted_loss,
        [normal(3, 2), positive(3, 1)],
        lambda x, w: (x * w).sum() / 6,
    ),
    Case("l2_loss", pb.nn.l2_loss, [X], expected=lambda x: np.sum(x * x) / 2),
    Case("l2_loss_scalar", pb.nn.l2_loss, [np.float64(3.0)], expected=4.5),
    Case(
        "sparse_softmax_cross_entropy",
        lambda x, labels: pb.nn.sparse_softmax_cross_entropy_with_logits(labels, x),
        [normal(3, 4), np.array([0, 3, 1])],
        expected=lambda x, labels: -np.log(_softmax(x))[np.arange(3), labels],
    ),
    Case(
        "sparse_softmax_cross_entropy_many_axes",
        lambda x, labels: pb.nn.sparse_softmax_cross_entropy_with_logits(labels, x),
        [normal(2, 3, 4), np.array([[0, 3, 1], [2, 2, 2]], np.int8)],
    ),
    Case(
        "sparse_softmax_cross_entropy_one_row",
        lambda x, label: pb.nn.sparse_softmax_cross_entropy_with_logits(label, x),
        [normal(4), np.array(2)],
    ),
    Case(
        "sparse_softmax_cross_entropy_no_rows",
        lambda x, labels: pb.nn.sparse_softmax_cross_entropy_with_logits(labels, x),
        [normal(0, 4), np.zeros(0, int)],
    ),
    Case(
        "sparse_softmax_cross_entropy_not_a_class",
        lambda x, labels: pb.nn.sparse_softmax_cross_entropy_with_logits(labels, x),
        [np.zeros((3, 2)), np.array([-1, 0, 2])],
        expected=np.array([np.nan, np.log(2), np.nan]),
        not_differentiable="the derivatives are NaN too",
    ),
    Case(
        "sparse_softmax_cross_entropy_bfloat16",
        lambda x, labels: pb.nn.sparse_softmax_cross_entropy_with_logits(labels, pb.cast(x, pb.bfloat16)),
        [normal(3, 4), np.array([0, 3, 1])],
        not_differentiable="differences are lost in bfloat16",
        float32_tolerance=1e-2,
    ),
    Case(
        "softmax_cross_entropy",
        lambda x, labels: pb.nn.softmax_cross_entropy_with_logits(labels=labels, logits=x),
        [normal(3, 4), _labels(3, 4)],
        expected=lambda x, labels: -(labels * np.log(_softmax(x))).sum(-1),
    ),
    Case(
        "softmax_cross_entropy_axis",
        lambda x, labels: pb.nn.softmax_cross_entropy_with_logits(labels=labels, logits=x, axis=1),
        [normal(2, 3, 2), _labels(2, 3, 2, axis=1)],
    ),
    Case(
        "softmax_cross_entropy_labels_of_any_sum",
        lambda x, labels: pb.nn.softmax_cross_entropy_with_logits(labels=labels, logits=x),
        [normal(3, 4), normal(3, 4, seed=1)],
    ),
    Case(
        "softmax_cross_entropy_masked",
        lambda x, labels: pb.nn.softmax_cross_entropy_with_logits(labels=labels, logits=x),
        [np.array([[0.0, 0.0, -np.inf]]), np.array([[0.0, 1.0, 0.0]])],
        expected=np.array([np.log(2)]),
        not_differentiable="one logit is infinite",
    ),
    Case(
        "softmax_cross_entropy_no_rows",
        lambda x, labels: pb.nn.softmax_cross_entropy_with_logits(labels=labels, logits=x),
        [normal(0, 4), normal(0, 4)],
    ),
    Case(
        "softmax_cross_entropy_with_itself",
        lambda x: pb.nn.softmax_cross_entropy_with_logits(labels=x, logits=x),
        [normal(3, 4)],
    ),
    Case(
        "sigmoid_cross_entropy",
        lambda x, z: pb.nn.sigmoid_cross_entropy_with_logits(labels=z, logits=x),
        [normal(3, 2), positive(3, 2) / 2],
        expected=lambda x, z: np.log1p(np.exp(x)) - x * z,
    ),
    Case(
        "sigmoid_cross_entropy_large",
        lambda x, z: pb.nn.sigmoid_cross_entropy_with_logits(labels=z, logits=x),
        [np.array([-1000.0, 1000.0]), np.array([1.0, 1.0])],
        expected=np.array([1000.0, 0.0]),
    ),
    Case(
        "weighted_cross_entropy",
        lambda x, z, w: pb.nn.weighted_cross_entropy_with_logits(labels=z, logits=x, pos_weight=w),
        [normal(3, 2), positive(3, 2) / 2, positive(2)],
        other_at_hard_points={"onnx": "a sign is written together with the one inside softplus"},
    ),
    Case(
        "log_poisson_loss",
        lambda x, z: pb.nn.log_poisson_loss(z, x),
        [normal(3, 2), positive(3, 2)],
        expected=lambda x, z: np.exp(x) - z * x,
    ),
    Case(
        "log_poisson_loss_full",
        lambda x, z: pb.nn.log_poisson_loss(z, x, compute_full_loss=True),
        [normal(4), np.array([0.0, 0.5, 1.5, 3.0])],
        wrt=[0],
    ),
    Case(
        "log_poisson_loss_of_negative_counts",
        lambda x, z: pb.nn.log_poisson_loss(z, x, compute_full_loss=True),
        [normal(2), np.array([-1.0, 0.0])],
        expected=lambda x, z: np.array([np.nan, np.exp(x[1])]),
        wrt=[0],
        not_differentiable="it is not a number",
    ),
    Case(
        "softmax_cross_entropy_third_order",
        lambda x, y: pb.nn.softmax_cross_entropy_with_logits(labels=y, logits=x),
        [normal(2, 3), _labels(2, 3)],
        third_order=True,
    ),
]
