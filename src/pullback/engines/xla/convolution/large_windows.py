"""XLA lowering of convolutions with more places in a window than results, on CPU: a product of matrices for each place.

There XLA takes the images for the filters, and its plain loops: 32 images of 2 x 2 x 256 with 3 x 3 windows take 45 ms,
and 2 in this way.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from ....primitives.base.windows import Pads, offsets
from ..linalg.products import made


class Cells:
    """Padded images [batch, spatial..., channels] cut by the strides: [batch, cells, stride, cells, stride, channels].

    What the windows see at one place of theirs is then a slice, wherever it begins.
    """

    def __init__(self, p: Any, windows: Sequence[int], counts: Sequence[int], pads: Pads) -> None:
        self.strides, self.counts, self.pads = p.strides, counts, pads
        places = np.array(list(offsets(windows)), np.int32) * np.array(p.dilations, np.int32)
        begins = np.stack(np.divmod(places, np.array(p.strides, np.int32)), -1)
        self.begins = np.pad(begins.reshape(len(places), -1), ((0, 0), (1, 1)))
        """For each place where its slice begins."""
        self.cells = [m + int(first) for m, first in zip(counts, begins[-1, :, 0], strict=True)]

    def shape(self, batch: int, channels: int) -> tuple[int, ...]:
        """The shape of images that are cut."""
        axes = zip(self.cells, self.strides, strict=True)
        return (batch, *[length for axis in axes for length in axis], channels)

    def sizes(self, batch: int, channels: int) -> tuple[int, ...]:
        """The shape of a slice."""
        return (batch, *[length for m in self.counts for length in (m, 1)], channels)

    def cut(self, x: Any) -> Any:
        """Images, padded and cut."""
        axes = zip(x.shape[1:-1], self.cells, self.strides, self.pads, strict=True)
        widths = [(before, cells * s - n - before, 0) for n, cells, s, (before, _) in axes]
        whole = lax.pad(x, jnp.zeros((), x.dtype), [(0, 0, 0), *widths, (0, 0, 0)])
        return whole.reshape(self.shape(x.shape[0], x.shape[-1]))

    def joined(self, x: Any, lengths: Sequence[int]) -> Any:
        """Images of spatial `lengths`: the inverse of `cut`."""
        whole = x.reshape(x.shape[0], *[m * s for m, s in zip(self.cells, self.strides, strict=True)], x.shape[-1])
        axes = zip(lengths, whole.shape[1:-1], self.pads, strict=True)
        widths = [(-before, n + before - m, 0) for n, m, (before, _) in axes]
        return lax.pad(whole, jnp.zeros((), x.dtype), [(0, 0, 0), *widths, (0, 0, 0)])


def convolve_large(p: Any, x: Any, f: Any, counts: Sequence[int], pads: Pads) -> Any:
    """The convolution of `x` with `f`; channels last."""
    *windows, depth, count = f.shape
    cells = Cells(p, windows, counts, pads)
    images, filters = cells.cut(x), f.reshape(prod(windows), depth, count)
    begins, sizes = jnp.asarray(cells.begins), cells.sizes(x.shape[0], depth)

    def step(i: Any, total: Any) -> Any:
        return total + lax.dynamic_slice(images, begins[i], sizes).reshape(len(total), depth) @ filters[i]

    nothing = jnp.zeros((x.shape[0] * prod(counts), count), x.dtype)
    return lax.fori_loop(0, len(filters), step, nothing).reshape(x.shape[0], *counts, count)


def large_by_input(p: Any, f: Any, dy: Any, lengths: Sequence[int], pads: Pads) -> Any:
    """The cotangent of an input of spatial `lengths`; channels last."""
    *windows, depth, count = f.shape
    cells = Cells(p, windows, dy.shape[1:-1], pads)
    rows = dy.reshape(prod(dy.shape[:-1]), count)
    filters = made(f.reshape(prod(windows), depth, count).swapaxes(1, 2))
    begins, sizes = jnp.asarray(cells.begins), cells.sizes(dy.shape[0], depth)

    def step(i: Any, total: Any) -> Any:
        there = lax.dynamic_slice(total, begins[i], sizes)
        return lax.dynamic_update_slice(total, there + (rows @ filters[i]).reshape(sizes), begins[i])

    total = lax.fori_loop(0, len(filters), step, jnp.zeros(cells.shape(dy.shape[0], depth), dy.dtype))
    return cells.joined(total, lengths)
