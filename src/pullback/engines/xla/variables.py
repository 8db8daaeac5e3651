"""XLA lowering of variables and segment sums.

An index that is out of range cannot raise in a compiled program: its row is NaN, or the smallest integer, where it is
read, and left out where it is written.
"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from ...primitives.base.scattering import bounded
from ...primitives.base.state import AbstractUpdates, ScatterKind
from ...primitives.variables.operations import ResourceGather
from .indexing import out_of_range
from .registry import xla_kernel


@xla_kernel(ResourceGather)
def gather_rows(primitive: ResourceGather, state: Any, indices: Any) -> Any:
    """Rows of a variable."""
    del primitive
    if not state.size:
        return out_of_range((*jnp.shape(indices), *state.shape[1:]), state.dtype)
    return state.at[bounded(jnp, indices, state.shape[0])].get(mode="fill", wrap_negative_indices=False)


_METHODS = {
    "update": "set",
    "add": "add",
    "sub": "subtract",
    "mul": "multiply",
    "div": "divide",
    "min": "min",
    "max": "max",
}


class XlaUpdates(AbstractUpdates):
    """Changes to a state; XLA does them in place where the old value is not needed any more."""

    def add(self, state: Any, value: Any) -> Any:
        """`state + value`."""
        return jnp.add(state, value)

    def subtract(self, state: Any, value: Any) -> Any:
        """`state - value`."""
        return jnp.subtract(state, value)

    def scatter(self, kind: ScatterKind, state: Any, indices: Any, updates: Any) -> Any:
        """`state` with its rows `indices` changed by `updates`; an index that is out of range is left out."""
        if not state.size:
            return state
        method = getattr(state.at[bounded(jnp, indices, state.shape[0])], _METHODS[kind])
        return method(updates, mode="drop", wrap_negative_indices=False)


UPDATES = XlaUpdates()
