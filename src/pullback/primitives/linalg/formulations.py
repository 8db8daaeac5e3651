"""Formulations of contractions by first axes, as for weights, in compiled programs: which factor is transposed first.

One of many rows is faster of a transposed copy, which waits for the cotangent. So is one of more axes, but of small
factors, which are multiplied as they are: that takes as long.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import NamedTuple

from .einsum import undotted

_MANY = 1 << 14
"""The elements of factors of more axes from which on one is transposed."""
LONG = 1000
"""The rows of a product from which on it had better be computed by a transposed factor."""
_LARGE = 1 << 16
_FEW_COLUMNS = 64
_FEWEST_COLUMNS = 32
"""Those of a first factor from which on its transpose is worth it."""
_TINY = 1 << 12
_LITTLE = 1 << 17
"""The elements of a product, and of its first factor, up to which the transpose of that is made."""


def has_few_columns(rows: int, m: int, n: int) -> bool:
    """Whether [rows, m] and [rows, n] are faster multiplied the other way round."""
    return n <= min(_FEW_COLUMNS, rows) and n < m


def turns_first(rows: int, m: int, n: int) -> bool:
    """Whether of two matrices [rows, m] and [rows, n] the first is transposed before they are multiplied."""
    if rows < LONG or m < _FEWEST_COLUMNS or has_few_columns(rows, m, n):
        return False
    return m * n >= _LARGE or is_tiny(rows, m, n)


def is_tiny(rows: int, m: int, n: int) -> bool:
    """Whether a product is so small, and its first factor, that the transpose of that pays."""
    return m * n <= _TINY and rows * m <= _LITTLE


class ByFirstAxes(NamedTuple):
    """A contraction by the first axes of two factors: the product of one matrix, transposed, and another one."""

    summed: int
    """The number of those axes."""
    swapped: bool
    """Whether the axes of the second factor come first in the result."""
    matches: bool
    """Whether the other axes are in the result as they are in the factors, one after the other."""

    def is_direct(self, a: Sequence[int], b: Sequence[int]) -> bool:
        """Whether factors of shapes `a` and `b` are multiplied as they are."""
        return self.matches and min(prod(a), prod(b)) < _MANY and prod(a[: self.summed]) < LONG


def by_first_axes(equation: str, ranks: tuple[int, ...]) -> ByFirstAxes | None:
    """How an equation of two factors sums over the first axes of both; None where it does not, or multiplies stacks.

    Stacks the forward part transposes the same way: what it has made is read again.
    """
    terms, result = undotted(equation, ranks)
    return labels_by_first_axes(terms[0], terms[1], result) if len(terms) == 2 else None


def labels_by_first_axes(first: str, second: str, result: str) -> ByFirstAxes | None:
    """The same for the labels of two factors and of their product."""
    summed = "".join(c for c in first if c in second and c not in result)
    left, right = first[len(summed) :], second[len(summed) :]
    if not (summed and left and right and first.startswith(summed) and second.startswith(summed)):
        return None
    if not set(left).isdisjoint(right):
        return None
    return ByFirstAxes(len(summed), result == right + left != left + right, result in (left + right, right + left))
