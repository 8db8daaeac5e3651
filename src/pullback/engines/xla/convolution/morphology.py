"""Grey-scale dilation on XLA."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from ....primitives.base.precision import widened
from ....primitives.base.windows import pads_of
from ....primitives.convolution.morphology import Dilation2DBackpropInput, sums
from ..linalg.products import made
from ..pooling import first_hit
from ..registry import xla_kernel
from ..windows import put_windows


@xla_kernel(Dilation2DBackpropInput)
def _dilation_by_input(p: Dilation2DBackpropInput, x: Any, f: Any, y: Any, dy: Any) -> Any:
    wide, largest = widened(dy), made(y)
    number = first_hit([total == largest for _, total in sums(p, jnp, x, f)])
    nothing = jnp.zeros((), wide.dtype)
    dx = put_windows(
        lambda i, _, arrays: jnp.where(arrays[0] == i, arrays[1], nothing),
        [(number, -1), (wide, 0)],
        f.shape[:-1],
        p.strides,
        p.dilations,
        x.shape[1:-1],
        pads_of(x.shape[1:-1], f.shape[:-1], p.strides, p.dilations, p.padding),
    )
    return dx.astype(dy.dtype)
