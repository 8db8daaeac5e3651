"""Fake quantization: numbers rounded as if stored with few bits, with straight-through derivatives.

B. Jacob et al., "Quantization and training of neural networks for efficient integer-arithmetic-only inference", 2017.
The derivative is 1 inside the range and 0 outside, where the bounds get it ("straight-through").
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...core.contexts import in_graph_of_inputs
from ...core.dtypes import FLOATING, float32
from ...core.dtypes import bool as bool_
from ...core.lengths import known_to_differ
from ...core.operation import Operation, Tensor
from ...core.primitive import Primitive, no_gradient
from ...core.traits import ADDS, MOVES, SURROGATE, VIEWS, ZEROS
from ...core.types import TensorType
from ...core.typing import TensorLike
from ..base.axes import as_axis
from ..base.broadcasting import operands
from ..elementwise.masking import mask
from ..reduction.reduce import reduce_max, reduce_min, reduce_sum, take_numbers

INSIDE, BELOW, ABOVE = "inside", "below", "above"


def fake_quant_with_min_max_args(
    inputs: TensorLike,
    min: float = -6,
    max: float = 6,
    num_bits: int = 8,
    narrow_range: bool = False,
    name: str | None = None,
) -> Tensor:
    """`inputs` rounded to one of 2^num_bits equally spaced numbers between `min` and `max`, which are moved to have 0.

    With `narrow_range` there is one number less. The derivative is 1 between the bounds and 0 beyond.

    Shapes: any. Dtypes: any float.

    Derivative: dx = dy where x is in the range, else 0.

    Raises:
        ValueError: `min` is not below `max`, or `num_bits` is not in [2, 16]. TypeError: another dtype.

    >>> import pullback as pb
    >>> pb.Session().run(pb.quantization.fake_quant_with_min_max_args([0.3, 9.0], min=0, max=3, num_bits=2))
    array([0., 3.], dtype=float32)
    """
    if not min < max:
        raise ValueError(f"fake_quant_with_min_max_args: min must be below max, not {min} and {max}")
    x = take_numbers(inputs, "fake_quant_with_min_max_args", FLOATING)
    return fake_quant_with_min_max_vars(x, float(min), float(max), num_bits, narrow_range, name)


@in_graph_of_inputs
def fake_quant_with_min_max_vars(
    inputs: TensorLike,
    min: TensorLike,
    max: TensorLike,
    num_bits: int = 8,
    narrow_range: bool = False,
    name: str | None = None,
) -> Tensor:
    """`inputs` rounded to one of 2^num_bits equally spaced numbers between `min` and `max`, which are moved to have 0.

    With `narrow_range` there is one number less. The derivative is 1 between the bounds and 0 beyond, where it goes to
    the bound. Where both bounds are 0 the result is 0 and the derivative 1.

    Shapes: any; `min` and `max` scalars. Dtypes: any float, the same for all.

    Derivative: dx = dy where x is in the range, else 0; each bound gets the sum of dy beyond it.

    Raises:
        ValueError: `num_bits` is not in [2, 16], or bounds of another shape. TypeError: another dtype.

    >>> import pullback as pb
    >>> x, low, high = pb.constant([0.3, 9.0]), pb.constant(0.0), pb.constant(3.0)
    >>> pb.Session().run(pb.gradients(pb.quantization.fake_quant_with_min_max_vars(x, low, high), [x, high]))
    [array([1., 0.], dtype=float32), np.float32(1.0)]
    """
    return _fake_quant("fake_quant_with_min_max_vars", False, inputs, min, max, num_bits, narrow_range, name)


@in_graph_of_inputs
def fake_quant_with_min_max_vars_per_channel(
    inputs: TensorLike,
    min: TensorLike,
    max: TensorLike,
    num_bits: int = 8,
    narrow_range: bool = False,
    name: str | None = None,
) -> Tensor:
    """The same with bounds for each position along the last axis.

    Shapes: `inputs` [..., d]; `min` and `max` [d]. Dtypes: any float, the same for all.

    Derivative: dx = dy where x is in the range, else 0; each bound gets the sum of dy beyond it, by channel.

    Raises:
        ValueError: `num_bits` is not in [2, 16], or bounds of another shape. TypeError: another dtype.

    >>> import pullback as pb
    >>> y = pb.quantization.fake_quant_with_min_max_vars_per_channel([[0.9, 0.9]], [0.0, 0.0], [3.0, 1.0], num_bits=2)
    >>> pb.Session().run(y)
    array([[1., 1.]], dtype=float32)
    """
    what = "fake_quant_with_min_max_vars_per_channel"
    return _fake_quant(what, True, inputs, min, max, num_bits, narrow_range, name)


def _fake_quant(
    what: str, channels: bool, inputs: Any, low: Any, high: Any, num_bits: int, narrow_range: bool, name: str | None
) -> Tensor:
    if not 2 <= num_bits <= 16:
        raise ValueError(f"{what}: num_bits must be between 2 and 16, not {num_bits}")
    x, a, b = operands(take_numbers(inputs, what, FLOATING), low, high)
    for bound in (a, b):
        if bound.dtype != x.dtype:
            raise TypeError(f"{what}: dtypes differ: {x} and {bound}")
        if bound.shape.rank not in (int(channels), None):
            raise ValueError(f"{what}: min and max must be {'vectors' if channels else 'scalars'}, not {bound}")
    return FakeQuant(int(num_bits), bool(narrow_range))(x, a, b, name=name or what)


class FakeQuant(Primitive):
    """The bounds are scalars, or vectors along the last axis."""

    type = "FakeQuantWithMinMaxVars"
    traits = (SURROGATE,)

    num_bits: int = 8
    narrow_range: bool = False

    def infer(self, x: TensorType, low: TensorType, high: TensorType) -> tuple[TensorType, ...]:
        for bound in (low, high):
            if bound.shape.rank == 1:
                _check_along("fake_quant_with_min_max_vars_per_channel", bound, x, -1)
        return (x,)

    def kernel(self, xp: Any, x: Any, low: Any, high: Any) -> Any:
        wide = [z.astype(float32) if x.dtype.itemsize == 2 else z for z in (x, low, high)]
        start, end, step = nudged_range(xp, wide[1], wide[2], self.num_bits, self.narrow_range)
        places = xp.floor((xp.clip(wide[0], start, end) - start) / step + 0.5)
        empty = xp.logical_and(low == 0, high == 0)
        return xp.where(empty, xp.zeros((), wide[0].dtype), places * step + start).astype(x.dtype)

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        def part(where: str) -> Tensor:
            return mask(FakeQuantPart(self.num_bits, self.narrow_range, where)(*op.inputs), dy)

        return lambda: part(INSIDE), lambda: _bound_back(part(BELOW), op, 1), lambda: _bound_back(part(ABOVE), op, 2)


def _bound_back(dy: Tensor, op: Operation, i: int) -> Tensor:
    """Summed over all axes but those that the bound has."""
    bound = op.inputs[i]
    if bound.shape.rank == 0:
        return reduce_sum(dy)
    return SumToBound()(dy, bound)


class SumToBound(Primitive):
    """Summed over all axes, but the last where the second input is a vector."""

    traits = (ADDS, ZEROS)

    def infer(self, x: TensorType, bound: TensorType) -> tuple[TensorType, ...]:
        return (TensorType(x.dtype, bound.shape),)

    def kernel(self, xp: Any, x: Any, bound: Any) -> Any:
        wide = x.astype(float32) if x.dtype.itemsize == 2 else x
        axes = tuple(range(x.ndim - bound.ndim))
        return xp.sum(wide, axis=axes, dtype=wide.dtype).astype(x.dtype).reshape(bound.shape)

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        return lambda: SpreadBound()(dy, op.inputs[0]), None


class SpreadBound(Primitive):
    """A bound repeated to the shape of the second input: the transpose of SumToBound."""

    traits = (MOVES, VIEWS)

    def infer(self, bound: TensorType, x: TensorType) -> tuple[TensorType, ...]:
        return (TensorType(bound.dtype, x.shape),)

    def kernel(self, xp: Any, bound: Any, x: Any) -> Any:
        return xp.broadcast_to(bound, x.shape)

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        return lambda: SumToBound()(dy, op.inputs[0]), None


class FakeQuantPart(Primitive):
    """Which elements are inside the range, below or above it."""

    num_bits: int
    narrow_range: bool
    part: str

    def infer(self, x: TensorType, low: TensorType, high: TensorType) -> tuple[TensorType, ...]:
        del low, high
        return (TensorType(bool_, x.shape),)

    def kernel(self, xp: Any, x: Any, low: Any, high: Any) -> Any:
        wide = [z.astype(float32) if x.dtype.itemsize == 2 else z for z in (x, low, high)]
        start, end, _ = nudged_range(xp, wide[1], wide[2], self.num_bits, self.narrow_range)
        empty = xp.logical_and(low == 0, high == 0)
        below, above = xp.logical_and(wide[0] < start, ~empty), xp.logical_and(wide[0] > end, ~empty)
        return {INSIDE: ~xp.logical_or(below, above), BELOW: below, ABOVE: above}[self.part]

    gradient = no_gradient


def nudged_range(xp: Any, low: Any, high: Any, num_bits: int, narrow_range: bool) -> tuple[Any, Any, Any]:
    """The range moved so that 0 is one of the numbers, and their distance."""
    first, last = int(narrow_range), 2**num_bits - 1
    step = (high - low) / (last - first)
    step = xp.where(step == 0, xp.ones((), step.dtype), step)
    place = xp.clip(xp.floor(first - low / step + 0.5), first, last)
    return (first - place) * step, (last - place) * step, step


@in_graph_of_inputs
def quantize_and_dequantize_v2(
    input: TensorLike,
    input_min: TensorLike,
    input_max: TensorLike,
    signed_input: bool = True,
    num_bits: int = 8,
    range_given: bool = False,
    round_mode: str = "HALF_TO_EVEN",
    name: str | None = None,
    narrow_range: bool = False,
    axis: int | None = None,
) -> Tensor:
    """`input` rounded to the numbers of a signed or unsigned integer of `num_bits`, scaled to span a range around 0.

    The range is that of `input_min` and `input_max` with `range_given`, else that of the elements; with `axis` for each
    position along it. The derivative is 1 inside a given range and 0 beyond, where it goes to the bound.

    Shapes: any; the bounds are scalars, or [n] with `axis`. Dtypes: any float, the same for all.

    Derivative: dx = dy where x is in the range, else 0.

    Raises:
        ValueError: another `round_mode` than "HALF_TO_EVEN" and "HALF_UP", or an axis out of range.

    >>> import pullback as pb
    >>> y = pb.quantization.quantize_and_dequantize_v2([-1.0, 0.3, 1.0], -1.0, 1.0, num_bits=3, range_given=True)
    >>> pb.Session().run(y)
    array([-1.    ,  0.3333...,  1.    ], dtype=float32)
    """
    return _quantize(
        input, input_min, input_max, signed_input, num_bits, range_given, round_mode, name, narrow_range, axis, True
    )


@in_graph_of_inputs
def quantize_and_dequantize(
    input: TensorLike,
    input_min: TensorLike,
    input_max: TensorLike,
    signed_input: bool = True,
    num_bits: int = 8,
    range_given: bool = False,
    round_mode: str = "HALF_TO_EVEN",
    name: str | None = None,
    narrow_range: bool = False,
    axis: int | None = None,
) -> Tensor:
    """The same as `quantize_and_dequantize_v2`, but with derivative 1 everywhere, and none for the bounds.

    Shapes: any; the bounds are scalars, or [n] with `axis`. Dtypes: any float, the same for all.

    Derivative: dx = dy where x is in the range, else 0.

    Raises:
        ValueError: another `round_mode` than "HALF_TO_EVEN" and "HALF_UP", or an axis out of range.

    >>> import pullback as pb
    >>> x = pb.constant([0.3, 5.0])
    >>> y = pb.quantization.quantize_and_dequantize(x, -1.0, 1.0, num_bits=3, range_given=True)
    >>> pb.Session().run([y, *pb.gradients(y, x)])
    [array([0.3333..., 1.       ], dtype=float32), array([1., 1.], dtype=float32)]
    """
    return _quantize(
        input, input_min, input_max, signed_input, num_bits, range_given, round_mode, name, narrow_range, axis, False
    )


def _quantize(
    input: Any,
    input_min: Any,
    input_max: Any,
    signed: bool,
    num_bits: int,
    range_given: bool,
    round_mode: str,
    name: str | None,
    narrow_range: bool,
    axis: int | None,
    clips: bool,
) -> Tensor:
    if round_mode not in ("HALF_TO_EVEN", "HALF_UP"):
        raise ValueError(f"quantize_and_dequantize: round_mode must be HALF_TO_EVEN or HALF_UP, not {round_mode!r}")
    x = take_numbers(input, "quantize_and_dequantize", FLOATING)
    place = None if axis is None else as_axis(axis, x.shape.rank, "quantize_and_dequantize", x.type)
    if range_given:
        _, low, high = operands(x, input_min, input_max)
    else:
        others = None if place is None else _others(x, place)
        low, high = reduce_min(x, others), reduce_max(x, others)
    primitive = QuantizeAndDequantize(
        bool(signed), int(num_bits), bool(range_given), round_mode, bool(narrow_range), place, bool(clips)
    )
    return primitive(x, low, high, name=name)


def _others(x: Tensor, axis: int) -> list[int]:
    if x.shape.rank is None:
        raise ValueError(f"quantize_and_dequantize: with axis= the rank of {x} must be known; use pb.ensure_shape")
    return [i for i in range(x.shape.rank) if i != axis]


class QuantizeAndDequantize(Primitive):
    type = "QuantizeAndDequantizeV4"
    traits = (SURROGATE,)

    signed: bool
    num_bits: int
    range_given: bool
    round_mode: str
    narrow_range: bool
    axis: int | None
    clips: bool
    """Whether the derivative stops outside the range, and goes to the bounds."""

    def infer(self, x: TensorType, low: TensorType, high: TensorType) -> tuple[TensorType, ...]:
        for bound in (low, high):
            if bound.dtype != x.dtype:
                raise TypeError(f"quantize_and_dequantize: dtypes differ: {x} and {bound}")
            if bound.shape.rank not in (int(self.axis is not None), None):
                raise ValueError(f"quantize_and_dequantize: the bounds must be scalars, or vectors with axis=: {bound}")
            if self.axis is not None:
                _check_along("quantize_and_dequantize", bound, x, self.axis)
        return (x,)

    def kernel(self, xp: Any, x: Any, low: Any, high: Any) -> Any:
        dtype = x.dtype
        if dtype.itemsize == 2:
            x, low, high = (z.astype(float32) for z in (x, low, high))
        low, high = _along(low, x, self.axis), _along(high, x, self.axis)
        low, high, scale, inverse = self._range(xp, low, high)
        held = xp.clip(x, low, high) if self.range_given else x
        rounded = xp.round(held * scale) if self.round_mode == "HALF_TO_EVEN" else xp.floor(held * scale + 0.5)
        return (rounded * inverse).astype(dtype)

    def _range(self, xp: Any, low: Any, high: Any) -> tuple[Any, Any, Any, Any]:
        """The range that the integers span, the factor to them and the one back."""
        first = -(2 ** (self.num_bits - 1)) + int(self.narrow_range) if self.signed else 0
        last = 2 ** (self.num_bits - 1) - 1 if self.signed else 2**self.num_bits - 1
        largest = np.finfo(low.dtype).max
        below = xp.where(first * low > 0, first / low, largest)
        above = xp.where(last * high > 0, last / high, largest)
        by_low = below < above
        inverse = xp.where(by_low, low / first if first else low * 0, high / last)
        scale = xp.where(by_low, below, above)
        return xp.where(by_low, low, first * inverse), xp.where(by_low, last * inverse, high), scale, inverse

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        if not self.clips or not self.range_given:
            return dy, None, None

        def part(where: str) -> Tensor:
            return mask(RangePart(where, self.axis)(*op.inputs), dy)

        return lambda: part(INSIDE), self._bound(part, op, 1, BELOW), self._bound(part, op, 2, ABOVE)

    def _bound(self, part: Callable[[str], Tensor], op: Operation, i: int, where: str) -> Callable[[], Tensor]:
        if self.axis is None:
            return lambda: reduce_sum(part(where))
        others = _others(op.inputs[0], self.axis)
        return lambda: reduce_sum(part(where), others)


class RangePart(Primitive):
    """Which elements are inside a range, its bounds included, below or above it."""

    part: str
    axis: int | None = None

    def infer(self, x: TensorType, low: TensorType, high: TensorType) -> tuple[TensorType, ...]:
        del low, high
        return (TensorType(bool_, x.shape),)

    def kernel(self, xp: Any, x: Any, low: Any, high: Any) -> Any:
        low, high = _along(low, x, self.axis), _along(high, x, self.axis)
        if self.part == INSIDE:
            return xp.logical_and(x >= low, x <= high)
        return x < low if self.part == BELOW else x > high

    gradient = no_gradient


def _check_along(what: str, bound: TensorType, x: TensorType, axis: int) -> None:
    """ValueError where a vector of bounds is known to be of another length than an axis of `x`."""
    if x.shape.rank == 0 or known_to_differ(bound.shape.length(0), x.shape.length(axis)):
        raise ValueError(f"{what}: bounds {bound} do not go along axis {axis} of {x}")


def _along(bound: Any, x: Any, axis: int | None) -> Any:
    """A scalar, or a vector along `axis`, of a shape that broadcasts to that of `x`."""
    return bound if axis is None else bound.reshape((-1,) + (1,) * (x.ndim - 1 - axis % x.ndim))
