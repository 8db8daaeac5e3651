"""Layers of Keras that make one tensor of several: sums, products, the larger one, one behind the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import pullback as pb

from . import backend
from .backend.state import rank_of
from .plain import PlainLayer


class Merge(PlainLayer):
    """What is made of a list of tensors; those of fewer axes get axes of one behind the batch.

    >>> import pullback as pb
    >>> from pullback.compat.v1.keras import layers
    >>> pb.Session().run(layers.Multiply()([pb.constant([[1.0, 2.0]]), pb.constant([[3.0, 4.0]])])).tolist()
    [[3.0, 8.0]]
    """

    def call(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """The result.

        Raises:
            ValueError: `inputs` is no list of tensors.
        """
        if not isinstance(inputs, list | tuple) or len(inputs) < 2:
            raise ValueError(f"keras {type(self).__name__}: takes a list of at least two tensors, not {inputs!r}")
        xs = [pb.convert_to_tensor(x) for x in inputs]
        most = max(rank_of(x) for x in xs)
        return self.merged([reduce(lambda x, _: pb.expand_dims(x, 1), range(most - rank_of(x)), x) for x in xs])

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """What counts in all of those that have a mask."""
        del inputs
        known = [m for m in mask or () if m is not None]
        return pb.reduce_all(pb.stack(known), 0) if known else None

    def merged(self, xs: Sequence[Any]) -> Any:
        """What is made of tensors of one rank."""
        raise NotImplementedError(f"{type(self).__name__} defines no merged()")


class Add(Merge):
    """The sum of tensors."""

    def merged(self, xs: Sequence[Any]) -> Any:
        """The sum."""
        return sum(xs[1:], xs[0])


class Subtract(Merge):
    """The first tensor less the second."""

    def merged(self, xs: Sequence[Any]) -> Any:
        """The difference.

        Raises:
            ValueError: there are more than two.
        """
        if len(xs) != 2:
            raise ValueError(f"keras Subtract: takes two tensors, not {len(xs)}")
        return xs[0] - xs[1]


class Multiply(Merge):
    """The product of tensors."""

    def merged(self, xs: Sequence[Any]) -> Any:
        """The product."""
        return reduce(lambda x, y: x * y, xs)


class Average(Merge):
    """The mean of tensors."""

    def merged(self, xs: Sequence[Any]) -> Any:
        """The mean."""
        return sum(xs[1:], xs[0]) / len(xs)


class Maximum(Merge):
    """The largest of tensors, element by element."""

    def merged(self, xs: Sequence[Any]) -> Any:
        """The largest."""
        return reduce(pb.maximum, xs)


class Minimum(Merge):
    """The smallest of tensors, element by element."""

    def merged(self, xs: Sequence[Any]) -> Any:
        """The smallest."""
        return reduce(pb.minimum, xs)


class Concatenate(PlainLayer):
    """Tensors behind each other along `axis`."""

    def __init__(self, axis: int = -1, **options: Any) -> None:
        super().__init__(**options)
        self.axis = axis

    def call(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """The tensors as one."""
        return backend.concatenate(list(inputs), self.axis)

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """The masks as one, where all elements count of what has none."""
        if all(m is None for m in mask or ()):
            return None
        masks = [_whole_mask(x, m) for x, m in zip(inputs, mask, strict=True)]
        return pb.reduce_all(pb.concat(masks, self.axis), -1)


class Dot(PlainLayer):
    """The products of two tensors along axes, for each example; with `normalize` of unit vectors."""

    def __init__(self, axes: Any, normalize: bool = False, **options: Any) -> None:
        super().__init__(**options)
        self.axes, self.normalize = axes, normalize

    def call(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """The products."""
        x, y = inputs
        ranks = [backend.ndim(x) or 0, backend.ndim(y) or 0]
        given = [self.axes, self.axes] if isinstance(self.axes, int) else self.axes
        axes = [a % rank for a, rank in zip(given, ranks, strict=True)]
        if self.normalize:
            x, y = backend.l2_normalize(x, axes[0]), backend.l2_normalize(y, axes[1])
        return backend.batch_dot(x, y, axes)


def _whole_mask(x: pb.Tensor, mask: Any) -> pb.Tensor:
    """A mask of the rank of `x`, with axes of length 1 behind; truth all over where there is none."""
    if mask is None:
        return pb.ones_like(x, dtype="bool")
    for _ in range(rank_of(x) - rank_of(mask)):
        mask = pb.expand_dims(mask, -1)
    whole: pb.Tensor = mask
    return whole


def _function(layer: type[PlainLayer]) -> Callable[..., Any]:
    def merge(inputs: Any, *args: Any, **options: Any) -> Any:
        return layer(*args, **options)(inputs)

    merge.__name__ = merge.__qualname__ = layer.__name__.lower()
    merge.__doc__ = layer.__doc__
    return merge


add, subtract, multiply = _function(Add), _function(Subtract), _function(Multiply)
average, maximum, minimum = _function(Average), _function(Maximum), _function(Minimum)
concatenate, dot = _function(Concatenate), _function(Dot)
