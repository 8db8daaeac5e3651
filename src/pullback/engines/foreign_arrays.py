"""DLPack: arrays of other libraries as feeds, without a copy where that can be.

What lies in memory that the processor reads becomes a NumPy array over the same memory; what lies on another device is
for the engine that runs there.
"""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

import numpy as np

from ..core.operation import Tensor
from ..primitives.creation.constant import as_array
from ..primitives.creation.given_numbers import parsed, read, without_fractions

_OWN = np.ndarray, np.generic, int, float, list, tuple
"""What NumPy takes by itself: to ask whether another class follows a protocol takes microseconds."""
_PROCESSOR = 1
"""The number of the processor among DLPack's kinds of devices."""


@runtime_checkable
class SupportsDLPack(Protocol):
    """Arrays of the array API standard: those of torch, of jax, of CuPy, and NumPy's own."""

    def __dlpack__(self, **options: Any) -> Any: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...


@runtime_checkable
class _SupportsArray(Protocol):
    def __array__(self) -> np.ndarray[Any, Any]: ...


def host_array(value: Any, dtype: Any) -> np.ndarray[Any, Any]:
    """`value` as a NumPy array of `dtype`; floats that are fed as whole numbers lose their fractions.

    Numbers that are fed as truths are true where they are not 0.

    Raises:
        TypeError: it holds what no dtype can, or does not fit `dtype`, or is on a device that the host cannot read.
    """
    value = as_jax_takes_it(value)
    if speaks_dlpack(value):
        value = _lent(value)
    if dtype == np.bool_:
        return as_array(_truths(value), dtype)
    if isinstance(value, Tensor):
        return as_array(value, dtype)
    return as_array(without_fractions(parsed(value, dtype), dtype), dtype)


def as_jax_takes_it(value: Any) -> Any:
    """The array that functions of jax take for `value`, a parameter of flax for one; else `value` itself."""
    method = getattr(value, "__jax_array__", None)
    return value if method is None else method()


def is_elsewhere(value: Any) -> bool:
    """Whether `value` speaks DLPack, and is not in memory that the processor reads."""
    return speaks_dlpack(value) and int(value.__dlpack_device__()[0]) != _PROCESSOR


def speaks_dlpack(value: Any) -> bool:
    """Whether `value` is an array of another library that lends its memory."""
    return not isinstance(value, _OWN) and isinstance(value, SupportsDLPack)


def _lent(value: Any) -> np.ndarray[Any, Any]:
    """The memory of an array of another library, as a NumPy array."""
    try:
        return np.asarray(value) if isinstance(value, _SupportsArray) else np.from_dlpack(value)
    except Exception as error:  # Each library has errors of its own for what it does not lend.
        hint = ". Copy it to the host first" if is_elsewhere(value) else ""
        raise TypeError(f"this {type(value).__name__} gives NumPy no array: {error}{hint}") from error


def _truths(value: Any) -> Any:
    """Numbers that are fed where truths are taken, as truths; ints that are neither 0 nor 1, and all else, as is."""
    if isinstance(value, Tensor) or (isinstance(value, int) and value not in (0, 1)):
        return value
    try:
        array = read(value, np.dtype(bool))
    except ValueError:
        return value
    return array != 0 if array.dtype.kind in "iuf" else value
