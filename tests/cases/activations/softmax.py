"""Rows: softmax, its logarithm, cross entropies of logits."""

from __future__ import annotations

import numpy as np

import pullback as pb

from ..case import Case, normal, positive


def _softmax(x: np.ndarray, axis: int = -1) -> np.ndarray:
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def _labels(*shape: int, seed: int = 1, axis: int = -1) -> np.ndarray:
    p = positive(*shape, seed=seed)
    return p / p.sum(axis, keepdims=True)


CASES = [
    Case("softmax", pb.nn.softmax, [normal(3, 4)], expected=_softmax),
    Case("softmax_vector", pb.nn.softmax, [normal(4)], expected=_softmax),
    Case("softmax_axis", lambda x: pb.nn.softmax(x, axis=1), [normal(2, 3, 4)], expected=lambda x: _softmax(x, 1)),
    Case("softmax_large", pb.nn.softmax, [1000 * normal(2, 3)], not_differentiable="the results are 0 and 1"),
    Case("softmax_no_rows", pb.nn.softmax, [normal(0, 3)]),
    Case("softmax_no_classes", pb.nn.softmax, [normal(2, 0)]),
    Case(
        "softmax_float16",
        lambda x: pb.nn.softmax(pb.cast(x, pb.float16)),
        [normal(3, 4)],
        not_differentiable="differences are lost in float16",
        float32_tolerance=1e-3,
    ),
    Case("log_softmax", pb.nn.log_softmax, [normal(3, 4)], expected=lambda x: np.log(_softmax(x))),
    Case("log_softmax_axis", lambda x: pb.nn.log_softmax(x, 0), [normal(3, 4)]),
    Case("log_softmax_no_rows", pb.nn.log_softmax, [normal(0, 3)]),
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
    Case("softmax_third_order", pb.nn.softmax, [normal(2, 3)], third_order=True),
    Case(
        "softmax_cross_entropy_third_order",
        lambda x, y: pb.nn.softmax_cross_entropy_with_logits(labels=y, logits=x),
        [normal(2, 3), _labels(2, 3)],
        third_order=True,
    ),
]
