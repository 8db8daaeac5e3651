"""Metrics of Keras that are functions: they give one number an example."""

from __future__ import annotations

import pullback as pb

from .....core.contexts import in_graph_of_inputs
from .....core.typing import TensorLike
from .. import backend, losses
from ..losses import binary_crossentropy as binary_crossentropy
from ..losses import categorical_crossentropy as categorical_crossentropy
from ..losses import categorical_hinge as categorical_hinge
from ..losses import hinge as hinge
from ..losses import kullback_leibler_divergence as kullback_leibler_divergence
from ..losses import mean_absolute_error as mean_absolute_error
from ..losses import mean_absolute_percentage_error as mean_absolute_percentage_error
from ..losses import mean_squared_error as mean_squared_error
from ..losses import mean_squared_logarithmic_error as mean_squared_logarithmic_error
from ..losses import poisson as poisson
from ..losses import sparse_categorical_crossentropy as sparse_categorical_crossentropy
from ..losses import squared_hinge as squared_hinge

logcosh = losses.log_cosh
mse = MSE = mean_squared_error
mae = MAE = mean_absolute_error
mape = MAPE = mean_absolute_percentage_error
msle = MSLE = mean_squared_logarithmic_error


@in_graph_of_inputs
def accuracy(y_true: TensorLike, y_pred: TensorLike) -> pb.Tensor:
    """1 where both are equal, else 0."""
    p = pb.convert_to_tensor(y_pred)
    return pb.cast(pb.equal(pb.cast(pb.convert_to_tensor(y_true), p.dtype), p), backend.floatx())


@in_graph_of_inputs
def binary_accuracy(y_true: TensorLike, y_pred: TensorLike, threshold: TensorLike = 0.5) -> pb.Tensor:
    """The share, along the last axis, of predictions that lie on the right side of `threshold`."""
    p = pb.convert_to_tensor(y_pred)
    said = pb.cast(p > pb.cast(pb.convert_to_tensor(threshold), p.dtype), p.dtype)
    return pb.reduce_mean(pb.cast(pb.equal(pb.cast(pb.convert_to_tensor(y_true), p.dtype), said), backend.floatx()), -1)


@in_graph_of_inputs
def categorical_accuracy(y_true: TensorLike, y_pred: TensorLike) -> pb.Tensor:
    """1 where the largest prediction is that of the class with the largest label, else 0."""
    t, p = pb.argmax(pb.convert_to_tensor(y_true), -1), pb.argmax(pb.convert_to_tensor(y_pred), -1)
    return pb.cast(pb.equal(t, p), backend.floatx())


@in_graph_of_inputs
def sparse_categorical_accuracy(y_true: TensorLike, y_pred: TensorLike) -> pb.Tensor:
    """1 where the largest prediction is that of the class with the number `y_true`, else 0."""
    p = pb.convert_to_tensor(y_pred)
    t = _numbers(y_true, p)
    return pb.cast(pb.equal(pb.cast(t, pb.int64), pb.argmax(p, -1)), backend.floatx())


@in_graph_of_inputs
def top_k_categorical_accuracy(y_true: TensorLike, y_pred: TensorLike, k: int = 5) -> pb.Tensor:
    """1 where the class with the largest label has one of the `k` largest predictions, else 0."""
    return sparse_top_k_categorical_accuracy(pb.argmax(pb.convert_to_tensor(y_true), -1), y_pred, k)


@in_graph_of_inputs
def sparse_top_k_categorical_accuracy(y_true: TensorLike, y_pred: TensorLike, k: int = 5) -> pb.Tensor:
    """1 where the class with the number `y_true` has one of the `k` largest predictions, else 0."""
    p = pb.convert_to_tensor(y_pred)
    found = pb.nn.in_top_k(pb.cast(_numbers(y_true, p), pb.int32), p, k)
    return pb.cast(found, backend.floatx())


@in_graph_of_inputs
def cosine_proximity(y_true: TensorLike, y_pred: TensorLike, axis: int = -1) -> pb.Tensor:
    """The cosine of the angle between both along `axis`."""
    return -losses.cosine_similarity(y_true, y_pred, axis)


cosine_similarity = cosine_proximity


def _numbers(y_true: TensorLike, y_pred: pb.Tensor) -> pb.Tensor:
    """The numbers of classes without an axis of length 1 behind them."""
    t = pb.convert_to_tensor(y_true)
    return pb.squeeze(t, [-1]) if t.shape.rank is not None and t.shape.rank == y_pred.shape.rank else t
