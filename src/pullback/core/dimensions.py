"""Dimensions of TensorFlow 1: lengths with a `value`, which is a number or None."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class KnownDimension(int):
    """A number that has a `value`, and so have its sums, products and quotients with others."""

    __slots__ = ()

    @property
    def value(self) -> int:
        """The number."""
        return int(self)

    def is_compatible_with(self, other: Any) -> bool:
        """Whether both may be the same length."""
        return Dimension(other).value in (None, self)

    def merge_with(self, other: Any) -> KnownDimension:
        """The number, which is what both know.

        Raises:
            ValueError: the other one is another number.
        """
        if not self.is_compatible_with(other):
            raise ValueError(f"Dimensions {self} and {other} are not compatible")
        return self

    def __add__(self, other: Any) -> Any:
        return _dimension(int.__add__, self, other)

    def __sub__(self, other: Any) -> Any:
        return _dimension(int.__sub__, self, other)

    def __rsub__(self, other: Any) -> Any:
        return _dimension(int.__rsub__, self, other)

    def __mul__(self, other: Any) -> Any:
        return _dimension(int.__mul__, self, other)

    def __floordiv__(self, other: Any) -> Any:
        return _dimension(int.__floordiv__, self, other)

    def __rfloordiv__(self, other: Any) -> Any:
        return _dimension(int.__rfloordiv__, self, other)

    def __mod__(self, other: Any) -> Any:
        return _dimension(int.__mod__, self, other)

    def __rmod__(self, other: Any) -> Any:
        return _dimension(int.__rmod__, self, other)

    __radd__ = __add__
    __rmul__ = __mul__

    def __repr__(self) -> str:
        return f"Dimension({int(self)})"

    def __str__(self) -> str:
        return int.__repr__(self)


def _dimension(operator: Callable[[int, Any], Any], n: int, other: Any) -> Any:
    if other is None:
        return UnknownDimension()
    result = operator(n, other)
    return KnownDimension(result) if type(result) is int else result


class UnknownDimension:
    """A length of which nothing is known; what is computed with it is not known either, nor is how it compares."""

    __slots__ = ()
    value = None

    def is_compatible_with(self, other: Any) -> bool:
        """True: it may be any length."""
        del other
        return True

    def merge_with(self, other: Any) -> Any:
        """What the other one knows."""
        return Dimension(other)

    def _unknown(self, other: Any) -> UnknownDimension:
        del other
        return self

    def _nobody_knows(self, other: Any) -> None:
        del other

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _unknown
    __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = _unknown
    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _nobody_knows  # type: ignore[assignment]

    def __hash__(self) -> int:
        return hash(None)

    def __repr__(self) -> str:
        return "Dimension(None)"

    def __str__(self) -> str:
        return "?"


class _AnyDimension(type):
    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, KnownDimension | UnknownDimension)


class Dimension(metaclass=_AnyDimension):
    """A length as TensorFlow 1 has it: `Dimension(5)` is a number too, `Dimension(None)` is not.

    >>> import pullback as pb
    >>> n = pb.Dimension(6)
    >>> n.value, (n // 2).value, (n * pb.Dimension(None)).value, isinstance(n, pb.Dimension)
    (6, 3, None, True)
    """

    def __new__(cls, value: Any) -> Any:
        """The dimension that a number, None, or a dimension stands for."""
        if value is None or isinstance(value, UnknownDimension):
            return UnknownDimension()
        return KnownDimension(value)
