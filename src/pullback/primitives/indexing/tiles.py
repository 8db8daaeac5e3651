"""Concatenation of tiles: a sum of tensors that are zero but for parts which cover an axis is these parts, joined.

The cotangent of what is read slice by slice, such as the gates of a cell, the steps of a sequence or the components of
a vector, is such a sum. Its terms have the shape of the whole each, so that adding them takes as many times as long as
there are slices. What is read several times is one part, the sum of their cotangents.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

from ...core.operation import Tensor
from ...core.shape import same_length
from ..elementwise.add_n import add_n
from ..shape.stacking import concat, stack
from .slice import SliceGrad
from .slicing import FULL, UNKNOWN, Entry, StridedSliceGrad, expand_ellipsis


class _Tile(NamedTuple):
    """What is not zero: `values`, along an interval of an axis, which they do not have where it is one `element`."""

    values: Tensor
    axis: int
    first: int
    end: int
    element: bool


def tiles_joined(terms: Sequence[Tensor]) -> list[Tensor]:
    """Tensors whose sum is that of `terms`: in the place of those that are tiles of one axis, what they make."""
    found = [_tile(x) for x in terms]
    tiles = sorted([tile for tile in found if tile is not None], key=lambda tile: (tile.first, tile.end))
    if len(tiles) < 2 or len({(tile.axis, tile.element) for tile in tiles}) > 1:
        return list(terms)
    axis, groups = tiles[0].axis, [list(group) for _, group in groupby(tiles, lambda tile: (tile.first, tile.end))]
    ends = [group[0].end for group in groups]
    if [group[0].first for group in groups] != [0, *ends[:-1]] or ends[-1] != terms[0].shape.size(axis):
        return list(terms)
    parts = [add_n([tile.values for tile in group]) for group in groups]
    rest = [x for x, tile in zip(terms, found, strict=True) if tile is None]
    return [(stack if tiles[0].element else concat)(parts, axis), *rest]


def _tile(x: Tensor) -> _Tile | None:
    """What `x` is beside zeros, if that is a part of one axis, in a place that is known."""
    lengths = x.shape.sizes
    entries = _entries(x)
    if lengths is None or entries is None or None in entries or len(entries) != len(lengths):
        return None
    cut = [axis for axis, e in enumerate(entries) if e != FULL]
    n = lengths[cut[0]] if len(cut) == 1 else None
    if n is None:
        return None
    entry = entries[cut[0]]
    whole = entry if isinstance(entry, tuple) else (entry % n, entry % n + 1, 1)
    first, end, step = slice(*whole).indices(n)
    return _Tile(x.op.inputs[0], cut[0], first, end, whole is not entry) if step == 1 and first < end else None


def _entries(x: Tensor) -> list[Entry] | None:
    """What is not zero of `x`, as the entries of a slicing, one for each axis; None where only a run knows it."""
    lengths, primitive = x.shape.lengths, x.op.primitive
    if lengths is None or not isinstance(primitive, StridedSliceGrad | SliceGrad):
        return None
    if isinstance(primitive, StridedSliceGrad):
        known = not any(UNKNOWN in (e if isinstance(e, tuple) else (e,)) for e in primitive.spec)
        return expand_ellipsis(primitive.spec, len(lengths), x) if known else None
    sizes, begin = x.op.inputs[0].shape.lengths, primitive.begin
    if sizes is None or begin is None:
        return None
    entries: list[Entry] = []
    for b, m, n in zip(begin, sizes, lengths, strict=True):
        if b == 0 and same_length(m, n):
            entries.append(FULL)
        else:
            entries.append((b, b + m, 1) if isinstance(b, int) and isinstance(m, int) else None)
    return entries
