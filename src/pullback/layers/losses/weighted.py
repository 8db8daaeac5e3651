"""Loss functions, under TensorFlow's names of `tf.compat.v1.losses`: weighted, reduced, and collected.

Each function adds its result to the collection `loss_collection` of the graph, unless that is None. They compute in the
dtype of the predictions. `weights` are a number, or broadcast to the single losses without new axes.
"""

from __future__ import annotations

from typing import Any, ClassVar

from ...core.contexts import in_graph_of_inputs
from ...core.dtypes import bfloat16, float16, float32
from ...core.operation import Tensor
from ...core.typing import TensorLike
from ...primitives.activations.rectifiers import relu
from ...primitives.base.broadcasting import operands
from ...primitives.casting.cast import cast
from ...primitives.counting import remove_squeezable_dimensions
from ...primitives.creation.constant import convert_to_tensor, is_python_number
from ...primitives.elementwise.add_n import add_n
from ...primitives.elementwise.arithmetic import multiply, squared_difference
from ...primitives.elementwise.division import divide_no_nan
from ...primitives.elementwise.exponential import log
from ...primitives.elementwise.sign import absolute
from ...primitives.identity.identity import stop_gradient
from ...primitives.logic.comparison import not_equal
from ...primitives.losses.cross_entropy import (
    sigmoid_cross_entropy_with_logits,
    softmax_cross_entropy_with_logits,
    sparse_softmax_cross_entropy_with_logits,
)
from ...primitives.losses.huber import Huber
from ...primitives.reduction.reduce import reduce_mean, reduce_sum
from ...primitives.shape.broadcast import broadcast_like
from ...primitives.shape.size import shape, size
from ...primitives.variables.collections import GraphKeys, get_collection
from .broadcast_weights import checked_weights


class Reduction:
    """How the single losses become one: not at all, their weighted sum, or that divided by the sum of the weights, the
    number of losses, or the number of weights that are not 0.

    >>> import pullback as pb
    >>> loss = pb.losses.absolute_difference([1.0, 2.0], [1.5, 4.0], reduction=pb.losses.Reduction.SUM)
    >>> pb.Session().run(loss)
    np.float32(2.5)
    """

    NONE: ClassVar[str] = "none"
    SUM: ClassVar[str] = "weighted_sum"
    MEAN: ClassVar[str] = "weighted_mean"
    SUM_OVER_BATCH_SIZE: ClassVar[str] = "weighted_sum_over_batch_size"
    SUM_BY_NONZERO_WEIGHTS: ClassVar[str] = "weighted_sum_by_nonzero_weights"
    SUM_OVER_NONZERO_WEIGHTS: ClassVar[str] = SUM_BY_NONZERO_WEIGHTS

    @classmethod
    def all(cls) -> tuple[str, ...]:
        """All of them."""
        return cls.NONE, cls.SUM, cls.MEAN, cls.SUM_OVER_BATCH_SIZE, cls.SUM_BY_NONZERO_WEIGHTS

    @classmethod
    def validate(cls, key: str) -> None:
        """ValueError unless `key` is one of them."""
        if key not in cls.all():
            raise ValueError(f"losses: reduction must be one of {', '.join(cls.all())}, not {key!r}")


