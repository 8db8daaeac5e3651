"""ONNX export of non-maximum suppression."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.dtypes import float32, int32, int64
from ...core.errors import NotRecordedError
from ...primitives.image.boxes import NonMaxSuppressionV5
from ...primitives.image.boxes_by_class import NonMaxSuppressionByClass
from ...primitives.image.patches import ExtractImagePatches, ExtractVolumePatches, PatchesBack
from ...primitives.image.resizing import Resize, ResizeGrad, SpanWeights
from ...primitives.image.sampling import (
    CropPlaces,
    FoldPlaces,
    FoldSlopes,
    ImageNumbers,
    PixelGrid,
    PutImages,
    ReadImages,
)
from ..records import Value
from ..registry import writer
from ..writing import Writer
from .traced import traced


@writer(NonMaxSuppressionV5)
def non_max_suppression(w: Writer, p: Any, boxes: Value, scores: Value, most: Value) -> list[Value]:
    if p.sigma > 0:
        raise NotRecordedError("soft non-maximum suppression (soft_nms_sigma above 0)")
    limits = [w.constant(np.array([max(limit, -3e38)], np.float32)) for limit in (p.threshold, p.least)]
    found = w.node(
        "NonMaxSuppression",
        w.unsqueeze(w.cast(boxes, float32), [0]),
        w.unsqueeze(w.cast(scores, float32), [0, 1]),
        w.reshape(w.cast(most, int64), [1]),
        *limits,
        dtype=int64,
        shape=[None, 3],
    )
    numbers = w.gather(found, w.constant(np.int64(2)), 1)
    return [w.cast(numbers, int32), w.gather(scores, numbers, 0)]


@writer(NonMaxSuppressionByClass)
def non_max_suppression_by_class(
    w: Writer, p: Any, boxes: Value, scores: Value, most: Value, threshold: Value, least: Value
) -> Value:
    limits = [w.reshape(w.cast(limit, float32), [1]) for limit in (threshold, least)]
    count = w.reshape(w.cast(most, int64), [1])
    given = [w.cast(boxes, float32), w.cast(scores, float32), count, *limits]
    return w.node("NonMaxSuppression", *given, dtype=int64, shape=w.op.outputs[0].shape)


# Where all lengths are known, the kernels of these say how they are written.
writer(
    ExtractImagePatches,
    ExtractVolumePatches,
    PatchesBack,
    Resize,
    ResizeGrad,
    SpanWeights,
    CropPlaces,
    ReadImages,
    PutImages,
    PixelGrid,
    ImageNumbers,
    FoldPlaces,
    FoldSlopes,
    pairs=True,
)(traced)
