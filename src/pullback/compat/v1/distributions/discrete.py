"""Discrete distributions: Bernoulli's, and one of several classes.

>>> import pullback.compat.v1 as tf
>>> coin, die = tf.distributions.Bernoulli(probs=0.25), tf.distributions.Categorical(probs=[0.5, 0.25, 0.25])
>>> tf.Session().run([coin.mean(), die.prob([0, 2]), die.mode()])
[np.float32(0.25), array([0.5 , 0.25], dtype=float32), np.int32(0)]
"""

from __future__ import annotations

from typing import Any

from ....core.dtypes import as_dtype, int32
from ....core.graph import Tensor
from ....core.typing import DTypeLike, TensorLike
from ....primitives.activations.sigmoid import sigmoid
from ....primitives.activations.softmax import log_softmax, softmax
from ....primitives.casting.cast import cast
from ....primitives.creation.constant import convert_to_tensor
from ....primitives.creation.ranges import range_
from ....primitives.elementwise.exponential import exp, log, log1p
from ....primitives.elementwise.masking import multiply_no_nan
from ....primitives.indexing.gather import gather
from ....primitives.losses.cross_entropy import sigmoid_cross_entropy_with_logits
from ....primitives.random.stateful import categorical, random_uniform
from ....primitives.reduction.argmax import argmax
from ....primitives.reduction.reduce import reduce_sum
from ....primitives.shape.broadcast import broadcast_to
from ....primitives.shape.reshape import reshape
from ....primitives.shape.size import shape
from ....primitives.shape.stacking import concat
from ....primitives.shape.static_shapes import broadcast_dynamic_shape
from ....primitives.shape.transpose import transpose
from .distribution import NOT_REPARAMETERIZED, Distribution, divergence, named


class Bernoulli(Distribution):
    """1 with probability `probs`, which is `sigmoid(logits)`, else 0."""

    def __init__(
        self,
        logits: TensorLike | None = None,
        probs: TensorLike | None = None,
        dtype: DTypeLike = int32,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Bernoulli",
    ) -> None:
        del validate_args
        super().__init__(as_dtype(dtype), name, allow_nan_stats, NOT_REPARAMETERIZED)
        check_one("Bernoulli", logits, probs)
        if logits is not None:
            self.logits = convert_to_tensor(logits)
            self.probs = sigmoid(self.logits)
        elif probs is not None:
            self.probs = convert_to_tensor(probs)
            self.logits = log(self.probs) - log1p(-self.probs)

    @property
    def parameters_like(self) -> Tensor:
        return self.probs

    def log_prob(self, value: TensorLike, name: str | None = None) -> Tensor:
        x = cast(convert_to_tensor(value), self.logits.dtype)
        logits, x = self.logits + x * 0.0, x + self.logits * 0.0
        return named(-sigmoid_cross_entropy_with_logits(labels=x, logits=logits), name)

    def drawn(self, count: int, lengths: Tensor, seed: int | None) -> Tensor:
        del count
        return cast(random_uniform(lengths, dtype=self.probs.dtype, seed=seed) < self.probs, self.dtype)

    def mean(self, name: str | None = None) -> Tensor:
        return named(self.probs, name)

    def variance(self, name: str | None = None) -> Tensor:
        return named(self.probs * (1.0 - self.probs), name)

    def entropy(self, name: str | None = None) -> Tensor:
        return named(sigmoid_cross_entropy_with_logits(labels=self.probs, logits=self.logits), name)

    def mode(self, name: str | None = None) -> Tensor:
        return cast(self.probs > 0.5, self.dtype, name=name)


class Categorical(Distribution):
    """The class number i with probability `probs[..., i]`, which is `softmax(logits)`."""

    def __init__(
        self,
        logits: TensorLike | None = None,
        probs: TensorLike | None = None,
        dtype: DTypeLike = int32,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Categorical",
    ) -> None:
        del validate_args
        super().__init__(as_dtype(dtype), name, allow_nan_stats, NOT_REPARAMETERIZED)
        check_one("Categorical", logits, probs)
        if logits is not None:
            self.logits = convert_to_tensor(logits)
            self.probs = softmax(self.logits)
        elif probs is not None:
            self.probs = convert_to_tensor(probs)
            self.logits = log(self.probs)

    @property
    def event_size(self) -> Tensor:
        """The number of classes."""
        return shape(self.logits)[-1]

    @property
    def parameters_like(self) -> Tensor:
        return self.logits[..., 0]

    def log_prob(self, value: TensorLike, name: str | None = None) -> Tensor:
        k = convert_to_tensor(value)
        logarithms = log_softmax(self.logits)
        classes = shape(logarithms)[-1:]
        lengths = broadcast_dynamic_shape(shape(k), shape(logarithms)[:-1])
        rows = reshape(broadcast_to(logarithms, concat([lengths, classes], 0)), concat([[-1], classes], 0))
        picked = gather(rows, reshape(broadcast_to(k, lengths), [-1]), axis=1, batch_dims=1)
        return named(reshape(picked, lengths), name)

    def cdf(self, value: TensorLike, name: str | None = None) -> Tensor:
        """The probability of the classes before `value`, as TensorFlow has it."""
        k = convert_to_tensor(value)
        before = cast(cast(range_(self.event_size), k.dtype) < k[..., None], self.probs.dtype)
        return named(reduce_sum(before * self.probs, -1), name)

    def drawn(self, count: int, lengths: Tensor, seed: int | None) -> Tensor:
        rows = reshape(self.logits, concat([[-1], shape(self.logits)[-1:]], 0))
        drawn = categorical(rows, count, seed=seed)
        return cast(reshape(transpose(drawn), lengths), self.dtype)

    def mean(self, name: str | None = None) -> Tensor:
        raise NotImplementedError("Categorical.mean: classes have no mean")

    def variance(self, name: str | None = None) -> Tensor:
        raise NotImplementedError("Categorical.variance: classes have no variance")

    def entropy(self, name: str | None = None) -> Tensor:
        logarithms = log_softmax(self.logits)
        return named(-reduce_sum(multiply_no_nan(logarithms, exp(logarithms)), -1), name)

    def mode(self, name: str | None = None) -> Tensor:
        return cast(argmax(self.logits, -1), self.dtype, name=name)


def check_one(what: str, logits: Any, probs: Any) -> None:
    """ValueError unless one of both is given."""
    if (logits is None) == (probs is None):
        raise ValueError(f"{what}: give logits= or probs=, and not both")


@divergence(Bernoulli, Bernoulli)
def _bernoulli_from_bernoulli(a: Bernoulli, b: Bernoulli) -> Tensor:
    cross = sigmoid_cross_entropy_with_logits(labels=a.probs + b.probs * 0.0, logits=b.logits + a.logits * 0.0)
    return cross - a.entropy()


@divergence(Categorical, Categorical)
def _categorical_from_categorical(a: Categorical, b: Categorical) -> Tensor:
    difference = log_softmax(a.logits) - log_softmax(b.logits)
    return reduce_sum(multiply_no_nan(difference, a.probs), -1)
