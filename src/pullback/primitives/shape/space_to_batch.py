"""Space-to-batch and batch-to-space: blocks of positions exchanged for the batch, and back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from ...core.contexts import in_graph_of_inputs
from ...core.lengths import Dimension
from ...core.operation import Operation, Tensor
from ...core.primitive import Primitive
from ...core.shape import Lengths, TensorShape
from ...core.traits import MOVES, ZEROS
from ...core.types import TensorType
from ...core.typing import TensorLike
from ..base.axes import static_integers
from ..creation.constant import constant_value, convert_to_tensor

Block = tuple[int, ...]
Widths = tuple[tuple[int, int], ...]


@in_graph_of_inputs
def space_to_batch(input: TensorLike, block_shape: TensorLike, paddings: TensorLike, name: str | None = None) -> Tensor:
    """`input`, padded with zeros, in blocks: the elements at one place of the blocks are one image of the result.

    Shapes: `input` [n, spatial..., rest...]; `block_shape` [m], integers known while the graph is built, for the m
    spatial axes; `paddings` integers [m, 2]; the result has n times as many images as a block has places, and spatial
    lengths (before + length + after) / block. Dtypes: any.

    Derivative: dx = batch_to_space(dy).

    Raises:
        ValueError: the padded lengths are no multiples of the blocks, or the arguments do not fit the rank.

    >>> import pullback as pb
    >>> pb.Session().run(pb.space_to_batch([[[1], [2], [3]]], [2], [[0, 1]]))
    array([[[1],
            [3]],
    <BLANKLINE>
           [[2],
            [0]]], dtype=int32)
    """
    return _blocked("space_to_batch", SpaceToBatchND, input, block_shape, paddings, name)


@in_graph_of_inputs
def batch_to_space(input: TensorLike, block_shape: TensorLike, crops: TensorLike, name: str | None = None) -> Tensor:
    """The inverse of `space_to_batch`: images that are the places of blocks, joined; then cut by `crops` at both ends.

    Shapes: `input` [n, spatial..., rest...], n a multiple of the number of places of a block; `block_shape` [m],
    integers known while the graph is built; `crops` integers [m, 2]. Dtypes: any.

    Derivative: dx = space_to_batch(dy).

    Raises:
        ValueError: the batch is no such multiple, there is less than what is to be cut, or the arguments do not fit.

    >>> import pullback as pb
    >>> pb.Session().run(pb.batch_to_space([[[1], [3]], [[2], [0]]], [2], [[0, 1]]))
    array([[[1],
            [2],
            [3]]], dtype=int32)
    """
    return _blocked("batch_to_space", BatchToSpaceND, input, block_shape, crops, name)


def _blocked(
    what: str, primitive: Callable[..., Primitive], input: Any, block_shape: Any, ends: Any, name: str | None
) -> Tensor:
    x = convert_to_tensor(input)
    block = static_integers(block_shape, f"{what}: block_shape")
    if min(block, default=1) < 1:
        raise ValueError(f"{what}: block_shape must be positive, not {list(block)}")
    widths = convert_to_tensor(ends)
    known = constant_value(widths)
    if not widths.shape.is_compatible_with([len(block), 2]) or (known is not None and (known < 0).any()):
        raise ValueError(f"{what}: there must be two lengths for each of {len(block)} axes, not {ends!r}")
    if known is None:
        return primitive(block, None)(x, widths, name=name)
    return primitive(block, tuple([(int(a), int(b)) for a, b in known]))(x, name=name)


class SpaceToBatchND(Primitive):
    traits = (MOVES, ZEROS)
    shape_inputs = (1,)

    block: Block
    paddings: Widths | None

    def infer(self, x: TensorType, paddings: TensorType | None = None) -> tuple[TensorType, ...]:
        del paddings
        dims = _dims("space_to_batch", x, self.block)
        if dims is None:
            return (x,)
        batch = None if dims[0] is None else dims[0] * int(np.prod(self.block))
        lengths: list[Dimension | None] = []
        for i, (n, b) in enumerate(zip(dims[1:], self.block, strict=False)):
            total = None if n is None or self.paddings is None else n + sum(self.paddings[i])
            if isinstance(total, int) and total % b:
                raise ValueError(f"space_to_batch: axis {i + 1} of {x}, padded to {total}, is no multiple of {b}")
            lengths.append(None if total is None else total // b)
        return (TensorType(x.dtype, TensorShape([batch, *lengths, *dims[1 + len(self.block) :]])),)

    def kernel(self, xp: Any, x: Any, paddings: Any = None) -> Any:
        widths, m = _widths(self.paddings, paddings), len(self.block)
        if any(map(any, widths)):
            x = xp.pad(x, ((0, 0), *widths, *[(0, 0)] * (x.ndim - 1 - m)))
        for axis, b in enumerate(self.block, start=1):
            if x.shape[axis] % b:
                raise ValueError(f"space_to_batch: axis {axis}, padded to {x.shape[axis]}, is no multiple of {b}")
        pairs = [d for n, b in zip(x.shape[1:], self.block, strict=False) for d in (n // b, b)]
        split = x.reshape(x.shape[0], *pairs, *x.shape[1 + m :])
        order = [*range(2, 2 * m + 1, 2), 0, *range(1, 2 * m, 2), *range(2 * m + 1, split.ndim)]
        return xp.transpose(split, order).reshape(x.shape[0] * int(np.prod(self.block)), *pairs[::2], *x.shape[1 + m :])

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        return (partial(BatchToSpaceND(self.block, self.paddings), dy, *op.inputs[1:]), None)[: len(op.inputs)]


class BatchToSpaceND(Primitive):
    traits = (MOVES,)
    shape_inputs = (1,)

    block: Block
    crops: Widths | None

    def infer(self, x: TensorType, crops: TensorType | None = None) -> tuple[TensorType, ...]:
        del crops
        dims = _dims("batch_to_space", x, self.block)
        if dims is None:
            return (x,)
        places = int(np.prod(self.block))
        if isinstance(dims[0], int) and dims[0] % places:
            raise ValueError(f"batch_to_space: the batch of {x} is no multiple of the {places} places of a block")
        lengths: list[Dimension | None] = []
        for i, (n, b) in enumerate(zip(dims[1:], self.block, strict=False)):
            cut = None if self.crops is None else sum(self.crops[i])
            left = None if n is None or cut is None else n * b - cut
            if isinstance(left, int) and left < 0:
                raise ValueError(f"batch_to_space: {cut} elements cannot be cut from {b} times axis {i + 1} of {x}")
            lengths.append(left)
        batch = None if dims[0] is None else dims[0] // places
        return (TensorType(x.dtype, TensorShape([batch, *lengths, *dims[1 + len(self.block) :]])),)

    def kernel(self, xp: Any, x: Any, crops: Any = None) -> Any:
        widths, m = _widths(self.crops, crops), len(self.block)
        batch = x.shape[0] // int(np.prod(self.block))
        split = x.reshape(*self.block, batch, *x.shape[1:])
        order = [m, *[d for i in range(m) for d in (m + 1 + i, i)], *range(2 * m + 1, split.ndim)]
        lengths = [n * b for n, b in zip(x.shape[1:], self.block, strict=False)]
        for axis, (n, cut) in enumerate(zip(lengths, map(sum, widths), strict=True), start=1):
            if cut > n:
                raise ValueError(f"batch_to_space: {cut} elements cannot be cut from the {n} of axis {axis}")
        joined = xp.transpose(split, order).reshape(batch, *lengths, *x.shape[1 + m :])
        kept = [slice(before, n - after) for n, (before, after) in zip(lengths, widths, strict=True)]
        return joined[(slice(None), *kept)]

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        return (partial(SpaceToBatchND(self.block, self.crops), dy, *op.inputs[1:]), None)[: len(op.inputs)]


def _dims(what: str, x: TensorType, block: Block) -> Lengths | None:
    if x.shape.sizes is not None and len(x.shape.sizes) <= len(block):
        raise ValueError(f"{what}: {x} has no {len(block)} axes after the batch")
    return x.shape.lengths


def _widths(static: Widths | None, given: Any) -> Widths:
    return tuple([(int(a), int(b)) for a, b in np.asarray(given)]) if static is None else static
