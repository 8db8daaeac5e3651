"""XLA lowering of image resizing: fused, rows and columns would be computed many times over."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from ...core.dtypes import float32
from ...primitives.base.precision import widened
from ...primitives.base.windows import pads_of
from ...primitives.image.patches import PatchesBack
from ...primitives.image.resize_weights import Method, bands
from ...primitives.image.resizing import Resize, ResizeGrad, change_size
from ...primitives.shape.reshape import shape_to_use
from .linalg.products import made
from .registry import xla_kernel
from .windows import put_windows

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
    if products <= _MANY:
        return change_size(jnp, method, x, size, transposed)
    return change_size(jnp, method, x, size, transposed, made)


@xla_kernel(PatchesBack)
def _patches_back(p: PatchesBack, dy: Any, sizes: Any = None) -> Any:
    _, *lengths, channels = shape_to_use(p.input_sizes, sizes)
    pads = pads_of(lengths, p.ksize, p.strides, p.rates, p.padding)
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
