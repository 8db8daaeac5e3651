"""Elements that a run decides, in arrays that kernels compute with while a graph is built.

They can be moved, and lengths added and multiplied. A kernel that compares one, or asks whether it is zero, has to
fail: Python would say that a length is unlike every number, and None false.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from .lengths import Length

Array = np.ndarray[Any, Any]


def to_compute_with(array: Array) -> Array:
    """`array`, its lengths and what cannot be told as `Untold`."""
    return _mapped(_as_untold, array) if array.dtype == object else array


def as_computed(value: Any) -> Array:
    """The array that a kernel made, with lengths, and None for what cannot be told."""
    array = np.asarray(value)
    return _mapped(lambda x: x.value if isinstance(x, Untold) else x, array) if array.dtype == object else array


def _as_untold(x: Any) -> Any:
    return Untold(x) if x is None or isinstance(x, Length) else x


def _mapped(function: Callable[[Any], Any], array: Array) -> Array:
    found = np.empty(array.shape, object)
    for i, x in enumerate(array.flat):
        found.flat[i] = function(x)
    return found


def _forward(name: str) -> Any:
    function = getattr(operator, name)

    def computed(self: Untold, other: Any) -> Any:
        return _as_untold(function(self.value, other.value if isinstance(other, Untold) else other))

    return computed


def _backward(name: str) -> Any:
    function = getattr(operator, name)
    return lambda self, other: _as_untold(function(other, self.value))


def _refuse(self: Untold, *others: Any) -> Any:
    raise TypeError("a run decides it")


class Untold:
    """A length, or None for an element of which nothing is known."""

    __slots__ = ("value",)

    def __init__(self, value: Length | None) -> None:
        self.value = value

    __add__, __sub__, __mul__, __floordiv__, __mod__ = map(_forward, ("add", "sub", "mul", "floordiv", "mod"))
    __radd__, __rsub__, __rmul__, __rfloordiv__, __rmod__ = map(_backward, ("add", "sub", "mul", "floordiv", "mod"))

    def __neg__(self) -> Any:
        return _as_untold(operator.neg(self.value))  # type: ignore[arg-type]

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __bool__ = _refuse
    __hash__ = None  # type: ignore[assignment]
