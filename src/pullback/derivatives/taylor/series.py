"""Truncated power series: coefficients that are tensors, of which None stands for zeros, and their arithmetic."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ...core.graph import Tensor
from ...primitives.elementwise.add_n import AddN

Coefficient = Tensor | None


class Curve:
    """The Taylor coefficients of a tensor along a curve, as far as they are known: `curve[0]` is the tensor.

    Of a tensor that does not vary all others are None.
    """

    def __init__(self, x: Tensor, *, varies: bool = True) -> None:
        self.varies = varies
        self._known: list[Coefficient] = [x]
        self._scaled: dict[int, Coefficient] = {}

    def __getitem__(self, k: int) -> Coefficient:
        return self._known[k] if self.varies or k == 0 else None

    def __len__(self) -> int:
        return len(self._known)

    def append(self, coefficient: Coefficient) -> None:
        """Add the next coefficient."""
        self._known.append(coefficient)

    def speed(self, k: int) -> Coefficient:
        """`k` times coefficient k: coefficient k - 1 of the derivative by the parameter of the curve."""
        if k not in self._scaled:
            self._scaled[k] = times(self[k], k)
        return self._scaled[k]


Series = Curve | Sequence[Coefficient]


def times(x: Coefficient, number: float) -> Coefficient:
    """`x` times a number."""
    return x if x is None or number == 1 else x * number


def total(terms: Iterable[Coefficient]) -> Coefficient:
    """The sum of `terms`."""
    known = [x for x in terms if x is not None]
    if len(known) < 2:
        return known[0] if known else None
    if all(x.type is known[0].type for x in known):
        return AddN()(*known)
    first, *rest = known
    for x in rest:
        first = first + x
    return first


def minus(a: Coefficient, b: Coefficient) -> Coefficient:
    """`a - b`."""
    if b is None:
        return a
    return -b if a is None else a - b


def product(a: Coefficient, b: Coefficient) -> Coefficient:
    """`a * b`."""
    return None if a is None or b is None else a * b


def convolution(a: Series, b: Series, k: int, first: int = 0, last: int = 0) -> Coefficient:
    """Coefficient k of the product of two series; without the first, or last, so many coefficients of `a`."""
    return total([product(a[j], b[k - j]) for j in range(first, k + 1 - last)])


def squared(a: Series, k: int, first: int = 0) -> Coefficient:
    """Coefficient k of the square of a series, without `first` coefficients at either end: each product once."""
    pairs = [product(a[j], a[k - j]) for j in range(first, (k + 1) // 2)]
    middle = a[k // 2] if k % 2 == 0 and k // 2 >= first else None
    return total([times(total(pairs), 2), product(middle, middle)])


def integral(x: Curve, slope: Series, k: int) -> Coefficient:
    """Coefficient k of a function whose derivative is `slope` times that of `x`."""
    return times(total([product(x.speed(j), slope[k - j]) for j in range(1, k + 1)]), 1.0 / k)


def each(found: Any) -> tuple[Coefficient, ...]:
    """The coefficients that a rule gave: one for each output."""
    return found if isinstance(found, tuple) else (found,)
