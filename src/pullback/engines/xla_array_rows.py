"""What XLA computes by another function than the kernel, for the rows of a TensorArray.

An array is made longer where the positions are known when the program is compiled. A position that is out of range
cannot raise in a compiled program: what is read there is NaN, what is written is left out.
"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from ..primitives.array_rows import ArrayAdd, ArrayRead, ArrayWrite
from .xla_registry import xla_kernel


@xla_kernel(ArrayRead)
def read(primitive: ArrayRead, array: Any, indices: Any, size: Any) -> Any:
    """Rows of an array."""
    del primitive, size
    return jnp.asarray(array).at[indices].get(mode="fill", wrap_negative_indices=False)


@xla_kernel(ArrayWrite)
def write(primitive: ArrayWrite, array: Any, indices: Any, rows: Any, size: Any) -> Any:
    """An array with other rows."""
    del size
    row, count = rows.shape[jnp.ndim(indices) :], array.shape[0]
    if primitive.grows:
        if not isinstance(indices, np.ndarray | np.generic):
            raise NotImplementedError("a compiled program cannot make an array longer; give the TensorArray its size")
        count = max(count, int(np.max(indices, initial=-1)) + 1)
    if array.shape[1:] != row and array.size == 0:
        array = jnp.zeros((array.shape[0], *row), array.dtype)
    if count > array.shape[0]:
        array = jnp.concatenate([array, jnp.zeros((count - array.shape[0], *row), array.dtype)])
    return jnp.asarray(array).at[indices].set(rows, mode="drop", wrap_negative_indices=False)


@xla_kernel(ArrayAdd)
def add(primitive: ArrayAdd, rows: Any, indices: Any, size: Any) -> Any:
    """Zeros to which rows are added."""
    del primitive
    total = jnp.zeros((int(size), *rows.shape[jnp.ndim(indices) :]), rows.dtype)
    return total.at[indices].add(rows, mode="drop", wrap_negative_indices=False)
