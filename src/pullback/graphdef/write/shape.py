"""GraphDef export of shapes: reshape, broadcast, transpose, stack, concat, split, pad, reverse."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.dtypes import int32
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
from ..exporting import with_attributes, with_dtype, writer
from .creation import lengths_of

writer(SpaceToDepth, DepthToSpace)(with_attributes)
writer(Shape, Size)(with_dtype("out_type"))


@writer(Reshape)
def reshape(body: Body, p: Any, x: Ref, *lengths: Ref) -> Any:
    return body.main("Reshape", x, lengths_of(body, p.shape, lengths))


@writer(ReshapeLike)
def reshape_like(body: Body, p: Any, x: Ref, like: Ref) -> Any:
    return body.main("Reshape", x, body.shape_of(like))


@writer(MergeLeading)
def merge_leading(body: Body, p: Any, x: Ref, like: Ref) -> Any:
    rank = body.op.inputs[1].shape.rank
    if rank is None:
        return body.refuse("the rank of its second input must be known")
    shape = body.shape_of(x)
    rest = body.node("Slice", shape, body.integers([rank]), body.integers([-1]))
    ahead = body.node("Prod", body.shape_of(like), body.integers([0]), keep_dims=True)
    return body.main("Reshape", x, body.node("ConcatV2", [ahead, rest], body.integers(0)))


@writer(BroadcastTo)
def broadcast_to(body: Body, p: Any, x: Ref, *lengths: Ref) -> Any:
    return body.main("BroadcastTo", x, lengths_of(body, p.shape, lengths))


@writer(BroadcastLike)
def broadcast_like(body: Body, p: Any, x: Ref, like: Ref) -> Any:
    return body.main("BroadcastTo", x, body.shape_of(like))


@writer(Transpose)
def transpose(body: Body, p: Any, x: Ref) -> Any:
    perm = list(range(body.known_rank(0)))[::-1] if p.perm is None else p.perm
    return body.main("Transpose", x, body.integers(perm))


@writer(TransposeBy)
def transpose_by(body: Body, p: Any, x: Ref, perm: Ref) -> Any:
    order = body.node("FloorMod", perm, body.node("Size", perm, out_type=perm.dtype))
    return body.main("Transpose", x, body.node("InvertPermutation", order) if p.inverse else order)


@writer(ExpandDims)
def expand_dims(body: Body, p: Any, x: Ref) -> Any:
    axes = p.axis if p.axis[0] >= 0 else p.axis[::-1]
    for axis in axes[:-1]:
        x = body.node("ExpandDims", x, body.integers(axis))
    return body.main("ExpandDims", x, body.integers(axes[-1]))


@writer(Squeeze)
def squeeze(body: Body, p: Any, x: Ref) -> Any:
    return body.main("Squeeze", x, squeeze_dims=list(p.axis or ()))


@writer(ShapeN)
def shape_n(body: Body, p: Any, *xs: Ref) -> Any:
    return body.main("ShapeN", list(xs), out_type=body.op.outputs[0].dtype)


@writer(ConcatV2)
def concat(body: Body, p: Any, *xs: Ref) -> Any:
    return xs[0] if len(xs) == 1 else body.main("ConcatV2", list(xs), body.integers(p.axis))


@writer(Pack)
def pack(body: Body, p: Any, *xs: Ref) -> Any:
    return body.main("Pack", list(xs), axis=p.axis)


@writer(Unpack)
def unpack(body: Body, p: Any, x: Ref) -> Any:
    return body.main("Unpack", x, num=p.num, axis=p.axis) if p.num else ()


@writer(Split)
def split(body: Body, p: Any, x: Ref) -> Any:
    return body.main("Split", body.integers(p.axis), x, num_split=p.num)


@writer(SplitV)
def split_v(body: Body, p: Any, x: Ref, *lengths: Ref) -> Any:
    known = lengths_of(body, p.lengths, lengths)
    return body.main("SplitV", x, known, body.integers(p.axis), num_split=len(body.op.outputs))


@writer(SplitLike)
def split_like(body: Body, p: Any, x: Ref, *likes: Ref) -> Any:
    axis, at = body.integers(p.axis), body.integers(0)
    if p.axis < 0:
        axis = body.node("FloorMod", axis, body.node("Rank", x))
    lengths = [body.node("GatherV2", body.shape_of(like), axis, at) for like in likes]
    packed = body.node("Pack", lengths, axis=0)
    return body.main("SplitV", x, packed, body.integers(p.axis), num_split=len(body.op.outputs))


@writer(Tile)
def tile(body: Body, p: Any, x: Ref, *multiples: Ref) -> Any:
    return body.main("Tile", x, lengths_of(body, p.multiples, multiples))


@writer(Pad)
def pad(body: Body, p: Any, x: Ref, *widths: Ref) -> Any:
    value = body.constant(np.asarray(p.value).astype(x.dtype))  # type: ignore[arg-type]
    return body.main("PadV2", x, _widths(body, p, widths), value)


@writer(PadV2)
def pad_v2(body: Body, p: Any, x: Ref, value: Ref, *widths: Ref) -> Any:
    return body.main("PadV2", x, _widths(body, p, widths), value)


def _widths(body: Body, p: Any, widths: tuple[Ref, ...]) -> Ref:
    if not widths:
        return body.constant(np.array(p.widths, np.int64).reshape(-1, 2), int32)
    return body.node("Reshape", widths[0], body.integers([-1, 2]))


@writer(Roll)
def roll(body: Body, p: Any, x: Ref) -> Any:
    return body.main("Roll", x, body.integers(list(p.shift)), body.integers(list(p.axis)))


@writer(ReverseV2)
def reverse(body: Body, p: Any, x: Ref) -> Any:
    return body.main("ReverseV2", x, body.integers(list(p.axis)))


@writer(MirrorPad, MirrorPadGrad)
def mirror_pad(body: Body, p: Any, x: Ref, *widths: Ref) -> Any:
    if p.widths is None:
        (paddings,) = widths
    else:
        paddings = body.constant(np.array(p.widths).reshape(-1, 2), np.int32)
    return body.main(p.type, x, paddings, mode=p.mode)
