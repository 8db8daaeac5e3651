"""Confusion matrix at thresholds: Keras' metrics that count true and false positives and negatives.

Predictions are from 0 to 1; what lies above a threshold is predicted to be true.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

import pullback as pb

from .....core.typing import TensorLike
from ...metrics.running import fitted, matched
from ...metrics.thresholds import PARTS
from ...metrics.truth import part_of
from .. import backend
from .base import Metric

_LOWEST = -1e10
"""What predictions become that are none of the largest, and the threshold that lets all others be true."""


class AbstractConfusion(Metric):
    """A metric with a variable for each of some parts of the confusion matrix, of a length for each threshold."""

    def __init__(
        self, parts: Sequence[str], thresholds: Sequence[float], name: str | None, dtype: Any, labels: int | None = None
    ) -> None:
        super().__init__(name, dtype)
        self._limits = np.array(thresholds, np.float64)
        self._evenly = _are_even(self._limits)
        self.counts: dict[str, Any] = {}
        self._make(parts, labels)

    def _make(self, parts: Sequence[str], labels: int | None) -> None:
        shape = [len(self._limits)] if labels is None else [len(self._limits), labels]
        self.counts.update({part: self.add_weight(part, shape) for part in parts})

    def __getattr__(self, name: str) -> Any:
        if name in PARTS and name in self.counts:
            return self.counts[name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def _count(
        self,
        y_true: TensorLike,
        y_pred: TensorLike,
        sample_weight: TensorLike | None = None,
        *,
        label_weights: Any = None,
        top_k: int | None = None,
        class_id: int | None = None,
        by_label: bool = False,
    ) -> pb.Operation:
        """The operation that adds to the variables what the batch has of each part."""
        truth, x = matched(*[pb.cast(pb.convert_to_tensor(y), self.dtype) for y in (y_true, y_pred)])
        inside = pb.reduce_all((x >= 0.0) & (x <= 1.0))
        with pb.control_dependencies([pb.Assert(inside, ["predictions must be >= 0 and <= 1:", x])]):
            x = pb.identity(x)
        x = x if top_k is None else _largest(x, top_k)
        if class_id is not None:
            truth, x = truth[..., class_id], x[..., class_id]
        weights = pb.ones_like(x)
        if sample_weight is not None:
            weights = weights * fitted(pb.cast(pb.convert_to_tensor(sample_weight), self.dtype), x)
        weights = weights if label_weights is None else weights * label_weights
        lengths = [-1, x.shape.size(1)] if by_label else [-1, 1]
        rows = [pb.reshape(part, lengths) for part in (x, pb.not_equal(truth, 0.0), weights)]
        found = (_count_evenly if self._evenly else _count_each)(list(self.counts), self._limits, *rows)
        return pb.group(
            *[self.counts[part].assign_add(pb.reshape(n, self.counts[part].shape)) for part, n in found.items()]
        )


class AbstractThresholdCount(AbstractConfusion):
    """How much there is of one part of the confusion matrix at each of `thresholds`, one unless a list is given."""

    def __init__(self, part: str, thresholds: Any, name: str | None, dtype: Any) -> None:
        super().__init__([], limits_of(thresholds, 0.5), name, dtype)
        self.init_thresholds, self.thresholds = thresholds, limits_of(thresholds, 0.5)
        self.accumulator = self.counts[part] = self.add_weight("accumulator", [len(self.thresholds)])

    def update_state(
        self, y_true: TensorLike, y_pred: TensorLike, sample_weight: TensorLike | None = None
    ) -> pb.Operation:
        """The operation of an update."""
        return self._count(y_true, y_pred, sample_weight)

    def result(self) -> pb.Tensor:
        """What the updates so far give."""
        return of_one(self.accumulator.value(), self.thresholds)

    def get_config(self) -> dict[str, Any]:
        """The arguments that make such a metric."""
        return super().get_config() | {"thresholds": self.init_thresholds}


class TruePositives(AbstractThresholdCount):
    """How much is true and above the threshold."""

    def __init__(self, thresholds: Any = None, name: str | None = None, dtype: Any = None) -> None:
        super().__init__("true_positives", thresholds, name, dtype)


class TrueNegatives(AbstractThresholdCount):
    """How much is not true and not above the threshold."""

    def __init__(self, thresholds: Any = None, name: str | None = None, dtype: Any = None) -> None:
        super().__init__("true_negatives", thresholds, name, dtype)


class FalsePositives(AbstractThresholdCount):
    """How much is not true and above the threshold."""

    def __init__(self, thresholds: Any = None, name: str | None = None, dtype: Any = None) -> None:
        super().__init__("false_positives", thresholds, name, dtype)


class FalseNegatives(AbstractThresholdCount):
    """How much is true and not above the threshold."""

    def __init__(self, thresholds: Any = None, name: str | None = None, dtype: Any = None) -> None:
        super().__init__("false_negatives", thresholds, name, dtype)


class AbstractShare(AbstractConfusion):
    """The share that true positives have of themselves and another part, at each of `thresholds`.

    A subclass says which part: `rest`.
    """

    rest: ClassVar[str]

    def __init__(
        self,
        thresholds: Any = None,
        top_k: int | None = None,
        class_id: int | None = None,
        name: str | None = None,
        dtype: Any = None,
    ) -> None:
        limits = limits_of(thresholds, 0.5 if top_k is None else _LOWEST)
        super().__init__(["true_positives", self.rest], limits, name, dtype)
        self.init_thresholds, self.thresholds = thresholds, limits
        self.top_k, self.class_id = top_k, class_id

    def update_state(
        self, y_true: TensorLike, y_pred: TensorLike, sample_weight: TensorLike | None = None
    ) -> pb.Operation:
        """The operation of an update."""
        return self._count(y_true, y_pred, sample_weight, top_k=self.top_k, class_id=self.class_id)

    def result(self) -> pb.Tensor:
        """What the updates so far give."""
        return of_one(share(self.counts["true_positives"], self.counts[self.rest]), self.thresholds)

    def get_config(self) -> dict[str, Any]:
        """The arguments that make such a metric."""
        own = {"thresholds": self.init_thresholds, "top_k": self.top_k, "class_id": self.class_id}
        return super().get_config() | own


class Precision(AbstractShare):
    """Of what was predicted to be true, how much is, at each of `thresholds`.

    With `top_k` only the largest predictions along the last axis count, with `class_id` only those of one class.

    Shapes: those of `y_true` and `y_pred` are the same, or broadcast; the result has one number for each threshold, or
    none for one. Dtypes: numbers; the result is float32 unless `dtype` says otherwise.

    Raises:
        InvalidArgumentError, in a run: a prediction is not from 0 to 1.

    >>> import pullback.compat.v1 as tf
    >>> metric = tf.keras.metrics.Precision()
    >>> update = metric.update_state([0, 1, 1, 1], [1.0, 0.0, 1.0, 1.0])
    >>> with tf.Session() as session:
    ...     _ = session.run([v.initializer for v in metric.variables])
    ...     _ = session.run(update)
    ...     round(float(session.run(metric.result())), 4)
    0.6667
    """

    rest = "false_positives"


class Recall(AbstractShare):
    """Of what is true, how much was predicted to be, at each of `thresholds`.

    With `top_k` only the largest predictions along the last axis count, with `class_id` only those of one class.

    Shapes: those of `y_true` and `y_pred` are the same, or broadcast; the result has one number for each threshold, or
    none for one. Dtypes: numbers; the result is float32 unless `dtype` says otherwise.

    Raises:
        InvalidArgumentError, in a run: a prediction is not from 0 to 1.

    >>> import pullback.compat.v1 as tf
    >>> metric = tf.keras.metrics.Recall()
    >>> update = metric.update_state([0, 1, 1, 1], [1.0, 0.0, 1.0, 1.0])
    >>> with tf.Session() as session:
    ...     _ = session.run([v.initializer for v in metric.variables])
    ...     _ = session.run(update)
    ...     round(float(session.run(metric.result())), 4)
    0.6667
    """

    rest = "false_negatives"


class MeanIoU(Metric):
    """The mean, over the classes that there are, of intersection over union, of what is of one and what was found."""

    def __init__(self, num_classes: int, name: str | None = None, dtype: Any = None) -> None:
        super().__init__(name, dtype)
        self.num_classes = num_classes
        self.total_cm = self.add_weight("total_confusion_matrix", [num_classes, num_classes])

    def update_state(
        self, y_true: TensorLike, y_pred: TensorLike, sample_weight: TensorLike | None = None
    ) -> pb.Tensor:
        """The tensor of an update."""
        t, p = [pb.reshape(pb.cast(pb.convert_to_tensor(y), pb.int64), [-1]) for y in (y_true, y_pred)]
        w = None if sample_weight is None else pb.reshape(pb.cast(sample_weight, self.dtype), [-1])
        found = pb.math.confusion_matrix(t, p, self.num_classes, weights=w, dtype=self.dtype)
        return self.total_cm.assign_add(found)  # type: ignore[no-any-return]

    def result(self) -> pb.Tensor:
        """What the updates so far give."""
        matrix = self.total_cm.value()
        right = pb.linalg.diag_part(matrix)
        either = pb.reduce_sum(matrix, 0) + pb.reduce_sum(matrix, 1) - right
        there = pb.reduce_sum(pb.cast(pb.not_equal(either, 0.0), self.dtype))
        found: pb.Tensor = pb.math.divide_no_nan(pb.reduce_sum(pb.math.divide_no_nan(right, either)), there)
        return found

    def get_config(self) -> dict[str, Any]:
        """The arguments that make such a metric."""
        return super().get_config() | {"num_classes": self.num_classes}


def limits_of(thresholds: Any, default: float) -> list[float]:
    """The thresholds as a list.

    Raises:
        ValueError: one is not from 0 to 1.
    """
    if thresholds is None:
        return [default]
    found = list(thresholds) if isinstance(thresholds, Sequence | np.ndarray) else [thresholds]
    wrong = [t for t in found if t is None or not 0 <= t <= 1]
    if wrong:
        raise ValueError(f"Threshold values must be in [0, 1]. Invalid values: {wrong}")
    return found


def of_one(values: pb.Tensor, thresholds: Sequence[float]) -> pb.Tensor:
    """The value at the one threshold, or those at all."""
    return values[0] if len(thresholds) == 1 else values


def share(part: Any, rest: Any) -> pb.Tensor:
    """`part / (part + rest)`, 0 where there is nothing."""
    x, y = part.value(), rest.value()
    found: pb.Tensor = pb.math.divide_no_nan(x, x + y)
    return found


def _are_even(limits: Any) -> bool:
    """Whether the limits divide [0, 1] into equal parts."""
    wanted = np.linspace(0.0, 1.0, len(limits))
    return len(limits) >= 3 and bool(np.allclose(limits, wanted, atol=backend.epsilon()))


def _largest(x: pb.Tensor, count: int) -> pb.Tensor:
    """`x` where it is one of the largest along the last axis, else the lowest number there is."""
    _, places = pb.math.top_k(x, count)
    kept = pb.reduce_sum(pb.one_hot(places, pb.shape(x)[-1], dtype=x.dtype), -2)
    return x * kept + _LOWEST * (1.0 - kept)


def _count_each(
    parts: Sequence[str], limits: Any, x: pb.Tensor, truth: pb.Tensor, weights: pb.Tensor
) -> Mapping[str, pb.Tensor]:
    """For each part and limit the sum over rows, by comparison of all numbers with all limits."""
    above = x[None] > limits.astype(x.dtype)[:, None, None]
    found = {part: pb.cast(part_of(part, truth, above), x.dtype) for part in parts}
    return {part: pb.reduce_sum(y * weights, 1) for part, y in found.items()}


def _count_evenly(
    parts: Sequence[str], limits: Any, x: pb.Tensor, truth: pb.Tensor, weights: pb.Tensor
) -> Mapping[str, pb.Tensor]:
    """For each part and limit the sum over rows; each number is counted once, at the last limit that is below it."""
    count, columns = len(limits), x.shape.size(1) or 1
    place = pb.math.ceil(pb.clip_by_value(x, 0.0, 1.0) * (count - 1)) - 1.0
    place = pb.nn.relu(place) if limits[0] < 0.0 else place
    rows = pb.cast(place, pb.int32)
    nothing = pb.zeros_like(x)
    of_truth = pb.where(truth, weights, nothing), pb.where(truth, nothing, weights)
    numbers = pb.where(rows < 0, rows, rows * columns + pb.range(columns))
    above = [
        pb.cumsum(pb.reshape(pb.math.unsorted_segment_sum(y, numbers, count * columns), [count, columns]), reverse=True)
        for y in of_truth
    ]
    of_all = dict(zip(("true_positives", "false_positives"), above, strict=True))
    below = [pb.reduce_sum(y, 0) - z for y, z in zip(of_truth, above, strict=True)]
    of_all |= dict(zip(("false_negatives", "true_negatives"), below, strict=True))
    return {part: of_all[part] for part in parts}
