"""ONNX import of non-maximum suppression."""

from __future__ import annotations

import math

from ....core.dtypes import float32, int64
from ....core.operation import Tensor
from ....primitives.creation.constant import constant
from ....primitives.image.boxes_by_class import NonMaxSuppressionByClass
from ....primitives.shape.reshape import reshape
from ....primitives.shape.stacking import concat
from ...reading import Node, reader


@reader("NonMaxSuppression")
def non_max_suppression(
    node: Node,
    boxes: Tensor,
    scores: Tensor,
    most: Tensor | None = None,
    overlap: Tensor | None = None,
    least: Tensor | None = None,
) -> Tensor:
    if node.attribute("center_point_box", 0):
        middle, half = boxes[..., :2], boxes[..., 2:] * 0.5
        boxes = concat([middle - half, middle + half], -1)
    limits = [
        constant(0, int64) if most is None else reshape(most, []),
        constant(0.0, float32) if overlap is None else reshape(overlap, []),
        constant(-math.inf, float32) if least is None else reshape(least, []),
    ]
    return NonMaxSuppressionByClass()(boxes, scores, *limits)