@in_graph_of_inputs
def compute_weighted_loss(
    losses: TensorLike,
    weights: TensorLike = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Tensor:
    """The single `losses`, weighted and reduced; 0 where there is nothing to divide by.

    Shapes: `weights` a scalar, or of the rank of `losses` with lengths equal or one. Dtypes: any float.

    Derivative: dlosses = dy * weights / count, dweights = dy * losses / count, summed where they were repeated, and
    that of the count.

    Raises:
        ValueError: `weights` do not broadcast; `reduction` is not one of `Reduction`.

    >>> import pullback as pb
    >>> pb.Session().run(pb.losses.compute_weighted_loss([1.0, 2.0, 3.0], [1.0, 0.0, 1.0]))
    np.float32(2.0)
    """
    Reduction.validate(reduction)
    single = convert_to_tensor(losses)
    with single.graph.within(scope or "weighted_loss"):
        loss = _reduced(single, weights, reduction)
    add_loss(loss, loss_collection)
    return loss


def _reduced(losses: Tensor, weights: Any, reduction: str) -> Tensor:
    plain = is_python_number(weights) and weights == 1
    count = losses.shape.num_elements()
    if plain and reduction == Reduction.NONE:
        return losses
    if plain and reduction != Reduction.SUM and count is not None and count > 0:
        return reduce_mean(losses, name="value")
    if losses.dtype in (float16, bfloat16):  # sums and counts need more room
        return cast(_reduced(cast(losses, float32), weights, reduction), losses.dtype)
    factors = losses if plain else cast(convert_to_tensor(weights, dtype_hint=losses.dtype), losses.dtype)
    weighted = losses if plain else multiply(losses, checked_weights("losses", factors, losses))
    if reduction == Reduction.NONE:
        return weighted
    total = reduce_sum(weighted)
    if reduction == Reduction.SUM:
        return total
    if plain or reduction == Reduction.SUM_OVER_BATCH_SIZE:
        number = convert_to_tensor(count, losses.dtype) if count is not None else cast(size(losses), losses.dtype)
    else:
        kept = factors if reduction == Reduction.MEAN else cast(not_equal(factors, 0), losses.dtype)
        number = reduce_sum(broadcast_like(kept, losses))
    return divide_no_nan(total, number, name="value")


def add_loss(loss: Tensor, loss_collection: str | None = GraphKeys.LOSSES) -> None:
    """Append `loss` to a collection of its graph; None for no collection.

    >>> import pullback as pb
    >>> pb.losses.add_loss(pb.constant(1.0))
    >>> pb.losses.get_losses()
    [<Tensor 'Const:0' float32[]>]
    """
    if loss_collection is not None:
        loss.graph.add_to_collection(loss_collection, loss)


def get_losses(scope: str | None = None, loss_collection: str = GraphKeys.LOSSES) -> list[Tensor]:
    """The losses collected in the default graph; with `scope`, those whose names it matches at the start.

    >>> import pullback as pb
    >>> loss = pb.losses.mean_squared_error([1.0], [2.0])
    >>> pb.losses.get_losses() == [loss]
    True
    """
    return get_collection(loss_collection, scope)


def get_regularization_losses(scope: str | None = None) -> list[Tensor]:
    """The regularisation losses collected in the default graph; with `scope`, those whose names it matches.

    >>> import pullback as pb
    >>> w = pb.get_variable("w", initializer=[3.0, 4.0], regularizer=pb.nn.l2_loss)
    >>> len(pb.losses.get_regularization_losses())
    1
    """
    return get_collection(GraphKeys.REGULARIZATION_LOSSES, scope)


def get_regularization_loss(scope: str | None = None, name: str = "total_regularization_loss") -> Tensor:
    """The sum of the collected regularisation losses; 0 where there are none.

    >>> import pullback as pb
    >>> pb.Session().run(pb.losses.get_regularization_loss())
    np.float32(0.0)
    """
    losses = get_regularization_losses(scope)
    return add_n(losses, name=name) if losses else convert_to_tensor(0.0, name=name)


def get_total_loss(
    add_regularization_losses: bool = True, name: str = "total_loss", scope: str | None = None
) -> Tensor:
    """The sum of the collected losses, the regularisation losses with them unless told otherwise.

    >>> import pullback as pb
    >>> loss = pb.losses.mean_squared_error([1.0], [3.0])
    >>> pb.Session().run(pb.losses.get_total_loss())
    np.float32(4.0)
    """
    losses = get_losses(scope)
    if add_regularization_losses:
        losses = losses + get_regularization_losses(scope)
    if not losses:
        raise ValueError("get_total_loss: no loss has been collected in the default graph")
    return add_n(losses, name=name)


def _pair(what: str, labels: Any, predictions: Any) -> list[Tensor]:
    """Labels and predictions of one dtype and shape."""
    if labels is None or predictions is None:
        raise ValueError(f"{what}: labels and predictions must be given")
    y, z = operands(predictions, labels)
    z = cast(z, y.dtype)
    if not y.shape.is_compatible_with(z.shape):
        raise ValueError(f"{what}: labels {z.type} and predictions {y.type} must have one shape")
    return [z, y]


@in_graph_of_inputs
def absolute_difference(
    labels: TensorLike,
    predictions: TensorLike,
    weights: TensorLike = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Tensor:
    """`|predictions - labels|`, weighted and reduced; see `compute_weighted_loss`.

    Shapes: the same for both. Dtypes: any float; `labels` are converted to that of `predictions`.

    Derivative: dpredictions = dy * weights / count * sign(predictions - labels), dlabels = -dpredictions.

    Raises:
        ValueError: the shapes differ, or as `compute_weighted_loss`.

    >>> import pullback as pb
    >>> pb.Session().run(pb.losses.absolute_difference([0.0, 0.0], [1.0, -3.0]))
    np.float32(2.0)
    """
    z, y = _pair("absolute_difference", labels, predictions)
    with y.graph.within(scope or "absolute_difference") as scope:
        return compute_weighted_loss(absolute(y - z), weights, scope, loss_collection, reduction)


@in_graph_of_inputs
def mean_squared_error(
    labels: TensorLike,
    predictions: TensorLike,
    weights: TensorLike = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Tensor:
    """`(predictions - labels) ** 2`, weighted and reduced; see `compute_weighted_loss`.

    Shapes: the same for both. Dtypes: any float; `labels` are converted to that of `predictions`.

    Derivative: dpredictions = dy * weights / count * 2 * (predictions - labels), dlabels = -dpredictions.

    Raises:
        ValueError: the shapes differ, or as `compute_weighted_loss`.

    >>> import pullback as pb
    >>> pb.Session().run(pb.losses.mean_squared_error([0.0, 0.0], [1.0, -3.0]))
    np.float32(5.0)
    """
    z, y = _pair("mean_squared_error", labels, predictions)
    with y.graph.within(scope or "mean_squared_error") as scope:
        return compute_weighted_loss(squared_difference(y, z), weights, scope, loss_collection, reduction)


@in_graph_of_inputs
def huber_loss(
    labels: TensorLike,
    predictions: TensorLike,
    weights: TensorLike = 1.0,
    delta: float = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Tensor:
    """`e**2 / 2` for errors e up to `delta`, `delta * (|e| - delta / 2)` beyond, weighted and reduced.

    Shapes: the same for both. Dtypes: any float; `labels` are converted to that of `predictions`.

    Derivative: dpredictions = dy * weights / count * clip(predictions - labels, -delta, delta), dlabels =
    -dpredictions.

    Raises:
        ValueError: the shapes differ, or as `compute_weighted_loss`.

    Source: Huber, Robust Estimation of a Location Parameter, 1964.

    >>> import pullback as pb
    >>> pb.Session().run(pb.losses.huber_loss([0.0, 0.0], [1.0, -3.0]))
    np.float32(1.5)
    """
    z, y = _pair("huber_loss", labels, predictions)
    with y.graph.within(scope or "huber_loss") as scope:
        return compute_weighted_loss(Huber(float(delta))(y - z), weights, scope, loss_collection, reduction)


@in_graph_of_inputs
def log_loss(
    labels: TensorLike,
    predictions: TensorLike,
    weights: TensorLike = 1.0,
    epsilon: float = 1e-7,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Tensor:
    """`-z * log(y + epsilon) - (1 - z) * log(1 - y + epsilon)` for labels z and predictions y, weighted and reduced.

    Shapes: the same for both. Dtypes: any float; `labels` are converted to that of `predictions`.

    Derivative: dpredictions = dy * weights / count * ((1 - z) / (1 - y + epsilon) - z / (y + epsilon)).

    Raises:
        ValueError: the shapes differ, or as `compute_weighted_loss`.

    >>> import pullback as pb
    >>> pb.Session().run(pb.losses.log_loss([1.0], [0.5], epsilon=0.0))
    np.float32(0.6931472)
    """
    z, y = _pair("log_loss", labels, predictions)
    with y.graph.within(scope or "log_loss") as scope:
        losses = -(z * log(y + epsilon)) - (1 - z) * log(1 - y + epsilon)
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


@in_graph_of_inputs
def hinge_loss(
    labels: TensorLike,
    logits: TensorLike,
    weights: TensorLike = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Tensor:
    """`max(1 - (2 * labels - 1) * logits, 0)` for labels 0 and 1, weighted and reduced; see `compute_weighted_loss`.

    Shapes: the same for both. Dtypes: any float; `labels` are converted to that of `logits`.

    Derivative: dlogits = -dy * weights / count * (2 * labels - 1) where the loss is above 0, else 0.

    Raises:
        ValueError: the shapes differ, or as `compute_weighted_loss`.

    >>> import pullback as pb
    >>> pb.Session().run(pb.losses.hinge_loss([0.0, 1.0], [1.0, 3.0]))
    np.float32(1.0)
    """
    z, x = _pair("hinge_loss", labels, logits)
    with x.graph.within(scope or "hinge_loss") as scope:
        return compute_weighted_loss(relu(1 - (2 * z - 1) * x), weights, scope, loss_collection, reduction)


@in_graph_of_inputs
def cosine_distance(
    labels: TensorLike,
    predictions: TensorLike,
    axis: int | None = None,
    weights: TensorLike = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
    dim: int | None = None,
) -> Tensor:
    """`1 - sum(labels * predictions)` along `axis` for vectors of length one, weighted and reduced.

    `dim` is an older name of `axis`.

    Shapes: the same for both. Dtypes: any float; `labels` are converted to that of `predictions`.

    Derivative: dpredictions = -dy * weights / count * labels, dlabels likewise.

    Raises:
        ValueError: the shapes differ, `axis` is missing or given twice, or as `compute_weighted_loss`.

    >>> import pullback as pb
    >>> pb.Session().run(pb.losses.cosine_distance([1.0, 0.0], [0.0, 1.0], axis=0))
    np.float32(1.0)
    """
    if (axis is None) == (dim is None):
        raise ValueError("cosine_distance: give axis, or dim, which is the same")
    axis = dim if axis is None else axis
    z, y = _pair("cosine_distance", labels, predictions)
    with y.graph.within(scope or "cosine_distance_loss") as scope:
        losses = 1 - reduce_sum(y * z, axis, keepdims=True)
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


@in_graph_of_inputs
def sigmoid_cross_entropy(
    multi_class_labels: TensorLike,
    logits: TensorLike,
    weights: TensorLike = 1.0,
    label_smoothing: float = 0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Tensor:
    """`pb.nn.sigmoid_cross_entropy_with_logits`, weighted and reduced; labels z become `z * (1 - s) + s / 2`.

    Shapes: the same for both. Dtypes: any float; the labels are converted to that of `logits`.

    Derivative: that of nn.sigmoid_cross_entropy_with_logits, times weights / count.

    Raises:
        ValueError: the shapes differ, or as `compute_weighted_loss`.

    >>> import pullback as pb
    >>> pb.Session().run(pb.losses.sigmoid_cross_entropy([[0, 1]], [[0.0, 0.0]]))
    np.float32(0.6931472)
    """
    z, x = _pair("sigmoid_cross_entropy", multi_class_labels, logits)
    with x.graph.within(scope or "sigmoid_cross_entropy_loss") as scope:
        if label_smoothing:
            z = z * (1 - label_smoothing) + 0.5 * label_smoothing
        losses = sigmoid_cross_entropy_with_logits(labels=z, logits=x)
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


@in_graph_of_inputs
def softmax_cross_entropy(
    onehot_labels: TensorLike,
    logits: TensorLike,
    weights: TensorLike = 1.0,
    label_smoothing: float = 0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Tensor:
    """`pb.nn.softmax_cross_entropy_with_logits`, weighted and reduced; labels z become `z * (1 - s) + s / classes`.

    Shapes: both [n, classes]. Dtypes: any float; the labels are converted to that of `logits`.

    Derivative: by `logits` that of nn.softmax_cross_entropy_with_logits, times weights / count; labels are constant.

    Raises:
        ValueError: the shapes differ, or as `compute_weighted_loss`.

    >>> import pullback as pb
    >>> pb.Session().run(pb.losses.softmax_cross_entropy([[0, 1]], [[0.0, 0.0]]))
    np.float32(0.6931472)
    """
    z, x = _pair("softmax_cross_entropy", onehot_labels, logits)
    with x.graph.within(scope or "softmax_cross_entropy_loss") as scope:
        z = stop_gradient(z)
        if label_smoothing:
            classes = cast(shape(x)[-1], x.dtype)
            z = z * (1 - label_smoothing) + label_smoothing / classes
        losses = softmax_cross_entropy_with_logits(labels=z, logits=x)
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


@in_graph_of_inputs
def sparse_softmax_cross_entropy(
    labels: TensorLike,
    logits: TensorLike,
    weights: TensorLike = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Tensor:
    """`pb.nn.sparse_softmax_cross_entropy_with_logits`, weighted and reduced; see `compute_weighted_loss`.

    Shapes: `logits` [..., classes], `labels` and `weights` [...] or [..., 1]. Dtypes: any float, `labels` any integer.

    Derivative: that of nn.sparse_softmax_cross_entropy_with_logits, times weights / count.

    Raises:
        ValueError: the shapes do not fit, or as `compute_weighted_loss`.

    >>> import pullback as pb
    >>> pb.Session().run(pb.losses.sparse_softmax_cross_entropy([1], [[0.0, 0.0]]))
    np.float32(0.6931472)
    """
    x, numbers = convert_to_tensor(logits), convert_to_tensor(labels)
    with x.graph.within(scope or "sparse_softmax_cross_entropy_loss") as scope:
        numbers, _ = remove_squeezable_dimensions(numbers, x, expected_rank_diff=1)
        losses = sparse_softmax_cross_entropy_with_logits(numbers, x)
        if not is_python_number(weights):
            _, weights = remove_squeezable_dimensions(losses, weights)
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


__all__ = [
    "Reduction",
    "absolute_difference",
    "add_loss",
    "compute_weighted_loss",
    "cosine_distance",
    "get_losses",
    "get_regularization_loss",
    "get_regularization_losses",
    "get_total_loss",
    "hinge_loss",
    "huber_loss",
    "log_loss",
    "mean_squared_error",
    "sigmoid_cross_entropy",
    "softmax_cross_entropy",
    "sparse_softmax_cross_entropy",
]
