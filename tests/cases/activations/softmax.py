"""Rows: softmax, its logarithm, cross entropies of logits."""

from __future__ import annotations

import numpy as np

import pullback as pb

from ..case import Case, normal


def _softmax(x: np.ndarray, axis: int = -1) -> np.ndarray:
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


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
    Case("softmax_third_order", pb.nn.softmax, [normal(2, 3)], third_order=True),
]
