"""XLA lowering of Fourier transforms: as written, one after the other."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from ...core.primitive import Primitive
from ...primitives.signal.dct import Dct
from ...primitives.signal.fourier import Fft, InverseRealFft, RealFft
from .registry import xla_kernel
from .turns import in_turn


@xla_kernel(Dct, Fft, InverseRealFft, RealFft)
@in_turn
def _as_written(p: Primitive, *arrays: Any) -> Any:
    return p.kernel(jnp, *[jnp.asarray(x) for x in arrays])
