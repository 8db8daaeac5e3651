"""One-hot vectors, and what is nearly one (Gumbel-softmax): draws of classes that can be differentiated.

Sources: E. Jang, S. Gu, B. Poole, "Categorical reparameterization with Gumbel-softmax", ICLR 2017; C. Maddison,
A. Mnih, Y. W. Teh, "The concrete distribution", ICLR 2017.

>>> import pullback.compat.v1 as tf
>>> ds = tf.contrib.distributions
>>> logits = tf.constant([0.0, 3.0])
>>> y = ds.RelaxedOneHotCategorical(0.5, logits=logits).sample(4)
>>> y.shape, tf.gradients(y[:, 0], logits)[0].shape
(TensorShape([4, 2]), TensorShape([2]))
>>> tf.Session().run(ds.OneHotCategorical(probs=[0.25, 0.75]).mode())
array([0, 1], dtype=int32)
"""

from __future__ import annotations

from typing import Any

import numpy as np

import pullback as pb

from ....core.typing import DTypeLike, TensorLike
from .discrete import of_classes
from .distribution import FULLY_REPARAMETERIZED, NOT_REPARAMETERIZED
from .divergences import divergence
from .parametrized import AbstractParametrized


class OneHotCategorical(AbstractParametrized):
    """The class number i, as a vector with a 1 there, with probability `probs[..., i]`, which is `softmax(logits)`."""

    def __init__(
        self,
        logits: TensorLike | None = None,
        probs: TensorLike | None = None,
        dtype: DTypeLike = pb.int32,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "OneHotCategorical",
    ) -> None:
        super().__init__(pb.as_dtype(dtype), NOT_REPARAMETERIZED, validate_args, allow_nan_stats, name=name)
        self.logits, self.probs = of_classes("OneHotCategorical", logits, probs, validate_args)

    @property
    def event_size(self) -> pb.Tensor:
        """The number of classes."""
        return pb.shape(self.logits)[-1]

    @property
    def parameters_like(self) -> pb.Tensor:
        return self.logits[..., 0]

    def _event_shape(self) -> pb.TensorShape:
        return pb.TensorShape([self.logits.shape.size(-1)])

    def _event_shape_tensor(self) -> pb.Tensor:
        return pb.shape(self.logits)[-1:]

    def _log_prob(self, value: pb.Tensor) -> pb.Tensor:
        x = pb.cast(value, self.logits.dtype)
        return pb.reduce_sum(pb.math.multiply_no_nan(pb.math.log_softmax(self.logits), x), -1)

    def drawn(self, count: int | pb.Tensor, lengths: pb.Tensor, seed: int | None) -> pb.Tensor:
        del count
        classes = self.event_shape_tensor()
        rows = pb.broadcast_to(self.logits, pb.concat([lengths, classes], 0))
        drawn = pb.random.categorical(pb.reshape(rows, pb.concat([[-1], classes], 0)), 1, seed=seed)
        return pb.one_hot(pb.reshape(drawn, lengths), self.event_size, dtype=self.dtype)

    def _mean(self) -> pb.Tensor:
        return self.probs

    def _variance(self) -> pb.Tensor:
        return self.probs * (1.0 - self.probs)

    def _covariance(self) -> pb.Tensor:
        apart = -self.probs[..., None] * self.probs[..., None, :]
        return pb.matrix_set_diag(apart, self.variance())

    def _entropy(self) -> pb.Tensor:
        logarithms = pb.math.log_softmax(self.logits)
        return -pb.reduce_sum(pb.math.multiply_no_nan(logarithms, pb.exp(logarithms)), -1)

    def _mode(self) -> pb.Tensor:
        return pb.one_hot(pb.argmax(self.logits, -1), self.event_size, dtype=self.dtype)


class ExpRelaxedOneHotCategorical(AbstractParametrized):
    """The logarithms of draws of `RelaxedOneHotCategorical`."""

    def __init__(
        self,
        temperature: TensorLike,
        logits: TensorLike | None = None,
        probs: TensorLike | None = None,
        dtype: DTypeLike | None = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "ExpRelaxedOneHotCategorical",
    ) -> None:
        self.logits, self.probs = of_classes(type(self).__name__, logits, probs, validate_args)
        kind = self.logits.dtype if dtype is None else pb.as_dtype(dtype)
        super().__init__(kind, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, name=name)
        self.temperature = pb.convert_to_tensor(temperature, self.logits.dtype)

    @property
    def event_size(self) -> pb.Tensor:
        """The number of classes."""
        return pb.shape(self.logits)[-1]

    @property
    def parameters_like(self) -> pb.Tensor:
        return self.logits[..., 0] + pb.zeros_like(self.temperature)

    def _event_shape(self) -> pb.TensorShape:
        return pb.TensorShape([self.logits.shape.size(-1)])

    def _event_shape_tensor(self) -> pb.Tensor:
        return pb.shape(self.logits)[-1:]

    def _log_prob(self, value: pb.Tensor) -> pb.Tensor:
        return self._log_prob_of_logarithms(value)

    def drawn(self, count: int | pb.Tensor, lengths: pb.Tensor, seed: int | None) -> pb.Tensor:
        return self._logarithms(lengths, seed)

    def _log_prob_of_logarithms(self, x: pb.Tensor) -> pb.Tensor:
        count = pb.cast(self.event_size, x.dtype)
        norm = pb.lgamma(count) + (count - 1.0) * pb.log(self.temperature)
        return pb.reduce_sum(pb.math.log_softmax(self.logits - x * self.temperature[..., None]), -1) + norm

    def _logarithms(self, lengths: pb.Tensor, seed: int | None) -> pb.Tensor:
        whole = pb.concat([lengths, self.event_shape_tensor()], 0)
        kind: Any = self.logits.dtype
        tiny = float(np.finfo(kind).tiny)
        gumbel = -pb.log(-pb.log(pb.random_uniform(whole, tiny, 1.0, kind, seed)))
        y = pb.math.log_softmax((self.logits + gumbel) / self.temperature[..., None])
        return pb.cast(y, self.dtype)


class RelaxedOneHotCategorical(ExpRelaxedOneHotCategorical):
    """Vectors of positive numbers whose sum is 1, nearer to one-hot ones the lower `temperature` is."""

    def __init__(
        self,
        temperature: TensorLike,
        logits: TensorLike | None = None,
        probs: TensorLike | None = None,
        dtype: DTypeLike | None = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "RelaxedOneHotCategorical",
    ) -> None:
        super().__init__(temperature, logits, probs, dtype, validate_args, allow_nan_stats, name)

    def _log_prob(self, value: pb.Tensor) -> pb.Tensor:
        x = pb.log(value)
        return self._log_prob_of_logarithms(x) - pb.reduce_sum(x, -1)

    def drawn(self, count: int | pb.Tensor, lengths: pb.Tensor, seed: int | None) -> pb.Tensor:
        return pb.exp(self._logarithms(lengths, seed))


@divergence(OneHotCategorical, OneHotCategorical)
def _one_hot_from_one_hot(a: OneHotCategorical, b: OneHotCategorical) -> pb.Tensor:
    difference = pb.math.log_softmax(a.logits) - pb.math.log_softmax(b.logits)
    return pb.reduce_sum(pb.math.multiply_no_nan(difference, pb.math.softmax(a.logits)), -1)
