"""XLA lowering of convolutions over volumes on CPU: products of patches (im2col).

Three to ten times as fast as XLA's own operation, and a hundred times where strides leave zeros between the elements of
a cotangent. The patches of so many volumes at a time are written as stay in the cache.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax.numpy as jnp
from jax import lax

from ....primitives.base.windows import Pads, at_offset, offsets, pads_of
from ....primitives.convolution.formulations import result_counts
from ..linalg.products import made
from ..windows import padded, put_windows


def convolve_volumes(p: Any, x: Any, f: Any, chunks: int) -> Any:
    """The convolution of `x` with `f`; channels last."""
    *windows, depth, count = f.shape
    lengths = x.shape[1:-1]
    pads = pads_of(lengths, windows, p.strides, p.dilations, p.padding)
    counts = result_counts(p, lengths, windows)
    around = padded(x, pads)
    matrix = f.reshape(-1, count)

    def step(part: Any) -> Any:
        pieces = [part[at_offset(place, counts, p.strides, p.dilations)] for place in offsets(windows)]
        patches = made(jnp.concatenate(pieces, -1)).reshape(-1, len(pieces) * depth)
        return (patches @ matrix).reshape(-1, *counts, count)

    return _in_chunks(step, around, chunks)


def volumes_by_input(p: Any, f: Any, dy: Any, lengths: Sequence[int], chunks: int) -> Any:
    """The cotangent of an input of spatial `lengths`: every window's patch, put where it came from; channels last."""
    *windows, depth, count = f.shape
    pads: Pads = pads_of(lengths, windows, p.strides, p.dilations, p.padding)
    matrix = f.reshape(-1, count).T

    def piece(number: int, _: Any, arrays: Sequence[Any]) -> Any:
        return arrays[0][..., number * depth : (number + 1) * depth]

    def step(part: Any) -> Any:
        patches = made(part.reshape(-1, count) @ matrix).reshape(*part.shape[:-1], -1)
        return put_windows(piece, [(patches, 0)], windows, p.strides, p.dilations, lengths, pads)

    return _in_chunks(step, dy, chunks)


def _in_chunks(step: Callable[[Any], Any], x: Any, chunks: int) -> Any:
    if chunks == 1:
        return step(x)
    y = lax.map(step, x.reshape(chunks, -1, *x.shape[1:]))
    return y.reshape(x.shape[0], *y.shape[2:])
