"""Beams of a batch: tiled, put together again from the steps of a search (`tile_batch`, `gather_tree`)."""

from __future__ import annotations

from typing import Any

from .....control_flow.scan import scan
from .....core import nest
from .....core.dtypes import int32
from .....core.graph import Tensor
from .....core.typing import TensorLike
from .....primitives.casting.cast import cast
from .....primitives.creation.constant import convert_to_tensor
from .....primitives.creation.fill import zeros_like
from .....primitives.creation.ranges import range_
from .....primitives.creation.sequence_mask import sequence_mask
from .....primitives.cumulative.cumsum import cumsum
from .....primitives.indexing.gather import gather
from .....primitives.indexing.where import where
from .....primitives.logic.comparison import equal
from .....primitives.reduction.reduce import reduce_max
from .....primitives.shape.reshape import reshape
from .....primitives.shape.size import shape
from .....primitives.shape.squeeze import expand_dims
from .....primitives.shape.tile import repeat
from .....primitives.shape.transpose import transpose


def tile_batch(t: Any, multiplier: int, name: str | None = None) -> Any:
    """Each sequence of `t` [batch, ...], or of a structure of such tensors, so many times, one after the other.

    Raises:
        ValueError: one is a scalar, or of unknown rank.

    >>> import pullback.compat.v1 as tf
    >>> tf.Session().run(tf.contrib.seq2seq.tile_batch(tf.constant([[1], [2]]), 2)).tolist()
    [[1], [1], [2], [2]]
    """

    def tiled(value: Any) -> Tensor:
        x = convert_to_tensor(value)
        if not x.shape.rank:
            raise ValueError(f"tile_batch: a tensor of known rank, at least 1, is needed, not {x.type}")
        return repeat(x, multiplier, 0, name=name or "tile_batch")

    return nest.map_structure(tiled, t)


def gather_tree(
    step_ids: TensorLike,
    parent_ids: TensorLike,
    max_sequence_lengths: TensorLike,
    end_token: TensorLike,
    name: str | None = None,
) -> Tensor:
    """The sequences that a beam search found, from what it chose in each step, and for which of the beams before.

    Beyond the first `end_token`, and beyond `max_sequence_lengths` [batch], there are end tokens.

    Shapes: `step_ids`, `parent_ids` and the result [time, batch, beam]. Dtypes: int32. It has no derivative.

    >>> import pullback.compat.v1 as tf
    >>> ids, parents = [[[1, 2]], [[3, 4]]], [[[0, 0]], [[1, 0]]]
    >>> tf.Session().run(tf.contrib.seq2seq.gather_tree(ids, parents, [2], 9)).tolist()
    [[[2, 1]], [[3, 4]]]
    """
    ids, parents = convert_to_tensor(step_ids), convert_to_tensor(parent_ids)
    lengths, end = expand_dims(max_sequence_lengths, 1), convert_to_tensor(end_token, ids.dtype)
    own = zeros_like(ids[0], int32) + range_(shape(ids)[2])

    def back(after: Any, row: Any) -> Any:
        time, chosen, before = row
        beams = where(time >= lengths - 1, own, after[0])
        found = where(time < lengths, picked(chosen, beams), end)
        return picked(before, beams), found

    times = range_(shape(ids)[0])
    _, found = scan(back, (times, ids, parents), (own, zeros_like(ids[0])), reverse=True, name=name or "GatherTree")
    ended = cumsum(cast(equal(found, end), int32), 0, exclusive=True) > 0
    return where(ended, end, found)


def gather_tree_from_array(t: Any, parent_ids: Any, sequence_length: Any) -> Tensor:
    """The rows of `t` [time, batch * beam, ...], kept for each beam, for the beams as they are in the end.

    Beyond `sequence_length` [batch, beam] rows stay with their beam.
    """
    steps, batch, beam = [shape(parent_ids)[i] for i in range(3)]
    own = zeros_like(parent_ids) + range_(beam)
    lengths = cast(reduce_max(sequence_length, 1), int32)
    beams = gather_tree(own, parent_ids, lengths, beam + 1)
    alive = transpose(sequence_mask(sequence_length, steps), [2, 0, 1])
    rows = reshape(t, [steps, batch, beam, -1])
    return reshape(gather(rows, where(alive, beams, own), axis=2, batch_dims=2), shape(t))


def picked(x: Any, beams: Any) -> Tensor:
    """For each beam what `x` [batch, beam, ...] has for the one of that number."""
    return gather(x, beams, axis=1, batch_dims=1)
