"""Variable operations: the handle, reads, assignments. An engine keeps the array behind each handle.

Within one run the operations on one variable act in the order in which they were made.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...core.dtypes import INTEGER, int32, resource
from ...core.dtypes import bool as bool_
from ...core.function import Parameter
from ...core.graph import Graph, Operation, Tensor
from ...core.primitive import Primitive, no_gradient
from ...core.shape import TensorShape
from ...core.slices import IndexedSlices
from ...core.traits import GIVEN, MOVES, Links, same_axes
from ...core.types import TensorType, tensor_type
from ..base.scattering import check_range
from ..base.state import AbstractStateful, AbstractUpdates
from ..creation.constant import constant_in
from ..creation.fill import zeros, zeros_like
from ..shape.reshape import reshape
from ..shape.stacking import concat


class VarHandleOp(Primitive):
    """The handle of one variable. Sessions keep variables by the operation that has this primitive."""

    stateful = True

    dtype: Any
    shape: TensorShape
    shared_name: str = ""
    trainable: bool = True
    collections: tuple[str, ...] | None = None
    """The collections of the graph that the variable is in; None for `GraphKeys.GLOBAL_VARIABLES`."""

    def infer(self) -> tuple[TensorType, ...]:
        return (TensorType(resource, TensorShape.SCALAR),)

    def kernel(self, xp: Any) -> Any:
        """Nothing: a handle has no array. Engines find the variable by the operation."""
        del xp

    gradient = no_gradient


def read_variable(handle: Tensor, name: str | None = None) -> Tensor:
    """The value of the variable behind `handle`."""
    type_ = variable_type(handle)
    return ReadVariableOp(type_.dtype, type_.shape)(handle, name=name)


class ReadVariableOp(AbstractStateful):
    traits = (MOVES, GIVEN)
    takes_slices = True

    dtype: Any
    shape: TensorShape

    def infer(self, handle: TensorType) -> tuple[TensorType, ...]:
        check_handle("read", handle)
        return (tensor_type(self.dtype, self.shape),)

    def kernel(self, xp: Any, state: Any) -> Any:
        del xp
        return state

    def gradient(self, op: Operation, dy: Any) -> Sequence[Any]:
        """The derivative by a handle is that by the value."""
        del op
        return (dy,)


class InitializedValue(AbstractStateful):
    """The value of a variable, or, where it has none yet, the second input: its initial value."""

    reads_state = False

    dtype: Any
    shape: TensorShape

    def infer(self, handle: TensorType, initial: TensorType) -> tuple[TensorType, ...]:
        check_handle("initialized_value", handle)
        del initial
        return (tensor_type(self.dtype, self.shape),)

    def kernel(self, xp: Any, state: Any, initial: Any) -> Any:
        del xp
        return initial if state is None else state

    def gradient(self, op: Operation, dy: Any) -> Sequence[Any]:
        """That by the value; the initial value counts as a constant."""
        del op
        return dy, None


class VariableShape(AbstractStateful):
    def infer(self, handle: TensorType) -> tuple[TensorType, ...]:
        check_handle("shape", handle)
        return (TensorType(int32, TensorShape([None])),)

    def kernel(self, xp: Any, state: Any) -> Any:
        del xp
        return np.array(state.shape, int32)

    gradient = no_gradient


class ResourceGather(AbstractStateful):
    traits = (MOVES,)

    dtype: Any
    shape: TensorShape
    """The static shape of the variable."""

    def infer(self, handle: TensorType, indices: TensorType) -> tuple[TensorType, ...]:
        check_handle("sparse_read", handle)
        if indices.dtype not in INTEGER:
            raise TypeError(f"sparse_read: indices must be integers, not {indices}")
        if self.shape.rank == 0:
            raise ValueError(
                f"sparse_read: the variable is a scalar, {TensorType(self.dtype, self.shape)}, and has no rows"
            )
        return (TensorType(self.dtype, indices.shape.concatenate(self.shape[1:])),)

    def links(self, i: int, handle: TensorType, indices: TensorType) -> Links | None:
        del handle
        return None if indices.shape.rank is None or not i else same_axes(range(indices.shape.rank))

    def kernel(self, xp: Any, state: Any, indices: Any) -> Any:
        if xp is np:
            check_range(indices, state.shape[0], "sparse_read")
        return xp.take(state, indices, axis=0)

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        """The rows that were read, as slices."""
        return (lambda: self._slices(op, dy), None)

    def _slices(self, op: Operation, dy: Tensor) -> IndexedSlices:
        handle, indices = op.inputs
        if indices.shape.rank != 1:
            indices = reshape(indices, [-1])
            row = self.shape[1:] if self.shape.rank else TensorShape.UNKNOWN
            dy = reshape(dy, [-1, *row.known] if row.is_fully_defined() else _rows_shape(handle))
        if self.shape.is_fully_defined():
            dense_shape = constant_in(op.graph, np.array(self.shape.known, int32), "dense_shape")
        else:
            dense_shape = VariableShape()(handle, name="dense_shape")
        return IndexedSlices(dy, indices, dense_shape, self.shape)


def _rows_shape(handle: Tensor) -> Tensor:
    """The shape [-1, row...] of rows of a variable whose static shape is unknown."""
    lengths = VariableShape()(handle)
    return concat([constant_in(handle.graph, np.array([-1], int32)), lengths[1:]], 0)


class AbstractAssignment(AbstractStateful):
    """A change of a whole variable by a value of its type."""

    writes_state = True

    dtype: Any
    shape: TensorShape

    def infer(self, handle: TensorType, value: TensorType) -> tuple[TensorType, ...]:
        check_handle("assign", handle)
        variable = TensorType(self.dtype, self.shape)
        if value.dtype != self.dtype:
            raise TypeError(f"assign: the value is {value}, but the variable is {variable}; convert it with pb.cast")
        if not self.shape.is_compatible_with(value.shape):
            raise ValueError(f"assign: the value is {value}, but the variable is {variable}; their shapes must agree")
        return ()

    gradient = no_gradient


class AssignVariableOp(AbstractAssignment):
    reads_state = False

    def update(self, xp: Any, ex: AbstractUpdates, state: Any, *arrays: Any) -> Any:
        del xp, ex, state
        return arrays[0]


class AssignAddVariableOp(AbstractAssignment):
    def update(self, xp: Any, ex: AbstractUpdates, state: Any, *arrays: Any) -> Any:
        del xp
        return ex.add(state, arrays[0])


class AssignSubVariableOp(AbstractAssignment):
    def update(self, xp: Any, ex: AbstractUpdates, state: Any, *arrays: Any) -> Any:
        del xp
        return ex.subtract(state, arrays[0])


class VarIsInitializedOp(AbstractStateful):
    reads_state = False

    def infer(self, handle: TensorType) -> tuple[TensorType, ...]:
        check_handle("is_variable_initialized", handle)
        return (TensorType(bool_, TensorShape.SCALAR),)

    def kernel(self, xp: Any, state: Any) -> Any:
        del xp
        return np.bool_(state is not None)

    gradient = no_gradient


def variable_type(handle: Tensor) -> TensorType:
    """The dtype and static shape of the variable behind `handle`."""
    primitive = handle_primitive(handle)
    return TensorType(primitive.dtype, primitive.shape)


def variable_zeros(handle: Tensor) -> Tensor:
    """Zeros in the shape and dtype of the variable behind `handle`."""
    type_ = variable_type(handle)
    if not type_.shape.is_fully_defined():
        return zeros_like(read_variable(handle), name="zeros")
    with handle.graph.as_default():
        return zeros(type_.shape, type_.dtype, name="zeros")


def read_after(op: Operation, name: str | None = None) -> Tensor:
    """A read of the variable that `op` changes, which runs `op` first."""
    with op.graph.control_dependencies([op]):
        return read_variable(op.inputs[0], name)


def written(graph: Graph, write: Callable[[], Operation], name: str | None) -> Tensor:
    """The variable's value after the operation that `write` makes. It is the value that has the name `name`."""
    if name is None:
        return read_after(write())
    with graph.acting.within(name) as scope:
        return read_after(write(), scope)


