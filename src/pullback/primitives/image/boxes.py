"""Non-maximum suppression: of many boxes of an image that overlap, those to keep."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from ...core.contexts import in_graph_of_inputs
from ...core.dtypes import FLOATING, INTEGER, int32
from ...core.operation import Tensor
from ...core.primitive import Primitive, no_gradient
from ...core.shape import TensorShape
from ...core.types import TensorType
from ...core.typing import TensorLike
from ..base.broadcasting import operands
from ..reduction.reduce import take_numbers

Array = np.ndarray[Any, Any]


@in_graph_of_inputs
def non_max_suppression(
    boxes: TensorLike,
    scores: TensorLike,
    max_output_size: TensorLike,
    iou_threshold: float = 0.5,
    score_threshold: float = float("-inf"),
    name: str | None = None,
) -> Tensor:
    """The indices of the boxes to keep, best first: each that overlaps no better one by more than `iou_threshold`.

    The overlap is the area that two boxes share, divided by what they cover together. On XLA boxes and scores must be
    fed or constant, since the number of results depends on them. Not differentiable.

    Shapes: `boxes` [n, 4], rows y1, x1, y2, x2 of two opposite corners; `scores` [n]; the result has at most
    `max_output_size` elements. Dtypes: any float, the same for both; the result is int32.

    Raises:
        ValueError: the shapes do not fit, or `iou_threshold` is not in [0, 1].

    >>> import pullback as pb
    >>> boxes = [[0.0, 0.0, 1.0, 1.0], [0.0, 0.1, 1.0, 1.0], [0.0, 2.0, 1.0, 3.0]]
    >>> pb.Session().run(pb.image.non_max_suppression(boxes, [0.5, 0.9, 0.7], 3))
    array([1, 2], dtype=int32)
    """
    kept, _ = non_max_suppression_with_scores(
        boxes, scores, max_output_size, iou_threshold, score_threshold, 0.0, name or "non_max_suppression"
    )
    return kept


@in_graph_of_inputs
def non_max_suppression_with_scores(
    boxes: TensorLike,
    scores: TensorLike,
    max_output_size: TensorLike,
    iou_threshold: float = 0.5,
    score_threshold: float = float("-inf"),
    soft_nms_sigma: float = 0.0,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """The indices of the boxes to keep, and their scores; see `non_max_suppression`.

    With a `soft_nms_sigma` s above 0 an overlap o with a better box multiplies the score by `exp(-o * o / (2 * s))`
    instead of `iou_threshold` deciding.

    Shapes: as there. Dtypes: as there.

    Raises:
        ValueError: the shapes do not fit, or a number is out of range.

    Source: Bodla, Singh, Chellappa, Davis, Soft-NMS, arXiv:1704.04503.

    >>> import pullback as pb
    >>> boxes = [[0.0, 0.0, 1.0, 1.0], [0.0, 0.0, 1.0, 1.0]]
    >>> kept, scores = pb.image.non_max_suppression_with_scores(boxes, [0.5, 0.9], 2, soft_nms_sigma=0.5)
    >>> pb.Session().run([kept, scores])
    [array([1, 0], dtype=int32), array([0.9       , 0.18393973], dtype=float32)]
    """
    rows, numbers = operands(boxes, scores)
    primitive = NonMaxSuppressionV5
    return _suppressed(primitive, rows, numbers, max_output_size, iou_threshold, score_threshold, soft_nms_sigma, name)


@in_graph_of_inputs
def non_max_suppression_overlaps(
    overlaps: TensorLike,
    scores: TensorLike,
    max_output_size: TensorLike,
    overlap_threshold: float = 0.5,
    score_threshold: float = float("-inf"),
    name: str | None = None,
) -> Tensor:
    """`non_max_suppression` for overlaps that are given.

    Shapes: `overlaps` [n, n]; `scores` [n]. Dtypes: any float, the same for both; the result is int32.

    Raises:
        ValueError: the shapes do not fit.

    >>> import pullback as pb
    >>> overlaps = [[1.0, 0.8, 0.0], [0.8, 1.0, 0.0], [0.0, 0.0, 1.0]]
    >>> pb.Session().run(pb.image.non_max_suppression_overlaps(overlaps, [0.5, 0.9, 0.7], 3))
    array([1, 2], dtype=int32)
    """
    rows, numbers = operands(overlaps, scores)
    primitive = NonMaxSuppressionWithOverlaps
    return _suppressed(primitive, rows, numbers, max_output_size, overlap_threshold, score_threshold, 0.0, name)[0]


def _suppressed(
    primitive: Any, rows: Tensor, scores: Tensor, most: Any, threshold: float, least: float, sigma: float, name: Any
) -> tuple[Tensor, Tensor]:
    if not 0 <= threshold <= 1 or sigma < 0:
        raise ValueError(f"non_max_suppression: thresholds must be in [0, 1], not {threshold}, and sigma not {sigma}")
    suppression = primitive(float(threshold), float(least), float(sigma))
    count = take_numbers(most, "non_max_suppression: max_output_size", INTEGER)
    kept, kept_scores = suppression.operation(rows, scores, count, name=name).outputs
    return kept, kept_scores


class AbstractSuppression(Primitive):
    """The indices and scores of the boxes to keep, best first."""

    shape_inputs = (0, 1, 2)

    threshold: float
    least: float
    sigma: float

    def infer(self, rows: TensorType, scores: TensorType, most: TensorType) -> tuple[TensorType, ...]:
        del most
        if rows.dtype not in FLOATING or scores.dtype != rows.dtype:
            raise TypeError(f"non_max_suppression: floats of one dtype are needed, not {rows} and {scores}")
        count = None if rows.shape.sizes is None else rows.shape.sizes[0]
        if rows.shape.rank not in (2, None) or not scores.shape.is_compatible_with([count]):
            raise ValueError(f"non_max_suppression: rows {rows} and scores {scores} do not fit")
        return TensorType(int32, TensorShape([None])), TensorType(scores.dtype, TensorShape([None]))

    gradient = no_gradient


class NonMaxSuppressionV5(AbstractSuppression):
    def kernel(self, xp: Any, boxes: Any, scores: Any, most: Any) -> Any:
        del xp
        return _kept(self, np.asarray(scores), int(most), partial(_overlap, np.asarray(boxes)))


class NonMaxSuppressionWithOverlaps(AbstractSuppression):
    def kernel(self, xp: Any, overlaps: Any, scores: Any, most: Any) -> Any:
        del xp
        table = np.asarray(overlaps)
        return _kept(self, np.asarray(scores), int(most), lambda i, j: float(table[i, j]))


def _overlap(boxes: Array, i: int, j: int) -> float:
    """The shared area of two boxes divided by the area of their union."""
    pair = boxes[[i, j]].astype(np.float64)
    low, high = np.minimum(pair[:, :2], pair[:, 2:]), np.maximum(pair[:, :2], pair[:, 2:])
    areas = (high - low).prod(1)
    shared = float(np.maximum(high.min(0) - low.max(0), 0).prod())
    return shared / (float(areas.sum()) - shared) if areas.min() > 0 else 0.0


def _kept(p: Any, scores: Array, most: int, overlap: Callable[[int, int], float]) -> tuple[Array, Array]:
    # Best first, of equal ones that of the smaller number; with how many of the kept ones each was compared.
    waiting = [(-float(s), i, 0) for i, s in enumerate(scores) if s > p.least]
    heapq.heapify(waiting)
    kept: list[int] = []
    kept_scores: list[float] = []
    while waiting and len(kept) < most:
        negative, i, compared = heapq.heappop(waiting)
        score = _score(p, -negative, [overlap(i, j) for j in reversed(kept[compared:])])
        if score is None:
            continue
        if score == -negative:
            kept.append(i)
            kept_scores.append(score)
        elif score > p.least:
            heapq.heappush(waiting, (-score, i, len(kept)))
    return np.array(kept, int32), np.array(kept_scores, scores.dtype)


def _score(p: Any, score: float, overlaps: Sequence[float]) -> float | None:
    """The score lowered by the overlaps (soft suppression), or None where the box is suppressed."""
    for o in overlaps:
        if p.sigma > 0:
            score *= float(np.exp(-0.5 / p.sigma * o * o))
        elif o > p.threshold:
            return None
    return score
