"""Cross entropy of logits: one operation gives the loss and its derivative, from which further ones are made."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.contexts import in_graph_of_inputs
from ...core.dtypes import FLOATING, INTEGER, int64
from ...core.operation import AbstractTensorLike, Operation, Tensor
from ...core.primitive import Primitive
from ...core.shape import TensorShape
from ...core.traits import Links, all_axes_but, linear, same_axes
from ...core.types import TensorType
from ...core.typing import TensorLike
from ..activations.sigmoid import sigmoid, softplus
from ..activations.softmax import LogSoftmax, Softmax, SoftmaxGrad, exponentials, last_as_minus_one
from ..base.broadcasting import AbstractElementwise, Entry, in_float32, operands
from ..base.precision import widened
from ..casting.cast import cast
from ..creation.constant import convert_to_tensor
from ..elementwise.add_n import add_terms
from ..elementwise.arithmetic import REAL, Add
from ..elementwise.exponential import exp, log
from ..elementwise.masking import mask, multiply_no_nan
from ..logic.logical import logical_and
from ..reduction.reduce import reduce_sum
from ..shape.squeeze import ExpandDims


@in_graph_of_inputs
def sparse_softmax_cross_entropy_with_logits(labels: TensorLike, logits: TensorLike, name: str | None = None) -> Tensor:
    """`-log(softmax(logits)[label])` for each label; NaN where a label is not the number of a class.

    Shapes: `logits` [..., classes], `labels` [...]; the result [...]. Dtypes: any float, `labels` any integer.

    Derivative: dlogits = dy * (softmax(logits) - one_hot(labels)).

    Raises:
        ValueError: the shapes do not fit. TypeError: the dtypes are others.

    >>> import pullback as pb
    >>> pb.Session().run(pb.nn.sparse_softmax_cross_entropy_with_logits(labels=[1], logits=[[0.0, 0.0]]))
    array([0.6931472], dtype=float32)
    """
    x, numbers = convert_to_tensor(logits), convert_to_tensor(labels)
    return SparseSoftmaxCrossEntropyWithLogits().operation(x, numbers, name=name).outputs[0]


class SparseSoftmaxCrossEntropyWithLogits(Primitive):
    """The losses, and their derivatives by the logits: `softmax(x) - one_hot(label)`."""

    takes_none = True

    def infer(self, x: TensorType, labels: TensorType) -> tuple[TensorType, ...]:
        what = "sparse_softmax_cross_entropy_with_logits"
        if x.dtype not in FLOATING:
            raise TypeError(f"{what}: logits must be floats, not {x}")
        if labels.dtype not in INTEGER:
            raise TypeError(
                f"{what}: labels must be integers, not {labels}; softmax_cross_entropy_with_logits takes floats"
            )
        if x.shape.sizes is None:
            return (TensorType(x.dtype, labels.shape), x)
        if not x.shape.sizes or not labels.shape.is_compatible_with(x.shape[:-1]):
            raise ValueError(
                f"{what}: logits {x} need labels of shape {x.shape[:-1] if x.shape.sizes else '(...)'}, not {labels}"
            )
        return (TensorType(x.dtype, labels.shape.merge_with(x.shape[:-1])), x)

    def links(self, i: int, x: TensorType, labels: TensorType) -> Links | None:
        del i, labels
        return all_axes_but(x.shape.rank, -1)

    def kernel(self, xp: Any, x: Any, labels: Any) -> Any:
        dtype, x = x.dtype, widened(x)
        labels = labels.astype(int64)[..., None]
        classes = x.shape[-1]
        shifted, e, total = exponentials(xp, x, -1)
        total = xp.where((labels >= 0) & (labels < classes), total, x.dtype.type(np.nan))
        hot = labels == np.arange(classes)
        loss = xp.log(total)[..., 0] - xp.sum(xp.where(hot, shifted, x.dtype.type(0)), axis=-1)
        back = e / total - hot.astype(x.dtype)
        return loss.astype(dtype), back.astype(dtype)

    def gradient(self, op: Operation, dloss: Tensor | None, dback: Tensor | None) -> Sequence[Any]:
        x, _ = op.inputs

        def by_logits() -> Tensor | None:
            first = None if dloss is None else multiply_no_nan(op.outputs[1], ExpandDims((-1,))(dloss))
            second = None if dback is None else SoftmaxGrad()(Softmax()(x), dback)
            return add_terms(first, second)

        return by_logits, None


@in_graph_of_inputs
def softmax_cross_entropy_with_logits(
    labels: TensorLike, logits: TensorLike, axis: int = -1, name: str | None = None
) -> Tensor:
    """`-sum(labels * log(softmax(logits)))` along `axis`; a label 0 counts nothing, even where the logit is infinite.

    Exact for labels of any sum, by both arguments and to any order; put stop_gradient on labels that are constants.

    Shapes: both [..., classes], the classes at `axis`; the result lacks it. Dtypes: any float; labels of another number
    are cast to it.

    Derivative: dlogits = dy * (softmax(logits) * sum(labels) - labels), dlabels = -dy * log_softmax(logits).

    Raises:
        ValueError: the shapes differ. TypeError: the logits are no floats, or the labels no numbers.

    >>> import pullback as pb
    >>> pb.Session().run(pb.nn.softmax_cross_entropy_with_logits(labels=[[0.0, 1.0]], logits=[[0.0, 0.0]]))
    array([0.6931472], dtype=float32)
    """
    x = convert_to_tensor(logits)
    p = convert_to_tensor(labels, None if isinstance(labels, Tensor | AbstractTensorLike) else x.dtype)
    if p.dtype != x.dtype and p.dtype in REAL and x.dtype in FLOATING:
        p = cast(p, x.dtype)
    axis = last_as_minus_one(x, axis, "softmax_cross_entropy_with_logits")
    return SoftmaxCrossEntropyWithLogits(axis).operation(x, p, name=name).outputs[0]


class SoftmaxCrossEntropyWithLogits(Primitive):
    """The losses, and their derivatives by the logits: `softmax(x) * sum(labels) - labels`."""

    traits = (linear(1),)
    takes_none = True

    axis: int = -1

    def infer(self, x: TensorType, labels: TensorType) -> tuple[TensorType, ...]:
        what = "softmax_cross_entropy_with_logits"
        if x.dtype not in FLOATING or labels.dtype != x.dtype:
            raise TypeError(f"{what}: logits and labels must be floats of one dtype, not {x} and {labels}")
        if not x.shape.is_compatible_with(labels.shape):
            raise ValueError(f"{what}: logits and labels must have one shape, not {x} and {labels}")
        shape = x.shape.merge_with(labels.shape)
        if shape.lengths is None:
            return (TensorType(x.dtype, TensorShape.UNKNOWN), x)
        axis = self.axis % len(shape.lengths)
        loss = TensorShape(shape.lengths[:axis] + shape.lengths[axis + 1 :])
        return (TensorType(x.dtype, loss), x if shape is x.shape else TensorType(x.dtype, shape))

    def links(self, i: int, x: TensorType, labels: TensorType) -> Links | None:
        del i, labels
        return None if x.shape.rank is None else same_axes(range(self.axis % x.shape.rank))

    def kernel(self, xp: Any, x: Any, labels: Any) -> Any:
        dtype, x, labels = x.dtype, widened(x), widened(labels)
        shifted, e, total = exponentials(xp, x, self.axis)
        terms = xp.where(labels == 0, x.dtype.type(0), labels * (xp.log(total) - shifted))
        back = e * (xp.sum(labels, axis=self.axis, keepdims=True) / total) - labels
        return xp.sum(terms, axis=self.axis).astype(dtype), back.astype(dtype)

    def gradient(self, op: Operation, dloss: Tensor | None, dback: Tensor | None) -> Sequence[Any]:
        x, labels = op.inputs
        axis = self.axis

        def by_logits() -> Tensor | None:
            first = None if dloss is None else multiply_no_nan(op.outputs[1], ExpandDims((axis,))(dloss))
            second = None
            if dback is not None:
                sums = reduce_sum(labels, axis, keepdims=True)
                second = multiply_no_nan(sums, SoftmaxGrad(axis)(Softmax(axis)(x), dback))
            return add_terms(first, second)

        def by_labels() -> Tensor | None:
            first = None if dloss is None else -multiply_no_nan(LogSoftmax(axis)(x), ExpandDims((axis,))(dloss))
            second = None
            if dback is not None:
                second = reduce_sum(multiply_no_nan(Softmax(axis)(x), dback), axis, keepdims=True) - dback
            return add_terms(first, second)

        return by_logits, by_labels


@in_graph_of_inputs
def sigmoid_cross_entropy_with_logits(
    labels: TensorLike | None = None, logits: TensorLike | None = None, name: str | None = None
) -> Tensor:
    """`max(x, 0) - x * z + log(1 + exp(-|x|))` for logits x and labels z: the cross entropy of `sigmoid(x)`.

    Shapes: the same for both. Dtypes: any float, the same for both.

    Derivative: dlogits = dy * (sigmoid(logits) - labels), dlabels = -dy * logits.

    Raises:
        ValueError: the shapes differ, or an argument is missing. TypeError: the dtypes differ, or are no floats.

    >>> import pullback as pb
    >>> pb.Session().run(pb.nn.sigmoid_cross_entropy_with_logits(labels=[1.0], logits=[0.0]))
    array([0.6931472], dtype=float32)
    """
    what = "sigmoid_cross_entropy_with_logits"
    x, z = _logits_and_labels(what, logits, labels)
    return SigmoidCrossEntropy()(x, z, name=name or "logistic_loss")


def _logits_and_labels(what: str, logits: Any, labels: Any) -> list[Tensor]:
    if logits is None or labels is None:
        raise ValueError(f"{what}: both labels= and logits= must be given")
    x, z = operands(logits, labels)
    if not x.shape.is_compatible_with(z.shape):
        raise ValueError(f"{what}: logits and labels must have one shape, not {x.type} and {z.type}")
    return [x, z]


class SigmoidCrossEntropy(AbstractElementwise):
    dtypes = FLOATING

    @in_float32
    def kernel(self, xp: Any, x: Any, z: Any) -> Any:
        return xp.maximum(x, 0) - x * z + xp.log1p(xp.exp(xp.minimum(x, -x)))

    def partials(self, dy: Tensor, y: Tensor, x: Tensor, z: Tensor) -> Sequence[Entry]:
        del y
        return lambda: dy * (sigmoid(x) - z), lambda: -(dy * x)


@in_graph_of_inputs
def weighted_cross_entropy_with_logits(
    labels: TensorLike, logits: TensorLike, pos_weight: TensorLike, name: str | None = None
) -> Tensor:
    """`sigmoid_cross_entropy_with_logits` whose part of the label 1 is multiplied by `pos_weight`.

    Shapes: `labels` and `logits` the same, `pos_weight` broadcasts to it. Dtypes: any float, the same for all.

    Derivative: dlogits = dy * (sigmoid(x) * (1 - z + q * z) - q * z) for logits x, labels z and weight q; dz and dq
    likewise, of its terms.

    Raises:
        ValueError: the shapes differ. TypeError: the dtypes differ, or are no floats.

    >>> import pullback as pb
    >>> loss = pb.nn.weighted_cross_entropy_with_logits(labels=[1.0, 0.0], logits=[0.0, 0.0], pos_weight=2.0)
    >>> pb.Session().run(loss)
    array([1.3862944, 0.6931472], dtype=float32)
    """
    x, z = _logits_and_labels("weighted_cross_entropy_with_logits", logits, labels)
    q: Any = pos_weight
    with x.graph.within(name or "logistic_loss") as scope:
        weight = 1 + (q - 1) * z
        return Add()((1 - z) * x, weight * softplus(-x), name=scope)


@in_graph_of_inputs
def log_poisson_loss(
    targets: TensorLike, log_input: TensorLike, compute_full_loss: bool = False, name: str | None = None
) -> Tensor:
    """`exp(x) - z * x` for the logarithm x of a predicted rate and a count z: the loss of a Poisson distribution.

    `compute_full_loss` adds Stirling's approximation of log(z!) for counts above 1; it is NaN for negative ones.

    Shapes: the same for both. Dtypes: any float, the same for both.

    Derivative: dlog_input = dy * (exp(log_input) - targets), dtargets = -dy * log_input, and dy * log(targets) + dy /
    (2 * targets) more for targets > 1 with compute_full_loss.

    Raises:
        ValueError: the shapes differ. TypeError: the dtypes differ, or are no floats.

    >>> import pullback as pb
    >>> pb.Session().run(pb.nn.log_poisson_loss([2.0], [1.0]))
    array([0.7182...], dtype=float32)
    """
    x, z = _logits_and_labels("log_poisson_loss", log_input, targets)
    with x.graph.within(name or "log_poisson_loss"):
        loss = exp(x) - z * x
        if compute_full_loss:
            approximation = z * log(z) - z + 0.5 * log(2 * math.pi * z)
            loss = loss + mask(logical_and(z >= 0, z <= 1), approximation, keep=False)
        return loss