def read_again(x: Tensor) -> Callable[[], Tensor]:
    """What reads the variable, of which `x` is the value, once more, after `x`.

    Raises:
        AttributeError: `x` is no value of a variable.

    >>> import pullback as pb
    >>> v = pb.Variable(1.0)
    >>> session = pb.Session()
    >>> session.run(v.initializer)
    >>> session.run(v.assign_add(2.0).read_value())
    np.float32(3.0)
    """
    if not isinstance(x.op.primitive, ReadVariableOp):
        raise AttributeError(f"{x} has no read_value: it is not what a variable, or an assignment to one, gives")
    return lambda: read_after(x.op)


def check_handle(function: str, handle: TensorType) -> None:
    """TypeError unless the type is a handle's."""
    if handle.dtype != resource:
        raise TypeError(f"{function}: the first input must be the handle of a variable, not {handle}")


def handle_primitive(handle: Tensor) -> Any:
    """The VarHandleOp of the variable that `handle` names, in a body too."""
    primitive: Any = handle.op.primitive
    if isinstance(primitive, Parameter) and primitive.handle is not None:
        primitive = primitive.handle
    if not isinstance(primitive, VarHandleOp):
        raise TypeError(
            f"{handle} is not the handle of a variable, but an output of '{handle.op.name}' ({handle.op.type})"
        )
    return primitive
