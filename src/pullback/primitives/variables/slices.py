"""Strided slice assignment: `v[1:3].assign(x)`, of a part of a variable that an index picks."""

from __future__ import annotations

from typing import TypeGuard

from ...core.graph import Operation, Tensor
from ...core.typing import TensorLike
from ..creation.constant import convert_to_tensor
from ..creation.ranges import range_
from ..indexing.scatter_nd import tensor_scatter_nd_update
from ..indexing.slicing import StridedSlice, Take
from ..shape.broadcast import broadcast_like
from ..shape.reshape import reshape
from ..shape.size import shape, size
from .operations import AssignVariableOp, ReadVariableOp, read_after, read_variable, variable_type


class SliceAssignment:
    """What `assign` of a slice of a variable is: to be called with the value that takes its place.

    >>> import pullback as pb
    >>> v = pb.Variable([[1.0, 2.0], [3.0, 4.0]])
    >>> session = pb.Session()
    >>> session.run(v.initializer)
    >>> session.run(v[:, 0].assign([5.0, 6.0]))
    array([[5., 2.],
           [6., 4.]], dtype=float32)
    """

    def __init__(self, part: Tensor) -> None:
        self._part = part

    def __call__(
        self, value: TensorLike, use_locking: bool | None = None, name: str | None = None, read_value: bool = True
    ) -> Tensor | Operation:
        """Replaces the slice by `value`, which broadcasts to it; the variable's new value, or the operation.

        Raises:
            TypeError: the dtype is another. ValueError: the shape does not broadcast.
        """
        del use_locking
        part = self._part
        path, read = _path_to_read(part)
        handle = read.op.inputs[0]
        type_ = variable_type(handle)
        given = broadcast_like(convert_to_tensor(value, part.type.dtype), part)
        with part.graph.acting.within(name or "strided_slice_assign") as scope:
            before = read_variable(handle)
            places = reshape(range_(size(before)), shape(before))
            for op in path:
                places = op.primitive(places, *op.inputs[1:])
            flat = tensor_scatter_nd_update(reshape(before, [-1]), reshape(places, [-1, 1]), reshape(given, [-1]))
            whole = reshape(flat, shape(before))
            op = AssignVariableOp(type_.dtype, type_.shape).operation(handle, whole)
        return read_after(op, name and scope) if read_value else op


def assignment_to(part: Tensor) -> SliceAssignment:
    """What assigns to the part of a variable that `part` is.

    Raises:
        AttributeError: it is none.
    """
    if not is_part(part):
        raise AttributeError(
            f"{part} cannot be assigned to: it is no slice of a variable; use v.assign(x), v[i:j].assign(x), or "
            "pb.scatter_nd_update(v, indices, x)"
        )
    return SliceAssignment(part)


def is_part(x: object) -> TypeGuard[Tensor]:
    """Whether `x` is the value of a variable, or what an index picks of it."""
    return isinstance(x, Tensor) and isinstance(_path_to_read(x)[1].op.primitive, ReadVariableOp)


def _path_to_read(part: Tensor) -> tuple[list[Operation], Tensor]:
    """The operations that pick `part`, the first one first, and what they pick it of."""
    path: list[Operation] = []
    while isinstance(part.op.primitive, StridedSlice | Take):
        path.insert(0, part.op)
        part = part.op.inputs[0]
    return path, part
