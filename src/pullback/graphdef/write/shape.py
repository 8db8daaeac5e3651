"""GraphDef export of shapes: reshape, broadcast, transpose, stack, concat, split, pad, reverse."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.dtypes import int32
from ...core.graph import Operation
from ...primitives.indexing.gather import MergeLeading
from ...primitives.shape.broadcast import BroadcastLike, BroadcastTo
from ...primitives.shape.pad import MirrorPad, MirrorPadGrad, Pad, PadV2
from ...primitives.shape.reshape import Reshape, ReshapeLike
from ...primitives.shape.reverse import ReverseV2, Roll
from ...primitives.shape.size import Shape, ShapeN, Size
from ...primitives.shape.space_to_depth import DepthToSpace, SpaceToDepth
from ...primitives.shape.squeeze import ExpandDims, Squeeze
from ...primitives.shape.stacking import ConcatV2, Pack, Split, SplitLike, SplitV, Unpack
from ...primitives.shape.tile import Tile
from ...primitives.shape.transpose import Transpose, TransposeBy
from ..body import Body, Ref
from ..exporting import writer
from .creation import lengths_of


@writer(Reshape)
def reshape(body: Body, op: Operation, x: Ref, *lengths: Ref) -> Any:
    primitive: Any = op.primitive
    return body.main("Reshape", x, lengths_of(body, primitive.shape, lengths))


@writer(ReshapeLike)
def reshape_like(body: Body, op: Operation, x: Ref, like: Ref) -> Any:
    return body.main("Reshape", x, body.shape_of(like))


@writer(MergeLeading)
def merge_leading(body: Body, op: Operation, x: Ref, like: Ref) -> Any:
    rank = op.inputs[1].shape.rank
    if rank is None:
        return body.refuse("the rank of its second input must be known")
    shape = body.shape_of(x)
    rest = body.node("Slice", shape, body.integers([rank]), body.integers([-1]))
    ahead = body.node("Prod", body.shape_of(like), body.integers([0]), keep_dims=True)
    return body.main("Reshape", x, body.node("ConcatV2", [ahead, rest], body.integers(0)))


@writer(BroadcastTo)
def broadcast_to(body: Body, op: Operation, x: Ref, *lengths: Ref) -> Any:
    primitive: Any = op.primitive
    return body.main("BroadcastTo", x, lengths_of(body, primitive.shape, lengths))


@writer(BroadcastLike)
def broadcast_like(body: Body, op: Operation, x: Ref, like: Ref) -> Any:
    return body.main("BroadcastTo", x, body.shape_of(like))


@writer(Transpose)
def transpose(body: Body, op: Operation, x: Ref) -> Any:
    primitive: Any = op.primitive
    rank = op.inputs[0].shape.rank
    if primitive.perm is None and rank is None:
        return body.refuse("the rank of its input must be known")
    return body.main("Transpose", x, body.integers(primitive.perm or list(range(rank or 0))[::-1]))


@writer(TransposeBy)
def transpose_by(body: Body, op: Operation, x: Ref, perm: Ref) -> Any:
    primitive: Any = op.primitive
    order = body.node("FloorMod", perm, body.node("Size", perm, out_type=perm.dtype))
    return body.main("Transpose", x, body.node("InvertPermutation", order) if primitive.inverse else order)


@writer(ExpandDims)
def expand_dims(body: Body, op: Operation, x: Ref) -> Any:
    primitive: Any = op.primitive
    axes = primitive.axis if primitive.axis[0] >= 0 else primitive.axis[::-1]
    for axis in axes[:-1]:
        x = body.node("ExpandDims", x, body.integers(axis))
    return body.main("ExpandDims", x, body.integers(axes[-1]))


@writer(Squeeze)
def squeeze(body: Body, op: Operation, x: Ref) -> Any:
    primitive: Any = op.primitive
    return body.main("Squeeze", x, squeeze_dims=list(primitive.axis or ()))


@writer(Shape, Size)
def shape(body: Body, op: Operation, x: Ref) -> Any:
    return body.main(op.type, x, out_type=op.outputs[0].dtype)


@writer(ShapeN)
def shape_n(body: Body, op: Operation, *xs: Ref) -> Any:
    return body.main("ShapeN", list(xs), out_type=op.outputs[0].dtype)


@writer(ConcatV2)
def concat(body: Body, op: Operation, *xs: Ref) -> Any:
    primitive: Any = op.primitive
    return xs[0] if len(xs) == 1 else body.main("ConcatV2", list(xs), body.integers(primitive.axis))


@writer(Pack)
def pack(body: Body, op: Operation, *xs: Ref) -> Any:
    primitive: Any = op.primitive
    return body.main("Pack", list(xs), axis=primitive.axis)


@writer(Unpack)
def unpack(body: Body, op: Operation, x: Ref) -> Any:
    primitive: Any = op.primitive
    return body.main("Unpack", x, num=primitive.num, axis=primitive.axis) if primitive.num else ()


@writer(Split)
def split(body: Body, op: Operation, x: Ref) -> Any:
    primitive: Any = op.primitive
    return body.main("Split", body.integers(primitive.axis), x, num_split=primitive.num)


@writer(SplitV)
def split_v(body: Body, op: Operation, x: Ref, *lengths: Ref) -> Any:
    primitive: Any = op.primitive
    known = lengths_of(body, primitive.lengths, lengths)
    return body.main("SplitV", x, known, body.integers(primitive.axis), num_split=len(op.outputs))


@writer(SplitLike)
def split_like(body: Body, op: Operation, x: Ref, *likes: Ref) -> Any:
    primitive: Any = op.primitive
    axis, at = body.integers(primitive.axis), body.integers(0)
    if primitive.axis < 0:
        axis = body.node("FloorMod", axis, body.node("Rank", x))
    lengths = [body.node("GatherV2", body.shape_of(like), axis, at) for like in likes]
    packed = body.node("Pack", lengths, axis=0)
    return body.main("SplitV", x, packed, body.integers(primitive.axis), num_split=len(op.outputs))


@writer(Tile)
def tile(body: Body, op: Operation, x: Ref, *multiples: Ref) -> Any:
    primitive: Any = op.primitive
    return body.main("Tile", x, lengths_of(body, primitive.multiples, multiples))


@writer(Pad)
def pad(body: Body, op: Operation, x: Ref, *widths: Ref) -> Any:
    primitive: Any = op.primitive
    value = body.constant(np.asarray(primitive.value).astype(x.dtype))  # type: ignore[arg-type]
    return body.main("PadV2", x, _widths(body, op, widths), value)


@writer(PadV2)
def pad_v2(body: Body, op: Operation, x: Ref, value: Ref, *widths: Ref) -> Any:
    return body.main("PadV2", x, _widths(body, op, widths), value)


def _widths(body: Body, op: Operation, widths: tuple[Ref, ...]) -> Ref:
    primitive: Any = op.primitive
    if not widths:
        return body.constant(np.array(primitive.widths, np.int64).reshape(-1, 2), int32)
    ref: Ref = body.node("Reshape", widths[0], body.integers([-1, 2]))
    return ref


@writer(Roll)
def roll(body: Body, op: Operation, x: Ref) -> Any:
    primitive: Any = op.primitive
    return body.main("Roll", x, body.integers(list(primitive.shift)), body.integers(list(primitive.axis)))


@writer(ReverseV2)
def reverse(body: Body, op: Operation, x: Ref) -> Any:
    primitive: Any = op.primitive
    return body.main("ReverseV2", x, body.integers(list(primitive.axis)))


@writer(MirrorPad, MirrorPadGrad)
def mirror_pad(body: Body, op: Operation, x: Ref, *widths: Ref) -> Any:
    primitive: Any = op.primitive
    if primitive.widths is None:
        (paddings,) = widths
    else:
        paddings = body.constant(np.array(primitive.widths).reshape(-1, 2), np.int32)
    return body.main(op.type, x, paddings, mode=primitive.mode)


@writer(SpaceToDepth, DepthToSpace)
def blocks(body: Body, op: Operation, x: Ref) -> Any:
    primitive: Any = op.primitive
    return body.main(op.type, x, block_size=primitive.block_size, data_format=primitive.data_format)
