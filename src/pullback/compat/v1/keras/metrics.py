"""Metrics of Keras inside graphs: `tf.keras.metrics`, functions that give one number an example, and running means.

>>> import pullback.compat.v1 as tf
>>> metrics = tf.keras.metrics
>>> hits = metrics.categorical_accuracy([[0, 1], [1, 0]], [[0.1, 0.9], [0.2, 0.8]])
>>> mean = metrics.Mean()
>>> update = mean.update_state([1.0, 3.0])
>>> with tf.Session() as session:
...     session.run(tf.variables_initializer(mean.variables))
...     _ = session.run([update, update])
...     session.run([hits, mean.result()])
[array([1., 0.], dtype=float32), np.float32(2.0)]
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pullback as pb

from ....core.typing import TensorLike
from ..variable import Variable
from . import backend, initializers, losses
from .losses import binary_crossentropy as binary_crossentropy
from .losses import categorical_crossentropy as categorical_crossentropy
from .losses import categorical_hinge as categorical_hinge
from .losses import hinge as hinge
from .losses import kullback_leibler_divergence as kullback_leibler_divergence
from .losses import mean_absolute_error as mean_absolute_error
from .losses import mean_absolute_percentage_error as mean_absolute_percentage_error
from .losses import mean_squared_error as mean_squared_error
from .losses import mean_squared_logarithmic_error as mean_squared_logarithmic_error
from .losses import poisson as poisson
from .losses import sparse_categorical_crossentropy as sparse_categorical_crossentropy
from .losses import squared_hinge as squared_hinge

mse = MSE = mean_squared_error
mae = MAE = mean_absolute_error
mape = MAPE = mean_absolute_percentage_error
msle = MSLE = mean_squared_logarithmic_error


def accuracy(y_true: TensorLike, y_pred: TensorLike) -> pb.Tensor:
    """1 where both are equal, else 0."""
    p = pb.convert_to_tensor(y_pred)
    return pb.cast(pb.equal(pb.cast(pb.convert_to_tensor(y_true), p.dtype), p), backend.floatx())


def binary_accuracy(y_true: TensorLike, y_pred: TensorLike, threshold: TensorLike = 0.5) -> pb.Tensor:
    """The share, along the last axis, of predictions that lie on the right side of `threshold`."""
    p = pb.convert_to_tensor(y_pred)
    said = pb.cast(p > pb.cast(pb.convert_to_tensor(threshold), p.dtype), p.dtype)
    return pb.reduce_mean(pb.cast(pb.equal(pb.cast(pb.convert_to_tensor(y_true), p.dtype), said), backend.floatx()), -1)


def categorical_accuracy(y_true: TensorLike, y_pred: TensorLike) -> pb.Tensor:
    """1 where the largest prediction is that of the class with the largest label, else 0."""
    t, p = pb.argmax(pb.convert_to_tensor(y_true), -1), pb.argmax(pb.convert_to_tensor(y_pred), -1)
    return pb.cast(pb.equal(t, p), backend.floatx())


def sparse_categorical_accuracy(y_true: TensorLike, y_pred: TensorLike) -> pb.Tensor:
    """1 where the largest prediction is that of the class with the number `y_true`, else 0."""
    p = pb.convert_to_tensor(y_pred)
    t = _numbers(y_true, p)
    return pb.cast(pb.equal(pb.cast(t, pb.int64), pb.argmax(p, -1)), backend.floatx())


def top_k_categorical_accuracy(y_true: TensorLike, y_pred: TensorLike, k: int = 5) -> pb.Tensor:
    """1 where the class with the largest label has one of the `k` largest predictions, else 0."""
    return sparse_top_k_categorical_accuracy(pb.argmax(pb.convert_to_tensor(y_true), -1), y_pred, k)


def sparse_top_k_categorical_accuracy(y_true: TensorLike, y_pred: TensorLike, k: int = 5) -> pb.Tensor:
    """1 where the class with the number `y_true` has one of the `k` largest predictions, else 0."""
    p = pb.convert_to_tensor(y_pred)
    found = pb.nn.in_top_k(pb.cast(_numbers(y_true, p), pb.int32), p, k)
    return pb.cast(found, backend.floatx())


def cosine_proximity(y_true: TensorLike, y_pred: TensorLike, axis: int = -1) -> pb.Tensor:
    """The cosine of the angle between both along `axis`."""
    return -losses.cosine_similarity(y_true, y_pred, axis)


class Metric:
    """What is kept of many batches: a subclass makes variables by `add_weight`, defines `update_state` and `result`.

    The variables are in no collection: initialize them by `tf.variables_initializer(metric.variables)`.
    """

    def __init__(self, name: str | None = None, dtype: Any = None, **kwargs: Any) -> None:
        del kwargs
        self.name = name or type(self).__name__.lower()
        self.dtype = pb.as_dtype(dtype or backend.floatx())
        self.variables: list[Any] = []

    def add_weight(
        self, name: str, shape: Any = (), aggregation: Any = None, initializer: Any = "zeros", dtype: Any = None
    ) -> Any:
        """A variable of the metric."""
        del aggregation
        begin, kind = initializers.get(initializer), self.dtype if dtype is None else pb.as_dtype(dtype)
        made = Variable(
            lambda: begin(shape, dtype=kind), trainable=False, collections=[], name=name, dtype=kind, use_resource=True
        )
        self.variables.append(made)
        return made

    @property
    def weights(self) -> list[Any]:
        """The variables."""
        return self.variables

    def __call__(self, *args: Any, **kwargs: Any) -> pb.Tensor:
        """The result behind an update."""
        with pb.control_dependencies([self.update_state(*args, **kwargs)]):
            return pb.identity(self.result())

    def update_state(self, *args: Any, **kwargs: Any) -> Any:
        """The operation, or tensor, of an update."""
        raise NotImplementedError(f"{type(self).__name__} does not define update_state")

    def result(self) -> pb.Tensor:
        """What the updates so far give."""
        raise NotImplementedError(f"{type(self).__name__} does not define result")

    def reset_states(self) -> None:
        """Assign zeros to the variables, in the session of Keras."""
        backend.batch_set_value([(v, 0 * backend.get_value(v)) for v in self.variables])


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


class Accuracy(MeanMetricWrapper):
    """How often predictions equal labels."""

    def __init__(self, name: str = "accuracy", dtype: Any = None) -> None:
        super().__init__(accuracy, name, dtype)


class BinaryAccuracy(MeanMetricWrapper):
    """The mean of `binary_accuracy`."""

    def __init__(self, name: str = "binary_accuracy", dtype: Any = None, threshold: float = 0.5) -> None:
        super().__init__(binary_accuracy, name, dtype, threshold=threshold)


class CategoricalAccuracy(MeanMetricWrapper):
    """The mean of `categorical_accuracy`."""

    def __init__(self, name: str = "categorical_accuracy", dtype: Any = None) -> None:
        super().__init__(categorical_accuracy, name, dtype)


class SparseCategoricalAccuracy(MeanMetricWrapper):
    """The mean of `sparse_categorical_accuracy`."""

    def __init__(self, name: str = "sparse_categorical_accuracy", dtype: Any = None) -> None:
        super().__init__(sparse_categorical_accuracy, name, dtype)


class TopKCategoricalAccuracy(MeanMetricWrapper):
    """The mean of `top_k_categorical_accuracy`."""

    def __init__(self, k: int = 5, name: str = "top_k_categorical_accuracy", dtype: Any = None) -> None:
        super().__init__(top_k_categorical_accuracy, name, dtype, k=k)


class SparseTopKCategoricalAccuracy(MeanMetricWrapper):
    """The mean of `sparse_top_k_categorical_accuracy`."""

    def __init__(self, k: int = 5, name: str = "sparse_top_k_categorical_accuracy", dtype: Any = None) -> None:
        super().__init__(sparse_top_k_categorical_accuracy, name, dtype, k=k)


class MeanSquaredError(MeanMetricWrapper):
    """The mean of `mean_squared_error`."""

    def __init__(self, name: str = "mean_squared_error", dtype: Any = None) -> None:
        super().__init__(mean_squared_error, name, dtype)


class MeanAbsoluteError(MeanMetricWrapper):
    """The mean of `mean_absolute_error`."""

    def __init__(self, name: str = "mean_absolute_error", dtype: Any = None) -> None:
        super().__init__(mean_absolute_error, name, dtype)


class BinaryCrossentropy(MeanMetricWrapper):
    """The mean of `binary_crossentropy`."""

    def __init__(
        self,
        name: str = "binary_crossentropy",
        dtype: Any = None,
        from_logits: bool = False,
        label_smoothing: float = 0,
    ) -> None:
        super().__init__(binary_crossentropy, name, dtype, from_logits=from_logits, label_smoothing=label_smoothing)


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
            categorical_crossentropy, name, dtype, from_logits=from_logits, label_smoothing=label_smoothing
        )


def _numbers(y_true: TensorLike, y_pred: pb.Tensor) -> pb.Tensor:
    """The numbers of classes without an axis of length 1 behind them."""
    t = pb.convert_to_tensor(y_true)
    return pb.squeeze(t, [-1]) if t.shape.rank is not None and t.shape.rank == y_pred.shape.rank else t


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
