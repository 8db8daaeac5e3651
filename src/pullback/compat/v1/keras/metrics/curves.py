"""Area under the curve: Keras' metrics of the trade-off between kinds of errors at many thresholds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import pullback as pb

from .....core.typing import TensorLike
from ...metrics.thresholds import PARTS, interpolated_areas
from .. import backend
from .confusion import AbstractConfusion, share

_ORDER = ("true_positives", "true_negatives", "false_positives", "false_negatives")
_METHODS = ("interpolation", "majoring", "minoring")


class AUC(AbstractConfusion):
    """The area under the curve of recall over false alarms ("ROC"), or of precision over recall ("PR").

    The curve goes through `num_thresholds` points, or through `thresholds` and both ends. Between two of them it is as
    high as their mean ("interpolation"), as the lower one ("minoring") or the higher one ("majoring"); the
    interpolation of "PR" lets true and false positives grow evenly. With `multi_label` each of `num_labels` columns has
    a curve, whose areas' mean, weighted by `label_weights`, is the result; without, these are weights of columns.

    Raises:
        ValueError: an argument is none of these.

    Source: J. Davis and M. Goadrich, "The Relationship Between Precision-Recall and ROC Curves", 2006.
    """

    def __init__(
        self,
        num_thresholds: int = 200,
        curve: str = "ROC",
        summation_method: str = "interpolation",
        name: str | None = None,
        dtype: Any = None,
        thresholds: Sequence[float] | None = None,
        multi_label: bool = False,
        num_labels: int | None = None,
        label_weights: Any = None,
        from_logits: bool = False,
    ) -> None:
        _check(curve, ("ROC", "PR"), "AUC curve")
        _check(summation_method, _METHODS, "AUC summation method")
        self.curve, self.summation_method = curve.upper(), summation_method.lower()
        if thresholds is None and num_thresholds <= 1:
            raise ValueError(f"`num_thresholds` must be > 1, not {num_thresholds}")
        if num_labels is not None and not multi_label:
            raise ValueError("`num_labels` is needed only when `multi_label` is True.")
        between = np.linspace(0.0, 1.0, num_thresholds)[1:-1] if thresholds is None else sorted(thresholds)
        beyond = backend.epsilon()
        self.thresholds = [-beyond, *map(float, between), 1.0 + beyond]
        self.num_thresholds = len(self.thresholds)
        self.multi_label, self._from_logits = multi_label, from_logits
        super().__init__(() if multi_label else _ORDER, self.thresholds, name, dtype)
        if num_labels is not None:
            self._make(_ORDER, num_labels)
        self.label_weights = None if label_weights is None else self._checked(label_weights)

    def _checked(self, label_weights: Any) -> pb.Tensor:
        weights = pb.constant(label_weights, self.dtype)
        if (np.asarray(label_weights) < 0.0).any():
            raise pb.errors.InvalidArgumentError(f"AUC: `label_weights` must be non-negative: {label_weights}")
        return weights

    def update_state(
        self, y_true: TensorLike, y_pred: TensorLike, sample_weight: TensorLike | None = None
    ) -> pb.Operation:
        """The operation of an update."""
        x = pb.convert_to_tensor(y_pred)
        if self.multi_label:
            self._check_labels(x.shape)
        x = pb.sigmoid(x) if self._from_logits else x
        weights = None if self.multi_label else self.label_weights
        return self._count(y_true, x, sample_weight, label_weights=weights, by_label=self.multi_label)

    def _check_labels(self, shape: pb.TensorShape) -> None:
        """See that there are the columns that there are variables for; make these if there are none."""
        if shape.rank != 2 or shape.as_list()[1] is None:
            raise ValueError(f"AUC: with `multi_label` predictions must be [examples, labels], and not {shape}")
        labels = shape.as_list()[1]
        if not self.counts:
            self._make(_ORDER, labels)
        given = [self.counts["true_positives"].shape.as_list()[1]]
        given += [] if self.label_weights is None else self.label_weights.shape.as_list()
        if any(n != labels for n in given):
            raise ValueError(f"AUC: predictions have {labels} labels, but before there were {given}")

    def result(self) -> pb.Tensor:
        """What the updates so far give."""
        tp, fn, tn, fp = [self.counts[part].value() for part in PARTS]
        if (self.curve, self.summation_method) == ("PR", "interpolation"):
            areas = interpolated_areas(tp, fn, fp)
        else:
            hits = pb.math.divide_no_nan(tp, tp + fn)
            of_alarms = pb.math.divide_no_nan(fp, fp + tn), hits
            x, y = of_alarms if self.curve == "ROC" else (hits, pb.math.divide_no_nan(tp, tp + fp))
            areas = (x[:-1] - x[1:]) * self._height(y[:-1], y[1:])
        by_label = pb.reduce_sum(areas, 0)
        if not self.multi_label:
            return by_label
        if self.label_weights is None:
            return pb.reduce_mean(by_label)
        total = pb.reduce_sum(by_label * self.label_weights)
        found: pb.Tensor = pb.math.divide_no_nan(total, pb.reduce_sum(self.label_weights))
        return found

    def _height(self, a: pb.Tensor, b: pb.Tensor) -> pb.Tensor:
        if self.summation_method == "interpolation":
            return (a + b) / 2.0
        return pb.minimum(a, b) if self.summation_method == "minoring" else pb.maximum(a, b)

    def get_config(self) -> dict[str, Any]:
        """The arguments that make such a metric."""
        return super().get_config() | {
            "num_thresholds": self.num_thresholds,
            "curve": self.curve,
            "summation_method": self.summation_method,
            "thresholds": self.thresholds[1:-1],
            "multi_label": self.multi_label,
            "label_weights": None if self.label_weights is None else pb.get_static_value(self.label_weights),
        }


class AbstractAtShare(AbstractConfusion):
    """The most that one share is at any threshold where another one is `value` at least; 0 where that is nowhere."""

    def __init__(
        self, argument: str, value: float, num_thresholds: int, class_id: int | None, name: str | None, dtype: Any
    ) -> None:
        if not 0 <= value <= 1:
            raise ValueError(f"`{argument}` must be in the range [0, 1], not {value}")
        if num_thresholds <= 0:
            raise ValueError(f"`num_thresholds` must be > 0, not {num_thresholds}")
        self.thresholds = [0.5] if num_thresholds == 1 else np.linspace(0.0, 1.0, num_thresholds).tolist()
        super().__init__(_ORDER, self.thresholds, name, dtype)
        self.value, self.num_thresholds, self.class_id = value, num_thresholds, class_id
        self._argument = argument

    def update_state(
        self, y_true: TensorLike, y_pred: TensorLike, sample_weight: TensorLike | None = None
    ) -> pb.Operation:
        """The operation of an update."""
        return self._count(y_true, y_pred, sample_weight, class_id=self.class_id)

    def result(self) -> pb.Tensor:
        """What the updates so far give."""
        wanted, limited = [share(self.counts[a], self.counts[b]) for a, b in self._shares()]
        return pb.reduce_max(pb.where(limited >= self.value, wanted, pb.zeros_like(wanted)))

    def _shares(self) -> Sequence[tuple[str, str]]:
        """The parts of the share that is wanted, and of the one that is limited."""
        raise NotImplementedError

    def get_config(self) -> dict[str, Any]:
        """The arguments that make such a metric."""
        own = {"class_id": self.class_id, "num_thresholds": self.num_thresholds, self._argument: self.value}
        return super().get_config() | own


_SENSITIVITY = ("true_positives", "false_negatives")
_SPECIFICITY = ("true_negatives", "false_positives")
_PRECISION = ("true_positives", "false_positives")


class SensitivityAtSpecificity(AbstractAtShare):
    """The most of what is true that is found where `specificity` of what is not true is left out."""

    def __init__(
        self,
        specificity: float,
        num_thresholds: int = 200,
        class_id: int | None = None,
        name: str | None = None,
        dtype: Any = None,
    ) -> None:
        super().__init__("specificity", specificity, num_thresholds, class_id, name, dtype)

    def _shares(self) -> Sequence[tuple[str, str]]:
        return _SENSITIVITY, _SPECIFICITY


class SpecificityAtSensitivity(AbstractAtShare):
    """The most of what is not true that is left out where `sensitivity` of what is true is found."""

    def __init__(
        self,
        sensitivity: float,
        num_thresholds: int = 200,
        class_id: int | None = None,
        name: str | None = None,
        dtype: Any = None,
    ) -> None:
        super().__init__("sensitivity", sensitivity, num_thresholds, class_id, name, dtype)

    def _shares(self) -> Sequence[tuple[str, str]]:
        return _SPECIFICITY, _SENSITIVITY


class PrecisionAtRecall(AbstractAtShare):
    """The best precision where `recall` of what is true is found."""

    def __init__(
        self,
        recall: float,
        num_thresholds: int = 200,
        class_id: int | None = None,
        name: str | None = None,
        dtype: Any = None,
    ) -> None:
        super().__init__("recall", recall, num_thresholds, class_id, name, dtype)

    def _shares(self) -> Sequence[tuple[str, str]]:
        return _PRECISION, _SENSITIVITY


class RecallAtPrecision(AbstractAtShare):
    """The most of what is true that is found at `precision`."""

    def __init__(
        self,
        precision: float,
        num_thresholds: int = 200,
        class_id: int | None = None,
        name: str | None = None,
        dtype: Any = None,
    ) -> None:
        super().__init__("precision", precision, num_thresholds, class_id, name, dtype)

    def _shares(self) -> Sequence[tuple[str, str]]:
        return _SENSITIVITY, _PRECISION


def _check(value: str, known: Sequence[str], what: str) -> None:
    if value.lower() not in [one.lower() for one in known]:
        raise ValueError(f'Invalid {what} value "{value}". There are {", ".join(known)}')
