"""ONNX export of variables: their values are inputs of the model, their new values outputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...core.dtypes import COMPLEX, int64
from ...core.errors import NotRecordedError
from ...core.function import AbstractFunctional, Function
from ...core.operation import Operation, Tensor
from ...core.types import TensorType
from ...primitives.base.state import AbstractStateful
from ...primitives.variables.operations import (
    AssignAddVariableOp,
    AssignSubVariableOp,
    AssignVariableOp,
    InitializedValue,
    ReadVariableOp,
    ResourceGather,
    VarHandleOp,
    VariableShape,
    VarIsInitializedOp,
)
from ...primitives.variables.updates import ROW_UPDATES, SLICE_UPDATES
from ..records import Value
from ..registry import writer
from ..writing import Writer
from .indexing.gather import scatter
from .shapes import rank_of


@dataclass(frozen=True)
class Handle:
    """What stands for a variable's handle: the operation that made it, and the variable's type."""

    op: Operation
    type: TensorType


def handle_value(op: Operation) -> Handle:
    """What stands for the handle that an operation makes."""
    p: Any = op.primitive
    return Handle(op, TensorType(p.dtype, p.shape))


def _check_real(handle: Handle) -> None:
    if handle.type.dtype in COMPLEX:
        raise NotRecordedError(
            "variables of complex numbers are not written; keep both parts in variables of their own"
        )


def _state(w: Writer, handle: Handle) -> Value:
    """The value that a variable has at this place."""
    _check_real(handle)
    return w.model.state(handle.op, handle.type)


@writer(VarHandleOp)
def var_handle(w: Writer, p: Any) -> Handle:
    return handle_value(w.op)


@writer(ReadVariableOp, pairs=True)
def read_variable(w: Writer, p: Any, handle: Handle) -> Value:
    return _state(w, handle)


@writer(InitializedValue, pairs=True)
def initialized_value(w: Writer, p: Any, handle: Handle, initial: Value) -> Value:
    """Whoever runs the model gives every variable a value."""
    return _state(w, handle)


@writer(VariableShape, pairs=True)
def variable_shape(w: Writer, p: Any, handle: Handle) -> Value:
    return w.cast(w.shape(_state(w, handle)), w.op.outputs[0].dtype)


@writer(ResourceGather, pairs=True)
def resource_gather(w: Writer, p: Any, handle: Handle, indices: Value) -> Value:
    return w.gather(_state(w, handle), indices, 0)


@writer(VarIsInitializedOp)
def is_initialized(w: Writer, p: Any, handle: Handle) -> Value:
    """Whoever runs the model gives every variable a value."""
    return w.constant(True)


@writer(AssignVariableOp, pairs=True)
def assign(w: Writer, p: Any, handle: Handle, value: Value) -> tuple[()]:
    _check_real(handle)
    w.model.states[handle.op] = value
    return ()


@writer(AssignAddVariableOp, AssignSubVariableOp, pairs=True)
def assign_changed(w: Writer, p: Any, handle: Handle, value: Value) -> tuple[()]:
    op_type = "Add" if isinstance(p, AssignAddVariableOp) else "Sub"
    w.model.states[handle.op] = w.node(op_type, _state(w, handle), value)
    return ()


_COMBINED = {"update": "none", "add": "add", "sub": "add", "mul": "mul", "div": "mul", "min": "min", "max": "max"}


@writer(*ROW_UPDATES.values(), pairs=True)
def row_update(w: Writer, p: Any, handle: Handle, indices: Value, updates: Value) -> tuple[()]:
    state = _state(w, handle)
    rank = rank_of(state)
    rows = w.lengths(state, list(range(1, rank))) if rank > 1 else w.vector([])
    full = w.expand(updates, w.concat([w.shape(indices), rows], 0))
    _change(w, p, handle, w.unsqueeze(w.cast(indices, int64), [-1]), full)
    return ()


@writer(*SLICE_UPDATES.values(), pairs=True)
def slice_update(w: Writer, p: Any, handle: Handle, indices: Value, updates: Value) -> tuple[()]:
    _change(w, p, handle, w.cast(indices, int64), updates)
    return ()


def _change(w: Writer, p: Any, handle: Handle, vectors: Value, updates: Value) -> None:
    if p.kind == "sub":
        updates = w.node("Neg", updates)
    if p.kind == "div":
        if updates.type.dtype.kind != "f":
            raise NotRecordedError("scatter_div of integers")
        updates = w.node("Reciprocal", updates)
    state = _state(w, handle)
    w.model.states[handle.op] = scatter(w, state, vectors, updates, _COMBINED[p.kind])


def written_states(function: Function, args: Sequence[Any]) -> dict[Operation, TensorType]:
    """The variables that a function changes, for these arguments."""
    known: dict[Tensor, Any] = dict(zip(function.parameters, args, strict=True))
    found: dict[Operation, TensorType] = {}
    for op in function.operations:
        p = op.primitive
        if isinstance(p, AbstractFunctional):
            for f, inputs in zip(p.functions, p.arguments(op.inputs), strict=True):
                found |= written_states(f, [known.get(x) for x in inputs])
        elif isinstance(p, AbstractStateful) and p.writes_state and op.inputs:
            handle = _handle(op.inputs[0], known)
            if handle is not None:
                found[handle.op] = handle.type
    return found


def _handle(x: Tensor, known: Mapping[Tensor, Any]) -> Handle | None:
    while x not in known and x.op.inputs:
        x = x.op.inputs[0]
    value = known.get(x)
    return value if isinstance(value, Handle) else None
