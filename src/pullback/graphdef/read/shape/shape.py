"""GraphDef import of shape manipulation: reshape, transpose, stack, concat, split, tile, pad, reverse, blocks."""

from __future__ import annotations

from typing import Any

from ....core.operation import Tensor
from ....primitives.shape.pad import MirrorPadGrad, pad
from ....primitives.shape.reshape import reshape
from ....primitives.shape.reverse import reverse, roll
from ....primitives.shape.reverse_sequence import reverse_sequence
from ....primitives.shape.space_to_batch import batch_to_space, space_to_batch
from ....primitives.shape.space_to_depth import DepthToSpace, SpaceToDepth
from ....primitives.shape.squeeze import expand_dims, squeeze
from ....primitives.shape.stacking import Unpack, concat, split, stack
from ....primitives.shape.tile import tile
from ....primitives.shape.transpose import transpose
from ....primitives.sorting.permutation import invert_permutation
from ...nodes import REQUIRED, Node, calling, reader

reader("Reshape")(calling(reshape, 2))
reader("InvertPermutation")(calling(invert_permutation, 1))
reader("Tile")(calling(tile, 2))
reader("Pad")(calling(pad, 2))
reader("ReverseSequence")(calling(reverse_sequence, 2, seq_dim=REQUIRED, batch_dim=0))
reader("MirrorPad")(calling(pad, 2, mode=""))


@reader("Unpack", outputs=("output",))
def unpack(node: Node, x: Tensor) -> Any:
    return node.make(Unpack(node.count("num"), node.attribute("axis", 0)), x)


@reader("ExpandDims")
def expand_dims_(node: Node, x: Tensor, axis: Tensor) -> Any:
    return expand_dims(x, node.integers(axis, "the axis")[0], name=node.exactly)


@reader("Squeeze")
def squeeze_(node: Node, x: Tensor) -> Any:
    axes = node.attribute("squeeze_dims", ()) or node.attribute("axis", ())
    return squeeze(x, list(axes) or None, name=node.exactly)


@reader("Transpose", "ConjugateTranspose")
def transpose_(node: Node, x: Tensor, perm: Tensor) -> Any:
    order = perm if node.static(perm) is None else node.integers(perm, "the order of the axes")
    return transpose(x, order, conjugate=node.op_type == "ConjugateTranspose", name=node.exactly)


@reader("Pack")
def pack(node: Node, *xs: Tensor) -> Any:
    return stack(list(xs), node.attribute("axis", 0), name=node.exactly)


@reader("ConcatV2")
def concat_v2(node: Node, *given: Tensor) -> Any:
    *xs, axis = given
    return concat(xs, axis, name=node.exactly)


@reader("Concat")
def concat_(node: Node, axis: Tensor, *xs: Tensor) -> Any:
    return concat(list(xs), axis, name=node.exactly)


@reader("ConcatOffset", outputs=("offset",))
def concat_offset(node: Node, axis: Tensor, *shapes: Tensor) -> Any:
    """Where each of the arrays of these shapes begins in what they are joined to."""
    (place,) = node.integers(axis, "the axis")
    first, *rest = shapes
    if first.shape[0] is None:
        node.refuse("the rank of its arrays must be known")
    if not -first.shape[0] <= place < first.shape[0]:
        node.refuse(f"axis {place} is out of range of the rank {first.shape[0]}")
    chosen = [int(i == place % first.shape[0]) for i in range(first.shape[0])]
    offsets = [first * 0]
    for lengths in [first, *rest][:-1]:
        offsets.append(offsets[-1] + lengths * chosen)
    return tuple(offsets)


@reader("Split", outputs=("output",))
def split_(node: Node, axis: Tensor, x: Tensor) -> Any:
    return tuple(split(x, node.count("num_split"), axis, name=node.exactly))


@reader("SplitV", outputs=("output",))
def split_v(node: Node, x: Tensor, sizes: Tensor, axis: Tensor) -> Any:
    return tuple(split(x, sizes, axis, node.count("num_split"), name=node.exactly))


@reader("PadV2")
def pad_v2(node: Node, x: Tensor, paddings: Tensor, value: Tensor) -> Any:
    return pad(x, paddings, constant_values=value, name=node.exactly)


@reader("MirrorPadGrad")
def mirror_pad_grad(node: Node, dy: Tensor, paddings: Tensor) -> Any:
    if node.static(paddings) is None:
        return node.make(MirrorPadGrad(None, node.text("mode")), dy, paddings)
    flat = node.integers(paddings, "the paddings")
    widths = tuple([(before, after) for before, after in zip(flat[::2], flat[1::2], strict=True)])
    return node.make(MirrorPadGrad(widths, node.text("mode")), dy)


@reader("ReverseV2")
def reverse_v2(node: Node, x: Tensor, axis: Tensor) -> Any:
    return reverse(x, node.integers(axis, "the axes"), name=node.exactly)


@reader("Reverse")
def reverse_(node: Node, x: Tensor, flags: Tensor) -> Any:
    known = node.static(flags)
    if known is None:
        node.refuse("which axes are reversed must be known")
    return reverse(x, [i for i, flag in enumerate(known) if flag], name=node.exactly)


@reader("Roll")
def roll_(node: Node, x: Tensor, shift: Tensor, axis: Tensor) -> Any:
    by, along = node.integers(shift, "the shift"), node.integers(axis, "the axes")
    return roll(x, by, along, name=node.exactly)


@reader("SpaceToDepth", "DepthToSpace")
def depth(node: Node, x: Tensor) -> Any:
    primitive = SpaceToDepth if node.op_type == "SpaceToDepth" else DepthToSpace
    return node.make(primitive(node.attribute("block_size"), node.text("data_format", "NHWC")), x)


@reader("SpaceToBatchND")
def space_to_batch_nd(node: Node, x: Tensor, block: Tensor, paddings: Tensor) -> Any:
    return space_to_batch(x, node.integers(block, "the block"), paddings, name=node.exactly)


@reader("BatchToSpaceND")
def batch_to_space_nd(node: Node, x: Tensor, block: Tensor, crops: Tensor) -> Any:
    return batch_to_space(x, node.integers(block, "the block"), crops, name=node.exactly)


@reader("SpaceToBatch")
def space_to_batch_(node: Node, x: Tensor, paddings: Tensor) -> Any:
    return space_to_batch(x, [node.attribute("block_size")] * 2, paddings, name=node.exactly)


@reader("BatchToSpace")
def batch_to_space_(node: Node, x: Tensor, crops: Tensor) -> Any:
    return batch_to_space(x, [node.attribute("block_size")] * 2, crops, name=node.exactly)
