"""Tile, repeat and pad: tensors made longer; and their derivatives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.dtypes import INTEGER, int64
from ..core.operation import AbstractTensorLike, Operation, Tensor
from ..core.primitive import Primitive, no_gradient
from ..core.shape import TensorShape
from ..core.slices import IndexedSlices
from ..core.traits import ADDS, MOVES
from ..core.types import TensorType, shape_to_infer
from ..core.typing import AxisLike, TensorLike
from .axes import as_axis
from .blocks import slice_
from .constant import constant_value, convert_to_tensor
from .creation import zeros_like
from .division import floormod
from .reshaping import broadcast_to, reshape, shape, shape_to_use, split_shape, sum_kernel, sum_like
from .slicing import Take

Widths = tuple[tuple[int, int], ...]


def tile(input: TensorLike, multiples: TensorLike, name: str | None = None) -> Tensor:
    """`input` laid side by side, `multiples[i]` times along axis i.

    Shapes: `multiples` an integer vector with one element for each axis. Dtypes: any.

    Derivative: dx = sum of dy over the copies.

    Raises:
        ValueError: the number of multiples is not the rank, or one is negative.

    >>> import pullback as pb
    >>> pb.Session().run(pb.tile([1, 2], [2]))
    array([1, 2, 1, 2], dtype=int32)
    """
    x = convert_to_tensor(input)
    counts, vector = split_shape(multiples)
    inputs = (x,) if vector is None else (x, vector)
    return Tile(counts)(*inputs, name=name)


class Tile(Primitive):
    type = "Tile"
    traits = (MOVES,)
    shape_inputs = length_inputs = (1,)
    takes_slices = True

    multiples: tuple[int | None, ...] | None

    def infer(self, x: TensorType, multiples: TensorType | None = None) -> tuple[TensorType, ...]:
        told = shape_to_infer(self.multiples, multiples).lengths
        counts = (None,) * (x.shape.rank or 0) if told is None else told
        dims = (None,) * len(counts) if x.shape.lengths is None else x.shape.lengths
        if self.multiples is None and x.shape.lengths is None:
            return (TensorType(x.dtype, TensorShape.UNKNOWN),)
        if len(counts) != len(dims) or any(n is not None and n < 0 for n in self.multiples or ()):
            raise ValueError(
                f"tile: multiples must be {len(dims)} counts, one for each axis of {x}, not {list(counts)}"
            )
        lengths = [None if n is None or m is None else n * m for n, m in zip(dims, counts, strict=True)]
        return (TensorType(x.dtype, TensorShape(lengths)),)

    def kernel(self, xp: Any, x: Any, multiples: Any = None) -> Any:
        return xp.tile(x, shape_to_use(self.multiples, multiples))

    def gradient(self, op: Operation, dy: Any) -> Sequence[Any]:
        x, *counts = op.inputs
        if self.multiples is not None and 0 in self.multiples:
            return (lambda: zeros_like(x), None)[: len(op.inputs)]
        if isinstance(dy, IndexedSlices):
            return (lambda: self._rows_back(dy, op), None)[: len(op.inputs)]
        return (lambda: _copies_added(dy, x, self.multiples, counts), None)[: len(op.inputs)]

    def _rows_back(self, dy: IndexedSlices, op: Operation) -> Any:
        """Slices again, where the multiples are static: a row counts for the row it is a copy of."""
        (x, *counts) = op.inputs
        if self.multiples is None or None in self.multiples:
            return _copies_added(convert_to_tensor(dy), x, self.multiples, counts)
        lengths = shape(x, dy.indices.dtype)
        values = TileGrad((1, *self.multiples[1:]))(dy.values)
        return IndexedSlices(values, floormod(dy.indices, lengths[0]), shape(x), x.shape)


def _copies_added(dy: Tensor, x: Tensor, multiples: tuple[int | None, ...] | None, counts: Sequence[Tensor]) -> Tensor:
    lengths = (shape(x),) if counts else ()
    return TileGrad(multiples)(dy, *counts, *lengths)


class TileGrad(Primitive):
    """The sum of the copies that a tiling made. Its transpose is the tiling.

    Multiples that are an input may be 0: the lengths before the tiling then are one more input.
    """

    type = "TileGrad"
    traits = (ADDS,)
    shape_inputs = (1, 2)

    multiples: tuple[int | None, ...] | None

    def infer(
        self, dy: TensorType, multiples: TensorType | None = None, lengths: TensorType | None = None
    ) -> tuple[TensorType, ...]:
        del multiples, lengths
        if dy.shape.lengths is None or self.multiples is None:
            return (TensorType(dy.dtype, TensorShape([None] * dy.shape.rank if dy.shape.rank is not None else None)),)
        pairs = zip(dy.shape.lengths, self.multiples, strict=True)
        return (TensorType(dy.dtype, TensorShape([n // m if n is not None and m else None for n, m in pairs])),)

    def kernel(self, xp: Any, dy: Any, multiples: Any = None, lengths: Any = None) -> Any:
        counts = shape_to_use(self.multiples, multiples)
        before = [n // m for n, m in zip(dy.shape, counts, strict=True)] if lengths is None else lengths.tolist()
        dims = [d for pair in zip(counts, before, strict=True) for d in pair]
        return sum_kernel(xp, dy.reshape(tuple(dims)), tuple(range(0, len(dims), 2)), False)

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        counts = op.inputs[1:2]
        return (lambda: Tile(self.multiples)(dy, *counts), None, None)[: len(op.inputs)]


def repeat(input: TensorLike, repeats: TensorLike, axis: AxisLike | None = None, name: str | None = None) -> Tensor:
    """`input` with each element along `axis` repeated: `repeats` times, or `repeats[i]` times element i.

    With `axis=None` the elements of all of `input` are taken as one vector.

    Shapes: any; `repeats` a scalar or a vector as long as the axis. Dtypes: any; `repeats` any integer.

    Derivative: dx = sum of dy over the copies.

    Raises:
        ValueError: the axis is out of range, or the vector does not fit it.

    >>> import pullback as pb
    >>> pb.Session().run([pb.repeat([1, 2], 2), pb.repeat([1, 2], [1, 3])])
    [array([1, 1, 2, 2], dtype=int32), array([1, 2, 2, 2], dtype=int32)]
    """
    x = convert_to_tensor(input)
    if axis is None:
        x, axis = (x if x.shape.rank == 1 else reshape(x, [-1])), 0
    place = as_axis(axis, x.shape.rank, "repeat", x.type)
    counts = convert_to_tensor(repeats)
    if counts.dtype not in INTEGER or counts.shape.rank not in (0, 1):
        raise ValueError(f"repeat: repeats must be an integer or a vector of integers, not {counts}")
    known = constant_value(counts)
    if known is not None and known.size == 1:
        return Repeat(int(known.reshape(())), place)(x, name=name)
    length = None if x.shape.rank is None else x.shape[place]
    if counts.shape.rank == 1 and length is not None and counts.shape[0] not in (None, length):
        raise ValueError(f"repeat: repeats {counts} must have one element for each of axis {place} of {x}")
    if counts.shape.rank == 0:
        counts = broadcast_to(counts, [shape(x)[place]])
    positions = None if known is None else np.repeat(np.arange(known.size), known)
    index = RepeatIndices()(counts) if positions is None else convert_to_tensor(positions)
    result = Take(place)(x, index, name=name)
    return result


class Repeat(Primitive):
    type = "Repeat"
    traits = (MOVES,)

    repeats: int
    axis: int

    def infer(self, x: TensorType) -> tuple[TensorType, ...]:
        if self.repeats < 0:
            raise ValueError(f"repeat: repeats must not be negative, but it is {self.repeats}")
        if x.shape.lengths is None:
            return (x,)
        dims = list(x.shape.lengths)
        n = dims[self.axis]
        dims[self.axis] = None if n is None else n * self.repeats
        return (TensorType(x.dtype, TensorShape(dims)),)

    def kernel(self, xp: Any, x: Any) -> Any:
        return xp.repeat(x, self.repeats, axis=self.axis)

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        del op
        return (lambda: RepeatGrad(self.repeats, self.axis)(dy),)


_FEW_COPIES = 8


class RepeatGrad(Primitive):
    """The sum of the copies that a repetition made. Its transpose is the repetition."""

    type = "RepeatGrad"
    traits = (ADDS,)

    repeats: int
    axis: int

    def infer(self, dy: TensorType) -> tuple[TensorType, ...]:
        if dy.shape.lengths is None:
            return (dy,)
        dims = list(dy.shape.lengths)
        n = dims[self.axis]
        dims[self.axis] = n // self.repeats if n is not None and self.repeats else None
        return (TensorType(dy.dtype, TensorShape(dims)),)

    def kernel(self, xp: Any, dy: Any) -> Any:
        axis = self.axis % dy.ndim
        dims = (*dy.shape[:axis], dy.shape[axis] // max(self.repeats, 1), self.repeats, *dy.shape[axis + 1 :])
        copies = dy.reshape(dims)
        if not 0 < self.repeats <= _FEW_COPIES or dy.dtype.itemsize <= 2:
            return sum_kernel(xp, copies, (axis + 1,), False)
        # NumPy is slow at sums over a short last axis.
        at = (slice(None),) * (axis + 1)
        total = copies[(*at, 0)]
        for i in range(1, self.repeats):
            total = xp.add(total, copies[(*at, i)])
        return total

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        del op
        return (lambda: Repeat(self.repeats, self.axis)(dy),)


class RepeatIndices(Primitive):
    """0 so many times, then 1 so many times, and so on."""

    type = "RepeatIndices"
    shape_inputs = (0,)

    def infer(self, counts: TensorType) -> tuple[TensorType, ...]:
        del counts
        return (TensorType(int64, TensorShape([None])),)

    def kernel(self, xp: Any, counts: Any) -> Any:
        del xp
        return np.repeat(np.arange(counts.shape[0]), counts).astype(np.int64, copy=False)

    gradient = no_gradient


def pad(
    tensor: TensorLike,
    paddings: TensorLike,
    mode: str = "CONSTANT",
    constant_values: TensorLike = 0,
    name: str | None = None,
) -> Tensor:
    """`tensor` made longer at both ends of each axis: `paddings[i]` are the lengths before and after, along axis i.

    What is put there: "CONSTANT": `constant_values`, through which no derivative goes; "REFLECT": the elements mirrored
    at the first and last, which are not repeated; "SYMMETRIC": mirrored with them.

    Shapes: `paddings` integers [rank, 2]. Dtypes: any.

    Derivative: dx = the part of dy where x stands; mirrored elements are added; dconstant_values = the sum of dy
    elsewhere.

    Raises:
        ValueError: `paddings` do not fit the shape; another mode.

    >>> import pullback as pb
    >>> pb.Session().run(pb.pad([1, 2, 3], [[1, 2]], "REFLECT"))
    array([2, 1, 2, 3, 2, 1], dtype=int32)
    """
    x = convert_to_tensor(tensor)
    kind = mode.upper()
    if kind not in ("CONSTANT", "REFLECT", "SYMMETRIC"):
        raise ValueError(f"pad: mode must be 'CONSTANT', 'REFLECT' or 'SYMMETRIC', not {mode!r}")
    amounts = convert_to_tensor(paddings)
    known = constant_value(amounts)
    widths = None if known is None else _as_widths(known, x)
    if kind != "CONSTANT":
        return MirrorPad(widths, kind)(x, *(() if widths is not None else (amounts,)), name=name)
    value: Any = constant_values
    if isinstance(value, Tensor | AbstractTensorLike):
        value = constant_value(convert_to_tensor(value))
        if value is None:
            moving = (convert_to_tensor(constant_values, x.dtype), *(() if widths is not None else (amounts,)))
            return PadV2(widths)(x, *moving, name=name)
    number = np.asarray(value).item()
    result = Pad(widths, number)(x, *(() if widths is not None else (amounts,)), name=name)
    return result


def _as_widths(paddings: np.ndarray[Any, Any], x: Tensor) -> Widths:
    rank = x.shape.rank
    if paddings.ndim != 2 or paddings.shape[1] != 2 or rank not in (None, len(paddings)) or (paddings < 0).any():
        raise ValueError(f"pad: paddings must be two lengths for each axis of {x}, not {paddings.tolist()}")
    return tuple([(int(a), int(b)) for a, b in paddings])


def _padded(x: TensorType, widths: Widths | None) -> TensorType:
    if widths is None:
        return TensorType(x.dtype, TensorShape([None] * x.shape.rank if x.shape.rank is not None else None))
    if x.shape.lengths is None:
        return TensorType(x.dtype, TensorShape([None] * len(widths)))
    pairs = zip(x.shape.lengths, widths, strict=True)
    return TensorType(x.dtype, TensorShape([None if n is None else n + a + b for n, (a, b) in pairs]))


def _pad_with(xp: Any, x: Any, widths: Any, value: Any) -> Any:
    if xp is not np:
        return xp.pad(x, widths, constant_values=value)
    dims = [n + a + b for n, (a, b) in zip(x.shape, widths, strict=True)]
    result = np.zeros(dims, x.dtype) if type(value) in (int, float) and value == 0 else np.full(dims, value, x.dtype)
    result[tuple([slice(a, a + n) for n, (a, _) in zip(x.shape, widths, strict=True)])] = x
    return result


def _widths_to_use(static: Widths | None, paddings: Any) -> Widths:
    if paddings is None:
        return static  # type: ignore[return-value]
    return tuple([(int(a), int(b)) for a, b in np.asarray(paddings)])


def _pad_back(dy: Tensor, x: Tensor, widths: Widths | None, paddings: Sequence[Tensor]) -> Tensor:
    """The part of the cotangent that stands where `x` stood."""
    begin: Any = [a for a, _ in widths] if widths is not None else paddings[0][:, 0]
    if x.shape.is_fully_defined():
        return slice_(dy, begin, x.shape.known)
    return slice_(dy, begin, shape(x) if widths is not None else shape(x, paddings[0].dtype))


class Pad(Primitive):
    type = "Pad"
    traits = (MOVES,)
    shape_inputs = (1,)

    widths: Widths | None
    value: float = 0

    def infer(self, x: TensorType, paddings: TensorType | None = None) -> tuple[TensorType, ...]:
        del paddings
        return (_padded(x, self.widths),)

    def kernel(self, xp: Any, x: Any, paddings: Any = None) -> Any:
        return _pad_with(xp, x, _widths_to_use(self.widths, paddings), self.value)

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        x, *paddings = op.inputs
        return (lambda: _pad_back(dy, x, self.widths, paddings), None)[: len(op.inputs)]


class PadV2(Primitive):
    """Padding with a number computed in a run, whose derivative is the sum over what was added."""

    type = "PadV2"
    traits = (MOVES,)
    shape_inputs = (2,)

    widths: Widths | None

    def infer(self, x: TensorType, value: TensorType, paddings: TensorType | None = None) -> tuple[TensorType, ...]:
        del value, paddings
        return (_padded(x, self.widths),)

    def kernel(self, xp: Any, x: Any, value: Any, paddings: Any = None) -> Any:
        return _pad_with(xp, x, _widths_to_use(self.widths, paddings), value)

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        x, value, *paddings = op.inputs
        border = Pad(self.widths, 1)
        return (
            lambda: _pad_back(dy, x, self.widths, paddings),
            lambda: sum_like(dy * border(zeros_like(x), *paddings), value),
            None,
        )[: len(op.inputs)]


class MirrorPad(Primitive):
    type = "MirrorPad"
    traits = (MOVES,)
    shape_inputs = (1,)

    widths: Widths | None
    mode: str

    def infer(self, x: TensorType, paddings: TensorType | None = None) -> tuple[TensorType, ...]:
        del paddings
        longest = 0 if self.mode == "SYMMETRIC" else 1
        for axis, pair in enumerate(self.widths or ()):
            n = None if x.shape.lengths is None else x.shape.lengths[axis]
            if isinstance(n, int) and max(pair) > n - longest:
                raise ValueError(f"pad: axis {axis} of {x} is too short to be mirrored by {list(pair)}")
        return (_padded(x, self.widths),)

    def kernel(self, xp: Any, x: Any, paddings: Any = None) -> Any:
        for axis, pair in enumerate(_widths_to_use(self.widths, paddings)):
            if pair != (0, 0):
                x = xp.take(x, _mirrored(x.shape[axis], pair, self.mode), axis=axis)
        return x

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        paddings = op.inputs[1:]
        return (lambda: MirrorPadGrad(self.widths, self.mode)(dy, *paddings), None)[: len(op.inputs)]


def _mirrored(n: int, pair: tuple[int, int], mode: str) -> np.ndarray[Any, Any]:
    """For each place of a mirrored axis of length `n`, which element stands there."""
    gap = 0 if mode == "SYMMETRIC" else 1
    before, after = pair
    if max(pair) > n - gap:
        raise ValueError(f"pad: an axis of length {n} is too short to be mirrored by {list(pair)}")
    left = np.arange(before - 1 + gap, gap - 1, -1)
    right = np.arange(n - 1 - gap, n - 1 - gap - after, -1)
    return np.concatenate([left, np.arange(n), right])


class MirrorPadGrad(Primitive):
    """Each place of a mirrored axis added to the element that stands there. Its transpose is the mirroring."""

    type = "MirrorPadGrad"
    traits = (ADDS,)
    shape_inputs = (1,)

    widths: Widths | None
    mode: str

    def infer(self, dy: TensorType, paddings: TensorType | None = None) -> tuple[TensorType, ...]:
        del paddings
        if dy.shape.lengths is None or self.widths is None:
            return (TensorType(dy.dtype, TensorShape([None] * dy.shape.rank if dy.shape.rank is not None else None)),)
        pairs = zip(dy.shape.lengths, self.widths, strict=True)
        return (TensorType(dy.dtype, TensorShape([None if n is None else n - a - b for n, (a, b) in pairs])),)

    def kernel(self, xp: Any, dy: Any, paddings: Any = None) -> Any:
        for axis, pair in enumerate(_widths_to_use(self.widths, paddings)):
            if pair != (0, 0):
                dy = self._folded(xp, dy, axis, pair)
        return dy

    def _folded(self, xp: Any, dy: Any, axis: int, pair: tuple[int, int]) -> Any:
        (before, after), n = pair, dy.shape[axis] - sum(pair)
        lead = (slice(None),) * axis
        gap = 0 if self.mode == "SYMMETRIC" else 1

        def moved(part: Any, first: int) -> Any:
            """The part, turned round, at `first` of an axis of length n."""
            length = part.shape[axis]
            widths = [(0, 0)] * dy.ndim
            widths[axis] = (first, n - first - length)
            return _pad_with(xp, xp.flip(part, axis), widths, 0)

        left, right = dy[(*lead, slice(0, before))], dy[(*lead, slice(before + n, None))]
        middle = dy[(*lead, slice(before, before + n))]
        return middle + moved(left, gap) + moved(right, n - gap - after)

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        paddings = op.inputs[1:]
        return (lambda: MirrorPad(self.widths, self.mode)(dy, *paddings), None)[: len(op.inputs)]
