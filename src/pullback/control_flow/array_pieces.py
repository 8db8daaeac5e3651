"""Ragged TensorArray: elements of different shapes, each a tensor of its own, at positions that the graph knows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ..core.dtypes import DType
from ..core.errors import InvalidArgumentError
from ..core.graph import Tensor
from ..core.shape import TensorShape
from ..primitives.creation.fill import zeros
from ..primitives.identity.identity import identity
from ..primitives.shape.stacking import concat, split, stack


@dataclass(frozen=True, eq=False)
class Pieces:
    """The elements that were written to an array of `size` elements, by their numbers.

    >>> import pullback as pb
    >>> array = pb.TensorArray(pb.float32, size=2, infer_shape=False)
    >>> array = array.write(0, [1.0]).write(1, [2.0, 3.0])
    >>> pb.Session(engine="numpy").run(array.concat())
    array([1., 2., 3.], dtype=float32)
    """

    dtype: DType
    shape: TensorShape
    """What is known of the shapes of all."""
    size: int
    written: Mapping[int, Tensor]

    def with_one(self, number: int, value: Tensor) -> Pieces:
        """The elements with `value` as one more of them, behind the end too."""
        if not value.shape.is_compatible_with(self.shape):
            raise ValueError(f"TensorArray.write: the value {value} has not the element shape {self.shape}")
        return replace(self, size=max(self.size, number + 1), written={**self.written, number: value})

    def at(self, number: int | None) -> Tensor | None:
        """The element of that number, if it was written."""
        return None if number is None else self.written.get(number)

    def again(self) -> Pieces:
        """The same elements, computed now."""
        return replace(self, written={number: identity(x) for number, x in self.written.items()})

    def all(self) -> list[Tensor] | None:
        """All elements, zeros for those that were not written; None where the shape of these is not known."""
        missing = self.size - len(self.written)
        if missing and not self.shape.is_fully_defined():
            return None
        blank = zeros(self.shape.known, self.dtype) if missing else None
        return [x for i in range(self.size) if (x := self.written.get(i, blank)) is not None]

    def is_full(self) -> bool:
        """Whether all elements were written, one at least."""
        return len(self.written) == self.size > 0

    def stacked(self, name: str | None = None) -> Tensor:
        """All elements, which were all written, as one tensor."""
        found = [self.written[i] for i in range(self.size)]
        _check_alike("stack", found, TensorShape.is_compatible_with, "use concat, or read them one by one")
        return stack(found, name=name or "TensorArrayStack")

    def concatenated(self, name: str | None = None) -> Tensor | None:
        """All elements, one behind the other; None where that is not known."""
        found = self.all()
        if not found:
            return None
        for i, x in enumerate(found):
            if x.shape.rank == 0:
                scalar = f"Concat saw a scalar shape at index {i} but requires at least vectors"
                raise InvalidArgumentError(f"TensorArray.concat: {scalar}: {x}; use stack")
        _check_alike("concat", found, _differ_in_length_only, "all but the first length must be the same")
        return concat(found, 0, name=name or "TensorArrayConcat")


def pieces_of(value: Tensor, lengths: list[int]) -> Pieces:
    """Pieces of `value` of those lengths."""
    found = split(value, lengths) if lengths else []
    return Pieces(value.dtype, TensorShape.UNKNOWN, len(lengths), dict(enumerate(found)))


def _check_alike(what: str, found: list[Tensor], alike: Any, advice: str) -> None:
    for i, x in enumerate(found):
        if not alike(found[0].shape, x.shape):
            ranks = {found[0].shape.rank, x.shape.rank}
            wrong = "the elements have different shapes" if len(ranks - {None}) < 2 else "Incompatible ranks of shapes"
            raise InvalidArgumentError(f"TensorArray.{what}: {wrong}, {found[0]} (0) and {x} ({i}); {advice}")


def _differ_in_length_only(a: TensorShape, b: TensorShape) -> bool:
    if a.rank is None or b.rank is None:
        return True
    return a.rank == b.rank and a[1:].is_compatible_with(b[1:])
