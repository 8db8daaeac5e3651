"""XLA lowering of image resizing and of patches of images.

Fused, rows and columns that are resized would be computed many times over. Large patches are taken, and put back, along
one axis after the other: of 16 x 16 pixels side by side they and their derivative were compiled for 13 s.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from math import prod
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from ...core.dtypes import float32
from ...primitives.base.precision import widened
from ...primitives.base.windows import Pads, has_many_places, pads_of, result_lengths
from ...primitives.image.patches import AbstractPatches, ExtractImagePatches, ExtractVolumePatches, PatchesBack
from ...primitives.image.resize_weights import Method, bands, phases_of
from ...primitives.image.resizing import Resize, ResizeGrad, change_size, resized_along
from ...primitives.shape.reshape import shape_to_use
from .linalg.products import made
from .registry import xla_kernel
from .windows import padded, put_windows

_MANY = 8
"""Numbers that are better computed once: more than so many products make one of the result."""


@xla_kernel(Resize)
def _resize(p: Resize, x: Any, size: Any = None) -> Any:
    method = Method(*p.method)
    if method.name == "nearest":
        return p.kernel(jnp, x, size)
    return _changed(method, x, shape_to_use(p.size, size), transposed=False)


@xla_kernel(ResizeGrad)
def _resize_grad(p: ResizeGrad, dy: Any, size: Any = None) -> Any:
    wide = dy.astype(float32) if dy.dtype.itemsize == 2 else dy
    return _changed(Method(*p.method), wide, shape_to_use(p.size, size), transposed=True).astype(dy.dtype)


def _changed(method: Method, x: Any, size: tuple[int, ...], transposed: bool) -> Any:
    products = 1
    for n, m in zip(x.shape[-3:-1], size, strict=True):
        band = bands(method, *((m, n) if transposed else (n, m)), transposed)
        products *= 1 if band is None else band.columns.shape[1]
    between = _as_it_is if products <= _MANY else made
    return change_size(jnp, method, x, size, transposed, between, _along)


def _as_it_is(y: Any) -> Any:
    return y


def _along(method: Method, x: Any, axis: int, lengths: tuple[int, int], transposed: bool) -> Any:
    """A new length along an axis, from slices where what is read moves on by whole elements in each few places."""
    phases = phases_of(method, *lengths, transposed)
    if phases is None:
        return resized_along(jnp, method, x, axis, lengths, transposed)
    wide = lax.pad(x, jnp.zeros((), x.dtype), [(*phases.border, 0) if i == axis else (0, 0, 0) for i in range(x.ndim)])
    along = (-1,) + (1,) * (x.ndim - 1 - axis)
    found = []
    for start, numbers in zip(phases.starts, phases.numbers, strict=True):
        count, terms = len(numbers), []
        for i, column in enumerate(numbers.T):
            end = start + i + (count - 1) * phases.step + 1
            term = lax.slice_in_dim(wide, start + i, end, phases.step, axis)
            terms.append(term * column.astype(x.dtype).reshape(along))
        found.append(reduce(lax.add, terms))
    if len(found) == 1:
        return found[0]
    dims = [len(found) * n if i == axis else n for i, n in enumerate(found[0].shape)]
    return jnp.stack(found, axis + 1).reshape(dims)


@xla_kernel(PatchesBack)
def _patches_back(p: PatchesBack, dy: Any, sizes: Any = None) -> Any:
    _, *lengths, channels = shape_to_use(p.input_sizes, sizes)
    pads = pads_of(lengths, p.ksize, p.strides, p.rates, p.padding)
    if _is_large(p, dy.shape):
        return _put_along_axes(p, widened(dy), lengths, pads).astype(dy.dtype)
    dx = put_windows(
        lambda i, _, arrays: arrays[0][..., i * channels : (i + 1) * channels],
        [(widened(dy), 0)],
        p.ksize,
        p.strides,
        p.rates,
        lengths,
        pads,
    )
    return dx.astype(dy.dtype)


@xla_kernel(ExtractImagePatches, ExtractVolumePatches)
def _patches(p: AbstractPatches, x: Any) -> Any:
    if not _is_large(p, x.shape):
        return p.kernel(jnp, x)
    lengths, count, depth = x.shape[1:-1], len(p.ksize), prod(p.ksize) * x.shape[-1]
    counts = [max(m or 0, 0) for m in result_lengths(lengths, p.ksize, p.strides, p.rates, p.padding)]
    x = padded(x, pads_of(lengths, p.ksize, p.strides, p.rates, p.padding))
    for i in reversed(range(count)):
        x = x[(slice(None),) * (i + 1) + (_rows(p, i, counts[i]),)]
        x = x.reshape(*x.shape[: i + 1], counts[i], p.ksize[i], *x.shape[i + 2 :]) if _are_apart(p, i) else x
    places = [0, *range(1, 2 * count, 2), *range(2, 2 * count + 1, 2), 2 * count + 1]
    return jnp.transpose(x, places).reshape(x.shape[0], *counts, depth)


def _put_along_axes(p: PatchesBack, dy: Any, lengths: Sequence[int], pads: Pads) -> Any:
    """The sum of patches [n, counts..., places and channels] where they came from."""
    batch, *counts, _ = dy.shape
    count = len(counts)
    order = [0, *[axis for i in range(count) for axis in (1 + i, 1 + count + i)], 1 + 2 * count]
    x = jnp.transpose(dy.reshape(batch, *counts, *p.ksize, -1), order)
    for i, (n, m, pad) in enumerate(zip(lengths, counts, pads, strict=True)):
        outer, inner = x.shape[: i + 1], x.shape[i + 3 :]
        rows = x.reshape(*outer, m * p.ksize[i], *inner) if _are_apart(p, i) else x
        at = (slice(None),) * (i + 1) + (_rows(p, i, m),)
        whole = jnp.zeros((*outer, n + sum(pad), *inner), x.dtype).at[at]
        total = whole.set(rows) if _are_apart(p, i) else whole.add(rows, mode="promise_in_bounds")
        x = total[(slice(None),) * (i + 1) + (slice(pad[0], pad[0] + n),)]
    return x


def _is_large(p: Any, dims: Sequence[Any]) -> bool:
    """Whether windows have many places, and all lengths are known."""
    return has_many_places(p.ksize) and all(isinstance(n, int) and n > 0 for n in dims)


def _are_apart(p: Any, i: int) -> bool:
    """Whether windows lie side by side along a spatial axis."""
    return bool(p.ksize[i] == p.strides[i] and p.rates[i] == 1)


def _rows(p: Any, i: int, count: int) -> Any:
    """Which rows of an axis `count` windows read: a slice where they lie side by side."""
    if _are_apart(p, i):
        return slice(0, count * p.ksize[i])
    return np.arange(count)[:, None] * p.strides[i] + np.arange(p.ksize[i]) * p.rates[i]
