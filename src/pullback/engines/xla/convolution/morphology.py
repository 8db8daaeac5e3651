"""Grey-scale dilation on XLA: place by place of the structuring function, in loops over them for large ones."""

from __future__ import annotations

from math import prod
from typing import Any

import jax.numpy as jnp
import numpy as np

from ....primitives.base.largest import first_largest
from ....primitives.base.precision import widened
from ....primitives.base.windows import has_many_places, inside, pads_of, result_lengths
from ....primitives.convolution.morphology import (
    Dilation2D,
    Dilation2DBackpropFilter,
    Dilation2DBackpropInput,
    Dilation2DPick,
    Dilation2DPickFilter,
    sums,
)
from ..registry import xla_kernel
from ..window_loops import Windows
from ..windows import padded, put_windows


@xla_kernel(Dilation2D)
def _dilation(p: Dilation2D, x: Any, f: Any) -> Any:
    if not _is_large(p, x, f):
        return p.kernel(jnp, x, f)
    return _first_largest(p, x, f)[0]


@xla_kernel(Dilation2DBackpropInput)
def _dilation_by_input(p: Dilation2DBackpropInput, x: Any, f: Any, y: Any, dy: Any) -> Any:
    wide = widened(dy)
    if _is_large(p, x, f):
        lengths, pads = x.shape[1:-1], _pads(p, x, f)
        around = [n + sum(pad) for n, pad in zip(lengths, pads, strict=True)]
        total = _windows(p, x, f).put_back(wide, _first_largest(p, x, f)[1], around)
        return total[inside(lengths, pads)].astype(dy.dtype)
    del y
    number = first_largest(jnp, (total for _, total in sums(p, jnp, x, f)))
    nothing = jnp.zeros((), wide.dtype)
    dx = put_windows(
        lambda i, _, arrays: jnp.where(arrays[0] == i, arrays[1], nothing),
        [(number, -1), (wide, 0)],
        f.shape[:-1],
        p.strides,
        p.dilations,
        x.shape[1:-1],
        _pads(p, x, f),
    )
    return dx.astype(dy.dtype)


@xla_kernel(Dilation2DPick)
def _dilation_pick(p: Dilation2DPick, x: Any, f: Any, y: Any, ddx: Any) -> Any:
    if not _is_large(p, x, f):
        return p.kernel(jnp, x, f, y, ddx)
    return _windows(p, x, f).picked(padded(ddx, _pads(p, x, f)), _first_largest(p, x, f)[1])


@xla_kernel(Dilation2DBackpropFilter)
def _dilation_by_filter(p: Dilation2DBackpropFilter, x: Any, f: Any, y: Any, dy: Any) -> Any:
    if not _is_large(p, x, f):
        return p.kernel(jnp, x, f, y, dy)
    places, channels = _first_largest(p, x, f)[1], np.arange(f.shape[-1])
    total = jnp.zeros((prod(f.shape[:-1]), f.shape[-1]), widened(dy).dtype)
    total = total.at[places, channels].add(widened(dy), mode="promise_in_bounds")
    return total.reshape(f.shape).astype(dy.dtype)


@xla_kernel(Dilation2DPickFilter)
def _dilation_pick_filter(p: Dilation2DPickFilter, x: Any, f: Any, y: Any, ddf: Any) -> Any:
    if not _is_large(p, x, f):
        return p.kernel(jnp, x, f, y, ddf)
    places, channels = _first_largest(p, x, f)[1], np.arange(f.shape[-1])
    return ddf.reshape(-1, f.shape[-1])[places, channels]


def _is_large(p: Any, x: Any, f: Any) -> bool:
    """Whether the structuring function has many places, all lengths are known, and there is a window."""
    dims = (*x.shape, *f.shape)
    if not has_many_places(f.shape[:-1]) or not all(isinstance(n, int) and n > 0 for n in dims):
        return False
    return 0 not in _windows(p, x, f).counts


def _first_largest(p: Any, x: Any, f: Any) -> tuple[Any, Any]:
    """The largest sum of each window, and the number of the place of the first one; none is on padding."""
    pads = _pads(p, x, f)
    is_real = padded(jnp.ones((1, *x.shape[1:-1], 1), bool), pads, False) if any(map(any, pads)) else None
    return _windows(p, x, f).first_largest(padded(x, pads), f, is_real)


def _windows(p: Any, x: Any, f: Any) -> Windows:
    sizes = f.shape[:-1]
    counts = result_lengths(x.shape[1:-1], sizes, p.strides, p.dilations, p.padding)
    return Windows(sizes, p.strides, p.dilations, [max(m or 0, 0) for m in counts])


def _pads(p: Any, x: Any, f: Any) -> Any:
    return pads_of(x.shape[1:-1], f.shape[:-1], p.strides, p.dilations, p.padding)
