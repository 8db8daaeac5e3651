"""Bounding boxes of TensorFlow 1's `tf.image`: drawn, suppressed class by class, drawn at random for training."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

import pullback as pb

from ...core.contexts import in_graph_of_inputs
from ...core.typing import TensorLike
from ...primitives.image.boxes import NonMaxSuppressionV5

Array = np.ndarray[Any, Any]
_COLORS = np.array(
    [
        *[(1.0, 1.0, 0.0, 1.0), (0.0, 0.0, 1.0, 1.0), (1.0, 0.0, 0.0, 1.0), (0.0, 1.0, 0.0, 1.0), (0.5, 0.0, 0.5, 1.0)],
        *[(0.5, 0.5, 0.0, 1.0), (0.5, 0.0, 0.0, 1.0), (0.0, 0.0, 0.5, 1.0), (0.0, 1.0, 1.0, 1.0), (1.0, 0.0, 1.0, 1.0)],
    ]
)
"""What boxes are drawn in, in turn: yellow, blue, red, ..."""


@in_graph_of_inputs
def draw_bounding_boxes(
    images: TensorLike, boxes: TensorLike, name: str | None = None, colors: TensorLike | None = None
) -> pb.Tensor:
    """`images` [b, h, w, channels] with `boxes` [b, n, (top, left, bottom, right)] drawn as lines of one pixel.

    Ends of boxes are shares of the height and the width. `colors` [k, channels] are taken in turn, ten of TensorFlow's
    unless given; images of one channel are drawn in white. It is computed by NumPy, and has no derivative.

    >>> import pullback.compat.v1 as tf
    >>> x = tf.image.draw_bounding_boxes(tf.zeros([1, 4, 4, 1]), [[[0.0, 0.0, 1.0, 0.7]]])
    >>> tf.Session().run(x)[0, :, :, 0]
    array([[1., 1., 1., 0.],
           [1., 0., 1., 0.],
           [1., 0., 1., 0.],
           [1., 1., 1., 0.]], dtype=float32)
    """
    pixels, places = pb.convert_to_tensor(images), pb.convert_to_tensor(boxes)
    given = [] if colors is None else [pb.convert_to_tensor(colors)]

    def drawn(pixels: Array, places: Array, *colors: Array) -> Array:
        result = pixels.copy()
        channels = pixels.shape[-1]
        palette = colors[0] if colors and len(colors[0]) else np.ones((1, 4)) if channels == 1 else _COLORS
        for image, its_boxes in zip(result, places, strict=True):
            for i, box in enumerate(its_boxes):
                _draw(image, box, palette[i % len(palette)][:channels])
        return result

    return pb.numpy_function(drawn, [pixels, places, *given], pb.TensorSpec(pixels.shape, pixels.dtype), name=name)  # type: ignore[no-any-return]


def _draw(image: Array, box: Array, color: Array) -> None:
    height, width = image.shape[:2]
    top, left, bottom, right = (int(end * n) for end, n in zip(box, (height - 1, width - 1) * 2, strict=True))
    if top > bottom or left > right or top >= height or left >= width or bottom < 0 or right < 0:
        return
    rows, columns = slice(max(top, 0), min(bottom, height - 1) + 1), slice(max(left, 0), min(right, width - 1) + 1)
    for row in (top, bottom):
        if 0 <= row < height:
            image[row, columns] = color
    for column in (left, right):
        if 0 <= column < width:
            image[rows, column] = color


@in_graph_of_inputs
def non_max_suppression_padded(
    boxes: TensorLike,
    scores: TensorLike,
    max_output_size: TensorLike,
    iou_threshold: float = 0.5,
    score_threshold: float = float("-inf"),
    pad_to_max_output_size: bool = False,
    name: str | None = None,
    sorted_input: bool = False,
    canonicalized_coordinates: bool = False,
    tile_size: int = 512,
) -> tuple[pb.Tensor, pb.Tensor]:
    """The numbers of the boxes to keep, and how many they are; zeros fill them up to `max_output_size` if asked for.

    See `pb.image.non_max_suppression`; `boxes` are [n, 4].

    >>> import pullback.compat.v1 as tf
    >>> boxes = [[0.0, 0.0, 1.0, 1.0], [0.0, 0.0, 1.0, 0.9], [2.0, 2.0, 3.0, 3.0]]
    >>> kept = tf.image.non_max_suppression_padded(boxes, [0.5, 0.9, 0.1], 3, pad_to_max_output_size=True)
    >>> tf.Session().run(kept)
    (array([1, 2, 0], dtype=int32), np.int32(2))
    """
    del sorted_input, canonicalized_coordinates, tile_size
    kept = pb.image.non_max_suppression(boxes, scores, max_output_size, iou_threshold, score_threshold, name)
    count = pb.shape(kept)[0]
    if not pad_to_max_output_size:
        return kept, count
    filled = pb.pad(kept, [[0, pb.convert_to_tensor(max_output_size) - count]])
    if isinstance(max_output_size, int):
        filled.set_shape([max_output_size])
    return filled, count


class CombinedBoxes(NamedTuple):
    """The boxes of all classes that are kept, their scores and classes, and how many they are."""

    nmsed_boxes: pb.Tensor
    nmsed_scores: pb.Tensor
    nmsed_classes: pb.Tensor
    valid_detections: pb.Tensor


@in_graph_of_inputs
def combined_non_max_suppression(
    boxes: TensorLike,
    scores: TensorLike,
    max_output_size_per_class: int,
    max_total_size: int,
    iou_threshold: float = 0.5,
    score_threshold: float = float("-inf"),
    pad_per_class: bool = False,
    clip_boxes: bool = True,
    name: str | None = None,
) -> CombinedBoxes:
    """The best boxes of all classes that do not overlap others of their class: boxes, scores, classes, and how many.

    Shapes: `boxes` [b, n, classes, 4], or [b, n, 1, 4] for all classes alike, `scores` [b, n, classes]; the results
    [b, m, 4], [b, m], [b, m] and [b], filled up with zeros to m: `max_total_size`, with `pad_per_class` at most
    `max_output_size_per_class` for each class. Dtypes: float32; the number is int32. It is computed by NumPy, and has
    no derivative.

    >>> import pullback.compat.v1 as tf
    >>> boxes = tf.constant([[[[0.0, 0.0, 0.5, 0.5]], [[0.0, 0.0, 0.5, 0.4]]]])
    >>> _, scores, classes, count = tf.image.combined_non_max_suppression(boxes, [[[0.9, 0.1], [0.8, 0.3]]], 1, 3)
    >>> tf.Session().run([scores, classes, count])
    [array([[0.9, 0.3, 0. ]], dtype=float32), array([[0., 1., 0.]], dtype=float32), array([2], dtype=int32)]
    """
    places, values = pb.cast(pb.convert_to_tensor(boxes), pb.float32), pb.cast(pb.convert_to_tensor(scores), pb.float32)
    batch, classes = values.shape.size(0), values.shape.size(2)
    most, total = int(max_output_size_per_class), int(max_total_size)
    if pad_per_class:
        if classes is None:
            raise ValueError(f"combined_non_max_suppression: pad_per_class needs a known number of classes: {values}")
        total = min(total, most * classes)
    suppress = NonMaxSuppressionV5(float(iou_threshold), float(score_threshold), 0.0)

    def combined(places: Array, values: Array) -> list[Array]:
        found = [_best(b, s, suppress, most, total, clip_boxes) for b, s in zip(places, values, strict=True)]
        return [np.stack(part) for part in zip(*found, strict=True)]

    specs = [pb.TensorSpec([batch, total, *more], pb.float32) for more in ([4], [], [])]
    return CombinedBoxes(
        *pb.numpy_function(combined, [places, values], [*specs, pb.TensorSpec([batch], pb.int32)], name=name)
    )


def _best(boxes: Array, scores: Array, suppress: Any, most: int, total: int, clip: bool) -> list[Array]:
    """Of one image the boxes, scores and classes that are kept, filled up with zeros, and their number."""
    rows: list[tuple[float, int, Array]] = []
    for c in range(scores.shape[1]):
        its_boxes = boxes[:, min(c, boxes.shape[1] - 1)]
        kept, _ = suppress.kernel(np, its_boxes, scores[:, c], np.int32(most))
        rows += [(float(scores[i, c]), c, its_boxes[i]) for i in kept]
    rows = sorted(rows, key=lambda row: -row[0])[:total]
    filled = [np.zeros((total, *more), np.float32) for more in ((4,), (), ())]
    for i, (score, c, box) in enumerate(rows):
        filled[0][i], filled[1][i], filled[2][i] = np.clip(box, 0.0, 1.0) if clip else box, score, c
    return [*filled, np.array(len(rows), np.int32)]


class DistortedWindow(NamedTuple):
    """Where a window begins, its size, and its ends."""

    begin: pb.Tensor
    size: pb.Tensor
    bboxes: pb.Tensor


@in_graph_of_inputs
def sample_distorted_bounding_box(
    image_size: TensorLike,
    bounding_boxes: TensorLike,
    seed: int | None = None,
    seed2: int | None = None,
    min_object_covered: TensorLike = 0.1,
    aspect_ratio_range: Sequence[float] | None = None,
    area_range: Sequence[float] | None = None,
    max_attempts: int | None = None,
    use_image_if_no_bounding_boxes: bool | None = None,
    name: str | None = None,
) -> DistortedWindow:
    """A window of an image drawn anew in each run: its begin and size for `tf.slice`, and its ends [1, 1, 4] to draw.

    It covers `min_object_covered` of one of `bounding_boxes` [1, n, 4], its width is a number in `aspect_ratio_range`
    (0.75, 1.33) times its height, its area one in `area_range` (0.05, 1) of the image. Where none of `max_attempts`
    (100) is so, it is the whole image.

    Raises:
        ValueError, in a run: there are no boxes, unless `use_image_if_no_bounding_boxes`.

    >>> import pullback.compat.v1 as tf
    >>> box = [[[0.2, 0.2, 0.8, 0.8]]]
    >>> begin, size, ends = tf.image.sample_distorted_bounding_box([50, 60, 3], box, min_object_covered=0.5)
    >>> begin.shape, size.shape, ends.shape
    (TensorShape([3]), TensorShape([3]), TensorShape([1, 1, 4]))
    """
    del seed2
    ratios, areas = aspect_ratio_range or (0.75, 1.33), area_range or (0.05, 1.0)

    def chosen(size: Array, boxes: Array, least: Array, draws: Array) -> list[Array]:
        height, width = int(size[0]), int(size[1])
        targets = boxes.reshape(-1, 4)
        if not len(targets):
            if not use_image_if_no_bounding_boxes:
                raise ValueError("sample_distorted_bounding_box: no boxes; pass use_image_if_no_bounding_boxes=True")
            targets = np.array([[0.0, 0.0, 1.0, 1.0]])
        windows = (_window(draw, height, width, ratios, areas) for draw in draws)
        found = (w for w in windows if w is not None and _covers(w, targets, height, width, float(least)))
        top, left, rows, columns = next(found, (0, 0, height, width))
        ends = [top / height, left / width, (top + rows) / height, (left + columns) / width]
        return [np.array(n, np.int32) for n in ([top, left, 0], [rows, columns, -1])] + [np.array([[ends]], np.float32)]

    draws = pb.random_uniform([max_attempts or 100, 4], seed=seed)
    inputs = [
        pb.cast(pb.convert_to_tensor(image_size), pb.int32),
        pb.convert_to_tensor(bounding_boxes),
        min_object_covered,
        draws,
    ]
    specs = [pb.TensorSpec([3], pb.int32), pb.TensorSpec([3], pb.int32), pb.TensorSpec([1, 1, 4], pb.float32)]
    return DistortedWindow(*pb.numpy_function(chosen, inputs, specs, name=name))


def _window(
    draw: Array, height: int, width: int, ratios: Sequence[float], areas: Sequence[float]
) -> tuple[int, int, int, int] | None:
    """The top, left end, height and width that four uniform numbers choose; None where they do not fit."""
    ratio = ratios[0] + draw[0] * (ratios[1] - ratios[0])
    low, high = (np.sqrt(share * height * width / ratio) for share in areas)
    high = min(high, height, width / ratio)
    if high < low:
        return None
    rows = max(round(low + draw[1] * (high - low)), 1)
    columns = min(max(round(rows * ratio), 1), width)
    top, left = int(draw[2] * (height - rows + 1)), int(draw[3] * (width - columns + 1))
    return min(top, height - rows), min(left, width - columns), rows, columns


def _covers(window: tuple[int, int, int, int], boxes: Array, height: int, width: int, least: float) -> bool:
    """Whether the window has enough of a box in it."""
    top, left, rows, columns = window
    ends = boxes * [height, width, height, width]
    covered = [
        np.maximum(np.minimum(ends[:, 2 + i], begin + n) - np.maximum(ends[:, i], begin), 0.0)
        for i, (begin, n) in enumerate([(top, rows), (left, columns)])
    ]
    whole = (ends[:, 2] - ends[:, 0]) * (ends[:, 3] - ends[:, 1])
    return bool(np.any((whole > 0) & (covered[0] * covered[1] >= least * whole)))
