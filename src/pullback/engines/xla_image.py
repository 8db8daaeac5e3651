"""XLA lowering of image resizing: fused, rows and columns would be computed many times over."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from ..core.dtypes import float32
from ..primitives.image.resize_weights import Method, bands
from ..primitives.image.resizing import Resize, ResizeGrad, change_size
from ..primitives.shape.reshape import shape_to_use
from .xla_linalg import made
from .xla_registry import xla_kernel

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
