"""Block-diagonal sparsity patterns: one of the equal blocks is kept, and worked on for all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import gcd
from typing import Any

import numpy as np
import scipy.sparse as sp

Matrix = Any
"""A scipy.sparse.csr_array of truth values."""


@dataclass(frozen=True, eq=False)
class Pattern:
    """The Kronecker product of an identity matrix of `count` rows with `block`.

    It has a row for each element of a tensor, a column for each of the source's.
    """

    block: Matrix
    count: int = 1

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of elements of the tensor and of the source."""
        rows, columns = self.block.shape
        return self.count * rows, self.count * columns

    @cached_property
    def whole(self) -> Matrix:
        """The matrix itself."""
        return repeated(self.block, self.count)

    def of(self, count: int) -> Pattern:
        """The same as `count` blocks, a divisor of their number."""
        return self if count == self.count else Pattern(repeated(self.block, self.count // count), count)


def identity(n: int) -> Pattern:
    """The pattern of a tensor of `n` elements by itself."""
    return Pattern(sp.csr_array(np.ones((1, 1), bool)), n) if n else Pattern(sp.csr_array((0, 0), dtype=bool))


def repeated(block: Matrix, count: int) -> Matrix:
    """`count` times `block`, along the diagonal."""
    if count == 1:
        return block
    rows, columns = block.shape
    fits = count * max(columns, block.nnz) < 2**31
    first = np.arange(count, dtype=np.int32 if fits else np.int64)[:, None]
    indices = (first * columns + block.indices).reshape(-1)
    pointers = np.append((first * block.nnz + block.indptr[:-1]).reshape(-1), count * block.nnz)
    return sp.csr_array((np.ones(len(indices), bool), indices, pointers), shape=(count * rows, count * columns))


def aligned(patterns: Sequence[Pattern]) -> tuple[int, list[Matrix]]:
    """The most blocks that all of `patterns` have, and those of each."""
    count = gcd(*[p.count for p in patterns])
    return count, [p.of(count).block for p in patterns]


def union(a: Pattern, b: Pattern) -> Pattern:
    """Where `a` or `b` is true; `a` or `b` itself where it holds the other."""
    if a is b:
        return a
    count, (one, other) = aligned([a, b])
    both = _union(one, other)
    return next((p for p, block in ((a, one), (b, other)) if both is block), Pattern(both, count))


def is_identity(matrix: Matrix) -> bool:
    """Whether each element depends on itself alone."""
    rows, columns = matrix.shape
    numbers = np.arange(rows + 1)
    return rows == columns and np.array_equal(matrix.indptr, numbers) and np.array_equal(matrix.indices, numbers[:-1])


def _union(a: Matrix, b: Matrix) -> Matrix:
    if np.array_equal(a.indptr, b.indptr) and np.array_equal(a.indices, b.indices):
        return a
    for one, other in ((a, b), (b, a)):
        if is_identity(other) and one.diagonal().all():
            return one
    both = a + b
    return next((part for part in (a, b) if part.nnz == both.nnz), both)


def rows_at(pattern: Pattern, numbers: np.ndarray[Any, Any]) -> Pattern:
    """The rows of these numbers; `pattern` itself where that is all of them in their order."""
    if np.array_equal(numbers, np.arange(pattern.shape[0])):
        return pattern
    count = gcd(pattern.count, len(numbers))
    lines, height = numbers.reshape(count, -1), pattern.shape[0] // count
    if np.array_equal(lines, lines[0] + height * np.arange(count)[:, None]):
        return Pattern(pattern.of(count).block[lines[0]], count)
    return Pattern(pattern.whole[numbers])


def composed(outer: Pattern, inner: Pattern) -> Pattern:
    """What depends by `outer` on what depends by `inner`: the product of both."""
    count = gcd(outer.count, inner.count)
    return Pattern(outer.of(count).block @ inner.of(count).block, count)


def only_rows(pattern: Pattern, there: np.ndarray[Any, Any]) -> Pattern:
    """`pattern` with nothing in the rows that are not `there`."""
    numbers = np.flatnonzero(there)
    selection = (np.ones(len(numbers), bool), numbers, np.concatenate([[0], np.cumsum(there)]))
    return composed(Pattern(sp.csr_array(selection, shape=(len(there), len(there)))), pattern)


def split(pattern: Pattern, turned: Pattern) -> tuple[Pattern, Pattern]:
    """What is also true in the transpose of `turned`, and the rest."""
    count, (ours, theirs) = aligned([pattern, turned])
    both = ours.multiply(theirs.T.tocsr()).astype(bool).tocsr()
    rest = (ours.astype(np.int8) - both.astype(np.int8)).tocsr()
    rest.eliminate_zeros()
    return Pattern(both, count), Pattern(rest.astype(bool), count)


def split_diagonal(pattern: Pattern) -> tuple[Pattern, Pattern]:
    """What stands on the diagonal, and the rest."""
    rows, columns = pattern.block.nonzero()
    parts = []
    for kept in (rows == columns, rows != columns):
        entries = (np.ones(int(kept.sum()), bool), (rows[kept], columns[kept]))
        parts.append(Pattern(sp.csr_array(entries, shape=pattern.block.shape), pattern.count))
    return parts[0], parts[1]
