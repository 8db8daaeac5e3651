"""Mixtures of distributions: one of them is drawn, and then from it.

>>> import pullback.compat.v1 as tf
>>> ds = tf.contrib.distributions
>>> which = ds.Categorical(probs=[0.25, 0.75])
>>> mixed = ds.Mixture(which, [ds.Normal(0.0, 1.0), ds.Normal(4.0, 1.0)])
>>> same = ds.MixtureSameFamily(which, ds.Normal([0.0, 4.0], 1.0))
>>> tf.Session().run([mixed.mean(), same.mean(), mixed.variance()])
[np.float32(3.0), np.float32(3.0), np.float32(4.0)]
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pullback as pb

from .discrete import Categorical
from .distribution import NOT_REPARAMETERIZED, Distribution
from .parametrized import AbstractParametrized


class Mixture(Distribution):
    """The distribution `components[i]` with the probability of the class i of `cat`.

    Raises:
        ValueError: there are no components, as many as there are classes; their dtypes or draws differ.
    """

    def __init__(
        self,
        cat: Categorical,
        components: Sequence[Distribution],
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        use_static_graph: bool = False,
        name: str = "Mixture",
    ) -> None:
        del use_static_graph
        parts = list(components)
        classes = cat.logits.shape.size(-1)
        if not parts or classes not in (None, len(parts)):
            raise ValueError(f"Mixture: cat has {classes} classes, and there are {len(parts)} components")
        if any(d.dtype != parts[0].dtype or d.event_shape != parts[0].event_shape for d in parts):
            found = [f"{d.name}: {d.dtype}{d.event_shape}" for d in parts]
            raise ValueError(f"Mixture: the components must have draws of one dtype and shape, and have {found}")
        super().__init__(parts[0].dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, name=name)
        self.cat, self.components = cat, parts

    @property
    def num_components(self) -> int:
        """How many components there are."""
        return len(self.components)

    def _batch_shape(self) -> pb.TensorShape:
        return pb.broadcast_static_shape(self.cat.batch_shape, self.components[0].batch_shape)

    def _batch_shape_tensor(self) -> pb.Tensor:
        return pb.broadcast_dynamic_shape(self.cat.batch_shape_tensor(), self.components[0].batch_shape_tensor())

    def _event_shape(self) -> pb.TensorShape:
        return self.components[0].event_shape

    def _event_shape_tensor(self) -> pb.Tensor:
        return self.components[0].event_shape_tensor()

    def _log_prob(self, value: pb.Tensor) -> pb.Tensor:
        shares = pb.unstack(pb.math.log_softmax(self.cat.logits), axis=-1)
        found = [d.log_prob(value) + share for d, share in zip(self.components, shares, strict=True)]
        return pb.reduce_logsumexp(pb.stack(found), 0)

    def _sample_n(self, n: int | pb.Tensor, seed: int | None = None) -> pb.Tensor:
        lengths = pb.concat([[n], self.batch_shape_tensor()], 0)
        which = self.cat.drawn(n, lengths, seed)
        seeds = [None if seed is None else seed + 1 + i for i in range(self.num_components)]
        found = [_drawn(d, n, lengths, s) for d, s in zip(self.components, seeds, strict=True)]
        y = found[0]
        for i, draw in enumerate(found[1:], start=1):
            y = pb.where(_beside(pb.equal(which, i), self.event_shape), draw, y)
        return y

    def _mean(self) -> pb.Tensor:
        return self._averaged([d.mean() for d in self.components])

    def _variance(self) -> pb.Tensor:
        squares = [d.variance() + pb.square(d.mean()) for d in self.components]
        return self._averaged(squares) - pb.square(self.mean())

    def entropy_lower_bound(self, name: str = "entropy_lower_bound") -> pb.Tensor:
        """The mean of the entropies of the components, which the entropy is not below."""
        return self._statistic(name, lambda: self._averaged_numbers([d.entropy() for d in self.components]))

    def _averaged_numbers(self, values: Sequence[pb.Tensor]) -> pb.Tensor:
        shares = pb.unstack(self.cat.probs, axis=-1)
        return pb.add_n([x * p for x, p in zip(values, shares, strict=True)])

    def _averaged(self, values: Sequence[pb.Tensor]) -> pb.Tensor:
        shares = pb.unstack(self.cat.probs, axis=-1)
        pairs = zip(values, shares, strict=True)
        terms = [x * _beside(pb.cast(p, x.dtype), self.event_shape) for x, p in pairs]
        total: Any = sum(terms[1:], terms[0])
        return pb.convert_to_tensor(total)


class MixtureSameFamily(Distribution):
    """One of the distributions along the last axis of the batch of `components_distribution`.

    Raises:
        ValueError: there are not as many as classes of `mixture_distribution`.
    """

    def __init__(
        self,
        mixture_distribution: Categorical,
        components_distribution: Distribution,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "MixtureSameFamily",
    ) -> None:
        classes, batch = mixture_distribution.logits.shape.size(-1), components_distribution.batch_shape
        if not batch.rank or classes not in (None, batch.size(-1)):
            raise ValueError(f"{name}: there are {classes} classes, and the components have the batch {batch}")
        super().__init__(components_distribution.dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, name=name)
        self.mixture_distribution, self.components_distribution = mixture_distribution, components_distribution

    def _batch_shape(self) -> pb.TensorShape:
        found: pb.TensorShape = self.components_distribution.batch_shape[:-1]
        return found

    def _batch_shape_tensor(self) -> pb.Tensor:
        return self.components_distribution.batch_shape_tensor()[:-1]

    def _event_shape(self) -> pb.TensorShape:
        return self.components_distribution.event_shape

    def _event_shape_tensor(self) -> pb.Tensor:
        return self.components_distribution.event_shape_tensor()

    def _log_prob(self, value: pb.Tensor) -> pb.Tensor:
        each = self.components_distribution.log_prob(pb.expand_dims(value, self._axis))
        shares = pb.math.log_softmax(self.mixture_distribution.logits)
        return pb.reduce_logsumexp(each + pb.cast(shares, each.dtype), -1)

    def _sample_n(self, n: int | pb.Tensor, seed: int | None = None) -> pb.Tensor:
        lengths = pb.concat([[n], self.batch_shape_tensor()], 0)
        shares = self.mixture_distribution.logits
        classes = pb.shape(shares)[-1:]
        rows = pb.broadcast_to(shares, pb.concat([lengths, classes], 0))
        which = pb.random.categorical(pb.reshape(rows, pb.concat([[-1], classes], 0)), 1, seed=seed)
        more = None if seed is None else seed + 1
        draws = _drawn(self.components_distribution, n, pb.concat([lengths, classes], 0), more)
        picked = pb.one_hot(pb.reshape(which, lengths), classes[0], dtype=draws.dtype)
        return pb.reduce_sum(draws * _beside(picked, self.event_shape), self._axis)

    def _mean(self) -> pb.Tensor:
        return self._averaged(self.components_distribution.mean())

    def _variance(self) -> pb.Tensor:
        parts = self.components_distribution
        squares = self._averaged(parts.variance() + pb.square(parts.mean()))
        return squares - pb.square(self.mean())

    @property
    def _axis(self) -> int:
        """Where the components stand in a draw of all of them."""
        return -1 - len(self.event_shape.lengths or ())

    def _averaged(self, x: pb.Tensor) -> pb.Tensor:
        shares = pb.cast(self.mixture_distribution.probs, x.dtype)
        return pb.reduce_sum(x * _beside(shares, self.event_shape), self._axis)


def _beside(x: pb.Tensor, event: pb.TensorShape) -> pb.Tensor:
    """`x` with an axis of length 1 for each of those of a draw."""
    for _ in event.lengths or ():
        x = x[..., None]
    return x


def _drawn(of: Distribution, count: int | pb.Tensor, lengths: pb.Tensor, seed: int | None) -> pb.Tensor:
    """`count` draws for each of the batch, for which parameters are repeated where that can be."""
    return of.drawn(count, lengths, seed) if isinstance(of, AbstractParametrized) else of.sample(count, seed)
