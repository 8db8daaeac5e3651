"""XLA lowering of convolutions whose results have few channels, on processors: one product for all places of a window.

What each pixel gives to each of the results around it is one product of matrices, whose pieces are put where they
belong and added up; the derivative by filters is one product with the cotangents at all places. Eigen's convolution
takes as long for three channels as for sixteen: of an image of 64 x 64 x 64 with 3 x 3 windows 690 us, and 250 in this
way; the derivative by images that are seen in steps of two takes two fifths, that by all inputs of eight images of
32 x 32 x 64 a third.

So are derivatives by inputs of windows in strides on several threads, over which XLA does not share out its own way:
for 16 images of 28 x 28 x 16 with 32 filters of 3 x 3, in steps of two, two threads take 1,083 us, and 320 in this way,
one core 522, and 428. That is where the product is small: of 1.3 million elements one alone takes 0.75 of the time, but
a step of a critic with three of them 1.09, for what it makes does not stay in the cache.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
from jax import lax

from ....primitives.base.windows import Pads, offsets
from ..linalg.products import by_first_axes, made


def convolve_to_few(p: Any, x: Any, f: Any, counts: Sequence[int], pads: Pads) -> Any:
    """The convolution of `x` with `f`, in steps of one; channels last."""
    *windows, depth, count = f.shape
    places = [*offsets(windows)]
    product = x.reshape(-1, depth) @ jnp.moveaxis(f, -2, 0).reshape(depth, -1)
    begins = [[before - i * d for i, d, (before, _) in zip(place, p.dilations, pads, strict=True)] for place in places]
    return _added_up(product.reshape(*x.shape[:-1], len(places), count), begins, counts, p.strides)


def few_by_input(p: Any, f: Any, dy: Any, lengths: Sequence[int], pads: Pads) -> Any:
    """The cotangent of an input of spatial `lengths`; channels last."""
    *windows, depth, count = f.shape
    places = [*offsets(windows)]
    product = dy.reshape(-1, count) @ jnp.moveaxis(f, -1, 0).reshape(count, -1)
    begins = [[i * d - before for i, d, (before, _) in zip(place, p.dilations, pads, strict=True)] for place in places]
    return _added_up(product.reshape(*dy.shape[:-1], len(places), depth), begins, lengths, p.strides)


def few_by_filter(p: Any, x: Any, dy: Any, windows: Sequence[int], pads: Pads) -> Any:
    """The cotangent of filters that go over `x` in steps of one; channels last."""
    *counts, count = dy.shape[1:]
    pieces = []
    for place in offsets(windows):
        begins = [i * d - before for i, d, (before, _) in zip(place, p.dilations, pads, strict=True)]
        widths = [(begin, n - m - begin, 0) for begin, n, m in zip(begins, x.shape[1:-1], counts, strict=True)]
        pieces.append(lax.pad(dy, jnp.zeros((), dy.dtype), [(0, 0, 0), *widths, (0, 0, 0)]))
    given = made(jnp.concatenate(pieces, -1)).reshape(-1, len(pieces) * count)
    product = by_first_axes(x.reshape(-1, x.shape[-1]), given)
    return jnp.moveaxis(product.reshape(-1, *windows, count), 0, -2)


def _added_up(pieces: Any, begins: Sequence[Sequence[int]], lengths: Sequence[int], strides: Sequence[int]) -> Any:
    """The sum of `pieces`, [batch, spatial..., place, channels], in images of spatial `lengths`.

    Pixel q of a piece is added to pixel `stride * q + begin`; those that are equal modulo the strides are one image.
    """
    batch, *given, _, channels = pieces.shape
    cells = [-(-n // s) for n, s in zip(lengths, strides, strict=True)]
    parts: dict[tuple[int, ...], Any] = {}
    for i, begin in enumerate(begins):
        first, part = zip(*map(divmod, begin, strides), strict=True)
        widths = [(q, n - m - q, 0) for q, n, m in zip(first, cells, given, strict=True)]
        piece = lax.pad(pieces[..., i, :], jnp.zeros((), pieces.dtype), [(0, 0, 0), *widths, (0, 0, 0)])
        parts[part] = parts[part] + piece if part in parts else piece
    nothing = jnp.zeros((batch, *cells, channels), pieces.dtype)
    images = {part: parts.get(part, nothing) for part in offsets(strides)}
    for axis in reversed(range(len(strides))):
        images = {part[:axis]: _joined(images, part[:axis], axis, strides[axis]) for part in images}
    return images[()][(slice(None), *map(slice, lengths))]


def _joined(images: dict[tuple[int, ...], Any], part: tuple[int, ...], axis: int, stride: int) -> Any:
    """The images of a part, pixel by pixel in turns along a spatial axis."""
    if stride == 1:
        return images[(*part, 0)]
    x = jnp.stack([images[(*part, i)] for i in range(stride)], axis + 2)
    return x.reshape(*x.shape[: axis + 1], -1, *x.shape[axis + 3 :])
