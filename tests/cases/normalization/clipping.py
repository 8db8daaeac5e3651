"""Rows: clipping by norm."""

from __future__ import annotations

from typing import Any

import numpy as np

import pullback as pb

from ..case import Case, normal

X = normal(3, 4)


def by_norm(x: Any, limit: float) -> Any:
    """The closed form."""
    return x * limit / max(np.sqrt((x * x).sum()), limit)


def slices(x: Any) -> pb.IndexedSlices:
    """Rows of which two are the same."""
    return pb.IndexedSlices(x, pb.constant([1, 0, 1]), pb.constant([3, 4]), pb.TensorShape([3, 4]))


def dense(x: Any) -> Any:
    """The array that the slices stand for."""
    total = np.zeros_like(x)
    np.add.at(total, [1, 0, 1], x)
    return total


CASES = [
    Case("norm_above", lambda x: pb.clip_by_norm(x, 1.0), [X], lambda x: by_norm(x, 1.0)),
    Case("norm_below", lambda x: pb.clip_by_norm(x, 100.0), [X], lambda x: x),
    Case("norm_scalar", lambda x: pb.clip_by_norm(x, 1.0), [np.array(3.0)], np.array(1.0)),
    Case("norm_empty", lambda x: pb.clip_by_norm(x, 1.0), [np.zeros((0, 2))], np.zeros((0, 2))),
    Case("norm_zero", lambda x: pb.clip_by_norm(x, 1.0), [np.zeros(3)], np.zeros(3)),
    Case(
        "norm_axes",
        lambda x: pb.clip_by_norm(x, 1.0, axes=[1]),
        [X],
        lambda x: x / np.maximum(np.sqrt((x * x).sum(1, keepdims=True)), 1.0),
    ),
    Case("norm_limit", lambda x, c: pb.clip_by_norm(x, c), [X, np.array(0.5)], lambda x, c: by_norm(x, 0.5)),
    Case(
        "norm_of_slices",
        lambda x: pb.convert_to_tensor(pb.clip_by_norm(slices(x), 1.0)),
        [X],
        lambda x: by_norm(dense(x), 1.0),
    ),
    Case(
        "average_norm",
        lambda x: pb.clip_by_average_norm(x, 0.1),
        [X],
        lambda x: x * 0.1 / max(np.sqrt((x * x).sum()) / x.size, 0.1),
    ),
    Case(
        "global_norm",
        lambda x, y: pb.global_norm([x, None, slices(y)]),
        [normal(2), X],
        lambda x, y: np.sqrt((x * x).sum() + (dense(y) ** 2).sum()),
    ),
    Case(
        "by_global_norm",
        lambda x, y: pb.clip_by_global_norm([x, y], 1.0)[0],
        [normal(2), X],
        lambda x, y: [v / np.sqrt((x * x).sum() + (y * y).sum()) for v in (x, y)],
    ),
    Case("by_global_norm_zero", lambda x: pb.clip_by_global_norm([x], 1.0)[0], [np.zeros(3)], np.zeros(3)),
    Case(
        "by_global_norm_given",
        lambda x: pb.clip_by_global_norm([x], 1.0, use_norm=2.0)[0],
        [X],
        lambda x: x / 2,
    ),
    Case("norm_third_order", lambda x: pb.clip_by_norm(x, 1.0), [X], third_order=True),
]
