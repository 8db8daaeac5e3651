"""Micro-batching: what a rule is asked of an operation, and what it answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

from ..core.primitive import Primitive
from ..core.shape import TensorShape
from ..core.types import TensorType

Types = Sequence[TensorType]
Axes = tuple[int | None, ...]
"""For each input the axis along which a part of it is given; None for the whole of it."""


class Part(NamedTuple):
    """What is computed of a part."""

    primitive: Primitive
    inputs: Axes
    output: int | None
    """The axis of the results that goes by parts; None: the results of all parts are added up."""
    scaled: str = ""
    """Where a factor of one over the number of parts comes to it: at the `input`, at the `output`, or not at all."""


class At(NamedTuple):
    """What a rule is asked."""

    primitive: Primitive
    types: Types
    made: Types
    """The types of the results."""
    axes: Axes
    wanted: int | None
    """The axis of the results that shall go by parts, where that does not follow from the inputs."""
    parts: int

    def lengths(self, i: int) -> tuple[int, ...]:
        """The lengths of input `i`."""
        return self.types[i].shape.known

    @property
    def result(self) -> tuple[int, ...]:
        """The lengths of the first result."""
        return self.made[0].shape.known


Rule = Callable[[At], Part | None]


def short(of: TensorType, axis: int | None, parts: int) -> TensorType:
    """The type of one of so many parts along an axis."""
    if axis is None:
        return of
    dims = list(of.shape.known)
    dims[axis] //= parts
    return TensorType(of.dtype, TensorShape(dims))


def fits(at: At, primitive: Primitive, inputs: Axes, output: int | None) -> bool:
    """Whether all is divisible, and `primitive` makes of a part what has the type of one."""
    pairs = [*zip(at.types, inputs, strict=True), *[(y, output) for y in at.made]]
    for of, axis in pairs:
        if axis is not None and (axis >= len(of.shape.known) or of.shape.known[axis] % at.parts):
            return False
    given = [short(x, axis, at.parts) for x, axis in zip(at.types, inputs, strict=True)]
    try:
        found = primitive.infer(*given)
    except (TypeError, ValueError):
        return False
    wanted = [short(y, output, at.parts) for y in at.made]
    return [(y.dtype, y.shape) for y in found] == [(y.dtype, y.shape) for y in wanted]


def resized(at: At, inputs: Axes, output: int | None) -> Primitive | None:
    """The primitive for a part: itself, or with the shape of the part where it has that of the result."""
    if fits(at, at.primitive, inputs, output):
        return at.primitive
    if output is None or at.result[output] % at.parts:
        return None
    before, after = at.result, short(at.made[0], output, at.parts).shape.known
    shapes = {name: after for name, value in at.primitive.attributes.items() if value == before}
    return replace(at.primitive, **shapes) if shapes else None  # type: ignore[type-var]
