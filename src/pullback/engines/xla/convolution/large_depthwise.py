"""Depthwise convolutions of large windows, and their derivatives: loops over the rows of a window.

The sum of shifted products that small windows take is compiled for each of their places: for 31 x 31 in half a minute,
as a loop in 0.3 s, and a convolution of 4 images of 32 x 32 x 16 takes a twentieth of the time. The derivative by the
filters is such a loop, too: over the rows of the cotangents, which are filters that each image has for itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import jax.numpy as jnp
from jax import lax

from ....primitives.base.windows import Pads, has_many_places
from ..fences import is_there, zeros_after
from ..windows import padded

_TOGETHER = 49
"""The places that a step of a loop works on, at most."""


def is_large(windows: Sequence[int], *shapes: Sequence[Any]) -> bool:
    """Whether windows have so many places, and all the lengths are known."""
    return has_many_places(windows) and all(isinstance(n, int) and n > 0 for shape in shapes for n in shape)


def large_depthwise(
    x: Any, f: Any, counts: Sequence[int], strides: Sequence[int], dilations: Sequence[int], pads: Pads
) -> Any:
    """The result [batch, counts..., channels * multiplier] for images, channels last, and filters."""
    return _correlated(padded(x, pads), f, counts, strides, dilations, x).reshape(x.shape[0], *counts, -1)


def large_depthwise_by_input(
    f: Any, dy: Any, lengths: Sequence[int], strides: Sequence[int], dilations: Sequence[int], pads: Pads
) -> Any:
    """The derivative by images of such lengths: their cotangents, with zeros between, and the filters turned round."""
    *windows, channels, multiplier = f.shape
    widths = []
    for n, m, k, s, d, (before, _) in zip(lengths, dy.shape[1:-1], windows, strides, dilations, pads, strict=True):
        reach = (k - 1) * d
        first = reach - before
        widths.append((first, n + reach - first - ((m - 1) * s + 1), s - 1))
    spread = lax.pad(dy, jnp.zeros((), dy.dtype), [(0, 0, 0), *widths, (0, 0, 0)])
    turned = jnp.flip(f, range(len(windows))).reshape(*windows, channels * multiplier, 1)
    found = _correlated(spread, turned, lengths, [1] * len(windows), dilations, dy)
    return jnp.sum(found.reshape(*found.shape[:-2], channels, multiplier), -1)


def large_depthwise_by_filter(
    x: Any, dy: Any, windows: Sequence[int], strides: Sequence[int], dilations: Sequence[int], pads: Pads
) -> Any:
    """The derivative by filters, for cotangents [batch, counts..., channels, multiplier].

    Images get their border once these are there: that of the convolution would be kept until then.
    """
    late = jnp.where(is_there(dy), x, jnp.zeros((), x.dtype))
    return jnp.sum(_correlated(padded(late, pads), dy, windows, dilations, strides, x), 0)


def _correlated(
    x: Any, f: Any, counts: Sequence[int], strides: Sequence[int], dilations: Sequence[int], inner: Any
) -> Any:
    """[batch, counts..., channels, multiplier] for `x` [batch, spatial..., channels] and filters of each channel.

    These are [windows..., channels, multiplier], or of each example, behind a first axis for the batch. `inner` is `x`
    without a border, of which XLA knows the first number.
    """
    rank = len(counts)
    first = f.ndim - rank - 2
    *outer, width = f.shape[first : first + rank]
    together = max(n for n in range(1, min(width, _TOGETHER) + 1) if width % n == 0)

    def step(t: Any, total: Any) -> Any:
        place = jnp.unravel_index(t, (*outer, width // together))
        part, filters = x, f
        for i, at in enumerate(place[:-1]):
            size = (counts[i] - 1) * strides[i] + 1
            part = lax.dynamic_slice_in_dim(part, at * dilations[i], size, i + 1)
            part = lax.slice_in_dim(part, 0, size, strides[i], i + 1)
            filters = lax.dynamic_slice_in_dim(filters, at, 1, first + i)
        span = (counts[-1] - 1) * strides[-1] + 1
        start = place[-1] * together
        part = lax.dynamic_slice_in_dim(part, start * dilations[-1], span + (together - 1) * dilations[-1], rank)
        filters = lax.dynamic_slice_in_dim(filters, start, together, first + rank - 1)
        for o in range(together):
            piece = lax.slice_in_dim(part, o * dilations[-1], o * dilations[-1] + span, strides[-1], rank)
            total = total + piece[..., None] * lax.slice_in_dim(filters, o, o + 1, 1, first + rank - 1)
        return total

    nothing = zeros_after((x.shape[0], *counts, *f.shape[-2:]), inner, f)
    return lax.fori_loop(0, prod(outer) * (width // together), step, nothing)
