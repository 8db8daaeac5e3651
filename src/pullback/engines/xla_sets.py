"""XLA lowering of `searchsorted`: places in sorted rows."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..primitives.sorting.searchsorted import SearchSorted
from .xla_registry import xla_kernel


@xla_kernel(SearchSorted)
def searchsorted(primitive: SearchSorted, sequence: Any, values: Any) -> Any:
    """Rows as one more axis."""
    rows = jnp.asarray(sequence).reshape(-1, sequence.shape[-1])
    wanted = jnp.asarray(values).reshape(-1, values.shape[-1])
    found = jax.vmap(lambda row, some: jnp.searchsorted(row, some, primitive.side))(rows, wanted)
    return found.astype(np.dtype(primitive.out_type)).reshape(values.shape)
