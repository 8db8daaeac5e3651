"""ONNX export of space-to-depth and depth-to-space."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....core.dtypes import int64, uint64
from ....primitives.shape.space_to_batch import BatchToSpaceND, SpaceToBatchND
from ....primitives.shape.space_to_depth import DepthToSpace, SpaceToDepth
from ...pairs import trace_kernel
from ...records import Value
from ...registry import writer
from ...writing import Writer
from ..layout import as_data_format, channels_second
from ..shapes import rank_of


@writer(SpaceToDepth, DepthToSpace)
def blocks(w: Writer, p: Any, x: Value) -> Any:
    if x.type.dtype in (int64, uint64):
        return trace_kernel(w, [x])
    dims = w.op.outputs[0].shape.sizes
    if dims is not None and p.data_format == "NHWC":
        dims = (dims[0], dims[3], dims[1], dims[2])
    images = channels_second(w, x, p.data_format)
    y = w.node(p.type, images, shape=dims, blocksize=p.block_size)
    return as_data_format(w, y, p.data_format)


@writer(SpaceToBatchND)
def space_to_batch(w: Writer, p: Any, x: Value, paddings: Value | None = None) -> Value:
    """Padded, each axis cut into two, and the places in the blocks put before the batch."""
    block, m, rank = p.block, len(p.block), rank_of(x)
    before, after = _ends(w, p.paddings, paddings)
    rest = w.vector([0] * (rank - 1 - m))
    none = w.vector([0])
    x = w.node("Pad", x, w.concat([none, before, rest, none, after, rest], 0))
    counts = w.node("Div", w.lengths(x, list(range(1, m + 1))), w.vector(block))
    pairs = w.reshape(w.concat([w.unsqueeze(counts, [1]), w.constant(np.asarray(block, np.int64)[:, None])], 1), [-1])
    tail = [w.lengths(x, list(range(1 + m, rank)))] if rank > 1 + m else []
    apart = w.reshape_to(x, w.concat([w.lengths(x, [0]), pairs, *tail], 0))
    order = [*range(2, 2 * m + 1, 2), 0, *range(1, 2 * m, 2), *range(2 * m + 1, rank + m)]
    batch = w.node("Mul", w.lengths(x, [0]), w.vector([int(np.prod(block))]))
    shape = w.concat([batch, counts, *tail], 0)
    return w.reshape_to(w.transpose(apart, order), shape)


@writer(BatchToSpaceND)
def batch_to_space(w: Writer, p: Any, x: Value, crops: Value | None = None) -> Value:
    block, m, rank = p.block, len(p.block), rank_of(x)
    batch = w.node("Div", w.lengths(x, [0]), w.vector([int(np.prod(block))]))
    rest = w.lengths(x, list(range(1, rank)))
    apart = w.reshape_to(x, w.concat([w.vector(block), batch, rest], 0))
    order = [m, *[d for i in range(m) for d in (m + 1 + i, i)], *range(2 * m + 1, rank + m)]
    lengths = w.node("Mul", w.lengths(x, list(range(1, m + 1))), w.vector(block))
    tail = [w.lengths(x, list(range(1 + m, rank)))] if rank > 1 + m else []
    whole = w.reshape_to(w.transpose(apart, order), w.concat([batch, lengths, *tail], 0))
    before, after = _ends(w, p.crops, crops)
    return w.slice(whole, before, w.node("Sub", lengths, after), list(range(1, m + 1)))


def _ends(w: Writer, static: Any, given: Value | None) -> tuple[Value, Value]:
    """How much is put before each axis, or cut off there, and after it."""
    if given is None:
        return w.vector([a for a, _ in static]), w.vector([b for _, b in static])
    pairs = w.cast(given, int64)
    return w.gather(pairs, w.constant(0, int64), 1), w.gather(pairs, w.constant(1, int64), 1)
