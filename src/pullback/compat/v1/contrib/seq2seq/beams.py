"""Beams of a batch: tiled, put together again from the steps of a search (`tile_batch`, `gather_tree`)."""

from __future__ import annotations

from typing import Any

import pullback as pb

from .....core import nest
from .....core.contexts import in_graph_of_inputs
from .....core.typing import TensorLike


def tile_batch(t: Any, multiplier: int, name: str | None = None) -> Any:
    """Each sequence of `t` [batch, ...], or of a structure of such tensors, so many times, one after the other.

    Raises:
        ValueError: one is a scalar, or of unknown rank.

    >>> import pullback.compat.v1 as tf
    >>> tf.Session().run(tf.contrib.seq2seq.tile_batch(tf.constant([[1], [2]]), 2)).tolist()
    [[1], [1], [2], [2]]
    """

    def tiled(value: Any) -> pb.Tensor:
        x = pb.convert_to_tensor(value)
        if not x.shape.rank:
            raise ValueError(f"tile_batch: a tensor of known rank, at least 1, is needed, not {x.type}")
        return pb.repeat(x, multiplier, 0, name=name or "tile_batch")

    return nest.map_structure(tiled, t)


@in_graph_of_inputs
def gather_tree(
    step_ids: TensorLike,
    parent_ids: TensorLike,
    max_sequence_lengths: TensorLike,
    end_token: TensorLike,
    name: str | None = None,
) -> pb.Tensor:
    """The sequences that a beam search found, from what it chose in each step, and for which of the beams before.

    Beyond the first `end_token`, and beyond `max_sequence_lengths` [batch], there are end tokens.

    Shapes: `step_ids`, `parent_ids` and the result [time, batch, beam]. Dtypes: int32. It has no derivative.

    >>> import pullback.compat.v1 as tf
    >>> ids, parents = [[[1, 2]], [[3, 4]]], [[[0, 0]], [[1, 0]]]
    >>> tf.Session().run(tf.contrib.seq2seq.gather_tree(ids, parents, [2], 9)).tolist()
    [[[2, 1]], [[3, 4]]]
    """
    ids, parents = pb.convert_to_tensor(step_ids), pb.convert_to_tensor(parent_ids)
    lengths, end = pb.expand_dims(max_sequence_lengths, 1), pb.convert_to_tensor(end_token, ids.dtype)
    own = pb.zeros_like(ids[0], pb.int32) + pb.range(pb.shape(ids)[2])

    def back(after: Any, row: Any) -> Any:
        time, chosen, before = row
        beams = pb.where(time >= lengths - 1, own, after[0])
        found = pb.where(time < lengths, picked(chosen, beams), end)
        return picked(before, beams), found

    times = pb.range(pb.shape(ids)[0])
    _, found = pb.scan(
        back, (times, ids, parents), (own, pb.zeros_like(ids[0])), reverse=True, name=name or "GatherTree"
    )
    ended = pb.cumsum(pb.cast(pb.equal(found, end), pb.int32), 0, exclusive=True) > 0
    return pb.where(ended, end, found)


def gather_tree_from_array(t: Any, parent_ids: Any, sequence_length: Any) -> pb.Tensor:
    """The rows of `t` [time, batch * beam, ...], kept for each beam, for the beams as they are in the end.

    Beyond `sequence_length` [batch, beam] rows stay with their beam.
    """
    steps, batch, beam = [pb.shape(parent_ids)[i] for i in range(3)]
    own = pb.zeros_like(parent_ids) + pb.range(beam)
    lengths = pb.cast(pb.reduce_max(sequence_length, 1), pb.int32)
    beams = gather_tree(own, parent_ids, lengths, beam + 1)
    alive = pb.transpose(pb.sequence_mask(sequence_length, steps), [2, 0, 1])
    rows = pb.reshape(t, [steps, batch, beam, -1])
    return pb.reshape(pb.gather(rows, pb.where(alive, beams, own), axis=2, batch_dims=2), pb.shape(t))


def picked(x: Any, beams: Any) -> pb.Tensor:
    """For each beam what `x` [batch, beam, ...] has for the one of that number."""
    return pb.gather(x, beams, axis=1, batch_dims=1)
