"""Sharding: how a tensor is spread over the devices of a session's mesh."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from ...core.operation import Operation, Tensor
from ...core.primitive import Primitive
from ...core.slices import IndexedSlices
from ...core.traits import MOVES, PLACES, VIEWS
from ...core.types import TensorType
from ...core.typing import TensorLike
from ..creation.constant import convert_to_tensor

Entry = str | tuple[str, ...] | None


def sharding(input: TensorLike, spec: Sequence[str | Sequence[str] | None], name: str | None = None) -> Tensor:
    """A tensor equal to `input`, spread over the mesh of the session that runs it; its derivative is spread likewise.

    `spec` has an entry for each dimension: the name of the mesh axis that it is split along, several names, or None
    where each device has all of it; missing entries at the end are None. XLA splits the computations around it to
    match. Without a mesh, and on the NumPy engine, it is the identity.

    Shapes, dtypes: any.

    Derivative: dx = dy, spread the same way.

    Raises:
        ValueError: more entries than dimensions, or an axis named twice. TypeError: an entry is of another kind. When
        run: InvalidArgumentError for an axis that the mesh does not have.

    >>> import pullback as pb
    >>> rows = pb.placeholder(pb.float32, [None, 3])
    >>> pb.sharding(rows, ["data", None])
    <Tensor 'Sharding:0' float32[?,3]>
    """
    return Sharding(tuple([_entry(axis) for axis in spec]))(convert_to_tensor(input), name=name)


class Sharding(Primitive):
    traits = (MOVES, VIEWS, PLACES)
    takes_slices = True

    spec: tuple[Entry, ...]

    def infer(self, x: TensorType) -> tuple[TensorType, ...]:
        rank = x.shape.rank
        if rank is not None and rank < len(self.spec):
            raise ValueError(f"sharding: {x} has fewer dimensions than spec {self.spec} has entries")
        names = self.axes()
        if len(set(names)) < len(names):
            raise ValueError(f"sharding: spec {self.spec} names an axis of the mesh twice")
        return (x,)

    def kernel(self, xp: Any, x: Any) -> Any:
        del xp
        return x

    def gradient(self, op: Operation, dy: Any) -> Sequence[Any]:
        """The cotangent, spread as the value is; rows of one are left as they are."""
        del op
        return (dy if isinstance(dy, IndexedSlices) else partial(self, dy),)

    def axes(self) -> list[str]:
        """The names of the axes of the mesh that it is split along."""
        return [name for entry in self.spec for name in _names(entry)]


def _entry(axis: Any) -> Entry:
    if axis is None or isinstance(axis, str):
        return axis
    if not isinstance(axis, list | tuple) or not all(isinstance(name, str) for name in axis):
        raise TypeError(f"sharding: an entry of spec is the name of an axis, several names, or None, not {axis!r}")
    return tuple(axis)


def _names(entry: Entry) -> tuple[str, ...]:
    if entry is None:
        return ()
    return (entry,) if isinstance(entry, str) else entry
