"""In-place updates of variables in NumPy: in their own memory, or in a copy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...primitives.base.scattering import check_range
from ...primitives.base.state import AbstractUpdates, ScatterKind

Note = Callable[[Any, Any], None]
_UFUNCS: dict[str, Any] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "min": np.minimum,
    "max": np.maximum,
}


class NumpyUpdates(AbstractUpdates):
    """Changes to a state; `in_place` where nothing else can see its memory."""

    def __init__(self, in_place: bool) -> None:
        self.in_place = in_place

    def add(self, state: Any, value: Any) -> Any:
        """`state + value`."""
        return np.add(state, value, out=state if self.in_place else None)

    def subtract(self, state: Any, value: Any) -> Any:
        """`state - value`."""
        return np.subtract(state, value, out=state if self.in_place else None)

    def scatter(self, kind: ScatterKind, state: Any, indices: Any, updates: Any, note: Note | None = None) -> Any:
        """`state` with its rows `indices` changed by `updates`; an index that is out of range raises.

        `note` is called with the state and the indices when nothing has been changed yet.
        """
        check_range(np.asarray(indices), state.shape[0], f"scatter_{kind}")
        if note is not None:
            note(state, indices)
        result = state if self.in_place else state.copy()
        if kind == "update":
            result[indices] = updates
        elif _ascend(indices):
            result[indices] = _UFUNCS[kind](result[indices], updates)
        else:
            _UFUNCS[kind].at(result, indices, updates)
        return result


def _ascend(indices: Any) -> bool:
    """Whether no row comes twice, told where it is cheap: what an optimizer sends is in order."""
    return indices.ndim == 1 and bool((indices[1:] > indices[:-1]).all())


IN_PLACE, BY_COPY = NumpyUpdates(True), NumpyUpdates(False)
