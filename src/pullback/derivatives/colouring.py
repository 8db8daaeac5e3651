"""Graph colouring of sparse matrices: one product with a vector gives all columns of one colour.

No library that is kept well has a public function for it; two short greedy methods serve:
- Jacobians: columns of one colour share no row (Curtis, Powell and Reid, "On the estimation of sparse Jacobian
  matrices", 1974); for bands and blocks every k-th column has the same.
- Hessians: star colouring, which also uses that H[i, j] = H[j, i]: an arrow needs two colours, not n (Gebremedhin,
  Manne and Pothen, "What color is your Jacobian?", SIAM Review 47, 2005, algorithm 4.1).
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

Colours = np.ndarray[Any, Any]

_MOST_SYMMETRIC_WORK = 20_000_000
"""Above so many steps of star colouring, columns are coloured as those of any matrix."""


def colour_columns(pattern: Any) -> Colours:
    """A colour for each column of a SciPy sparse matrix; columns of one colour have no row in common."""
    repeated = _repeated(pattern.tocsr())
    if repeated is not None:
        return repeated
    columns = pattern.tocsc()
    starts, rows = columns.indptr.tolist(), columns.indices.tolist()
    used = [0] * pattern.shape[0]
    """For each row the colours of its columns so far, a bit for each."""
    colours = [0] * pattern.shape[1]
    for j in range(pattern.shape[1]):
        own = rows[starts[j] : starts[j + 1]]
        taken = 0
        for i in own:
            taken |= used[i]
        bit = ~taken & (taken + 1)
        colours[j] = bit.bit_length() - 1
        for i in own:
            used[i] |= bit
    return np.array(colours, np.int32)


def _repeated(pattern: Any) -> Colours | None:
    """Colours that repeat every k columns, where k, the most entries of a row, are enough: for bands and blocks."""
    count, lengths = pattern.shape[0], np.diff(pattern.indptr)
    k = max(int(lengths.max(initial=0)), 1)
    if count * k > 4 * pattern.nnz:
        return None
    colours = np.arange(pattern.shape[1], dtype=np.int32) % k
    met = np.bincount(np.repeat(np.arange(count), lengths) * k + colours[pattern.indices])
    return colours if met.max(initial=0) <= 1 else None


def colour_symmetric(pattern: Any) -> tuple[Colours, bool]:
    """A colour for each column of a symmetric SciPy sparse matrix, such that each entry stands alone in a product.

    Neighbours differ, and no path of four vertices has two colours. Colours of columns serve where they are at most
    twice those that any star colouring has: two colours induce a forest, so n vertices with m edges need m / n + 1.
    The second result says whether they are such colours: then every entry stands alone in its own row.
    """
    graph = pattern.tocsr()
    by_column = colour_columns(graph)
    degrees = np.diff(graph.indptr).astype(np.int64)
    few = by_column.max(initial=0) * graph.shape[0] <= graph.nnz
    if few or degrees @ (graph @ degrees) > _MOST_SYMMETRIC_WORK:
        return by_column, True
    starts, ends = graph.indptr.tolist(), graph.indices.tolist()
    neighbours = [ends[a:b] for a, b in pairwise(starts)]
    colours = [-1] * pattern.shape[0]
    for v in range(len(colours)):
        taken = _taken(v, neighbours, colours)
        colour = 0
        while colour in taken:
            colour += 1
        colours[v] = colour
    return np.array(colours, np.int32), False


def _taken(v: int, neighbours: list[list[int]], colours: list[int]) -> set[int]:
    """The colours that vertex `v` may not have."""
    around = [colours[w] for w in neighbours[v] if w != v]
    taken = {colour for colour in around if colour >= 0}
    for w in neighbours[v]:
        own = colours[w]
        if w == v:
            continue
        free = own >= 0 and around.count(own) == 1
        for x in neighbours[w]:
            colour = colours[x]
            if x in (v, w) or colour < 0 or colour in taken:
                continue
            if not free or any(colours[y] == own for y in neighbours[x] if y != w and y != x):
                taken.add(colour)
    return taken
