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

from ....core.typing import TensorLike
from .discrete import Categorical
from .distribution import NOT_REPARAMETERIZED, Distribution, named


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
        del validate_args, use_static_graph
        parts = list(components)
        classes = cat.logits.shape.size(-1)
        if not parts or classes not in (None, len(parts)):
            raise ValueError(f"Mixture: cat has {classes} classes, and there are {len(parts)} components")
        if any(d.dtype != parts[0].dtype or d.event_shape != parts[0].event_shape for d in parts):
            found = [f"{d.name}: {d.dtype}{d.event_shape}" for d in parts]
            raise ValueError(f"Mixture: the components must have draws of one dtype and shape, and have {found}")
        super().__init__(parts[0].dtype, name, allow_nan_stats, NOT_REPARAMETERIZED)
        self.cat, self.components = cat, parts

    @property
    def num_components(self) -> int:
        """How many components there are."""
        return len(self.components)

    @property
    def parameters_like(self) -> pb.Tensor:
        return self.cat.parameters_like + pb.zeros_like(
            pb.cast(self.components[0].parameters_like, self.cat.logits.dtype)
        )

    @property
    def event_shape(self) -> pb.TensorShape:
        return self.components[0].event_shape

    def event_shape_tensor(self, name: str | None = None) -> pb.Tensor:
        return self.components[0].event_shape_tensor(name)

    def log_prob(self, value: TensorLike, name: str | None = None) -> pb.Tensor:
        x = pb.convert_to_tensor(value, dtype_hint=self.dtype)
        shares = pb.unstack(pb.math.log_softmax(self.cat.logits), axis=-1)
        found = [d.log_prob(x) + share for d, share in zip(self.components, shares, strict=True)]
        return named(pb.reduce_logsumexp(pb.stack(found), 0), name)

    def drawn(self, count: int, lengths: pb.Tensor, seed: int | None) -> pb.Tensor:
        which = self.cat.drawn(count, lengths, seed)
        seeds = [None if seed is None else seed + 1 + i for i in range(self.num_components)]
        found = [d.drawn(count, lengths, s) for d, s in zip(self.components, seeds, strict=True)]
        y = found[0]
        for i, draw in enumerate(found[1:], start=1):
            y = pb.where(_beside(pb.equal(which, i), self.event_shape), draw, y)
        return y

    def mean(self, name: str | None = None) -> pb.Tensor:
        return named(self._averaged([d.mean() for d in self.components]), name)

    def variance(self, name: str | None = None) -> pb.Tensor:
        squares = [d.variance() + pb.square(d.mean()) for d in self.components]
        return named(self._averaged(squares) - pb.square(self.mean()), name)

    def entropy_lower_bound(self, name: str | None = None) -> pb.Tensor:
        """The mean of the entropies of the components, which the entropy is not below."""
        shares = pb.unstack(self.cat.probs, axis=-1)
        return named(pb.add_n([d.entropy() * p for d, p in zip(self.components, shares, strict=True)]), name)

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
        del validate_args
        classes, batch = mixture_distribution.logits.shape.size(-1), components_distribution.batch_shape
        if not batch.rank or classes not in (None, batch.size(-1)):
            raise ValueError(f"{name}: there are {classes} classes, and the components have the batch {batch}")
        super().__init__(components_distribution.dtype, name, allow_nan_stats, NOT_REPARAMETERIZED)
        self.mixture_distribution, self.components_distribution = mixture_distribution, components_distribution

    @property
    def parameters_like(self) -> pb.Tensor:
        return self.components_distribution.parameters_like[..., 0]

    @property
    def event_shape(self) -> pb.TensorShape:
        return self.components_distribution.event_shape

    def event_shape_tensor(self, name: str | None = None) -> pb.Tensor:
        return self.components_distribution.event_shape_tensor(name)

    def log_prob(self, value: TensorLike, name: str | None = None) -> pb.Tensor:
        x = pb.convert_to_tensor(value, dtype_hint=self.dtype)
        each = self.components_distribution.log_prob(pb.expand_dims(x, self._axis))
        shares = pb.math.log_softmax(self.mixture_distribution.logits)
        return named(pb.reduce_logsumexp(each + pb.cast(shares, each.dtype), -1), name)

    def drawn(self, count: int, lengths: pb.Tensor, seed: int | None) -> pb.Tensor:
        shares = self.mixture_distribution.logits
        classes = pb.shape(shares)[-1:]
        rows = pb.broadcast_to(shares, pb.concat([lengths, classes], 0))
        which = pb.random.categorical(pb.reshape(rows, pb.concat([[-1], classes], 0)), 1, seed=seed)
        more = None if seed is None else seed + 1
        draws = self.components_distribution.drawn(count, pb.concat([lengths, classes], 0), more)
        picked = pb.one_hot(pb.reshape(which, lengths), classes[0], dtype=draws.dtype)
        return pb.reduce_sum(draws * _beside(picked, self.event_shape), self._axis)

    def mean(self, name: str | None = None) -> pb.Tensor:
        return named(self._averaged(self.components_distribution.mean()), name)

    def variance(self, name: str | None = None) -> pb.Tensor:
        parts = self.components_distribution
        squares = self._averaged(parts.variance() + pb.square(parts.mean()))
        return named(squares - pb.square(self.mean()), name)

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
