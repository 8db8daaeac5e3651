"""Block slices (`slice`, dynamic slice): where they begin, and their shape; and their derivatives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.contexts import in_graph_of_inputs
from ...core.operation import Operation, Tensor
from ...core.primitive import Primitive
from ...core.shape import TensorShape
from ...core.traits import ADDS, MOVES, VIEWS, ZEROS
from ...core.types import TensorType, shape_to_infer
from ...core.typing import TensorLike
from ..creation.constant import convert_to_tensor
from ..shape.reshape import numbers_to_use, shape_to_use, split_shape, split_shape_of
from ..shape.size import shape


@in_graph_of_inputs
def slice_(input_: TensorLike, begin: TensorLike, size: TensorLike, name: str | None = None) -> Tensor:
    """The block of `input_` that starts at `begin` and has shape `size`; a size of -1 takes all that is left.

    Shapes: `begin` and `size`: integer vectors with one element for each axis. Dtypes: any. A block that begins at a
    position computed in a run is fine on every engine as long as `size` is known; XLA moves one that ends outside.

    Derivative: dx = zeros with dy in the place of the block.

    Raises:
        ValueError: the block is not inside `input_`, or the vectors' length is not its rank.

    >>> import pullback as pb
    >>> pb.Session().run(pb.slice([[1, 2, 3], [4, 5, 6]], [0, 1], [2, -1]))
    array([[2, 3],
           [5, 6]], dtype=int32)
    """
    x = convert_to_tensor(input_)
    first, where = split_shape(begin)
    dims, lengths = split_shape(size)
    if first is None and dims is not None:
        first = (None,) * len(dims)
    if first is not None and dims is not None and len(first) == len(dims):
        dims, lengths = _rest_of(x, first, where, dims, lengths)
    if lengths is not None:
        inputs: tuple[Tensor, ...] = (x, convert_to_tensor(begin, lengths.dtype) if where is None else where, lengths)
    else:
        inputs = (x,) if where is None else (x, where)
    return Slice(first, dims)(*inputs, name=name)


def _rest_of(
    x: Tensor, begin: tuple[int | None, ...], where: Tensor | None, size: tuple[int | None, ...], lengths: Tensor | None
) -> tuple[tuple[int | None, ...], Tensor | None]:
    """`size` with what is left in place of each -1; that depends on a run where `begin` or the length does."""
    if -1 not in size:
        return size, lengths
    given: list[Any] = [None if lengths is None else lengths[i] for i in range(len(size))]
    for i, (b, n) in enumerate(zip(begin, size, strict=True)):
        total = None if x.shape.rank is None else x.shape.size(i)
        if n is not None and n != -1:
            given[i] = n
        elif n == -1 and b is not None:
            given[i] = -1 if total is None else total - b
        elif n == -1:
            assert where is not None
            given[i] = shape(x, where.dtype)[i] - where[i]
    dims, vector = split_shape(given)
    assert dims is not None
    return dims, vector


class Slice(Primitive):
    traits = (MOVES, VIEWS)
    shape_inputs = (2,)

    begin: tuple[int | None, ...] | None
    size: tuple[int | None, ...] | None

    def infer(
        self, x: TensorType, begin: TensorType | None = None, size: TensorType | None = None
    ) -> tuple[TensorType, ...]:
        del begin, size
        if self.size is None:
            return (TensorType(x.dtype, TensorShape([None] * x.shape.rank if x.shape.rank is not None else None)),)
        first = (None,) * len(self.size) if self.begin is None else self.begin
        known = (None,) * len(self.size) if x.shape.sizes is None else x.shape.sizes
        if not len(first) == len(self.size) == len(known):
            raise ValueError(f"slice: begin {list(first)} and size {list(self.size)} do not fit {x}")
        for axis, (b, n, total) in enumerate(zip(first, self.size, known, strict=True)):
            if (b is not None and b < 0) or (total is not None and (b or 0) + max(n or 0, 0) > total):
                start = "" if b is None else f" from {b} on"
                raise ValueError(f"slice: {n} elements{start} are not inside axis {axis} of {x}")
        totals = [None] * len(first) if x.shape.lengths is None else x.shape.lengths
        rests = [None if n is None or b is None else n - b for n, b in zip(totals, first, strict=True)]
        return (TensorType(x.dtype, TensorShape([r if n == -1 else n for n, r in zip(self.size, rests, strict=True)])),)

    def kernel(self, xp: Any, x: Any, begin: Any = None, size: Any = None) -> Any:
        del xp
        index = self.index(x.shape, begin, size)
        for axis, (part, n) in enumerate(zip(index, x.shape, strict=True)):
            if not 0 <= part.start <= part.stop <= n:
                raise ValueError(f"slice: {part.start}:{part.stop} is not inside axis {axis} of length {n}")
        return x[index]

    def index(self, dims: Sequence[int], begin: Any, size: Any) -> tuple[slice, ...]:
        """The NumPy index of the block in an array of shape `dims`."""
        starts, lengths = numbers_to_use(self.begin, begin), numbers_to_use(self.size, size)
        ends = [n if length == -1 else b + length for b, length, n in zip(starts, lengths, dims, strict=True)]
        return tuple([slice(b, e) for b, e in zip(starts, ends, strict=True)])

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        x, *rest = op.inputs
        return (lambda: _block_back(dy, x, self.begin, rest), None, None)[: len(op.inputs)]


def _block_back(dy: Tensor, x: Tensor, begin: tuple[int | None, ...] | None, rest: Sequence[Tensor]) -> Tensor:
    dims, lengths = split_shape_of(x)
    moving = rest[:1] if begin is None or None in begin else ()
    if lengths is not None:
        moving = rest[:1] or (convert_to_tensor([n for n in begin or () if n is not None], lengths.dtype),)
    inputs = (dy, *moving, *(() if lengths is None else (lengths,)))
    return SliceGrad(begin, dims)(*inputs)


class SliceGrad(Primitive):
    """Zeros of a shape, with the cotangent of a block in the block's place."""

    traits = (ADDS, ZEROS)
    shape_inputs = length_inputs = (2,)

    begin: tuple[int | None, ...] | None
    shape: tuple[int | None, ...] | None

    def infer(
        self, dy: TensorType, begin: TensorType | None = None, lengths: TensorType | None = None
    ) -> tuple[TensorType, ...]:
        del begin
        return (TensorType(dy.dtype, shape_to_infer(self.shape, lengths)),)

    def kernel(self, xp: Any, dy: Any, begin: Any = None, lengths: Any = None) -> Any:
        starts = numbers_to_use(self.begin, begin)
        dims = shape_to_use(self.shape, lengths)
        index = tuple([slice(b, b + n) for b, n in zip(starts, dy.shape, strict=True)])
        if xp is not np:
            return xp.zeros(dims, dy.dtype).at[index].set(dy)
        total = np.zeros(dims, dy.dtype)
        total[index] = dy
        return total

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        inner, *rest = op.inputs
        return (lambda: _block_of(dy, inner, self.begin, rest), None, None)[: len(op.inputs)]


def _block_of(d: Tensor, like: Tensor, begin: tuple[int | None, ...] | None, rest: Sequence[Tensor]) -> Tensor:
    dims, lengths = split_shape_of(like)
    where = tuple(rest[:1])
    if lengths is not None:
        where = (where or (convert_to_tensor([n for n in begin or () if n is not None], lengths.dtype),)) + (lengths,)
    return Slice(begin, dims)(d, *where)
