"""XLA lowering of variables and segment sums.

An index that is out of range cannot raise in a compiled program: its row is NaN, or the smallest integer, where it is
read, and left out where it is written.
"""

from __future__ import annotations

from typing import Any

from ..primitives.variables.operations import ResourceGather
from .xla_registry import xla_kernel


@xla_kernel(ResourceGather)
def gather_rows(primitive: ResourceGather, state: Any, indices: Any) -> Any:
    """Rows of a variable."""
    del primitive
    return state.at[indices].get(mode="fill", wrap_negative_indices=False)
