"""Grey-scale dilation on XLA."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from ....primitives.base.largest import first_largest
from ....primitives.base.precision import widened
from ....primitives.base.windows import pads_of
from ....primitives.convolution.morphology import Dilation2DBackpropInput, sums
from ..registry import xla_kernel
from ..windows import put_windows


@xla_kernel(Dilation2DBackpropInput)
def _dilation_by_input(p: Dilation2DBackpropInput, x: Any, f: Any, y: Any, dy: Any) -> Any:
    del y
    wide = widened(dy)
    number = first_largest(jnp, (total for _, total in sums(p, jnp, x, f)))
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
