"""Partitioned variables: how a variable in one piece is divided along an axis, as TensorFlow does for servers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...core.dtypes import DType
from ...core.graph import AbstractTensorLike, Graph, Operation, Tensor
from ...core.seen import seen
from ...core.shape import TensorShape
from ..shape.stacking import split

if TYPE_CHECKING:
    from .variable import Variable


def partitions_of(partitioner: Any, name: str, shape: TensorShape, dtype: DType) -> tuple[int, ...] | None:
    """The number of parts along each axis that `partitioner` asks for; None without one, and for scalars.

    Raises:
        ValueError: it is no function, its result has not one number for each axis, or it divides more than one axis.
    """
    if partitioner is None or shape.rank == 0:
        return None
    if not callable(partitioner):
        raise ValueError(
            f"get_variable: the partitioner of '{name}' must be a function of shape and dtype, not {partitioner!r}"
        )
    found = partitioner(shape=shape, dtype=seen.dtype(dtype))
    counts = tuple(found) if isinstance(found, list | tuple) else ()
    if len(counts) != shape.rank or not all(isinstance(n, int) and n > 0 for n in counts):
        raise ValueError(
            f"get_variable: the partitioner of '{name}' must give a number of parts for each axis of {shape}, "
            f"not {found!r}"
        )
    if sum(n > 1 for n in counts) > 1:
        raise ValueError(f"get_variable: the partitioner of '{name}' divides more than one axis: {found!r}")
    axis = divided_axis(counts)
    if counts[axis] > (shape.size(axis) or 0) and counts[axis] > 1:
        raise ValueError(
            f"get_variable: the partitioner of '{name}' asks for {counts[axis]} parts of axis {axis} of {shape}"
        )
    return counts


def divided_axis(partitions: Sequence[int]) -> int:
    """The axis that is divided, the first one if none is."""
    return next((axis for axis, n in enumerate(partitions) if n > 1), 0)


def part_lengths(length: int, count: int) -> list[int]:
    """The lengths of `count` parts: equal ones, the first of which are one longer where `length` asks for it.

    >>> part_lengths(10, 4)
    [3, 3, 2, 2]
    """
    return [length // count + (i < length % count) for i in range(count)]


class VariablePart(AbstractTensorLike):
    """A part of a variable: it stands for its elements, and what initialises the variable initialises it."""

    def __init__(self, whole: Variable, value: Tensor, number: int) -> None:
        self.whole = whole
        """The variable."""
        self.name = f"{whole.op.name}/part_{number}:0"
        self._value = value

    @property
    def initializer(self) -> Operation | None:
        """The operation that assigns the initial value of the whole variable."""
        return self.whole.initializer

    @property
    def op(self) -> Operation:
        """The operation that divides the value of the variable."""
        return self._value.op

    @property
    def graph(self) -> Graph:
        """The graph."""
        return self._value.graph

    @property
    def dtype(self) -> DType:
        """The element type."""
        return self._value.dtype

    @property
    def shape(self) -> TensorShape:
        """The shape of this part."""
        return self._value.shape

    def get_shape(self) -> TensorShape:
        """The shape of this part."""
        return self._value.shape

    def as_tensor(self) -> Tensor:
        """The elements, as a tensor."""
        return self._value

    def graph_element(self) -> Tensor:
        """The elements, as a tensor."""
        return self._value

    def value(self) -> Tensor:
        """The elements, as a tensor."""
        return self._value

    read_value = value

    def eval(self, session: Any = None) -> Any:
        """The elements in `session`, or in the default session."""
        return self._value.eval(session=session)

    def __repr__(self) -> str:
        return f"<part '{self.name}' of {self.whole!r}: {self._value.type}>"


def parts_of(whole: Variable, partitions: Sequence[int]) -> list[VariablePart]:
    """The parts of a variable."""
    value, axis = whole.as_tensor(), divided_axis(partitions)
    lengths = part_lengths(value.shape.known[axis], partitions[axis])
    pieces = split(value, lengths, axis, name=f"{whole.op.name}/parts")
    return [VariablePart(whole, piece, i) for i, piece in enumerate(pieces)]
