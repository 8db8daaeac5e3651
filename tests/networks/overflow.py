"""Overflow in random networks: what is computed of numbers next to the largest depends on the order of sums.

The largest rows of empty segments are the lowest number there is. Behind a product with them sums are infinite in one
order and finite in another, and so differ the signs by which rows are masked, and all that is made of those rows.
"""

from __future__ import annotations

from collections.abc import Sequence

import ml_dtypes
import numpy as np

from .network import Array, Layer, Network

SHARE = 1 / 64
"""The share of the largest number from which on sums of a few terms are taken to overflow."""


def sound_results(network: Network, narrow: Sequence[Array], wide: Sequence[Array]) -> tuple[int, ...]:
    """The results that are not computed of numbers that overflow.

    `narrow` and `wide`: the values of all nodes, run after run, in the network's dtype and in a wider one.
    """
    behind: set[int] = set()
    for i, node in enumerate(network.nodes):
        if isinstance(node, Layer) and any(j in behind or _overflows(network, j, narrow, wide) for j in node.inputs):
            behind.add(i)
    return tuple([i for i in network.results if i not in behind])


def _overflows(network: Network, node: int, narrow: Sequence[Array], wide: Sequence[Array]) -> bool:
    count = len(network.nodes)
    return any(map(_is_huge, narrow[node::count], wide[node::count]))


def _is_huge(narrow: Array, wide: Array) -> bool:
    """Whether a number is next to the largest finite one, or beyond, where wider numbers are finite."""
    if narrow.dtype.kind in "biu":
        return False
    most = float(ml_dtypes.finfo(narrow.dtype).max) * SHARE
    with np.errstate(all="ignore"):
        sizes = np.abs(narrow.astype(np.complex128))
        near = np.isfinite(sizes) & (sizes >= most)
    if narrow.shape != wide.shape:
        return bool(np.any(near))
    return bool(np.any(near | (~np.isfinite(sizes) & np.isfinite(wide.astype(np.complex128)))))
