"""Non-maximum suppression by class: the boxes to keep of each image and each class."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.dtypes import FLOATING, int64
from ...core.primitive import Primitive, no_gradient
from ...core.shape import TensorShape
from ...core.types import TensorType
from .boxes import NonMaxSuppressionV5


class NonMaxSuppressionByClass(Primitive):
    """Rows (image, class, box) of the boxes to keep, best first for each image and class.

    The inputs are boxes [images, boxes, 4] as two opposite corners, scores [images, classes, boxes], the largest number
    to keep, the overlap above which a box is left out, and the score that must be exceeded.
    """

    shape_inputs = (0, 1, 2, 3, 4)

    def infer(self, boxes: TensorType, scores: TensorType, *limits: TensorType) -> tuple[TensorType, ...]:
        del limits
        if boxes.dtype not in FLOATING or scores.dtype not in FLOATING:
            raise TypeError(f"non_max_suppression: floats are needed, not {boxes} and {scores}")
        return (TensorType(int64, TensorShape([None, 3])),)

    def kernel(self, xp: Any, boxes: Any, scores: Any, most: Any, threshold: Any, least: Any) -> Any:
        del xp
        boxes, scores = np.asarray(boxes), np.asarray(scores)
        suppress = NonMaxSuppressionV5(float(threshold), float(least), 0.0)
        rows = [np.zeros((0, 3), np.int64)]
        for image, class_ in np.ndindex(scores.shape[:2]):
            kept, _ = suppress.kernel(np, boxes[image], scores[image, class_], most)
            rows.append(np.stack([np.full(len(kept), image), np.full(len(kept), class_), kept], 1).astype(np.int64))
        return np.concatenate(rows)

    gradient = no_gradient
