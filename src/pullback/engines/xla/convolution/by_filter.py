"""XLA lowering of convolutions' derivatives by filters, on processors: convolutions of parts, or products of patches.

The derivative is a convolution of the images with the cotangents as filters, batch and channels exchanged. Of a whole
batch the copies that are exchanged so do not stay in the cache, and XLA makes those of images long before. So parts of
the batch are worked on one after the other. In ms, at once, in such parts, and by products of patches: 64 images of
14 x 14 x 64 with 64 filters of 3 x 3 on one core 13.2, 10.1 and 10.4, on two 6.8, 6.5 and 9.5; 16 of 56 x 56 x 32, with
32 filters, on one 21.4, 12.8 and 14.3; 64 sentences of 50 words of 64 numbers with 64 filters of five words, in one
part, 1.5, 1.45 and 1.6.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd, prod
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from ....primitives.base.windows import Pads, offsets
from ....primitives.convolution.formulations import MOST_CHUNKS, parts_of
from ..fences import steps_after, zeros_after
from ..linalg.products import made

_LITTLE = 1 << 18
"""The elements of images up to which XLA may copy them whenever it likes, for several convolutions."""


def filter_by_convolution(p: Any, x: Any, dy: Any, windows: Sequence[int], around: Sequence[Any], shares: bool) -> Any:
    """The convolution of `x`, padded `around`, with `dy` as filters; channels last.

    Of copies that have batch and channels exchanged, and with the result exchanged as well: XLA makes these copies by
    itself, but not in loops, branches and calls; there it goes through plain loops, and takes 383 ms rather than 9 for
    16 images of 32 x 32 x 32 with 32 filters of 3 x 3. The loop waits for `dy` even where it has one step, so that no
    copy is made long before; a choice between elements, which would wait as well, triples the time of a copy. Little
    ones several convolutions may share.
    """
    batch, *counts, count = dy.shape
    last, axes = x.ndim - 1, "XYZ"[: x.ndim - 2]
    is_known = all(isinstance(n, int) for n in (*x.shape, *dy.shape))
    parts = parts_of(batch, prod(counts), count) if is_known else 1

    def convolved(some: Any, filters: Any) -> Any:
        images, filters = made(jnp.swapaxes(some, 0, last)), made(jnp.moveaxis(filters, 0, last - 1))
        layouts = f"N{axes}C", f"{axes}IO", f"N{axes}C"
        return made(
            lax.conv_general_dilated(
                images, filters, p.dilations, around, rhs_dilation=p.strides, dimension_numbers=layouts
            )
        )

    def step(i: Any, total: Any) -> Any:
        return total + convolved(*(chunk_of((x, dy), parts, i) if parts > 1 else made((x, dy, i))[:2]))

    if shares and parts == 1 and is_known and x.size <= _LITTLE:
        return jnp.moveaxis(convolved(x, dy), 0, last - 1)
    nothing = zeros_after((x.shape[-1], *windows, count), dy, x)
    return jnp.moveaxis(lax.fori_loop(0, steps_after(parts, dy, x), step, nothing), 0, last - 1)


def filter_by_patches(p: Any, x: Any, dy: Any, windows: Sequence[int], pads: Pads) -> Any:
    """The sum over chunks of the batch of the patches, transposed, times `dy`.

    The patches are written in place and stay in the cache; neither matrix of the product is to be transposed. All is
    made of a chunk when `dy` is there: what could be made of `x` before XLA would keep beside it. A loop goes over the
    places of the window, which takes no longer to run: a kernel for each would take half of the compilation of a net.
    """
    counts, depth, count = dy.shape[1:-1], x.shape[-1], dy.shape[-1]
    chunks = gcd(x.shape[0], MOST_CHUNKS)
    size = x.shape[0] // chunks
    places = list(offsets(windows))
    begins = jnp.asarray(np.pad(np.array(places, np.int32) * np.array(p.dilations, np.int32), ((0, 0), (2, 0))))
    spans = [(m - 1) * s + 1 for m, s in zip(counts, p.strides, strict=True)]
    strided = (slice(None), slice(None), *[slice(None, None, s) for s in p.strides])

    def step(i: Any, carried: tuple[Any, Any]) -> tuple[Any, Any]:
        total, patches = carried
        chunk, part = chunk_of((x, dy), chunks, i) if chunks > 1 else made((x, dy, i))[:2]
        planes = made(chunk.reshape(-1, depth).T).reshape(depth, *chunk.shape[:-1])
        planes = made(jnp.pad(planes, ((0, 0), (0, 0), *pads)))

        def put(j: Any, patches: Any) -> Any:
            piece = lax.dynamic_slice(planes, begins[j], (*planes.shape[:2], *spans))[strided]
            return lax.dynamic_update_slice_in_dim(patches, piece, j * depth, 0)

        patches = lax.fori_loop(0, len(places), put, patches)
        return total + patches.reshape(len(places) * depth, -1) @ part.reshape(-1, count), patches

    rows = len(places) * depth
    nothing, room = jnp.zeros((rows, count), x.dtype), zeros_after((rows, size, *counts), dy, x)
    total, _ = lax.fori_loop(0, steps_after(chunks, dy, x), step, (nothing, room))
    return total.reshape(*windows, depth, count)


def chunk_of(arrays: Sequence[Any], chunks: int, i: Any) -> list[Any]:
    """The rows of chunk `i` of arrays of the same number of rows."""
    sizes = [x.shape[0] // chunks for x in arrays]
    return [lax.dynamic_slice_in_dim(x, i * n, n, 0) for x, n in zip(arrays, sizes, strict=True)]
