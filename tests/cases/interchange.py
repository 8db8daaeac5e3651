"""Rows of what models of other libraries need: places of maxima, boxes by class."""

from __future__ import annotations

from typing import Any

import numpy as np

import pullback as pb
from pullback.primitives.image.boxes_by_class import NonMaxSuppressionByClass
from pullback.primitives.pooling.max_pool import MaxPool
from pullback.primitives.pooling.places import MaxPoolPlaces

from .case import Case, distinct


def _places(window: tuple[Any, ...], column_major: bool) -> Any:
    return lambda x: MaxPoolPlaces(*window, column_major)(x, MaxPool(*window)(x))


_BOXES = np.array([[[0.0, 0.0, 1.0, 1.0], [0.0, 0.1, 1.0, 1.1], [0.0, 2.0, 1.0, 3.0]]])
_SCORES = np.array([[[0.9, 0.75, 0.6], [0.1, 0.7, 0.8]]])


def _kept(boxes: Any, scores: Any) -> Any:
    limits = [pb.constant(2, pb.int64), pb.constant(0.5, pb.float32), pb.constant(0.2, pb.float32)]
    return NonMaxSuppressionByClass()(boxes, scores, *limits)


CASES = [
    Case(
        "max_pool_places",
        _places(((2, 2), (2, 2), "VALID", "NCHW", ()), False),
        [distinct(1, 2, 2, 4)],
        not_differentiable="the result is a number of places",
    ),
    Case(
        "max_pool_places_by_column",
        _places(((3, 2), (1, 2), ((1, 1), (0, 1)), "NCHW", (1, 2)), True),
        [distinct(2, 1, 4, 5)],
        not_differentiable="the result is a number of places",
    ),
    Case(
        "max_pool_places_of_channels_last",
        _places(((2,), (1,), "SAME", "NWC", ()), False),
        [distinct(2, 3, 2)],
        not_differentiable="the result is a number of places",
    ),
    Case(
        "non_max_suppression_by_class",
        _kept,
        [_BOXES, _SCORES],
        expected=np.array([[0, 0, 0], [0, 0, 2], [0, 1, 2], [0, 1, 1]]),
        not_differentiable="the result is numbers of boxes",
        not_on_xla="the number of results depends on values",
    ),
]
