"""Padding: with a constant, with mirror images, and the derivatives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.contexts import in_graph_of_inputs
from ...core.dtypes import INTEGER, string
from ...core.intervals import Interval, any_input_or_zero, hull
from ...core.operation import AbstractTensorLike, Operation, Tensor
from ...core.primitive import Primitive
from ...core.shape import TensorShape
from ...core.traits import ADDS, MOVES, ZEROS
from ...core.types import TensorType
from ...core.typing import TensorLike
from ..creation.constant import as_array, constant_value, convert_to_tensor
from ..creation.fill import zeros_like
from ..indexing.slice import slice_
from ..reduction.sum import sum_like
from .size import shape

Widths = tuple[tuple[int, int], ...]


@in_graph_of_inputs
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
        ValueError: `paddings` do not fit the shape; another mode. TypeError: `constant_values` do not fit the dtype.

    >>> import pullback as pb
    >>> pb.Session().run(pb.pad([1, 2, 3], [[1, 2]], "REFLECT"))
    array([2, 1, 2, 3, 2, 1], dtype=int32)
    """
    x = convert_to_tensor(tensor)
    kind = mode.upper()
    if kind not in ("CONSTANT", "REFLECT", "SYMMETRIC"):
        raise ValueError(f"pad: mode must be 'CONSTANT', 'REFLECT' or 'SYMMETRIC', not {mode!r}")
    amounts = convert_to_tensor(paddings)
    if amounts.dtype not in INTEGER and amounts.shape.num_elements() != 0:
        raise TypeError(f"pad: paddings must be integers, not {amounts}")
    known = constant_value(amounts)
    widths = None if known is None else _as_widths(known, x)
    if kind != "CONSTANT":
        return MirrorPad(widths, kind)(x, *(() if widths is not None else (amounts,)), name=name)
    value: Any = constant_values
    if x.dtype == string:
        value = convert_to_tensor("" if type(value) is int and value == 0 else value)
    if isinstance(value, Tensor | AbstractTensorLike):
        moving = convert_to_tensor(value, x.dtype)
        value = constant_value(moving)
        if value is None or x.dtype == string:
            return PadV2(widths)(x, moving, *(() if widths is not None else (amounts,)), name=name)
    number = 0 if type(value) is int and value == 0 else as_array(value, x.type.dtype).item()
    return Pad(widths, number)(x, *(() if widths is not None else (amounts,)), name=name)


def _as_widths(paddings: np.ndarray[Any, Any], x: Tensor) -> Widths:
    rank = x.shape.rank
    if paddings.ndim != 2 or paddings.shape[1] != 2 or rank not in (None, len(paddings)) or (paddings < 0).any():
        raise ValueError(f"pad: paddings must be two lengths for each axis of {x}, not {paddings.tolist()}")
    return tuple([(int(a), int(b)) for a, b in paddings])


def _padded(x: TensorType, widths: Widths | None, paddings: TensorType | None) -> TensorType:
    if widths is None:
        assert paddings is not None
        rank = paddings.shape.size(0) if x.shape.rank is None and paddings.shape.rank else x.shape.rank
        return TensorType(x.dtype, TensorShape(None if rank is None else [None] * rank))
    if x.shape.lengths is None:
        return TensorType(x.dtype, TensorShape([None] * len(widths)))
    pairs = zip(x.shape.lengths, widths, strict=True)
    return TensorType(x.dtype, TensorShape([None if n is None else n + a + b for n, (a, b) in pairs]))


def _pad_with(xp: Any, x: Any, widths: Any, value: Any) -> Any:
    if xp is not np:
        return xp.pad(x, widths, constant_values=value) if widths else x
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
    traits = (MOVES, ZEROS)
    shape_inputs = (1,)

    widths: Widths | None
    value: float = 0

    def infer(self, x: TensorType, paddings: TensorType | None = None) -> tuple[TensorType, ...]:
        return (_padded(x, self.widths, paddings),)

    def kernel(self, xp: Any, x: Any, paddings: Any = None) -> Any:
        return _pad_with(xp, x, _widths_to_use(self.widths, paddings), self.value)

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        x, *paddings = op.inputs
        return (lambda: _pad_back(dy, x, self.widths, paddings), None)[: len(op.inputs)]

    def bounds(self, *xs: Interval) -> Interval:
        return hull([xs[0], Interval(self.value, self.value)])


class PadV2(Primitive):
    """Padding with a number computed in a run, whose derivative is the sum over what was added."""

    traits = (MOVES, ZEROS)
    shape_inputs = (2,)

    widths: Widths | None

    def infer(self, x: TensorType, value: TensorType, paddings: TensorType | None = None) -> tuple[TensorType, ...]:
        del value
        return (_padded(x, self.widths, paddings),)

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

    bounds = any_input_or_zero


class MirrorPad(Primitive):
    traits = (MOVES,)
    shape_inputs = (1,)

    widths: Widths | None
    mode: str

    def infer(self, x: TensorType, paddings: TensorType | None = None) -> tuple[TensorType, ...]:
        longest = 0 if self.mode == "SYMMETRIC" else 1
        for axis, pair in enumerate(self.widths or ()):
            n = None if x.shape.lengths is None else x.shape.lengths[axis]
            if isinstance(n, int) and max(pair) > n - longest:
                raise ValueError(f"pad: axis {axis} of {x} is too short to be mirrored by {list(pair)}")
        return (_padded(x, self.widths, paddings),)

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
