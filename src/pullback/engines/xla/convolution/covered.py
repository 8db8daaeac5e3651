"""Convolution axes that a window covers: a window that has the length of an axis makes its elements channels."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import jax.numpy as jnp


def folded_shape(shape: Sequence[int], axes: Sequence[int], first: int) -> tuple[int, ...]:
    """`shape`, whose spatial axes begin at `first`, with the lengths of `axes` multiplied into the channels."""
    at = {first + axis for axis in axes}
    channels = first + len(shape) - 2
    merged = prod([shape[i] for i in at]) * shape[channels]
    return (*[1 if i in at else shape[i] for i in range(channels)], merged, *shape[channels + 1 :])


def fold(x: Any, axes: Sequence[int], first: int) -> Any:
    """Images [batch, spatial..., channels] (`first` 1) or filters [spatial..., channels, count] (0), so folded."""
    return jnp.transpose(x, _order(x.shape, axes, first)).reshape(folded_shape(x.shape, axes, first))


def unfold(x: Any, axes: Sequence[int], shape: Sequence[int], first: int) -> Any:
    """Images or filters of the `shape` that they had before they were folded."""
    order = _order(shape, axes, first)
    back = [order.index(i) for i in range(len(shape))]
    return jnp.transpose(x.reshape([shape[i] for i in order]), back)


def _order(shape: Sequence[int], axes: Sequence[int], first: int) -> list[int]:
    """All axes, those that are folded directly before the channels."""
    at = [first + axis for axis in axes]
    channels = first + len(shape) - 2
    return [*[i for i in range(channels) if i not in at], *at, *range(channels, len(shape))]
