"""Means of Keras: running sums and means of values, and of what functions of labels and predictions give."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pullback as pb

from .....core.typing import TensorLike
from ...metrics.running import fitted, matched
from ..base import unique_name
from . import functions
from .base import Metric


class Sum(Metric):
    """The sum of all values, each times its weight."""

    def __init__(self, name: str = "sum", dtype: Any = None) -> None:
        super().__init__(name, dtype)
        self.total = self.add_weight("total")

    def update_state(self, values: TensorLike, sample_weight: TensorLike | None = None) -> pb.Tensor:
        """The operation, or tensor, of an update."""
        weighted, _ = _weighted(values, sample_weight, self.dtype, pb.reduce_sum)
        return self.total.assign_add(pb.reduce_sum(weighted))  # type: ignore[no-any-return]

    def result(self) -> pb.Tensor:
        """What the updates so far give."""
        total: pb.Tensor = pb.identity(self.total)
        return total


class Mean(Metric):
    """The mean of all values, each of which counts as much as its weight says."""

    def __init__(self, name: str = "mean", dtype: Any = None) -> None:
        super().__init__(name, dtype)
        self.total, self.count = self.add_weight("total"), self.add_weight("count")

    def update_state(self, values: TensorLike, sample_weight: TensorLike | None = None) -> pb.Tensor:
        """The operation, or tensor, of an update."""
        weighted, counted = _weighted(values, sample_weight, self.dtype, pb.reduce_mean)
        added = self.total.assign_add(pb.reduce_sum(weighted), read_value=False)
        with pb.control_dependencies([added]):
            return self.count.assign_add(counted)  # type: ignore[no-any-return]

    def result(self) -> pb.Tensor:
        """What the updates so far give."""
        found: pb.Tensor = pb.math.divide_no_nan(self.total.value(), self.count.value())
        return found


class MeanMetricWrapper(Mean):
    """The mean of what a function of labels and predictions gives."""

    def __init__(self, fn: Callable[..., Any], name: str | None = None, dtype: Any = None, **kwargs: Any) -> None:
        super().__init__(name or str(getattr(fn, "__name__", "mean")), dtype)
        self._fn, self._options = fn, kwargs

    def update_state(  # type: ignore[override]
        self, y_true: TensorLike, y_pred: TensorLike, sample_weight: TensorLike | None = None
    ) -> pb.Tensor:
        """The operation, or tensor, of an update."""
        t, p = [pb.cast(pb.convert_to_tensor(x), self.dtype) for x in (y_true, y_pred)]
        return super().update_state(self._fn(t, p, **self._options), sample_weight)

    def get_config(self) -> dict[str, Any]:
        """The arguments that make such a metric."""
        own = {"fn": self._fn} if type(self) is MeanMetricWrapper else {}
        return super().get_config() | own | self._options


class Accuracy(MeanMetricWrapper):
    """How often predictions equal labels."""

    def __init__(self, name: str = "accuracy", dtype: Any = None) -> None:
        super().__init__(functions.accuracy, name, dtype)


class BinaryAccuracy(MeanMetricWrapper):
    """The mean of `binary_accuracy`."""

    def __init__(self, name: str = "binary_accuracy", dtype: Any = None, threshold: float = 0.5) -> None:
        super().__init__(functions.binary_accuracy, name, dtype, threshold=threshold)


class CategoricalAccuracy(MeanMetricWrapper):
    """The mean of `categorical_accuracy`."""

    def __init__(self, name: str = "categorical_accuracy", dtype: Any = None) -> None:
        super().__init__(functions.categorical_accuracy, name, dtype)


class SparseCategoricalAccuracy(MeanMetricWrapper):
    """The mean of `sparse_categorical_accuracy`."""

    def __init__(self, name: str = "sparse_categorical_accuracy", dtype: Any = None) -> None:
        super().__init__(functions.sparse_categorical_accuracy, name, dtype)


class TopKCategoricalAccuracy(MeanMetricWrapper):
    """The mean of `top_k_categorical_accuracy`."""

    def __init__(self, k: int = 5, name: str = "top_k_categorical_accuracy", dtype: Any = None) -> None:
        super().__init__(functions.top_k_categorical_accuracy, name, dtype, k=k)


class SparseTopKCategoricalAccuracy(MeanMetricWrapper):
    """The mean of `sparse_top_k_categorical_accuracy`."""

    def __init__(self, k: int = 5, name: str = "sparse_top_k_categorical_accuracy", dtype: Any = None) -> None:
        super().__init__(functions.sparse_top_k_categorical_accuracy, name, dtype, k=k)


class MeanSquaredError(MeanMetricWrapper):
    """The mean of `mean_squared_error`."""

    def __init__(self, name: str = "mean_squared_error", dtype: Any = None) -> None:
        super().__init__(functions.mean_squared_error, name, dtype)


class MeanAbsoluteError(MeanMetricWrapper):
    """The mean of `mean_absolute_error`."""

    def __init__(self, name: str = "mean_absolute_error", dtype: Any = None) -> None:
        super().__init__(functions.mean_absolute_error, name, dtype)


class BinaryCrossentropy(MeanMetricWrapper):
    """The mean of `binary_crossentropy`."""

    def __init__(
        self,
        name: str = "binary_crossentropy",
        dtype: Any = None,
        from_logits: bool = False,
        label_smoothing: float = 0,
    ) -> None:
        super().__init__(
            functions.binary_crossentropy, name, dtype, from_logits=from_logits, label_smoothing=label_smoothing
        )


class CategoricalCrossentropy(MeanMetricWrapper):
    """The mean of `categorical_crossentropy`."""

    def __init__(
        self,
        name: str = "categorical_crossentropy",
        dtype: Any = None,
        from_logits: bool = False,
        label_smoothing: float = 0,
    ) -> None:
        super().__init__(
            functions.categorical_crossentropy, name, dtype, from_logits=from_logits, label_smoothing=label_smoothing
        )


class MeanAbsolutePercentageError(MeanMetricWrapper):
    """The mean of `mean_absolute_percentage_error`."""

    def __init__(self, name: str = "mean_absolute_percentage_error", dtype: Any = None) -> None:
        super().__init__(functions.mean_absolute_percentage_error, name, dtype)


class MeanSquaredLogarithmicError(MeanMetricWrapper):
    """The mean of `mean_squared_logarithmic_error`."""

    def __init__(self, name: str = "mean_squared_logarithmic_error", dtype: Any = None) -> None:
        super().__init__(functions.mean_squared_logarithmic_error, name, dtype)


class Hinge(MeanMetricWrapper):
    """The mean of `hinge`."""

    def __init__(self, name: str = "hinge", dtype: Any = None) -> None:
        super().__init__(functions.hinge, name, dtype)


class SquaredHinge(MeanMetricWrapper):
    """The mean of `squared_hinge`."""

    def __init__(self, name: str = "squared_hinge", dtype: Any = None) -> None:
        super().__init__(functions.squared_hinge, name, dtype)


class CategoricalHinge(MeanMetricWrapper):
    """The mean of `categorical_hinge`."""

    def __init__(self, name: str = "categorical_hinge", dtype: Any = None) -> None:
        super().__init__(functions.categorical_hinge, name, dtype)


class LogCoshError(MeanMetricWrapper):
    """The mean of `logcosh`."""

    def __init__(self, name: str = "logcosh", dtype: Any = None) -> None:
        super().__init__(functions.logcosh, name, dtype)


class Poisson(MeanMetricWrapper):
    """The mean of `poisson`."""

    def __init__(self, name: str = "poisson", dtype: Any = None) -> None:
        super().__init__(functions.poisson, name, dtype)


class KLDivergence(MeanMetricWrapper):
    """The mean of `kullback_leibler_divergence`."""

    def __init__(self, name: str = "kullback_leibler_divergence", dtype: Any = None) -> None:
        super().__init__(functions.kullback_leibler_divergence, name, dtype)


class CosineSimilarity(MeanMetricWrapper):
    """The mean of the cosines of the angles between labels and predictions along `axis`."""

    def __init__(self, name: str = "cosine_similarity", dtype: Any = None, axis: int = -1) -> None:
        super().__init__(functions.cosine_proximity, name, dtype, axis=axis)


class SparseCategoricalCrossentropy(MeanMetricWrapper):
    """The mean of `sparse_categorical_crossentropy`, of classes along the last axis."""

    def __init__(
        self,
        name: str = "sparse_categorical_crossentropy",
        dtype: Any = None,
        from_logits: bool = False,
        axis: int = -1,
    ) -> None:
        if axis != -1:
            raise ValueError(
                f"SparseCategoricalCrossentropy: axis must be -1, not {axis}; move classes to the last one"
            )
        super().__init__(functions.sparse_categorical_crossentropy, name, dtype, from_logits=from_logits)

    def get_config(self) -> dict[str, Any]:
        """The arguments that make such a metric."""
        return super().get_config() | {"axis": -1}


class RootMeanSquaredError(Mean):
    """The root of the mean of the squares of the differences."""

    def __init__(self, name: str = "root_mean_squared_error", dtype: Any = None) -> None:
        super().__init__(name, dtype)

    def update_state(  # type: ignore[override]
        self, y_true: TensorLike, y_pred: TensorLike, sample_weight: TensorLike | None = None
    ) -> pb.Tensor:
        """The operation, or tensor, of an update."""
        t, p = matched(*[pb.cast(pb.convert_to_tensor(x), self.dtype) for x in (y_true, y_pred)])
        return super().update_state(pb.square(p - t), sample_weight)

    def result(self) -> pb.Tensor:
        """What the updates so far give."""
        return pb.sqrt(super().result())


class MeanRelativeError(Mean):
    """The mean of the absolute differences, each over its `normalizer`; 0 where that is."""

    def __init__(self, normalizer: TensorLike, name: str | None = None, dtype: Any = None) -> None:
        super().__init__(name or unique_name(type(self)), dtype)
        self.normalizer = pb.cast(pb.convert_to_tensor(normalizer), self.dtype)

    def update_state(  # type: ignore[override]
        self, y_true: TensorLike, y_pred: TensorLike, sample_weight: TensorLike | None = None
    ) -> pb.Tensor:
        """The operation, or tensor, of an update."""
        t, p = matched(*[pb.cast(pb.convert_to_tensor(x), self.dtype) for x in (y_true, y_pred)])
        return super().update_state(pb.math.divide_no_nan(pb.abs(t - p), self.normalizer), sample_weight)

    def get_config(self) -> dict[str, Any]:
        """The arguments that make such a metric."""
        return super().get_config() | {"normalizer": pb.get_static_value(self.normalizer)}


class MeanTensor(Metric):
    """The mean of tensors, each of whose elements counts as much as its weight says.

    The variables are made where the shape is known: from the beginning with `shape`, else by the first update.

    Raises:
        ValueError: from `update_state`: another shape. From `result`: there was no update.
    """

    def __init__(self, name: str = "mean_tensor", dtype: Any = None, shape: Sequence[int] | None = None) -> None:
        super().__init__(name, dtype)
        self.total: Any = None
        self.count: Any = None
        if shape is not None:
            self._build(pb.TensorShape(shape))

    def _build(self, shape: pb.TensorShape) -> None:
        self.total, self.count = self.add_weight("total", shape), self.add_weight("count", shape)

    def update_state(self, values: TensorLike, sample_weight: TensorLike | None = None) -> pb.Tensor:
        """The operation, or tensor, of an update."""
        x = pb.cast(pb.convert_to_tensor(values), self.dtype)
        if self.total is None:
            self._build(x.shape)
        elif x.shape != self.total.shape:
            raise ValueError(f"MeanTensor: the values have the shape {x.shape}, but those before {self.total.shape}")
        each = pb.ones_like(x)
        if sample_weight is not None:
            each = each * fitted(pb.cast(pb.convert_to_tensor(sample_weight), self.dtype), x)
        added = self.total.assign_add(x * each, read_value=False)
        with pb.control_dependencies([added]):
            return self.count.assign_add(each)  # type: ignore[no-any-return]

    def result(self) -> pb.Tensor:
        """What the updates so far give."""
        if self.total is None:
            raise ValueError("MeanTensor: there is no result before the first update_state; give it a shape=")
        found: pb.Tensor = pb.math.divide_no_nan(self.total.value(), self.count.value())
        return found


def _weighted(
    values: TensorLike, sample_weight: TensorLike | None, dtype: Any, reduced: Callable[..., Any]
) -> tuple[Any, Any]:
    """The values times their weights, and the sum of these; axes that the weights have not are `reduced`."""
    x = pb.cast(pb.convert_to_tensor(values), dtype)
    if sample_weight is None:
        return x, pb.cast(pb.size(x), dtype)
    w = pb.cast(pb.convert_to_tensor(sample_weight), dtype)
    if x.shape.rank and w.shape.rank == x.shape.rank + 1 and w.shape.size(-1) == 1:
        w = pb.squeeze(w, [-1])
    if x.shape.rank and w.shape.rank and w.shape.rank < x.shape.rank:
        x = reduced(x, list(range(w.shape.rank, x.shape.rank)))
    return x * w, pb.reduce_sum(pb.broadcast_to(w, pb.shape(x * w)))
