"""Rows: grey-scale dilation and erosion."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

import pullback as pb

from ..case import Case, distinct


def _dilated(x: np.ndarray[Any, Any], f: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """By the definition, strides 1 and no padding."""
    kh, kw, _ = f.shape
    n, h, w, c = x.shape
    y = np.full((n, h - kh + 1, w - kw + 1, c), -np.inf)
    for i, j in product(range(kh), range(kw)):
        y = np.maximum(y, x[:, i : i + y.shape[1], j : j + y.shape[2]] + f[i, j])
    return y


IMAGE, FILTER = distinct(2, 5, 6, 2), distinct(2, 3, 2, seed=1) * 1.37

CASES = [
    Case("dilation", lambda x, f: pb.nn.dilation2d(x, f, 1, "VALID"), [IMAGE, FILTER], expected=_dilated),
    Case("dilation_same_strides", lambda x, f: pb.nn.dilation2d(x, f, [1, 2, 2, 1], "SAME"), [IMAGE, FILTER]),
    Case("dilation_holes", lambda x, f: pb.nn.dilation2d(x, f, 1, "SAME", "NHWC", [1, 2, 2, 1]), [IMAGE, FILTER]),
    Case("dilation_no_images", lambda x, f: pb.nn.dilation2d(x, f, 1, "SAME"), [np.zeros((0, 4, 4, 2)), FILTER]),
    Case(
        "dilation_integers",
        lambda x, f: pb.nn.dilation2d(x, f, 1, "SAME"),
        [np.arange(-9, 0, dtype=np.int32).reshape(1, 3, 3, 1), np.zeros((2, 2, 1), np.int32)],
        expected=np.array([-5, -4, -4, -2, -1, -1, -2, -1, -1]).reshape(1, 3, 3, 1),
    ),
    Case(
        "erosion",
        lambda x, f: pb.nn.erosion2d(x, f, 1, "VALID"),
        [IMAGE, FILTER],
        expected=lambda x, f: -_dilated(-x, f[::-1, ::-1]),
    ),
    Case(
        "dilation_squared", lambda x, f: pb.square(pb.nn.dilation2d(x, f, 2, "SAME")), [IMAGE, FILTER], third_order=True
    ),
]
