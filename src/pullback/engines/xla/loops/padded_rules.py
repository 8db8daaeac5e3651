"""Padded arrays: which operations work on each row by itself, and which do not see the zeros behind the rows."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ....core.graph import Operation
from ....core.traits import ELEMENTWISE, IGNORES_ZEROS, Links
from ....primitives.indexing.gather import MergeLeading
from ....primitives.shape.broadcast import BroadcastLike
from ....primitives.shape.reshape import Reshape
from ....primitives.tensor_array import ArrayHead, ArrayTail

Ranks = Sequence[int | None]
"""For each input the rank of an array with zeros behind its rows; None for others."""


def rows_of_one(op: Operation, shape: tuple[int, ...]) -> int | None:
    """How many rows a reshape makes of each row of an array of that shape, where it does."""
    primitive = op.primitive
    if isinstance(primitive, MergeLeading):
        rank = op.inputs[1].shape.rank
        return None if rank is None else math.prod(shape[1:rank])
    if not isinstance(primitive, Reshape) or primitive.shape is None or primitive.shape[:1] != (-1,):
        return None
    rest = primitive.shape[1:]
    if None in rest:
        return None
    times, left = divmod(math.prod(shape[1:]), max(math.prod([n for n in rest if n is not None]), 1))
    return None if left else times


def goes_row_by_row(op: Operation, ranks: Ranks) -> bool:
    """Whether each row of what `op` makes comes from the rows of that number."""
    if ELEMENTWISE in op.primitive.traits or isinstance(op.primitive, BroadcastLike):
        return {n for n in ranks if n is not None} == {op.outputs[0].shape.rank}
    along = IGNORES_ZEROS in op.primitive.traits
    return all(
        not _makes_rows(links) if rank is None else _is_row_for_row(links, along)
        for links, rank in zip(_all_links(op), ranks, strict=True)
    )


def is_neutral(op: Operation, ranks: Ranks, axis: int = 0) -> bool:
    """Whether zeros behind the rows, which lie along `axis`, add nothing to what `op` makes."""
    primitive = op.primitive
    if isinstance(primitive, ArrayHead | ArrayTail):
        return primitive.room is not None
    if IGNORES_ZEROS not in primitive.traits:
        return False
    pairs = zip(_all_links(op), ranks, strict=True)
    return all(rank is None or all(link.input != axis for link in links or ()) for links, rank in pairs)


def _all_links(op: Operation) -> list[Links | None]:
    types = [x.type for x in op.inputs]
    return [op.primitive.links(i, *types) for i in range(len(types))]


def _is_row_for_row(links: Links | None, along: bool) -> bool:
    """Whether rows of an input become those of the result; `along`: also where a row depends on others."""
    first = [link for link in links or () if link.output == 0 or link.input == 0]
    return len(first) == 1 and first[0][:2] == (0, 0) and (along or first[0].pairs is None)


def _makes_rows(links: Links | None) -> bool:
    """Whether rows of the result go along an axis of an input."""
    return any(link.output == 0 for link in links or ())
