"""Discrete distributions: Bernoulli's, and one of several classes.

>>> import pullback.compat.v1 as tf
>>> coin, die = tf.distributions.Bernoulli(probs=0.25), tf.distributions.Categorical(probs=[0.5, 0.25, 0.25])
>>> tf.Session().run([coin.mean(), die.prob([0, 2]), die.mode()])
[np.float32(0.25), array([0.5 , 0.25], dtype=float32), np.int32(0)]
"""

from __future__ import annotations

from typing import Any

import pullback as pb

from ....core.typing import DTypeLike, TensorLike
from .checks import probabilities, whole
from .distribution import NOT_REPARAMETERIZED
from .divergences import divergence
from .parametrized import AbstractParametrized


class Bernoulli(AbstractParametrized):
    """1 with probability `probs`, which is `sigmoid(logits)`, else 0."""

    def __init__(
        self,
        logits: TensorLike | None = None,
        probs: TensorLike | None = None,
        dtype: DTypeLike = pb.int32,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Bernoulli",
    ) -> None:
        super().__init__(pb.as_dtype(dtype), NOT_REPARAMETERIZED, validate_args, allow_nan_stats, name=name)
        self.logits, self.probs = of_yes_or_no("Bernoulli", logits, probs, validate_args)

    @property
    def parameters_like(self) -> pb.Tensor:
        return self.probs

    def _log_prob(self, value: pb.Tensor) -> pb.Tensor:
        x = pb.cast(pb.convert_to_tensor(value), self.logits.dtype)
        logits, x = self.logits + x * 0.0, x + self.logits * 0.0
        return -pb.nn.sigmoid_cross_entropy_with_logits(labels=x, logits=logits)

    def _assertions(self, value: pb.Tensor) -> list[Any]:
        one = pb.ones_like(value)
        return [pb.debugging.assert_non_negative(value), pb.debugging.assert_less_equal(value, one)]

    def drawn(self, count: int | pb.Tensor, lengths: pb.Tensor, seed: int | None) -> pb.Tensor:
        del count
        return pb.cast(pb.random_uniform(lengths, dtype=self.probs.dtype, seed=seed) < self.probs, self.dtype)

    def _mean(self) -> pb.Tensor:
        return self.probs

    def _variance(self) -> pb.Tensor:
        return self.probs * (1.0 - self.probs)

    def _entropy(self) -> pb.Tensor:
        return pb.nn.sigmoid_cross_entropy_with_logits(labels=self.probs, logits=self.logits)

    def _mode(self) -> pb.Tensor:
        return pb.cast(self.probs > 0.5, self.dtype)


class Categorical(AbstractParametrized):
    """The class number i with probability `probs[..., i]`, which is `softmax(logits)`."""

    def __init__(
        self,
        logits: TensorLike | None = None,
        probs: TensorLike | None = None,
        dtype: DTypeLike = pb.int32,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Categorical",
    ) -> None:
        super().__init__(pb.as_dtype(dtype), NOT_REPARAMETERIZED, validate_args, allow_nan_stats, name=name)
        self.logits, self.probs = of_classes("Categorical", logits, probs, validate_args)

    @property
    def event_size(self) -> pb.Tensor:
        """The number of classes."""
        return pb.shape(self.logits)[-1]

    @property
    def parameters_like(self) -> pb.Tensor:
        return self.logits[..., 0]

    def _log_prob(self, value: pb.Tensor) -> pb.Tensor:
        k = pb.convert_to_tensor(value)
        logarithms = pb.math.log_softmax(self.logits)
        classes = pb.shape(logarithms)[-1:]
        lengths = pb.broadcast_dynamic_shape(pb.shape(k), pb.shape(logarithms)[:-1])
        rows = pb.reshape(pb.broadcast_to(logarithms, pb.concat([lengths, classes], 0)), pb.concat([[-1], classes], 0))
        picked = pb.gather(rows, pb.reshape(pb.broadcast_to(k, lengths), [-1]), axis=1, batch_dims=1)
        return pb.reshape(picked, lengths)

    def _cdf(self, value: pb.Tensor) -> pb.Tensor:
        """The probability of the classes before `value`, as TensorFlow has it."""
        k = pb.convert_to_tensor(value)
        before = pb.cast(pb.cast(pb.range(self.event_size), k.dtype) < k[..., None], self.probs.dtype)
        return pb.reduce_sum(before * self.probs, -1)

    def _assertions(self, value: pb.Tensor) -> list[Any]:
        return whole(value)

    def drawn(self, count: int | pb.Tensor, lengths: pb.Tensor, seed: int | None) -> pb.Tensor:
        classes = pb.shape(self.logits)[-1:]
        if isinstance(count, int):
            drawn = pb.random.categorical(pb.reshape(self.logits, pb.concat([[-1], classes], 0)), count, seed=seed)
            return pb.cast(pb.reshape(pb.transpose(drawn), lengths), self._dtype)
        logits = pb.broadcast_to(self.logits, pb.concat([lengths, classes], 0))
        drawn = pb.random.categorical(pb.reshape(logits, pb.concat([[-1], classes], 0)), 1, seed=seed)
        return pb.cast(pb.reshape(drawn, lengths), self._dtype)

    def _mean(self) -> pb.Tensor:
        raise NotImplementedError("Categorical.mean: classes have no mean")

    def _variance(self) -> pb.Tensor:
        raise NotImplementedError("Categorical.variance: classes have no variance")

    def _entropy(self) -> pb.Tensor:
        logarithms = pb.math.log_softmax(self.logits)
        return -pb.reduce_sum(pb.math.multiply_no_nan(logarithms, pb.exp(logarithms)), -1)

    def _mode(self) -> pb.Tensor:
        return pb.cast(pb.argmax(self.logits, -1), self.dtype)


def check_one(what: str, logits: Any, probs: Any) -> None:
    """ValueError unless one of both is given."""
    if (logits is None) == (probs is None):
        raise ValueError(f"{what}: give logits= or probs=, and not both")


def of_yes_or_no(what: str, logits: Any, probs: Any, validate_args: bool) -> tuple[pb.Tensor, pb.Tensor]:
    """Logits and probabilities of what happens or not, of which one is given."""
    check_one(what, logits, probs)
    if probs is None:
        x = pb.convert_to_tensor(logits)
        return x, pb.sigmoid(x)
    p = probabilities(pb.convert_to_tensor(probs), validate_args)
    return pb.log(p) - pb.log1p(-p), p


def of_classes(what: str, logits: Any, probs: Any, validate_args: bool) -> tuple[pb.Tensor, pb.Tensor]:
    """Logits and probabilities of classes, of which one is given."""
    check_one(what, logits, probs)
    if probs is None:
        x = pb.convert_to_tensor(logits)
        return x, pb.math.softmax(x)
    p = probabilities(pb.convert_to_tensor(probs), validate_args, of_classes=True)
    return pb.log(p), p


@divergence(Bernoulli, Bernoulli)
def _bernoulli_from_bernoulli(a: Bernoulli, b: Bernoulli) -> pb.Tensor:
    cross = pb.nn.sigmoid_cross_entropy_with_logits(labels=a.probs + b.probs * 0.0, logits=b.logits + a.logits * 0.0)
    return cross - a.entropy()


@divergence(Categorical, Categorical)
def _categorical_from_categorical(a: Categorical, b: Categorical) -> pb.Tensor:
    difference = pb.math.log_softmax(a.logits) - pb.math.log_softmax(b.logits)
    return pb.reduce_sum(pb.math.multiply_no_nan(difference, a.probs), -1)
