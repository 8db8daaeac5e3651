"""Loops over the places of large windows: where the largest elements are, and what stands there.

What small windows take is compiled for each of their places; in a loop a window may have any number of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import lax

from ...primitives.reduction.reduce import lowest


class Windows(NamedTuple):
    """Windows of a padded image, channels last."""

    sizes: Sequence[int]
    strides: Sequence[int]
    holes: Sequence[int]
    counts: Sequence[int]

    def first_largest(self, image: Any, added: Any = None, is_real: Any = None) -> tuple[Any, Any]:
        """For each window its largest element, and the number of the place of the first one, or of the first NaN.

        Of the elements plus `added` [windows..., channels], where there is one; of those where `is_real`.
        """
        least = np.asarray(lowest(image.dtype), image.dtype)
        terms = None if added is None else added.reshape(-1, added.shape[-1])

        def step(number: Any, carried: tuple[Any, Any]) -> tuple[Any, Any]:
            largest, found = carried
            part = self._part(image, number)
            if terms is not None:
                part = part + terms[number]
            if is_real is not None:
                part = jnp.where(self._part(is_real, number), part, least)
            larger = (part > largest) | ((part != part) & (largest == largest))
            return jnp.where(larger, part, largest), jnp.where(larger, number, found)

        shape = (image.shape[0], *self.counts, image.shape[-1])
        begin = jnp.full(shape, least), jnp.zeros(shape, np.int32)
        found: tuple[Any, Any] = lax.fori_loop(np.int32(0), np.int32(prod(self.sizes)), step, begin)
        return found

    def _part(self, image: Any, number: Any) -> Any:
        """The elements at the place of that number in all windows."""
        for i, o in enumerate(jnp.unravel_index(number, tuple(self.sizes))):
            span = (self.counts[i] - 1) * self.strides[i] + 1
            image = lax.dynamic_slice_in_dim(image, o * self.holes[i], span, i + 1)
            image = lax.slice_in_dim(image, 0, span, self.strides[i], i + 1)
        return image

    def coordinates(self, places: Any) -> list[Any]:
        """Along each spatial axis where the places of windows, given by their numbers, are in the padded image."""
        found = []
        for i, o in enumerate(jnp.unravel_index(places, tuple(self.sizes))):
            starts = np.arange(places.shape[i + 1], dtype=np.int32) * np.int32(self.strides[i])
            found.append(o * np.int32(self.holes[i]) + starts.reshape([-1] + [1] * (places.ndim - i - 2)))
        return found

    def picked(self, image: Any, places: Any) -> Any:
        """The elements of a padded image at the places of windows."""
        return image.ravel().at[self._numbers(places, image.shape)].get(mode="promise_in_bounds")

    def put_back(self, values: Any, places: Any, lengths: Sequence[int]) -> Any:
        """The sum of `values`, one of each window, at their places in a padded image of such spatial lengths."""
        shape = (values.shape[0], *lengths, values.shape[-1])
        at = self._numbers(places, shape).ravel()
        total = jnp.zeros((prod(shape),), values.dtype).at[at].add(values.ravel(), mode="promise_in_bounds")
        return total.reshape(shape)

    def _numbers(self, places: Any, shape: Sequence[int]) -> Any:
        """The numbers of those elements in the flattened image."""
        wide = np.int64 if prod(shape) > np.iinfo(np.int32).max else np.int32
        rank = places.ndim
        batch, channels = [
            np.arange(shape[i], dtype=wide).reshape([-1 if j == i else 1 for j in range(rank)]) for i in (0, rank - 1)
        ]
        number: Any = batch
        for at, n in zip(self.coordinates(places), shape[1:-1], strict=True):
            number = number * wide(n) + at.astype(wide)
        return number * wide(shape[-1]) + channels
