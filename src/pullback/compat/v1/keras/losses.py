"""Losses of Keras: `tf.keras.losses`, functions that give one number an example, and classes that give their mean."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import pullback as pb

from ....core.contexts import in_graph_of_inputs
from ....core.typing import TensorLike
from ..metrics.running import fitted
from . import backend
from .backend.networks import pair
from .named import found, serialize_keras_object

serialize = serialize_keras_object


@in_graph_of_inputs
def mean_squared_error(y_true: TensorLike, y_pred: TensorLike) -> pb.Tensor:
    """The mean of `(y_pred - y_true) ** 2` along the last axis."""
    t, p = pair(y_true, y_pred)
    return pb.reduce_mean(pb.square(p - t), -1)


@in_graph_of_inputs
def mean_absolute_error(y_true: TensorLike, y_pred: TensorLike) -> pb.Tensor:
    """The mean of `|y_pred - y_true|` along the last axis."""
    t, p = pair(y_true, y_pred)
    return pb.reduce_mean(abs(p - t), -1)


@in_graph_of_inputs
def mean_absolute_percentage_error(y_true: TensorLike, y_pred: TensorLike) -> pb.Tensor:
    """The mean of `100 |y_true - y_pred| / |y_true|` along the last axis."""
    t, p = pair(y_true, y_pred)
    return 100.0 * pb.reduce_mean(abs((t - p) / pb.maximum(abs(t), backend.epsilon())), -1)


@in_graph_of_inputs
def mean_squared_logarithmic_error(y_true: TensorLike, y_pred: TensorLike) -> pb.Tensor:
    """The mean of `(log(1 + y_true) - log(1 + y_pred)) ** 2` along the last axis; what is below 0 counts as 0."""
    t, p = (pb.log(pb.maximum(x, backend.epsilon()) + 1.0) for x in pair(y_true, y_pred))
    return pb.reduce_mean(pb.square(p - t), -1)


@in_graph_of_inputs
def poisson(y_true: TensorLike, y_pred: TensorLike) -> pb.Tensor:
    """The mean of `y_pred - y_true * log(y_pred)` along the last axis."""
    t, p = pair(y_true, y_pred)
    return pb.reduce_mean(p - t * pb.log(p + backend.epsilon()), -1)


@in_graph_of_inputs
def log_cosh(y_true: TensorLike, y_pred: TensorLike) -> pb.Tensor:
    """The mean of the logarithms of the hyperbolic cosines of the errors along the last axis."""
    t, p = pair(y_true, y_pred)
    error = p - t
    return pb.reduce_mean(error + pb.nn.softplus(-2.0 * error) - math.log(2.0), -1)


@in_graph_of_inputs
def squared_hinge(y_true: TensorLike, y_pred: TensorLike) -> pb.Tensor:
    """The mean of `max(1 - y_true * y_pred, 0) ** 2` along the last axis; labels as of `hinge`."""
    return pb.reduce_mean(pb.square(_margins(y_true, y_pred)), -1)


@in_graph_of_inputs
def categorical_hinge(y_true: TensorLike, y_pred: TensorLike) -> pb.Tensor:
    """`max(1 + the largest prediction of another class - that of the true one, 0)`, along the last axis."""
    t, p = pair(y_true, y_pred)
    return pb.maximum(pb.reduce_max((1.0 - t) * p, -1) - pb.reduce_sum(t * p, -1) + 1.0, 0.0)


@in_graph_of_inputs
def hinge(y_true: TensorLike, y_pred: TensorLike) -> pb.Tensor:
    """The mean of `max(1 - y_true * y_pred, 0)` along the last axis; labels of 0 and 1 only count as -1 and 1."""
    return pb.reduce_mean(_margins(y_true, y_pred), -1)


def _margins(y_true: TensorLike, y_pred: TensorLike) -> pb.Tensor:
    t, p = pair(y_true, y_pred)
    is_binary = pb.reduce_all(pb.equal(t, 0.0) | pb.equal(t, 1.0))
    return pb.maximum(1.0 - pb.where(is_binary, 2.0 * t - 1.0, t) * p, 0.0)


@in_graph_of_inputs
def huber_loss(y_true: TensorLike, y_pred: TensorLike, delta: float = 1.0) -> pb.Tensor:
    """The mean of half squares, which go on straight beyond `delta`, along the last axis."""
    t, p = pair(y_true, y_pred)
    size = abs(p - t)
    return pb.reduce_mean(pb.where(size <= delta, 0.5 * pb.square(size), delta * (size - 0.5 * delta)), -1)


@in_graph_of_inputs
def kullback_leibler_divergence(y_true: TensorLike, y_pred: TensorLike) -> pb.Tensor:
    """The sum of `y_true * log(y_true / y_pred)` along the last axis."""
    t, p = (pb.clip_by_value(x, backend.epsilon(), 1.0) for x in pair(y_true, y_pred))
    return pb.reduce_sum(t * pb.log(t / p), -1)


@in_graph_of_inputs
def cosine_similarity(y_true: TensorLike, y_pred: TensorLike, axis: int = -1) -> pb.Tensor:
    """Minus the cosine of the angle between vectors along `axis`."""
    t, p = pair(y_true, y_pred)
    return -pb.reduce_sum(pb.linalg.l2_normalize(t, axis) * pb.linalg.l2_normalize(p, axis), axis)


@in_graph_of_inputs
def categorical_crossentropy(
    y_true: TensorLike, y_pred: TensorLike, from_logits: bool = False, label_smoothing: float = 0.0
) -> pb.Tensor:
    """The cross entropy of probabilities, or of logits, along the last axis."""
    t, p = pair(y_true, y_pred)
    if label_smoothing:
        t = t * (1.0 - label_smoothing) + label_smoothing / float(p.shape.as_list()[-1])
    return backend.categorical_crossentropy(t, p, from_logits)


@in_graph_of_inputs
def sparse_categorical_crossentropy(y_true: TensorLike, y_pred: TensorLike, from_logits: bool = False) -> pb.Tensor:
    """The cross entropy of probabilities, or of logits, for numbers of classes."""
    return backend.sparse_categorical_crossentropy(y_true, y_pred, from_logits)


@in_graph_of_inputs
def binary_crossentropy(
    y_true: TensorLike, y_pred: TensorLike, from_logits: bool = False, label_smoothing: float = 0.0
) -> pb.Tensor:
    """The mean of the cross entropies of yes and no along the last axis."""
    t, p = pair(y_true, y_pred)
    if label_smoothing:
        t = t * (1.0 - label_smoothing) + 0.5 * label_smoothing
    return pb.reduce_mean(backend.binary_crossentropy(t, p, from_logits), -1)


class Loss:
    """A loss as an object: called with labels and predictions it gives the mean over all examples, weighted."""

    function: Callable[..., pb.Tensor]

    def __init__(self, reduction: str = "auto", name: str | None = None, **options: Any) -> None:
        self.reduction, self.name, self._options = reduction, name, options

    def __call__(self, y_true: TensorLike, y_pred: TensorLike, sample_weight: TensorLike | None = None) -> pb.Tensor:
        """The mean, the sum with reduction "sum", one number an example with "none"."""
        losses = type(self).function(y_true, y_pred, **self._options)
        if sample_weight is not None:
            losses = losses * fitted(pb.cast(pb.convert_to_tensor(sample_weight), losses.dtype), losses)
        if self.reduction == "none":
            return losses
        return pb.reduce_sum(losses) if self.reduction == "sum" else pb.reduce_mean(losses)

    def get_config(self) -> dict[str, Any]:
        """The arguments that make such a loss."""
        return {"reduction": self.reduction, "name": self.name, **self._options}

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Loss:
        """The loss of those arguments."""
        return cls(**config)


class MeanSquaredError(Loss):
    """`mean_squared_error` as an object."""

    function = mean_squared_error


class MeanAbsoluteError(Loss):
    """`mean_absolute_error` as an object."""

    function = mean_absolute_error


class Hinge(Loss):
    """`hinge` as an object."""

    function = hinge


class Huber(Loss):
    """`huber_loss` as an object."""

    function = huber_loss

    def __init__(self, delta: float = 1.0, **options: Any) -> None:
        super().__init__(delta=delta, **options)


class CosineSimilarity(Loss):
    """`cosine_similarity` as an object."""

    function = cosine_similarity

    def __init__(self, axis: int = -1, **options: Any) -> None:
        super().__init__(axis=axis, **options)


class MeanAbsolutePercentageError(Loss):
    """`mean_absolute_percentage_error` as an object."""

    function = mean_absolute_percentage_error


class MeanSquaredLogarithmicError(Loss):
    """`mean_squared_logarithmic_error` as an object."""

    function = mean_squared_logarithmic_error


class Poisson(Loss):
    """`poisson` as an object."""

    function = poisson


class LogCosh(Loss):
    """`log_cosh` as an object."""

    function = log_cosh


class SquaredHinge(Loss):
    """`squared_hinge` as an object."""

    function = squared_hinge


class CategoricalHinge(Loss):
    """`categorical_hinge` as an object."""

    function = categorical_hinge


class KLDivergence(Loss):
    """`kullback_leibler_divergence` as an object."""

    function = kullback_leibler_divergence


class CategoricalCrossentropy(Loss):
    """`categorical_crossentropy` as an object."""

    function = categorical_crossentropy

    def __init__(self, from_logits: bool = False, label_smoothing: float = 0.0, **options: Any) -> None:
        super().__init__(from_logits=from_logits, label_smoothing=label_smoothing, **options)


class SparseCategoricalCrossentropy(Loss):
    """`sparse_categorical_crossentropy` as an object."""

    function = sparse_categorical_crossentropy

    def __init__(self, from_logits: bool = False, **options: Any) -> None:
        super().__init__(from_logits=from_logits, **options)


class BinaryCrossentropy(Loss):
    """`binary_crossentropy` as an object."""

    function = binary_crossentropy

    def __init__(self, from_logits: bool = False, label_smoothing: float = 0.0, **options: Any) -> None:
        super().__init__(from_logits=from_logits, label_smoothing=label_smoothing, **options)


mse = MSE = mean_squared_error
mae = MAE = mean_absolute_error
mape = MAPE = mean_absolute_percentage_error
msle = MSLE = mean_squared_logarithmic_error
kld = KLD = kl_divergence = kullback_leibler_divergence
logcosh, cosine, cosine_proximity = log_cosh, cosine_similarity, cosine_similarity


def get(identifier: Any) -> Any:
    """The loss of a name, as "mse" or "Huber", of the class and arguments of an object, or a function itself.

    Raises:
        ValueError: it is none of these, or unknown.
    """
    if identifier is None or callable(identifier):
        return identifier
    return deserialize(identifier)


def deserialize(name: Any, custom_objects: Mapping[str, Any] | None = None) -> Any:
    """The loss that `serialize` told of.

    Raises:
        ValueError: there is none of the name.
    """
    return found(name, _find, custom_objects, "loss function")


def _find(name: str) -> Any:
    kind = None if name.startswith("_") else globals().get(name)
    return kind if getattr(kind, "__module__", None) == __name__ else None
