"""XLA lowering of variable updates: in the donated memory of what a program is given to change."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from ..primitives.base.state import AbstractUpdates, ScatterKind

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
        method = getattr(state.at[indices], _METHODS[kind])
        return method(updates, mode="drop", wrap_negative_indices=False)


UPDATES = XlaUpdates()
