"""Run lengths: what the lengths that only a run knows are taken to be, and the bytes of tensors that follow."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod

from ..control_flow.loop import Loop
from ..core.dtypes import TokenType, resource
from ..core.errors import InvalidArgumentError
from ..core.function import Function, bound_lengths
from ..core.graph import Operation, Tensor, site_of
from ..core.lengths import Dimension, Length
from ..core.shape import TensorShape
from ..core.traits import ELEMENTWISE, FEWER


@dataclass(frozen=True)
class Lengths:
    """What the lengths that only a run knows are taken to be."""

    values: Mapping[Length, Dimension] = field(default_factory=dict)
    shapes: Mapping[Tensor, TensorShape] = field(default_factory=dict)
    """What follows of these for tensors whose own shapes do not say it."""

    def number(self, n: Dimension | None) -> int | None:
        """The number that a length is taken to be; None where it is not given."""
        found = n.substitute(self.values) if isinstance(n, Length) else n
        return found if isinstance(found, int) else None

    def _most(self, x: Tensor, axis: int) -> int | None:
        """What a length is taken to be; where a run decides it, the most that it can be, if operations say so."""
        pending: tuple[Tensor, int] | None = (x, axis)
        while pending:
            x, axis = pending
            n = self.number((self._shape(x).lengths or ())[axis])
            if n is not None:
                return n
            if FEWER in x.op.primitive.traits:
                return self.elements(x.op.inputs[0])
            pending = next((at for at in _along(x, axis) if self._shape(at[0]).rank is not None), None)
        return None

    def _shape(self, x: Tensor) -> TensorShape:
        return self.shapes.get(x, x.shape)

    def elements(self, x: Tensor) -> int:
        """The number of elements of `x`; of rows that a loop keeps, those of one where only a run knows how many.

        Raises:
            InvalidArgumentError: a length of it is not given.
        """
        lengths = self._shape(x).lengths
        found = None if lengths is None else [self._most(x, axis) for axis in range(len(lengths))]
        if found is not None and found[0:1] == [None] and isinstance(x.op.primitive, Loop):
            found[0] = 1
        if found is None or None in found:
            missing = ", ".join(sorted({str(s) for n in lengths or () for s in _symbols(n)}))
            what = f"{missing}: give a number in `sizes`." if missing else "its shape, which only a run knows."
            raise InvalidArgumentError(f"How many bytes {x} takes (made at {site_of(x)}) depends on {what}")
        return prod(found)  # type: ignore[arg-type]

    def bytes(self, x: Tensor) -> int:
        """The memory that the elements of `x` take; none for what is no array."""
        if x.dtype is resource or isinstance(x.dtype, TokenType):
            return 0
        return self.elements(x) * x.dtype.itemsize

    def knows(self, x: Tensor) -> bool:
        """Whether the bytes of `x` follow."""
        try:
            return self.bytes(x) >= 0
        except InvalidArgumentError:
            return False

    def steps(self, op: Operation, loop: Loop) -> int:
        """The steps of a loop, where rows that it reads or hands out tell; else one."""
        rows = [*op.inputs[1 + loop.carried :][: loop.scanned], *[op.outputs[i] for i in loop.places.history]]
        known = [self.number(x.shape.lengths[0]) for x in rows if x.shape.lengths]
        return next((n for n in known if n is not None), 1)

    def inside(self, function: Function, args: Sequence[Tensor]) -> Lengths:
        """The lengths in a function that is called with `args`."""
        pairs = [(x.shape, _given(x, self._shape(arg))) for x, arg in zip(function.parameters, args, strict=False)]
        found = {n: self.number(m) for n, m in bound_lengths(pairs).items()}
        return Lengths({n: m for n, m in found.items() if m is not None})


def _along(y: Tensor, axis: int) -> Iterator[tuple[Tensor, int]]:
    """The axes of inputs that are as long as that of a result."""
    op, rank = y.op, y.shape.rank or 0
    is_elementwise = ELEMENTWISE in op.primitive.traits
    for i, x in enumerate(op.inputs):
        if is_elementwise:
            place = axis - rank + (x.shape.rank or 0)
            if place >= 0 and x.shape.size(place) != 1:
                yield x, place
            continue
        links = op.primitive.links(i, *[z.type for z in op.inputs]) or ()
        yield from [(x, link.input) for link in links if link.output == axis and link.pairs is None]


def _given(parameter: Tensor, arg: TensorShape) -> TensorShape:
    """The shape of what a parameter stands for: that of `arg`, or of a row of it in a loop over rows."""
    is_row = None not in (arg.rank, parameter.shape.rank) and arg.rank != parameter.shape.rank
    return arg[1:] if is_row else arg


def _symbols(n: Dimension | None) -> frozenset[Length]:
    return n.symbols if isinstance(n, Length) else frozenset()
